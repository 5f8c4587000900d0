/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracks beside those of threads, for outputs on whose tracks ranges nest: of what is drawn on
 * one of them, and what it is called.  The outputs own the tracks.
 */
#ifndef XSPROF_OUT_LANE_H
#define XSPROF_OUT_LANE_H

#include "format/common/out.h"

#define XSP_LANES	8u	/* tracks of one kind and key */

/* Kinds of tracks; struct xsp_track's kind. */
enum xsp_lane {
	XSP_LANE_THREAD		= 0,
	XSP_LANE_SPANS		= 1,	/* ranges with times of their own: frames */
	XSP_LANE_OVERLAP	= 2,	/* ranges of a thread that do not nest in it */
	XSP_LANE_CALLS		= 3,	/* runtime and driver calls of a thread */
	XSP_LANE_GPU		= 4,	/* a stream of a device */
	XSP_LANE_OWN		= 5,	/* the output's own from here on */
};

/**
 * struct xsp_place - where a range with both times in one record is drawn
 * @begin: ns
 * @end: ns, not before @begin
 * @kind: of the track
 * @key: which of that kind
 * @own: on its thread's own, where it nests there
 */
struct xsp_place {
	uint64_t	begin;
	uint64_t	end;
	enum xsp_lane	kind;
	uint64_t	key;
	bool		own;
};

/* @ev is a COMPLETE, SPAN or GPU of @thread. */
void xsp_lane_place(const struct xsprof_event *ev, const struct xsp_track *thread,
		    struct xsp_place *place);
/* Does a range fit on a track of that kind?  @lane->tid is key * XSP_LANES + its number. */
bool xsp_lane_take(struct xsp_out *out, const struct xsp_track *lane, uint64_t begin,
		   uint64_t end);
/*
 * At most 160 bytes; with the name of a stream.  @lane->tid is key * XSP_LANES + its number.
 * Return: the end.
 */
char *xsp_lane_name(const struct xsp_out *out, const struct xsprof_event *ev,
		    const struct xsp_track *lane, char *p);

#endif /* XSPROF_OUT_LANE_H */
