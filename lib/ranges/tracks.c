// SPDX-License-Identifier: LGPL-2.1-only
/*
 * What events do to the threads of a trace while it is walked: see tracks.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decode/control.h"
#include "ranges/tracks-local.h"

#define NOTE_MAX	(16u << 10)	/* of one range */
#define NOTE_MEMORY	(4u << 20)

static void async_range(void *data, const struct xsprof_range *range);

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
	tracks->budget.limit = XSP_TRACK_MEMORY;
	*out = tracks;
	return 0;
}

const struct xsp_tracks_stats *xsp_tracks_stats(const struct xsp_tracks *tracks)
{
	return &tracks->stats;
}

static void drop_note(struct xsp_tracks *tracks, struct xsp_range *range)
{
	if (!range->note)
		return;
	tracks->notes -= range->note_len + 1;
	free(range->note);
	range->note = NULL;
	range->note_len = 0;
}

/* Ends the innermost range, for which there is no event. */
static void close_top(struct xsp_tracks *tracks, struct xsp_track *thread, uint64_t ns,
		      enum xsp_why why)
{
	struct xsp_range *range = xsp_stack_top(&thread->stack);

	if (range->cut)
		why = XSP_WHY_CUT;
	/* Where no end was seen, it may be missing in any ring: the thread may have moved there. */
	range->lost |= why != XSP_WHY_CUT &&
		       xst_losses_since(&tracks->losses, thread->producer, range->losses);
	if (why == XSP_WHY_CUT)
		tracks->stats.cut++;
	else
		tracks->stats.open++;
	if (tracks->ops->closed)
		tracks->ops->closed(tracks->data, thread, range, ns, why);
	drop_note(tracks, range);
	xsp_stack_end(&thread->stack, ns);
}

/* What was open when the thread may have lost a begin or an end has no certain end. */
static void note_losses(struct xsp_tracks *tracks, struct xsp_track *thread)
{
	struct xsp_stack *stack = &thread->stack;

	if (!xst_losses_pass(&tracks->losses, thread->producer, &thread->mark))
		return;
	for (uint32_t i = 0; i < stack->n; i++)
		if (stack->v[i].end == XSP_OPEN)
			stack->v[i].lost = true;
}

static void close_all(struct xsp_tracks *tracks, struct xsp_track *thread, uint64_t ns,
		      enum xsp_why why)
{
	while (thread->stack.open)
		close_top(tracks, thread, ns, why);
	thread->stack.deep = 0;
}

/* Ends to come that belong to no range any more. */
static uint32_t *owed_by_top(struct xsp_track *thread)
{
	struct xsp_range *top = xsp_stack_top(&thread->stack);

	return top ? &top->owed : &thread->owed;
}

/* Closes ranges at the top that were only held open by those inside them. */
static void close_cut(struct xsp_tracks *tracks, struct xsp_track *thread, uint64_t ns)
{
	const struct xsp_range *range;

	while ((range = xsp_stack_top(&thread->stack)) && range->cut) {
		uint32_t owed = range->owed + range->owing;

		close_top(tracks, thread, ns, XSP_WHY_CUT);
		*owed_by_top(thread) += owed;
	}
}

/*
 * What is open of the categories that are not in @enabled is cut.  While others are on, ends
 * have no name and go on to come; in a pause none does.
 */
static void cut_thread(struct xsp_tracks *tracks, struct xsp_track *thread, uint64_t enabled,
		       uint64_t ns)
{
	struct xsp_stack *stack = &thread->stack;
	uint32_t i;

	note_losses(tracks, thread);
	for (i = 0; i < stack->n; i++)
		if (stack->v[i].end == XSP_OPEN &&
		    !(enabled >> (stack->v[i].name >> XSPROF_NAME_SHIFT) & 1)) {
			stack->v[i].owing = enabled && (!stack->v[i].cut || stack->v[i].owing);
			stack->v[i].cut = true;
		}
	close_cut(tracks, thread, ns);
}

/* A thread of which nothing can be remembered. */
static struct xsp_track *spare_thread(struct xsp_tracks *tracks, uint32_t producer, uint32_t pid,
				      uint32_t tid)
{
	struct xsp_track *thread = &tracks->spare;

	memset(thread, 0, sizeof(*thread));
	thread->producer = producer;
	thread->pid = pid;
	thread->tid = tid;
	thread->stack.floor = UINT64_MAX;
	return thread;
}

