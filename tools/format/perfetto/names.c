// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interned names of a Perfetto trace: each text is written once, and referred to by number from
 * then on. Memory is fixed: when the table is full it is cleared, a flag tells readers to clear
 * theirs, and names are written again at their next use.
 */
#include "format/perfetto/names.h"
#include "format/perfetto/packet.h"

/* Lists in InternedData. */
enum { CATEGORIES = 1, NAMES = 2, KEYS = 3, VALUES = 29 };

void pf_names_forget(struct xsp_out *out)
{
	struct perfetto *pf = pf_of(out);
	char *p, *defaults;

	memset(pf->names, 0, sizeof(pf->names));
	pf->nr_names = 0;
	pf->iid = 0;
	p = pf_packet_open(out, 0, PF_MARKERS, PF_CLEARED);
	defaults = wire_open(p, PF_DEFAULTS);
	p = wire_close(defaults, wire_u64(defaults, PF_CLOCK, PF_MONOTONIC));
	pf_packet_close(out, pf->begun ? p : wire_u64(p, PF_FIRST, 1));
}

void pf_names_room(struct xsp_out *out, uint32_t n)
{
	if (pf_of(out)->nr_names + n > PF_NAMES / 4 * 3)
		pf_names_forget(out);
}

const struct pf_name *pf_names_find(struct xsp_out *out, uint64_t key)
{
	const struct perfetto *pf = pf_of(out);
	uint32_t i = pf_name_slot(key);

	for (; pf->names[i].len; i = (i + 1) % PF_NAMES)
		if (pf->names[i].key == key)
			return &pf->names[i];
	return NULL;
}

static struct pf_name *insert(struct perfetto *pf, uint64_t key)
{
	uint32_t i = pf_name_slot(key);

	while (pf->names[i].len)
		i = (i + 1) % PF_NAMES;
	pf->names[i].key = key;
	pf->nr_names++;
	return &pf->names[i];
}

static char *put_entry(char *p, uint32_t list, uint64_t iid, const char *s, size_t len)
{
	char *start = wire_open(p, list);

	p = wire_u64(start, 1, iid);
	return wire_close(start, wire_text(p, 2, s, len < XSP_NAME_BYTES ? len : XSP_NAME_BYTES));
}

/* The scratch buffer holds the longest name, even if each byte becomes three. */
static uint64_t intern(struct xsp_out *out, uint32_t list, const char *s, size_t len)
{
	struct perfetto *pf = pf_of(out);
	char *p = out->scratch, *data, *packet;

	packet = p = wire_open(p, PF_TRACE_PACKET);
	p = wire_u64(p, PF_SEQUENCE, PF_MARKERS);
	p = wire_u64(p, PF_FLAGS, PF_NEEDED);
	data = wire_open(p, PF_INTERNED);
	p = wire_close(data, put_entry(data, list, ++pf->iid, s, len));
	p = wire_close(packet, p);
	xsp_buf_put(&out->buf, out->scratch, (size_t)(p - out->scratch));
	return pf->iid;
}

static bool unknown(const struct xsp_out *out, uint32_t producer, uint32_t name)
{
	return (name & XSPROF_NAME_MASK) && !strcmp(xsprof_trace_name(out->trace, producer, name),
						    "?");
}

/* All names of a category share its entry. */
static const struct pf_name *category_of(struct xsp_out *out, uint32_t producer, uint32_t name)
{
	uint64_t key = pf_name_key(PF_IS_CATEGORY, producer, name >> XSPROF_NAME_SHIFT);
	const struct pf_name *found = pf_names_find(out, key);
	struct pf_name *entry;
	const char *text;
	uint64_t iid;

	if (found)
		return found;
	text = xsprof_trace_category(out->trace, producer, name);
	iid = intern(out, CATEGORIES, text, strlen(text));
	entry = insert(pf_of(out), key);
	entry->len = (uint32_t)(wire_u64(entry->bytes, 3, iid) - entry->bytes);
	return entry;
}

const struct pf_name *pf_names_add(struct xsp_out *out, enum pf_interned kind, uint32_t producer,
				   uint32_t name)
{
	const struct pf_name *category = NULL;
	struct pf_name *entry;
	const char *text;
	uint64_t iid;
	size_t len;
	char *p;

	if (unknown(out, producer, name))
		return NULL;
	pf_names_room(out, 2);
	if (kind == PF_IS_NAME)
		category = category_of(out, producer, name);
	text = xsprof_trace_name_len(out->trace, producer, name, &len);
	iid = intern(out, kind == PF_IS_NAME ? NAMES : kind == PF_IS_KEY ? KEYS : VALUES, text,
		     len);
	entry = insert(pf_of(out), pf_name_key(kind, producer, name));
	p = entry->bytes;
	if (category) {
		memcpy(p, category->bytes, category->len);
		p = wire_u64(p + category->len, 10, iid);
	} else {
		p = wire_u64(p, kind == PF_IS_KEY ? 1 : 17, iid);
	}
	entry->len = (uint32_t)(p - entry->bytes);
	return entry;
}

static bool describes(struct xsp_out *out, uint64_t key)
{
	if (pf_names_find(out, key))
		return false;
	pf_names_room(out, 1);
	insert(pf_of(out), key)->len = 1;
	return true;
}

bool pf_names_counter(struct xsp_out *out, uint32_t producer, uint32_t name)
{
	return describes(out, pf_name_key(PF_IS_COUNTER, producer, name));
}

bool pf_names_metric(struct xsp_out *out, uint64_t uuid)
{
	return describes(out, (uint64_t)PF_IS_METRIC << 60 | uuid >> 4);
}
