// SPDX-License-Identifier: GPL-2.0-only
/*
 * Notes of ranges in a Perfetto trace. Arguments after their range's begin are kept as text until
 * its end: a note has no zero bytes, and a string that continues in the next record is the end of
 * the note. Readers merge the arguments of both ends, so the note begins with the names in the
 * begin.
 */
#include <stdlib.h>

#include "format/perfetto/names.h"
#include "text/put.h"

/*
 * Marks in a note: the hash of a key of the range's begin; an item begins; its key ends; the next
 * byte is escaped by adding 0x10.
 */
enum { KEY = 1, ITEM = 2, VALUE = 3, ESCAPE = 4, SHIFT = 0x10 };

static char *note_bytes(char *p, const char *s, size_t len)
{
	for (; len; s++, len--) {
		if ((unsigned char)*s <= ESCAPE) {
			*p++ = ESCAPE;
			*p++ = (char)(*s + SHIFT);
		} else {
			*p++ = *s;
		}
	}
	return p;
}

static char *note_value(struct xsp_out *out, const struct xsprof_event *ev,
			const struct xsprof_trace_arg *arg, char *p)
{
	const char *s = arg->str;
	size_t len = arg->len;

	switch (arg->type) {
	case XSPROF_ARG_I64:
		return put_i64(p, arg->u.i64);
	case XSPROF_ARG_NAME:
		s = xsprof_trace_name_len(out->trace, ev->producer, (uint32_t)arg->u.u64, &len);
		return note_bytes(p, s, len < XSPROF_TEXT_MAX ? len : XSPROF_TEXT_MAX);
	case XSPROF_ARG_STR:
		return note_bytes(p, s, len);
	default:
		/* Also the bits of a double. */
		return put_u64(p, arg->u.u64);
	}
}

/*
 * Are there items, not only names of the begin? In names and texts the byte of an item is escaped.
 */
static bool has_item(const struct xsp_range *range)
{
	return range->note && memchr(range->note, ITEM, range->note_len);
}

static bool note_arg(struct xsp_out *out, const struct xsprof_event *ev, struct xsp_range *range,
		     const struct xsprof_trace_arg *arg)
{
	static const char types[] = {
		[XSPROF_ARG_I64] = 'i', [XSPROF_ARG_U64] = 'u', [XSPROF_ARG_F64] = 'f',
		[XSPROF_ARG_BOOL] = 'b', [XSPROF_ARG_NAME] = 's', [XSPROF_ARG_STR] = 's',
	};
	char type = arg->type < sizeof(types) && types[arg->type] ? types[arg->type] : 'p';
	char *p = out->scratch;
	const char *key;
	size_t len;

	if (!(arg->type == XSPROF_ARG_STR && arg->flags & XSPROF_ARGF_CONT && has_item(range))) {
		key = xsprof_trace_name_len(out->trace, ev->producer, arg->key, &len);
		*p++ = ITEM;
		*p++ = type;
		p = note_bytes(p, key, len < XSPROF_TEXT_MAX ? len : XSPROF_TEXT_MAX);
		*p++ = VALUE;
	}
	p = note_value(out, ev, arg, p);
	return xsp_tracks_note(out->tracks, range, 0, out->scratch, (size_t)(p - out->scratch));
}

bool pf_note_args(struct xsp_out *out, const struct xsprof_event *ev, struct xsp_range *range)
{
	return xsp_each_plain(out, ev, range, note_arg);
}

void pf_note_keys(struct xsp_out *out, struct xsp_range *range)
{
	const struct xsp_keys *keys = &pf_of(out)->keys;
	char text[64 * (1 + 2 * sizeof(uint64_t))], *p = text;

	for (uint32_t i = 0; i < keys->n && i < 64; i++) {
		*p++ = KEY;
		p = note_bytes(p, (const char *)&keys->v[i].hash, sizeof(keys->v[i].hash));
	}
	/* If memory runs out, the end may repeat a key of the begin. */
	if (p > text)
		(void)xsp_tracks_note(out->tracks, range, 0, text, (size_t)(p - text));
}

/* Unescapes up to @stop or the end; @p has room for the escaped length. */
static const char *read_bytes(const char *note, char stop, char *p, char **end)
{
	for (; *note && *note != stop && *note != ITEM && *note != KEY; note++)
		*p++ = *note == ESCAPE && note[1] ? (char)(*++note - SHIFT) : *note;
	*end = p;
	return *note == stop && stop ? note + 1 : note;
}

static char *put_noted(char *p, char type, const char *value, char *end)
{
	uint64_t u64;

	*end = '\0';
	u64 = strtoull(value, NULL, 10);
	switch (type) {
	case 'i':
		return wire_i64(p, PF_ARG_I64, strtoll(value, NULL, 10));
	case 'u':
		return wire_u64(p, PF_ARG_U64, u64);
	case 'f':
		return wire_double(p, PF_ARG_F64, xsp_bits_double(u64));
	case 'b':
		return wire_u64(p, PF_ARG_BOOL, u64 != 0);
	case 's':
		return wire_text(p, PF_ARG_TEXT, value, (size_t)(end - value));
	default:
		return wire_u64(p, PF_ARG_PTR, u64);
	}
}

/*
 * A note has at most 16 KiB, and each byte becomes at most three, except names with a number, which
 * args.c bounds.
 */
char *pf_put_note(struct xsp_out *out, char *p, const char *note)
{
	static char text[16 << 10];
	char type, *start, *end;
	uint64_t hash;

	while (note && *note == KEY) {
		note = read_bytes(note + 1, 0, text, &end);
		memcpy(&hash, text, sizeof(hash));
		xsp_keys_claim(&pf_of(out)->keys, hash);
	}
	while (note && *note == ITEM && note[1]) {
		type = note[1];
		note = read_bytes(note + 2, VALUE, text, &end);
		p = pf_open_arg(out, p, text, (size_t)(end - text), &start);
		note = read_bytes(note, 0, text, &end);
		p = wire_close(start, put_noted(p, type, text, end));
	}
	return p;
}
