// SPDX-License-Identifier: GPL-2.0-only
/*
 * The innermost range of a thread while other threads wait for a lock that it holds, as of the
 * current position in the trace.
 */
#include <stdlib.h>

#include "ranges/tracks.h"
#include "report/why-local.h"

int why_holders_new(struct xsp_tracks **tracks)
{
	static const struct xsp_tracks_ops none;

	return xsp_tracks_new(&none, NULL, tracks);
}

void why_holders_event(struct xsp_tracks *tracks, const struct xsprof_event *ev)
{
	struct xsp_view view;

	if (ev->producer == XSPROF_NO_PRODUCER || ev->type == XSPROF_EV_KERNEL ||
	    xsp_tracks_exit(tracks, ev))
		return;
	xsp_tracks_event(tracks, ev, &view);
	/* Without memory for an open range, the range around it counts. */
	if (ev->type == XSPROF_REC_BEGIN)
		(void)xsp_tracks_begin(tracks, view.thread, ev->ns, ev->name, true, true);
	else if (ev->type == XSPROF_REC_END && view.range)
		xsp_tracks_end(tracks, &view);
}

uint32_t why_holders_range(struct xsp_tracks *tracks, uint32_t producer, uint32_t pid,
			   uint32_t tid, uint64_t ns)
{
	struct xsp_track *thread = tid ? xsp_tracks_get(tracks, producer, pid, 0, tid, ns) : NULL;
	const struct xsp_range *range = thread ? xsp_stack_top(&thread->opens.stack) : NULL;

	return range ? range->name : 0;
}
