// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Effects of events on the threads of a trace during a walk: see tracks.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "decode/control.h"
#include "ranges/tracks-local.h"

#define NOTE_MAX	(16u << 10)	/* per range */
#define NOTE_MEMORY	(4u << 20)

static void async_range(void *data, const struct xsprof_range *range);

static void drop_note(struct xsp_tracks *tracks, struct xsp_range *range)
{
	if (!range->note)
		return;
	tracks->notes -= range->note_len + 1;
	free(range->note);
	range->note = NULL;
	range->note_len = 0;
}

/* Closes the innermost range, which has no event for its end. */
static void close_range(void *data, struct xsp_opens *opens, uint64_t ns, bool cut)
{
	struct xsp_tracks *tracks = data;
	struct xsp_range *range = xsp_stack_top(&opens->stack);
	enum xsp_why why = cut ? XSP_WHY_CUT : tracks->why;

	if (why == XSP_WHY_CUT)
		tracks->stats.cut++;
	else
		tracks->stats.open++;
	if (tracks->ops->closed)
		tracks->ops->closed(tracks->data, (struct xsp_track *)opens, range, ns, why);
	drop_note(tracks, range);
}

static const struct xsp_opens_ops opens_ops = { .close = close_range };

int xsp_tracks_new(const struct xsp_tracks_ops *ops, void *data, struct xsp_tracks **out)
{
	struct xsp_tracks *tracks = calloc(1, sizeof(*tracks));

	if (!tracks)
		return -ENOMEM;
	if (xsprof_pairer_new(NULL, async_range, tracks, &tracks->asyncs)) {
		free(tracks);
		return -ENOMEM;
	}
	tracks->ops = ops;
	tracks->data = data;
	tracks->seed = xsp_hash_seed(tracks);
	tracks->opens.ops = &opens_ops;
	tracks->opens.data = tracks;
	tracks->opens.budget.limit = XSP_TRACK_MEMORY;
	*out = tracks;
	return 0;
}

const struct xsp_tracks_stats *xsp_tracks_stats(const struct xsp_tracks *tracks)
{
	return &tracks->stats;
}

/* A stand-in for a thread without memory. */
static struct xsp_track *spare_thread(struct xsp_tracks *tracks, uint32_t producer, uint32_t pid,
				      uint32_t tid)
{
	struct xsp_track *thread = &tracks->spare;

	memset(thread, 0, sizeof(*thread));
	thread->producer = producer;
	thread->pid = pid;
	thread->tid = tid;
	thread->opens.stack.floor = UINT64_MAX;
	return thread;
}

/* An async range has ended; tells the output if no event shows it. */
static void async_range(void *data, const struct xsprof_range *range)
{
	struct xsp_tracks *tracks = data;
	struct xsp_track *thread, spare;

	if (range->how == XSPROF_RANGE_ENDED) {
		tracks->async_ended = true;
		return;
	}
	tracks->stats.cut += range->how == XSPROF_RANGE_CUT;
	tracks->stats.open += range->how == XSPROF_RANGE_OPEN;
	if (!tracks->ops->async_closed)
		return;
	thread = xsp_tracks_get(tracks, range->producer, range->pid, 0,
				range->tid ? range->tid : range->pid, range->end_ns);
	/* The current event may use the stand-in. */
	spare = tracks->spare;
	if (!thread)
		thread = spare_thread(tracks, range->producer, range->pid, range->tid);
	tracks->ops->async_closed(tracks->data, thread, range, tracks->why);
	tracks->spare = spare;
}

bool xsp_tracks_async(struct xsp_tracks *tracks, const struct xsprof_event *ev)
{
	struct xsprof_pairer_stats before, after;
	bool begin = ev->type == XSPROF_REC_ASYNC_BEGIN;
	int ret;

	tracks->async_ended = false;
	xsprof_pairer_get_stats(tracks->asyncs, &before);
	if (ev->type == XSPROF_REC_ASYNC_INSTANT)
		return xst_async_open(tracks->asyncs, ev);
	ret = xsprof_pairer_event(tracks->asyncs, ev);
	xsprof_pairer_get_stats(tracks->asyncs, &after);
	if (!begin) {
		tracks->stats.unmatched += after.unmatched_ends - before.unmatched_ends;
		return tracks->async_ended;
	}
	if (!ret && after.too_deep == before.too_deep)
		return true;
	tracks->stats.deep++;
	return false;
}

