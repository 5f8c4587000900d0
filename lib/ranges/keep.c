// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Keeps records until they can be written: see keep.h.
 */
#include <string.h>

#include "ranges/keep.h"

size_t xsr_keep_bytes(const struct xsprof_event *ev, char bytes[XSR_KEPT_MAX])
{
	struct xsr_kept kept = {
		.size = (uint32_t)ev->rec_size, .producer = ev->producer, .type = ev->type,
		.flags = ev->flags, .aux = ev->aux, .value = ev->value,
	};

	if (!ev->rec || ev->rec_size > XSR_KEPT_MAX - sizeof(kept))
		return 0;
	memcpy(bytes, &kept, sizeof(kept));
	memcpy(bytes + sizeof(kept), ev->rec, ev->rec_size);
	return sizeof(kept) + ev->rec_size;
}

bool xsr_keep(struct xsp_tracks *tracks, struct xsp_range *range, const struct xsprof_event *ev)
{
	char bytes[XSR_KEPT_MAX];
	size_t len = xsr_keep_bytes(ev, bytes);

	return len && xsp_tracks_note(tracks, range, 0, bytes, len);
}

static bool next_record(struct xsr_walk *walk)
{
	const struct xsr_piece *piece = walk->piece;
	struct xsr_kept kept;

	if (piece) {
		walk->piece = piece->next;
		walk->ev.type = XSPROF_REC_ARGS;
		walk->ev.rec = (const struct xsprof_rec *)piece;
		walk->ev.rec_size = piece->size;
		walk->pos = sizeof(*piece);
		return true;
	}
	if ((size_t)(walk->end - walk->at) < sizeof(kept))
		return false;
	memcpy(&kept, walk->at, sizeof(kept));
	walk->at += sizeof(kept);
	if ((size_t)(walk->end - walk->at) < kept.size)
		return false;
	walk->ev = (struct xsprof_event){
		.type = kept.type, .flags = kept.flags, .producer = kept.producer,
		.aux = kept.aux, .value = kept.value,
		.rec = (const struct xsprof_rec *)walk->at, .rec_size = kept.size,
	};
	walk->at += kept.size;
	walk->pos = 0;
	return true;
}

void xsr_walk_note(struct xsr_walk *walk, const char *note, size_t len)
{
	memset(walk, 0, sizeof(*walk));
	walk->at = note;
	walk->end = note + len;
	if (!note || !next_record(walk))
		walk->at = walk->end = NULL;
}

void xsr_walk_event(struct xsr_walk *walk, const struct xsprof_event *ev)
{
	memset(walk, 0, sizeof(*walk));
	walk->ev = *ev;
}

void xsr_walk_pieces(struct xsr_walk *walk, uint32_t producer, const struct xsr_piece *piece)
{
	memset(walk, 0, sizeof(*walk));
	walk->ev.producer = producer;
	walk->piece = piece;
}

bool xsr_walk_next(struct xsr_walk *walk, struct xsprof_trace_arg *arg)
{
	do {
		if (xsprof_trace_args(&walk->ev, &walk->pos, arg))
			return true;
	} while (next_record(walk));
	walk->ev.rec = NULL;
	return false;
}

bool xsr_walk_item(struct xsr_walk *walk, uint64_t *left, struct xsprof_trace_arg *item)
{
	struct xsr_walk before = *walk;

	while (*left && xsr_walk_next(walk, item) && xsr_key_is_item(item->key)) {
		if (item->flags & XSPROF_ARGF_CONT)
			continue;
		(*left)--;
		return true;
	}
	*walk = before;
	return false;
}

size_t xsr_walk_bytes(struct xsr_walk *walk, const struct xsprof_trace_arg *arg, char *text,
		      size_t room)
{
	struct xsprof_trace_arg part = *arg;
	struct xsr_walk before;
	bool cut = false;
	size_t len = 0;

	do {
		cut |= part.flags & XSPROF_ARGF_CUT;
		if (part.len > room - len)
			part.len = (uint16_t)(room - len);
		memcpy(text + len, part.str, part.len);
		len += part.len;
		before = *walk;
	} while (xsr_walk_next(walk, &part) && part.type == arg->type && part.key == arg->key &&
		 part.flags & XSPROF_ARGF_CONT);
	*walk = before;
	walk->cut = cut;
	return len;
}
