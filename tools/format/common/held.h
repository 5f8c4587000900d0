/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events of formats that draw ranges and instants on tracks: if the arguments of an event continue
 * in the next records of its thread, they are collected, and then the event is drawn.
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

/* An event without arguments that must wait for the next event. Return: false without memory. */
bool fmt_hold_plain(const struct xsp_view *view);
/* Return: the event that waits, to be written, then given to fmt_held_done(); NULL: none. */
struct fmt_held *fmt_held_take(struct xsp_track *thread);
void fmt_held_done(struct xsp_out *out, struct fmt_held *held);
void fmt_held_free(struct xsp_track *thread);

/**
 * struct fmt_drawing - functions of a format
 * @range: writes an event with its own times
 * @instant: writes an instant; @noted: its note has the arguments; NULL: the event has them
 * @metric: writes the value of a device's counter from @ns on
 * @in_use: writes the memory in use after an allocation or a free
 * @note: see fmt_note
 */
struct fmt_drawing {
	void		(*range)(struct xsp_out *out, const struct xsp_view *view);
	void		(*instant)(struct xsp_out *out, const struct xsp_view *view,
				   uint32_t scope, const struct xsp_range *noted);
	void		(*metric)(struct xsp_out *out, const struct xsp_view *view, uint32_t key,
				  uint64_t ns, double value);
	void		(*in_use)(struct xsp_out *out, const struct xsp_view *view);
	fmt_note	note;
};

/* Writes the event of @thread that waits, if there is one. */
void fmt_draw_held(struct xsp_out *out, const struct fmt_drawing *drawing,
		   struct xsp_track *thread);
/*
 * Writes an instant or an event with its own times, or keeps it until its arguments are complete.
 * Return: false: other events, which the format writes.
 */
bool fmt_draw(struct xsp_out *out, const struct fmt_drawing *drawing,
	      const struct xsp_view *view);

#endif /* XSPROF_OUT_HELD_H */
