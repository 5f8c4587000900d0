/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An instant of which not all is there yet: its record goes on in those that come next in its
 * thread.  Their arguments are collected; the output writes the whole.
 */
#ifndef XSPROF_OUT_HELD_H
#define XSPROF_OUT_HELD_H

#include "format/common/out.h"

/**
 * struct fmt_held - one that waits, as the private data of its thread
 * @range: no range: its note has the arguments so far
 * @ev: the instant, without its record
 * @name: its name
 * @used: there is one
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

/* Return: false when it is to be written as it is. */
bool fmt_hold(struct xsp_out *out, const struct xsp_view *view, fmt_note note);
/* An event without arguments, which waits for what comes next.  Return: false without memory. */
bool fmt_hold_plain(const struct xsp_view *view);
/*
 * Arguments that came late.  Return: they are of one that waits; @whole is set where nothing more
 * will come.
 */
bool fmt_held_add(struct xsp_out *out, const struct xsp_view *view, fmt_note note, bool *whole);
/* To be written now; then fmt_held_done().  Return: NULL where none waits. */
struct fmt_held *fmt_held_take(struct xsp_track *thread);
void fmt_held_done(struct xsp_out *out, struct fmt_held *held);
void fmt_held_free(struct xsp_track *thread);

#endif /* XSPROF_OUT_HELD_H */