/* It may be owed by a range that was cut. */
static void end_of_nothing(struct xsp_tracks *tracks, uint32_t *owed)
{
	if (*owed)
		(*owed)--;
	else
		tracks->stats.unmatched++;
}

/*
 * The range that an end with @name ends: the innermost, or the innermost of that name.  Those
 * inside it never got their own.
 */
static struct xsp_range *find_end(struct xsp_tracks *tracks, struct xsp_track *thread,
				  uint32_t name, uint64_t ns)
{
	struct xsp_stack *stack = &thread->stack;
	uint32_t i = stack->n, *owed;

	if (stack->deep) {
		stack->deep--;
		return NULL;
	}
	owed = owed_by_top(thread);
	if (!name && *owed) {
		(*owed)--;
		return NULL;
	}
	if (!stack->open) {
		end_of_nothing(tracks, owed);
		return NULL;
	}
	if (name) {
		while (i && (stack->v[i - 1].end != XSP_OPEN || stack->v[i - 1].cut ||
			     stack->v[i - 1].name != name))
			i--;
		if (!i) {
			end_of_nothing(tracks, owed);
			return NULL;
		}
		while (xsp_stack_top(stack) != &stack->v[i - 1])
			close_top(tracks, thread, ns, XSP_WHY_CUT);
	}
	return xsp_stack_top(stack);
}

/* An async range has ended; where no event shows that, the output is told. */
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
	/* The event that is looked at may have the spare one. */
	spare = tracks->spare;
	if (!thread)
		thread = spare_thread(tracks, range->producer, range->pid, range->tid);
	tracks->ops->async_closed(tracks->data, thread, range, tracks->async_why);
	tracks->spare = spare;
}