/*
 * Passes on other events that end async ranges: losses, switches of categories, ends of processes.
 */
static void tell_asyncs(struct xsp_tracks *tracks, const struct xsprof_event *ev)
{
	/* Without memory to end them in order they end with the trace. */
	if (xsprof_pairer_event(tracks->asyncs, ev))
		tracks->stats.deep++;
}

static void exit_event(struct xsp_tracks *tracks, const struct xsp_track_owner *owner, uint64_t ns)
{
	struct xsp_track *thread;

	for (thread = owner ? owner->threads : NULL; thread; thread = thread->sibling)
		xsp_opens_close_all(&tracks->opens, &thread->opens, ns);
}

static struct xsp_track_owner *owner_of(const struct xsp_tracks *tracks, uint32_t producer)
{
	return producer < tracks->nr_owners ? tracks->owners[producer] : NULL;
}

/* Handles events other than ends that end ranges or make them uncertain. */
static void other_event(struct xsp_tracks *tracks, const struct xsprof_event *ev)
{
	struct xsp_track_owner *owner = owner_of(tracks, ev->producer);
	uint64_t enabled;

	tracks->why = ev->type == XSPROF_EV_EXIT ? XSP_WHY_EXIT : XSP_WHY_CUT;
	tell_asyncs(tracks, ev);
	if (ev->type == XSPROF_EV_EXIT)
		exit_event(tracks, owner, ev->ns);
	else if (owner && xsp_control_enabled(ev, &enabled))
		xsp_opens_control(&tracks->opens, &owner->opens, enabled, ev->ns);
	tracks->why = XSP_WHY_CUT;
}

/* Afterwards another thread may have its number. */
static void thread_exit(struct xsp_tracks *tracks, struct xsp_track *thread, uint64_t ns)
{
	tracks->why = XSP_WHY_THREAD;
	xsp_opens_close_all(&tracks->opens, &thread->opens, ns);
	tracks->why = XSP_WHY_CUT;
	thread->opens.owed = 0;
}

bool xsp_tracks_exit(struct xsp_tracks *tracks, const struct xsprof_event *ev)
{
	struct xsp_track *thread;

	if (ev->type != XSPROF_EV_THREAD_EXIT)
		return false;
	thread = xsp_tracks_find(tracks, ev->producer, 0, ev->tid);
	if (!thread)
		return true;
	tracks->pinned = thread;
	xsp_opens_catch_up(&thread->opens);
	xsp_opens_losses(&tracks->opens, &thread->opens);
	thread_exit(tracks, thread, ev->ns);
	return true;
}

static void end_event(struct xsp_tracks *tracks, struct xsp_view *view)
{
	const struct xsprof_event *ev = view->ev;
	int err;

	err = xsp_opens_end(&tracks->opens, &view->thread->opens, ev->ns, ev->name, ev->aux,
			    &view->range);
	view->earlier = err == -ETIME;
	view->unmatched = err == -ENOENT;
	tracks->stats.unmatched += view->unmatched;
	if (view->range)
		view->name = view->range->name;
}

void xsp_tracks_event(struct xsp_tracks *tracks, const struct xsprof_event *ev,
		      struct xsp_view *view)
{
	uint32_t tid = xsp_event_tid(ev);
	struct xsp_track *thread;

