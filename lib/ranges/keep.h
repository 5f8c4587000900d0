/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Records kept until they can be written: an op is written at its end, and its inputs came with
 * its begin.  A kept record is its bytes; what they say is read when it is written.  It never
 * keeps more than a track's note may hold.
 */
#ifndef XSR_KEEP_H
#define XSR_KEEP_H

#include "ranges/tracks.h"

#define XSR_TEXT_MAX	(16u << 10)	/* of one string, put together */

/* In front of each record that is kept. */
struct xsr_kept {
	uint32_t	size;
	uint32_t	producer;
	uint16_t	type;
	uint16_t	flags;
	uint32_t	aux;
	uint64_t	value;
	uint64_t	reserved;
};

/* Arguments of a record in memory of their own: struct xsprof_arg behind it, as in the record. */
struct xsr_piece {
	struct xsr_piece	*next;
	uint32_t		size;	/* with this header */
	uint32_t		reserved;
};

#define XSR_KEPT_MAX	(sizeof(struct xsr_kept) + 16 * XSPROF_SLOT_SIZE)

/* As xsr_walk_note() takes it.  Return: bytes of it, 0: it is no record that is kept. */
size_t xsr_keep_bytes(const struct xsprof_event *ev, char bytes[XSR_KEPT_MAX]);
/* Return: false when there is no memory for it. */
bool xsr_keep(struct xsp_tracks *tracks, struct xsp_range *range, const struct xsprof_event *ev);

/**
 * struct xsr_walk - a walk over the arguments of records
 * @at: the next kept record
 * @end: behind the last
 * @piece: or the next piece
 * @ev: the record it is at, as an event
 * @pos: in that
 * @cut: the bytes of xsr_walk_bytes() were more when they were recorded
 */
struct xsr_walk {
	const char		*at;
	const char		*end;
	const struct xsr_piece	*piece;
	struct xsprof_event	ev;
	size_t			pos;
	bool			cut;
};

void xsr_walk_note(struct xsr_walk *walk, const char *note, size_t len);
void xsr_walk_event(struct xsr_walk *walk, const struct xsprof_event *ev);
void xsr_walk_pieces(struct xsr_walk *walk, uint32_t producer, const struct xsr_piece *piece);
/* The next argument of what may be several records.  Return: false at the end. */
bool xsr_walk_next(struct xsr_walk *walk, struct xsprof_trace_arg *arg);
/*
 * The next element of a list that says it has @left more.  Return: false when there is none; @walk
 * is behind the last then.
 */
bool xsr_walk_item(struct xsr_walk *walk, uint64_t *left, struct xsprof_trace_arg *item);
/*
 * The string or list that begins with @arg, in @text of @room bytes: @walk is behind its last part
 * afterwards.  Return: bytes of it.
 */
size_t xsr_walk_bytes(struct xsr_walk *walk, const struct xsprof_trace_arg *arg, char *text,
		      size_t room);

/* Is @key that of an input of an op, of an element of a list? */
static inline bool xsr_key_is_input(uint32_t key)
{
	return key >= XSPROF_KEY_INPUT && key < XSPROF_KEY_INPUT + XSPROF_KEY_PLACES;
}

static inline bool xsr_key_is_item(uint32_t key)
{
	return key >= XSPROF_KEY_ITEM && key < XSPROF_KEY_ITEM + XSPROF_KEY_PLACES;
}

/* Is it where an activity was, which is told otherwise? */
static inline bool xsr_key_is_place(uint32_t key)
{
	return key >= XSPROF_KEY_ACTIVITY && key <= XSPROF_KEY_RESOURCE;
}

#endif /* XSR_KEEP_H */
