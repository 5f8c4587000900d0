/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The threads of a trace during a walk: their open ranges, and the output's data about each.
 * Limited to a fixed amount of memory: threads without open ranges are forgotten when it is used
 * up.
 */
#ifndef XSPROF_OUT_TRACKS_H
#define XSPROF_OUT_TRACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <xsprof/trace.h>

#include "decode/tid.h"
#include "ranges/opens.h"

/**
 * struct xsp_track - a thread of a process, or another track of an output
 * @opens: its ranges, open and latest closed ones; must be first
 * @kind: 0: a thread; other values belong to the output
 * @shown_tid: result of xsp_track_tid(), 0: not computed yet
 * @shown: number of its events shown
 * @prefix: the output's prefix of every event, @prefix_len bytes, or NULL
 * @comm: the name used in @prefix
 * @refresh: number of events at which to look the name up again
 * @context: for the output: the context that its events belong to
 * @note_to_top: arguments in the next record belong to the innermost open range
 * @more: the last record continues in the next
 * @last_match: the last record was selected
 * @stale: for the output: its last event on the track may have ended without the viewer knowing
 * @priv: data of the output, freed when the thread is forgotten
 */
struct xsp_track {
	struct xsp_opens	opens;
	struct xsp_track	*next;
	struct xsp_track	*earlier;
	struct xsp_track	*later;
	struct xsp_track	*sibling;
	struct xsp_track	**back;
	uint32_t		producer;
	uint32_t		pid;
	uint64_t		tid;
	uint32_t		kind;
	uint32_t		prefix_len;
	uint64_t		events;
	uint64_t		shown;
	uint64_t		refresh;
	uint64_t		context;
	char			*prefix;
	const char		*comm;
	bool			note_to_top;
	bool			more;
	bool			last_match;
	bool			stale;
	uint32_t		shown_tid;
	void			*priv;
};

/**
 * struct xsp_view - an event with its context
 * @ev: the event
 * @thread: thread of the event
 * @name: name of the event; of an END the name of the range it ends
 * @async: of an async event: result of xsp_tracks_async()
 * @earlier: of an END: the range had been cut before; others may be inside it
 * @unmatched: of an END: no range was open
 * @range: of an END the range, NULL if none was open; of a BEGIN the new range, NULL if it cannot
 *	be tracked
 */
struct xsp_view {
	const struct xsprof_event	*ev;
	struct xsp_track		*thread;
	uint32_t			name;
	bool				async;
	bool				earlier;
	bool				unmatched;
	struct xsp_range		*range;
};

enum xsp_why {
	XSP_WHY_CUT,	/* it ended earlier, an end around it came, or its process paused */
	XSP_WHY_OPEN,	/* the trace ended */
	XSP_WHY_EXIT,	/* its process ended */
	XSP_WHY_THREAD,	/* its thread ended, the process continued */
};

/**
 * struct xsp_tracks_ops - callbacks for ends without an event
 * @closed: a range ended without an event; NULL if not needed
 * @async_closed: an async range ended without an event; @thread is that of its begin. NULL if not
 *	needed
 * @gone: a thread is about to be forgotten, also by xsp_tracks_free(); NULL if not needed
 */
struct xsp_tracks_ops {
	void	(*closed)(void *data, struct xsp_track *thread, struct xsp_range *range,
			  uint64_t ns, enum xsp_why why);
	void	(*async_closed)(void *data, struct xsp_track *thread,
				const struct xsprof_range *range, enum xsp_why why);
	void	(*gone)(void *data, struct xsp_track *thread);
};

struct xsp_tracks;

int xsp_tracks_new(const struct xsp_tracks_ops *ops, void *data, struct xsp_tracks **tracks);
void xsp_tracks_free(struct xsp_tracks *tracks);

/* The track, created if new; @ns is now. NULL without memory. */
struct xsp_track *xsp_tracks_get(struct xsp_tracks *tracks, uint32_t producer, uint32_t pid,
				 uint32_t kind, uint64_t tid, uint64_t ns);