bool xsp_tracks_async(struct xsp_tracks *tracks, const struct xsprof_event *ev)
{
	struct xsprof_pairer_stats before, after;
	bool begin = ev->type == XSPROF_REC_ASYNC_BEGIN;
	int ret;

	tracks->async_why = XSP_WHY_CUT;
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

/* Losses, switches of categories, and ends of processes: what else ends async ranges. */
static void tell_asyncs(struct xsp_tracks *tracks, const struct xsprof_event *ev)
{
	tracks->async_why = ev->type == XSPROF_EV_EXIT ? XSP_WHY_EXIT : XSP_WHY_CUT;
	/* No memory to end them in order: they end with the trace. */
	if (xsprof_pairer_event(tracks->asyncs, ev))
		tracks->stats.deep++;
}

static void exit_event(struct xsp_tracks *tracks, const struct xsprof_event *ev)
{
	struct xsp_track *thread;

	if (ev->producer >= tracks->nr_producers)
		return;
	for (thread = tracks->producers[ev->producer].threads; thread; thread = thread->sibling)
		close_all(tracks, thread, ev->ns, XSP_WHY_EXIT);
}

static void control_event(struct xsp_tracks *tracks, const struct xsprof_event *ev)
{
	struct xsp_by_category *open;
	struct xsp_track *thread;
	uint64_t enabled;

	if (ev->producer >= tracks->nr_producers || !xsp_control_enabled(ev, &enabled))
		return;
	open = tracks->producers[ev->producer].open;
	while (open && (thread = xsp_by_category_any(open, ~enabled))) {
		xsp_tracks_catch_up(tracks, thread);
		tracks->budget.used -= xsp_by_category_leave(&thread->member, ~enabled);
		cut_thread(tracks, thread, enabled, ev->ns);
	}
	tracks->producers[ev->producer].controls++;
	tracks->producers[ev->producer].pauses += !enabled;
}

void xsp_tracks_event(struct xsp_tracks *tracks, const struct xsprof_event *ev,
		      struct xsp_view *view)
{
	struct xsp_track *thread;

	tracks->now++;
	tracks->pinned = NULL;
	thread = xsp_tracks_get(tracks, ev->producer, ev->pid, 0, ev->tid ? ev->tid : ev->pid,
				ev->ns);
	if (!thread)
		thread = spare_thread(tracks, ev->producer, ev->pid, ev->tid);
	else
		xsp_tracks_catch_up(tracks, thread);
	tracks->pinned = thread;
	thread->events++;
	view->ev = ev;
	view->thread = thread;
	view->name = ev->name;
	view->range = NULL;
	if (ev->type <= XSPROF_REC_COMPLETE) {
		xst_losses_wrote(&thread->mark, ev->cpu);
		note_losses(tracks, thread);
	}
	if (ev->type == XSPROF_REC_END) {
		view->range = find_end(tracks, thread, ev->name, ev->ns);
		if (view->range)
			view->name = view->range->name;
	} else if (ev->type == XSPROF_EV_EXIT) {
		tell_asyncs(tracks, ev);
		exit_event(tracks, ev);
	} else if (ev->type == XSPROF_EV_LOST) {
		tell_asyncs(tracks, ev);
		xst_losses_add(&tracks->losses, ev);
	} else if (ev->type == XSPROF_REC_CONTROL) {
		tell_asyncs(tracks, ev);
		control_event(tracks, ev);
	}
}

void xsp_tracks_end(struct xsp_tracks *tracks, const struct xsp_view *view)
{
	if (!view->range)
		return;
	drop_note(tracks, view->range);
	xsp_stack_end(&view->thread->stack, view->ev->ns);
	close_cut(tracks, view->thread, view->ev->ns);
}

/* The thread has a range of @category.  Return: false when that cannot be remembered. */
static bool join(struct xsp_tracks *tracks, struct xsp_track *thread, uint32_t category)
{
	struct xsp_track_owner *p = &tracks->producers[thread->producer];
	int took;

	if (thread->member.mask >> category & 1)
		return true;
	if (tracks->budget.used + sizeof(struct xsp_category_item) > tracks->budget.limit)
		return false;
	if (!p->open)
		p->open = calloc(1, sizeof(*p->open));
	took = p->open ? xsp_by_category_join(p->open, &thread->member, thread, category) : -ENOMEM;
	if (took < 0)
		return false;
	tracks->budget.used += (size_t)took;
	return true;
}

bool xsp_tracks_begin(struct xsp_tracks *tracks, struct xsp_track *thread, uint64_t ns,
		      uint32_t name, bool match, bool shown)
{
	if (thread == &tracks->spare) {
		tracks->stats.deep++;
		return false;
	}
	/* Once one was left out, those inside it are too: the ends tell nothing else. */
	if (!thread->stack.deep && join(tracks, thread, xsp_category_of(name)) &&
	    xsp_stack_begin(&thread->stack, &tracks->budget, ns, name, match, shown)) {
		xsp_stack_top(&thread->stack)->losses = tracks->losses.count;
		return true;
	}
	thread->stack.deep++;
	tracks->stats.deep++;
	return false;
}

bool xsp_tracks_complete(struct xsp_tracks *tracks, struct xsp_track *thread, uint64_t begin,
			 uint64_t end)
{
	return thread != &tracks->spare &&
	       xsp_stack_complete(&thread->stack, &tracks->budget, begin, end);
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

void xsp_tracks_finish(struct xsp_tracks *tracks, uint64_t ns)
{
	const struct xsprof_event now = { .ns = ns };
	unsigned int i;

	tracks->async_why = XSP_WHY_OPEN;
	/* Any event tells the pairer how late it is. */
	if (xsprof_pairer_event(tracks->asyncs, &now) || xsprof_pairer_finish(tracks->asyncs))
		tracks->stats.deep++;
	for (i = 0; i < XSP_TRACK_BUCKETS; i++) {
		while (tracks->buckets[i]) {
			close_all(tracks, tracks->buckets[i], ns, XSP_WHY_OPEN);
			xsp_tracks_forget(tracks, &tracks->buckets[i]);
		}
	}
}

void xsp_tracks_free(struct xsp_tracks *tracks)
{
	static const struct xsp_tracks_ops silent;

	if (!tracks)
		return;
	tracks->ops = &silent;
	xsp_tracks_finish(tracks, 0);
	for (uint32_t i = 0; i < tracks->nr_producers; i++) {
		if (tracks->producers[i].open)
			xsp_by_category_free(tracks->producers[i].open);
		free(tracks->producers[i].open);
	}
	xsprof_pairer_free(tracks->asyncs);
	free(tracks->producers);
	free(tracks);
}
