/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Separate tracks for outputs on whose tracks ranges must nest: which ranges are drawn on which,
 * and the names of tracks. The outputs own the tracks.
 */
#ifndef XSPROF_OUT_LANE_H
#define XSPROF_OUT_LANE_H

#include "format/common/out.h"

#define XSP_LANES	8u	/* tracks of one kind and key */

/* Kinds of tracks; struct xsp_track's kind. */
enum xsp_lane {
	XSP_LANE_THREAD		= 0,
	XSP_LANE_SPANS		= 1,	/* ranges with their own times: frames */
	XSP_LANE_OVERLAP	= 2,	/* ranges of a thread that do not nest on its track */
	XSP_LANE_CALLS		= 3,	/* runtime and driver calls of a thread */
	XSP_LANE_GPU		= 4,	/* a stream of a device */
	XSP_LANE_OWN		= 5,	/* from here on: kinds of the output */
};

/**
 * struct xsp_place - where to draw a range with both times in one record
 * @begin: ns
 * @end: ns, not before @begin
 * @kind: kind of the track
 * @key: which track of that kind
 * @own: draw on the thread's own track if it nests there
 */
struct xsp_place {
	uint64_t	begin;
	uint64_t	end;
	enum xsp_lane	kind;
	uint64_t	key;
	bool		own;
};

/* @ev is a COMPLETE, SPAN or GPU record of @thread. */
void xsp_lane_place(const struct xsprof_event *ev, const struct xsp_track *thread,
		    struct xsp_place *place);
/* Does a range fit on a track of that kind?  @lane->tid is key * XSP_LANES + its number. */
bool xsp_lane_take(struct xsp_out *out, const struct xsp_track *lane, uint64_t begin,
		   uint64_t end);
/*
 * At most 224 bytes; with the names of stream and context.  @lane->tid is key * XSP_LANES + its
 * number.  Return: the end.
 */
char *xsp_lane_name(const struct xsp_out *out, const struct xsprof_event *ev,
		    const struct xsp_track *lane, char *p);

#endif /* XSPROF_OUT_LANE_H */
