/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An event whose arguments continue in the next records of its thread. The arguments are
 * collected; then the output writes all of it.
 */
#ifndef XSPROF_OUT_HELD_H
#define XSPROF_OUT_HELD_H

#include "format/common/out.h"

/**
 * struct fmt_held - an event that waits, the private data of its thread
 * @range: not a range: its note has the arguments of an instant so far
 * @ev: the event; an instant is without its record
 * @record: record of an event that is no instant, with the arguments so far
 * @room: bytes for it
 * @name: its name
 * @used: an event waits
 */
struct fmt_held {
	struct xsp_range	range;
	struct xsprof_event	ev;
	char			*record;
	size_t			room;
	uint32_t		name;
	bool			used;
};

/* Adds the arguments of @ev to the note of @range.  Return: false without memory. */
typedef bool (*fmt_note)(struct xsp_out *out, const struct xsprof_event *ev,
			 struct xsp_range *range);

/* An instant. Return: false: write it now. */
bool fmt_hold(struct xsp_out *out, const struct xsp_view *view, fmt_note note);
/* An event with its own times. Return: false: write it now. */
bool fmt_hold_range(const struct xsp_view *view);
/* An event without arguments that must wait for the next event. Return: false without memory. */
bool fmt_hold_plain(const struct xsp_view *view);
/*
 * Late arguments. Return: true: they belong to an event that waits; @whole is set if no more will
 * come.
 */
bool fmt_held_add(struct xsp_out *out, const struct xsp_view *view, fmt_note note, bool *whole);
/* To be written now, then call fmt_held_done(). Return: NULL: none waits. */
struct fmt_held *fmt_held_take(struct xsp_track *thread);
void fmt_held_done(struct xsp_out *out, struct fmt_held *held);
void fmt_held_free(struct xsp_track *thread);

#endif /* XSPROF_OUT_HELD_H */
