// SPDX-License-Identifier: GPL-2.0-only
/*
 * One event of a track in a Perfetto trace: its track, name and arguments.
 */
#include "format/perfetto/names.h"

char *pf_open_uuid(struct xsp_out *out, struct pf_packet *pkt, uint64_t ns, char type,
		   uint64_t uuid)
{
	char track[2 + WIRE_MAX];
	uint32_t len = (uint32_t)(wire_u64(track, PF_TRACK, uuid) - track);

	return pf_open(out, pkt, ns, type, track, len);
}

char *pf_open_thread(struct xsp_out *out, struct pf_packet *pkt, uint64_t ns, char type,
		     struct xsp_track *thread)
{
	uint32_t len;
	const char *track = pf_thread_track(out, thread, &len);

	return pf_open(out, pkt, ns, type, track, len);
}

static char *put_plain_name(char *p, const char *name, const char *category)
{
	p = wire_text(p, PF_NAME, name, strlen(name));
	return wire_text(p, PF_CATEGORY, category, strlen(category));
}

/* Before a packet is opened: interning writes a packet too. */
const struct pf_name *pf_event_name(struct xsp_out *out, const struct xsprof_event *ev,
				    uint32_t name)
{
	if (ev->rec_size > sizeof(struct xsprof_rec))
		pf_intern_args(out, ev);
	return name ? pf_name(out, PF_IS_NAME, ev->producer, name) : NULL;
}

char *pf_put_name(char *p, const struct pf_name *name, const struct xsprof_event *ev)
{
	if (__builtin_expect(name != NULL, 1)) {
		memcpy(p, name->bytes, 16);
		return p + name->len;
	}
	switch (ev->type) {
	case XSPROF_REC_ALLOC:
	case XSPROF_REC_FREE:
		return put_plain_name(p, "[memory]", "memory");
	case XSPROF_REC_BEGIN ... XSPROF_REC_COMPLETE:
		return put_plain_name(p, ev->name ? "?" : "range", "xsprof");
	}
	return put_plain_name(p, ev->name ? "?" : xsp_word_type(ev->type), "xsprof");
}

char *pf_put_all(struct xsp_out *out, const struct xsprof_event *ev, char *p)
{
	return pf_put_args(out, ev, pf_put_fields(out, ev, p));
}

void pf_instant(struct xsp_out *out, const struct xsp_view *view, uint64_t uuid, const char *note)
{
	const struct xsprof_event *ev = view->ev;
	bool memory = ev->type == XSPROF_REC_ALLOC || ev->type == XSPROF_REC_FREE;
	/* An allocation is named after its allocator: an argument. */
	const struct pf_name *name = pf_event_name(out, ev, memory ? 0 : view->name);
	struct pf_packet pkt;
	char *p;

	p = uuid ? pf_open_uuid(out, &pkt, ev->ns, PF_INSTANT, uuid) :
		   pf_open_thread(out, &pkt, ev->ns, PF_INSTANT, view->thread);
	p = pf_put_all(out, ev, pf_put_name(p, name, ev));
	pf_close(out, &pkt, pf_put_note(out, p, note));
}
