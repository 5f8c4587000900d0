/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Keeps records until they can be written: an op is written at its end, but its inputs come with
 * its begin. The raw bytes of a record are kept, and decoded when it is written; limited by the
 * maximum size of a range's note.
 */
#ifndef XSR_KEEP_H
#define XSR_KEEP_H

#include "ranges/tracks.h"

#define XSR_TEXT_MAX	(16u << 10)	/* of one string, assembled */

/* Header of each kept record. */
struct xsr_kept {
	uint32_t	size;
	uint32_t	producer;
	uint16_t	type;
	uint16_t	flags;
	uint32_t	aux;
	uint64_t	value;
	uint64_t	reserved;
};

/* Arguments of a record in separate memory: struct xsprof_arg follow, as in the record. */
struct xsr_piece {
	struct xsr_piece	*next;
	uint32_t		size;	/* including this header */
	uint32_t		reserved;
};

#define XSR_KEPT_MAX	(sizeof(struct xsr_kept) + 16 * XSPROF_SLOT_SIZE)

/* Copies a record as xsr_walk_note() expects it. Return: its size, 0: a type that is not kept. */
size_t xsr_keep_bytes(const struct xsprof_event *ev, char bytes[XSR_KEPT_MAX]);
/* Return: false without memory. */
bool xsr_keep(struct xsp_tracks *tracks, struct xsp_range *range, const struct xsprof_event *ev);

/**
 * struct xsr_walk - iterates over the arguments of records
 * @at: next kept record
 * @end: end of the kept records
 * @piece: alternatively: next piece
 * @ev: current record, as an event
 * @pos: position in it
 * @cut: the bytes of the last xsr_walk_bytes() were cut when recorded
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
/* The next argument of one or several records. Return: false at the end. */
bool xsr_walk_next(struct xsr_walk *walk, struct xsprof_trace_arg *arg);
/*
 * The next element of a list with @left remaining elements. Return: false if there is none; @walk
 * is then after the list.
 */
bool xsr_walk_item(struct xsr_walk *walk, uint64_t *left, struct xsprof_trace_arg *item);
/*
 * Assembles the string or list that begins with @arg in @text of @room bytes; @walk is then after
 * its last part. Return: its size.
 */
size_t xsr_walk_bytes(struct xsr_walk *walk, const struct xsprof_trace_arg *arg, char *text,
		      size_t room);

/* Is @key that of an op's input, or of a list element? */
static inline bool xsr_key_is_input(uint32_t key)
{
	return key >= XSPROF_KEY_INPUT && key < XSPROF_KEY_INPUT + XSPROF_KEY_PLACES;
}

static inline bool xsr_key_is_item(uint32_t key)
{
	return key >= XSPROF_KEY_ITEM && key < XSPROF_KEY_ITEM + XSPROF_KEY_PLACES;
}

/* Is @key the place of an activity, which outputs show in another way? */
static inline bool xsr_key_is_place(uint32_t key)
{
	return key >= XSPROF_KEY_ACTIVITY && key <= XSPROF_KEY_RESOURCE;
}

#endif /* XSR_KEEP_H */