	tracks->now++;
	tracks->pinned = NULL;
	xst_losses_event(&tracks->opens.losses, ev);
	thread = xsp_tracks_get(tracks, ev->producer, ev->pid, 0, tid ? tid : ev->pid, ev->ns);
	if (!thread)
		thread = spare_thread(tracks, ev->producer, ev->pid, tid);
	else
		xsp_opens_catch_up(&thread->opens);
	tracks->pinned = thread;
	thread->events++;
	view->ev = ev;
	view->thread = thread;
	view->name = ev->name;
	view->range = NULL;
	view->earlier = view->unmatched = false;
	if (ev->type <= XSPROF_REC_COMPLETE)
		xsp_opens_losses(&tracks->opens, &thread->opens);
	if (ev->type == XSPROF_REC_END) {
		end_event(tracks, view);
	} else if (ev->flags & XSPROF_EVF_THREAD_EXIT) {
		xsp_opens_losses(&tracks->opens, &thread->opens);
		thread_exit(tracks, thread, ev->ns);
	} else if (ev->type == XSPROF_EV_EXIT || ev->type == XSPROF_EV_LOST ||
		   ev->type == XSPROF_REC_CONTROL) {
		other_event(tracks, ev);
	}
}

void xsp_tracks_end(struct xsp_tracks *tracks, const struct xsp_view *view)
{
	struct xsp_opens *opens = &view->thread->opens;

	if (!view->range)
		return;
	if (view->earlier) {
		xsp_opens_cut(&tracks->opens, opens, view->range, view->ev->ns);
		return;
	}
	drop_note(tracks, view->range);
	xsp_opens_take(&tracks->opens, opens, view->ev->ns);
}

bool xsp_tracks_begin(struct xsp_tracks *tracks, struct xsp_track *thread, uint64_t ns,
		      uint32_t name, bool match, bool shown)
{
	if (!xsp_opens_begin(&tracks->opens, &thread->opens, ns, name, match, shown))
		return true;
	tracks->stats.deep++;
	return false;
}

bool xsp_tracks_complete(struct xsp_tracks *tracks, struct xsp_track *thread, uint64_t begin,
			 uint64_t end)
{
	return thread != &tracks->spare &&
	       xsp_stack_complete(&thread->opens.stack, &tracks->opens.budget, begin, end);
}

bool xsp_tracks_note(struct xsp_tracks *tracks, struct xsp_range *range, size_t cut,
		     const char *text, size_t len)
{
	size_t old = range->note_len;
	char *note;

	if (old + len > NOTE_MAX || tracks->notes + len + 1 > NOTE_MEMORY)
		return false;
	note = realloc(range->note, old + len + 1);
	if (!note)
		return false;
	tracks->notes += range->note ? len - cut : len + 1;
	memcpy(note + old - cut, text, len);
	note[old - cut + len] = '\0';
	range->note = note;
	range->note_len = (uint32_t)(old - cut + len);
	return true;
}

void xsp_tracks_unnote(struct xsp_tracks *tracks, struct xsp_range *range)
{
	drop_note(tracks, range);
}

void xsp_tracks_close(struct xsp_tracks *tracks, uint64_t ns)
{
	const struct xsprof_event now = { .ns = ns };
	struct xsp_track *track;

	tracks->why = XSP_WHY_OPEN;
	/* Any event tells the pairer the current time. */
	if (xsprof_pairer_event(tracks->asyncs, &now) || xsprof_pairer_finish(tracks->asyncs))
		tracks->stats.deep++;
	for (track = tracks->first; track; track = track->later)
		xsp_opens_close_all(&tracks->opens, &track->opens, ns);
}

void xsp_tracks_finish(struct xsp_tracks *tracks, uint64_t ns)
{
	xsp_tracks_close(tracks, ns);
	while (tracks->first)
		xsp_tracks_forget(tracks, tracks->first);
}

void xsp_tracks_free(struct xsp_tracks *tracks)
{
	struct xsp_tracks_ops silent = { 0 };

	if (!tracks)
		return;
	silent.gone = tracks->ops->gone;
	tracks->ops = &silent;
	xsp_tracks_finish(tracks, 0);
	for (uint32_t i = 0; i < tracks->nr_owners; i++) {
		if (tracks->owners[i])
			xsp_by_category_free(&tracks->owners[i]->opens.open);
		free(tracks->owners[i]);
	}
	xsprof_pairer_free(tracks->asyncs);
	free(tracks->owners);
	free(tracks);
}
