// SPDX-License-Identifier: GPL-2.0-only
/*
 * One event of Chrome's JSON: its head, its name, its arguments. Fields of xsprof have fixed keys;
 * an argument of the program with the same key gets a number.
 */
#include "format/chrome/local.h"

static char *put_phase(struct xsp_out *out, char ph)
{
	struct chrome *chrome = out->priv;
	char *p = xsp_buf_room(&out->buf, CHROME_ROOM);

	*p++ = chrome->sep;
	chrome->sep = ',';
	memcpy(p, "\n{\"ph\":\"?\",", 11);
	p[8] = ph;
	return p + 11;
}

char *chrome_open(struct xsp_out *out, struct xsp_track *thread, char ph, uint64_t ns)
{
	char *p = chrome_put_thread(out, thread, put_phase(out, ph));

	if (ph == 'B' || ph == 'E')
		thread->stale = false;
	else if (ph == 'X' || ph == 'i')
		thread->stale = true;
	p = put_micros(p, chrome_rel(out, ns));
	*p++ = ',';
	return p;
}

char *chrome_open_at(struct xsp_out *out, const char *prefix, size_t len, char ph, uint64_t ns)
{
	char *p = mempcpy(put_phase(out, ph), prefix, len);

	p = put_micros(p, chrome_rel(out, ns));
	*p++ = ',';
	return p;
}

char *chrome_put_name(struct xsp_out *out, const struct xsprof_event *ev, uint32_t name, char *p)
{
	const struct xsp_name *entry;
	const char *word;

	if (!name) {
		word = xsp_word_type(ev->type);
		p = json_string(put_lit(p, "\"name\":"), word, strlen(word), NULL);
		return put_lit(p, ",\"cat\":\"xsprof\"");
	}
	entry = xsp_names_get(out->names, ev->producer, name);
	if (__builtin_expect(entry->len <= 1024, 1)) {
		memcpy(p, entry->text, entry->len);
		return p + entry->len;
	}
	out->buf.p = p;
	xsp_buf_put(&out->buf, entry->text, entry->len);
	return xsp_buf_room(&out->buf, CHROME_ROOM);
}

static void claim_text(struct xsp_keys *keys, const char *text, const char *end)
{
	struct xsp_member member;

	while (xsp_keys_member(&text, end, &member))
		xsp_keys_claim(keys, xsp_keys_hash(member.key + 1, member.key_len - 3));
}

/*
 * Viewers merge a begin and its end into one event: keys of an op's begin must not be used at its
 * end, and a begin must not use keys that its range may need at its end.
 */
static void claim_both(struct xsp_keys *keys, bool begin)
{
	static const char *const of_begin[] = {
		"op", "Record function id", "Sequence number", "Fwd thread id", "External id", NULL
	};
	static const char *const of_end[] = {
		"cut", "unfinished", "ended_after", "thread_ended", "uncertain", NULL
	};

	for (const char *const *own = begin ? of_end : of_begin; *own; own++)
		xsp_keys_claim(keys, xsp_keys_hash(*own, strlen(*own)));
}

void chrome_close(struct xsp_out *out, const struct xsprof_event *ev,
		  const struct xsp_range *range, const char *more, char *p)
{
	bool args = ev && chrome_has_args(ev), any = more != NULL;
	bool note = range && chrome_has_note(range);
	struct xsp_keys *keys = &((struct chrome *)out->priv)->keys;
	const char *own;

	/* Makes room first: if there are no arguments, the key is removed again. */
	out->buf.p = p;
	p = xsp_buf_room(&out->buf, CHROME_ROOM);
	p = put_lit(p, ",\"args\":{");
	if (more) {
		out->buf.p = p;
		xsp_buf_puts(&out->buf, more);
		p = xsp_buf_room(&out->buf, CHROME_ROOM);
	}
	own = p;
	if (ev)
		p = chrome_put_fields(out, ev, p, &any);
	xsp_keys_clear(keys);
	if (args || note) {
		if (more)
			claim_text(keys, more, more + strlen(more));
		claim_text(keys, own, p);
		if ((range && range->kind == CHROME_OP) || (ev && ev->type == XSPROF_REC_BEGIN))
			claim_both(keys, !range);
		if (range && range->note)
			p = chrome_put_note(out, range, p, &any);
	}
	if (args)
		p = chrome_put_args(out, ev, p, &any);
	out->buf.p = any ? put_lit(p, "}}") : put_lit(p - 9, "}");
}

void chrome_close_fields(struct xsp_out *out, const struct xsprof_event *ev, char *p)
{
	bool any = false;

	p = chrome_put_fields(out, ev, put_lit(p, ",\"args\":{"), &any);
	out->buf.p = any ? put_lit(p, "}}") : put_lit(p - 9, "}");
}

void chrome_close_plain(struct xsp_out *out, char *p)
{
	*p++ = '}';
	out->buf.p = p;
}

void chrome_instant(struct xsp_out *out, const struct xsp_view *view, char scope,
		    const char *more, const struct xsp_range *held)
{
	const struct xsprof_event *ev = view->ev;
	char *p = chrome_open(out, view->thread, 'i', ev->ns);

	p = put_lit(p, "\"s\":\"?\",");
	p[-3] = scope;
	chrome_close(out, ev, held, more, chrome_put_name(out, ev, view->name, p));
}