/* The thread that an event is about: of a sample the sampled one; 0: none. */
static inline uint32_t xsp_event_tid(const struct xsprof_event *ev)
{
	struct xsprof_trace_sample sample;

	return xsprof_trace_sample(ev, &sample) && sample.thread ? sample.thread : ev->tid;
}

/*
 * Finds the event's thread and, for an END, its range, which xsp_tracks_end() removes after it was
 * shown. xsp_tracks_begin() adds a BEGIN.
 */
void xsp_tracks_event(struct xsp_tracks *tracks, const struct xsprof_event *ev,
		      struct xsp_view *view);
void xsp_tracks_end(struct xsp_tracks *tracks, const struct xsp_view *view);
/*
 * Handles XSPROF_EV_THREAD_EXIT: closes the thread's open ranges. Return: true: nothing to show of
 * the event itself.
 */
bool xsp_tracks_exit(struct xsp_tracks *tracks, const struct xsprof_event *ev);
/* Return: false if the range cannot be tracked. */
bool xsp_tracks_begin(struct xsp_tracks *tracks, struct xsp_track *thread, uint64_t ns,
		      uint32_t name, bool match, bool shown);
bool xsp_tracks_complete(struct xsp_tracks *tracks, struct xsp_track *thread, uint64_t begin,
			 uint64_t end);
/* Stores @text as @thread->prefix. Return: false without memory: make the prefix each time. */
bool xsp_tracks_prefix(struct xsp_tracks *tracks, struct xsp_track *thread, const char *text,
		       size_t len);
/*
 * Appends to the note of @range, after removing its last @cut bytes. Return: false without memory.
 */
bool xsp_tracks_note(struct xsp_tracks *tracks, struct xsp_range *range, size_t cut,
		     const char *text, size_t len);
/* Frees the note of @range. */
void xsp_tracks_unnote(struct xsp_tracks *tracks, struct xsp_range *range);
/*
 * Handles an async event. Return: of a begin: is it tracked? Of an end: did it end a range? Of an
 * instant: is a range with its name and id open?
 */
bool xsp_tracks_async(struct xsp_tracks *tracks, const struct xsprof_event *ev);
/* Ends all open ranges at @ns; tracks remain. */
void xsp_tracks_close(struct xsp_tracks *tracks, uint64_t ns);
/* Ends everything at @ns. */
void xsp_tracks_finish(struct xsp_tracks *tracks, uint64_t ns);

/**
 * struct xsp_tracks_stats - counts of mismatches
 * @unmatched: ends without an open range
 * @cut: ranges that ended without an end of their own
 * @open: ranges that nothing ended
 * @deep: begins left out because too many were open, or memory ran out
 */
struct xsp_tracks_stats {
	uint64_t	unmatched;
	uint64_t	cut;
	uint64_t	open;
	uint64_t	deep;
};

const struct xsp_tracks_stats *xsp_tracks_stats(const struct xsp_tracks *tracks);

/* The number of a thread in an output, as it is known when the thread is first shown. */
static inline uint32_t xsp_track_tid(const struct xsprof_trace *trace, struct xsp_track *thread)
{
	if (!thread->shown_tid)
		thread->shown_tid = xst_tid_shown(trace, thread->producer, (uint32_t)thread->tid);
	return thread->shown_tid;
}

/*
 * The earliest time at which a range that nothing ended before @ns may have ended, if that is known
 * only as an interval; else @ns.
 */
static inline uint64_t xsp_ended_after(const struct xsprof_trace *trace, uint32_t producer,
				       uint64_t begin, uint64_t ns, enum xsp_why why)
{
	uint64_t ran = xsprof_trace_ran_ns(trace, producer);

	if (why == XSP_WHY_CUT || why == XSP_WHY_THREAD || !ran || ran >= ns)
		return ns;
	return ran > begin ? ran : begin;
}

#endif /* XSPROF_OUT_TRACKS_H */
