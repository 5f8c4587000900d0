/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An instant whose arguments continue in the next records of its thread. The arguments are
 * collected; then the output writes all of it.
 */
#ifndef XSPROF_OUT_HELD_H
#define XSPROF_OUT_HELD_H

#include "format/common/out.h"

/**
 * struct fmt_held - an instant that waits, the private data of its thread
 * @range: not a range: its note has the arguments so far
 * @ev: the instant, without its record
 * @name: its name
 * @used: an instant waits
 */
struct fmt_held {
	struct xsp_range	range;
	struct xsprof_event	ev;
	uint32_t		name;
	bool			used;
};

/* Adds the arguments of @ev to the note of @range.  Return: false without memory. */
typedef bool (*fmt_note)(struct xsp_out *out, const struct xsprof_event *ev,
			 struct xsp_range *range);

/* Return: false: write it now. */
bool fmt_hold(struct xsp_out *out, const struct xsp_view *view, fmt_note note);
/* An event without arguments that must wait for the next event. Return: false without memory. */
bool fmt_hold_plain(const struct xsp_view *view);
/*
 * Late arguments. Return: true: they belong to an instant that waits; @whole is set if no more will
 * come.
 */
bool fmt_held_add(struct xsp_out *out, const struct xsp_view *view, fmt_note note, bool *whole);
/* To be written now, then call fmt_held_done(). Return: NULL: none waits. */
struct fmt_held *fmt_held_take(struct xsp_track *thread);
void fmt_held_done(struct xsp_out *out, struct fmt_held *held);
void fmt_held_free(struct xsp_track *thread);

#endif /* XSPROF_OUT_HELD_H */
