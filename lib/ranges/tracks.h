/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The threads of a trace while it is walked: what is open on each, and what an output keeps
 * about each.  It never holds more than a fixed amount of memory: threads that have nothing
 * open are forgotten when it runs out.
 */
#ifndef XSPROF_OUT_TRACKS_H
#define XSPROF_OUT_TRACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <xsprof/trace.h>

#include "ranges/opens.h"

/**
 * struct xsp_track - one thread of a process, or another track that an output draws
 * @opens: its ranges, those that are open and the latest that closed; the first
 * @kind: 0 a thread; others are the output's
 * @kernel_tid: what xsp_track_tid() said, 0 not asked yet
 * @shown: events of it that were shown
 * @prefix: what the output puts in front of every event, @prefix_len bytes, or NULL
 * @comm: the name that @prefix was made with
 * @refresh: count of events at which the name is to be asked for again
 * @note_to_top: arguments that come as the next record belong to the innermost open range
 * @more: the last record goes on with the next
 * @last_match: the last record was wanted
 * @stale: the output's: what it drew last on the track may have ended, and a viewer not know it
 * @priv: the output's, to be freed when the thread is gone
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
	char			*prefix;
	const char		*comm;
	bool			note_to_top;
	bool			more;
	bool			last_match;
	bool			stale;
	uint32_t		kernel_tid;
	void			*priv;
};

/**
 * struct xsp_view - an event in its place
 * @ev: the event
 * @thread: whose it is
 * @name: its name; of an END the name of the range it ends
 * @async: of an async event: what xsp_tracks_async() returned
 * @earlier: of an END: the range had ended before, and is cut; others may be inside it
 * @unmatched: of an END: nothing was open
 * @range: of an END the range, NULL where none was open; of a BEGIN the new one, NULL where it
 *	cannot be remembered that it is open
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
	XSP_WHY_THREAD,	/* its thread ended, and the process went on */
};

/**
 * struct xsp_tracks_ops - what happens without an event
 * @closed: a range came to an end without one; NULL when of no interest
 * @async_closed: an async range came to an end without one; @thread is that of its begin.  NULL
 *	when of no interest
 * @gone: a thread is about to be forgotten; NULL when of no interest
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

/* The track, made when it is new; @ns is now.  NULL when there is no memory for one more. */
struct xsp_track *xsp_tracks_get(struct xsp_tracks *tracks, uint32_t producer, uint32_t pid,
				 uint32_t kind, uint64_t tid, uint64_t ns);
/*
 * Finds the event's thread and, for an END, its range; xsp_tracks_end() takes it off the stack
 * when it has been shown.  A BEGIN is put there by xsp_tracks_begin().
 */
void xsp_tracks_event(struct xsp_tracks *tracks, const struct xsprof_event *ev,
		      struct xsp_view *view);
void xsp_tracks_end(struct xsp_tracks *tracks, const struct xsp_view *view);
/*
 * Is it a XSPROF_EV_THREAD_EXIT?  Then what is open on the thread is closed: there is nothing to
 * show of the event itself.
 */
bool xsp_tracks_exit(struct xsp_tracks *tracks, const struct xsprof_event *ev);
/* Return: false when it cannot be remembered that it is open. */
bool xsp_tracks_begin(struct xsp_tracks *tracks, struct xsp_track *thread, uint64_t ns,
		      uint32_t name, bool match, bool shown);
bool xsp_tracks_complete(struct xsp_tracks *tracks, struct xsp_track *thread, uint64_t begin,
			 uint64_t end);
/* Memory for @thread->prefix.  Return: false when it is not to be had: make it every time. */
bool xsp_tracks_prefix(struct xsp_tracks *tracks, struct xsp_track *thread, const char *text,
		       size_t len);
/*
 * A note for @range, after the one it has without the last @cut bytes of it.  Return: false when
 * there is no memory for it.
 */
bool xsp_tracks_note(struct xsp_tracks *tracks, struct xsp_range *range, size_t cut,
		     const char *text, size_t len);
/* Takes the note of @range away. */
void xsp_tracks_unnote(struct xsp_tracks *tracks, struct xsp_range *range);
/*
 * An async event that is shown.  Return: of a begin, is it remembered; of an end, did it end a
 * range?  Of an instant: is a range of its name and id open?
 */
bool xsp_tracks_async(struct xsp_tracks *tracks, const struct xsprof_event *ev);
/* All that is open ends at @ns; tracks are still there. */
void xsp_tracks_close(struct xsp_tracks *tracks, uint64_t ns);
/* Everything ends at @ns. */
void xsp_tracks_finish(struct xsp_tracks *tracks, uint64_t ns);

/**
 * struct xsp_tracks_stats - what did not fit together
 * @unmatched: ends with nothing open
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

/*
 * The number of a thread in a trace that may have the kernel's events as well: the kernel's where
 * that is known when it is first shown, else the program's own.
 */
static inline uint32_t xsp_track_tid(const struct xsprof_trace *trace, struct xsp_track *thread)
{
	uint32_t tid = (uint32_t)thread->tid;

	if (!thread->kernel_tid)
		thread->kernel_tid = xsprof_trace_kernel_tid(trace, thread->producer, tid);
	if (!thread->kernel_tid)
		thread->kernel_tid = tid;
	return thread->kernel_tid;
}

/*
 * Of a range that nothing ended before @ns: after what time it ended, where that is known to an
 * interval only; else @ns.
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
