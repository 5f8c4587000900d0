/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the Chrome format share: chrome.c turns events into JSON, range.c those that
 * are ranges, flow.c arrows of flows, arrow.c arrows from calls to activities, empty.c ranges of no
 * length, event.c writes one, head.c what stands around them, kernel.c the lines of the kernel's
 * tracer, args.c arguments, track.c has the processes and tracks that events are drawn on.
 * Each calls those after it.
 */
#ifndef XSPROF_CHROME_LOCAL_H
#define XSPROF_CHROME_LOCAL_H

#include "format/common/held.h"
#include "format/common/lane.h"
#include "format/common/out.h"
#include "format/common/running.h"
#include "format/common/spool.h"
#include "text/json.h"
#include "text/keys.h"

/* What a range is: struct xsp_range's kind. */
#define CHROME_OP	1

/* A kind of tracks of its own: what the scheduler did with a thread. */
#define CHROME_SCHED	XSP_LANE_OWN

struct chrome_process {
	uint32_t	pid;	/* as the viewer sees it; 0 not seen yet */
	uint32_t	real;
};

/* In the buffer, from its start: the begin of a range. */
struct chrome_begin {
	const struct xsp_track	*thread;
	size_t			from;
	size_t			to;
};

#define CHROME_EMPTY	64u
#define CHROME_FLOWS	4096u	/* a power of 2 */

/* An arrow that goes on: by its id, when it was last at a thread. */
struct chrome_flow {
	uint64_t	id;
	uint64_t	ns;
};

/**
 * struct chrome_empty - begins of one time, whose ranges may turn out to have no length
 * @ns: that time, since the start of the trace
 * @total: bytes that were written out before the buffer
 * @from: where the begin under way starts
 * @n: how many
 * @v: the latest of them, in their order
 */
struct chrome_empty {
	uint64_t		ns;
	uint64_t		total;
	size_t			from;
	uint32_t		n;
	struct chrome_begin	v[CHROME_EMPTY];
};

/**
 * struct chrome - what the Chrome format keeps
 * @sep: what stands before the next event
 * @processes: by producer number
 * @used: bits of viewer pids up to 2^22
 * @others: likewise of processes that are in the kernel's events
 * @given: viewer pids beyond
 * @next_tid: the next number for a track that is no thread
 * @next_id: the next id of an async range that the format makes
 * @to_async: ranges drawn as async ones because no track had room
 * @pairs: ranges in one record drawn as a begin and an end
 * @spool: lines of the kernel's tracer, NULL before there is one
 * @kernel_lines: how many
 * @keys: those of the arguments under way
 * @sched: the module's records of the scheduler, NULL without
 * @running: what the tracer's events tell of running tasks, NULL without
 * @empty: ranges that may have no length
 * @arrows: places of calls and activities, NULL before the first
 * @flows: arrows that go on, the latest of those that share a place, see flow.c
 */
struct chrome {
	char			sep;
	uint32_t		nr_processes;
	struct chrome_process	*processes;
	uint8_t			*used;
	uint8_t			*others;
	uint32_t		given;
	uint32_t		next_tid;
	uint64_t		next_id;
	uint64_t		to_async;
	uint64_t		pairs;
	struct xsp_spool	*spool;
	uint64_t		kernel_lines;
	struct xsp_keys		keys;
	struct fmt_sched	*sched;
	struct fmt_running	*running;
	struct chrome_empty	empty;
	struct chrome_arrows	*arrows;
	struct chrome_flow	flows[CHROME_FLOWS];
};

/*
 * Viewers keep microseconds in a double, which holds single nanoseconds up to here: 26 days.
 * What is said to be later stays there; the order of times is kept, so ranges still nest.
 */
#define CHROME_LAST	(1ull << 51)

static inline uint64_t chrome_rel(const struct xsp_out *out, uint64_t ns)
{
	if (ns <= out->base_ns)
		return 0;
	return ns - out->base_ns < CHROME_LAST ? ns - out->base_ns : CHROME_LAST;
}

#define CHROME_ROOM	XSP_BUF_ROOM
#define CHROME_PIDS	(1u << 22)	/* Linux' own limit of pids and tids */

/* track.c */
void chrome_tracks_start(struct chrome *chrome);
uint32_t chrome_pid(struct xsp_out *out, uint32_t producer, uint32_t pid);
/* "pid":1,"tid":2,"ts": of the thread. */
char *chrome_put_thread(struct xsp_out *out, struct xsp_track *thread, char *p);
/*
 * The track on which the range is to be drawn, the thread itself or one of its kind's.  NULL:
 * on none, it would not nest.
 */
struct xsp_track *chrome_lane(struct xsp_out *out, const struct xsprof_event *ev, uint32_t kind,
			      uint64_t key, uint64_t begin, uint64_t end);
void chrome_thread_name(struct xsp_out *out, struct xsp_track *thread);
void chrome_process_names(struct xsp_out *out);

/* head.c */
void chrome_start(struct xsp_out *out);
void chrome_end(struct xsp_out *out);

static inline bool chrome_has_args(const struct xsprof_event *ev)
{
	struct xsprof_trace_arg arg;
	size_t pos = 0;

	return ev->rec_size > sizeof(struct xsprof_rec) && xsprof_trace_args(ev, &pos, &arg);
}

/*
 * args.c: the arguments of a record, each with a comma in front where there was @any, and with a
 * number where its key is one of struct chrome's @keys.
 */
char *chrome_put_args(struct xsp_out *out, const struct xsprof_event *ev, char *p, bool *any);
/* The arguments of a record into the note of @range, and all that the note has. */
bool chrome_note_args(struct xsp_out *out, const struct xsprof_event *ev,
		      struct xsp_range *range);
bool chrome_has_note(const struct xsp_range *range);
char *chrome_put_note(struct xsp_out *out, const struct xsp_range *range, char *p, bool *any);
/* The begin of @range, written right before, has all keys that are known: its end has others. */
void chrome_note_keys(struct xsp_out *out, struct xsp_range *range);
/* What the type's own fields say, under keys of their own. */
char *chrome_put_fields(struct xsp_out *out, const struct xsprof_event *ev, char *p, bool *any);

/* Where the next event goes, from the start of the buffer. */
static inline size_t chrome_offset(struct xsp_out *out)
{
	return (size_t)(xsp_buf_room(&out->buf, CHROME_ROOM) - out->buf.base);
}

/* event.c: up to the name; the name; the arguments, where there are any, and the end. */
char *chrome_open(struct xsp_out *out, struct xsp_track *thread, char ph, uint64_t ns);
/* On the track that @prefix names, as chrome_put_thread() writes it. */
char *chrome_open_at(struct xsp_out *out, const char *prefix, size_t len, char ph, uint64_t ns);
char *chrome_put_name(struct xsp_out *out, const struct xsprof_event *ev, uint32_t name, char *p);
/*
 * @more: in front of all, in JSON; the note of @range; the fields and arguments of @ev.  Each may
 * be NULL.
 */
void chrome_close(struct xsp_out *out, const struct xsprof_event *ev,
		  const struct xsp_range *range, const char *more, char *p);
void chrome_close_fields(struct xsp_out *out, const struct xsprof_event *ev, char *p);
void chrome_close_plain(struct xsp_out *out, char *p);
void chrome_instant(struct xsp_out *out, const struct xsp_view *view, char scope,
		    const char *more, const struct xsp_range *held);

/* range.c */
void chrome_put_begin(struct xsp_out *out, const struct xsp_view *view);
void chrome_put_end(struct xsp_out *out, const struct xsp_view *view);
void chrome_put_range(struct xsp_out *out, const struct xsp_view *view);
void chrome_put_async(struct xsp_out *out, const struct xsp_view *view);
void chrome_closed(void *data, struct xsp_track *thread, struct xsp_range *range, uint64_t ns,
		   enum xsp_why why);
void chrome_async_closed(void *data, struct xsp_track *thread, const struct xsprof_range *range,
			 enum xsp_why why);

/*
 * arrow.c: the call or activity @ev was written on @track, from @begin on: an arrow to or from it,
 * where its other end was written before.
 */
void chrome_arrow(struct xsp_out *out, const struct xsprof_event *ev,
		  const struct xsp_track *track, uint64_t begin);

/* flow.c */
void chrome_put_flow(struct xsp_out *out, const struct xsp_view *view);
/* Writes the end of an arrow that waits, before what comes next in its thread, at @ns. */
void chrome_flow_done(struct xsp_out *out, struct xsp_track *thread, uint64_t ns);

/* empty.c: in front of a begin at @ns, and behind it. */
void chrome_empty_open(struct xsp_out *out, uint64_t ns);
void chrome_empty_begin(struct xsp_out *out, const struct xsp_track *thread);
/*
 * Behind an end at @ns, which is in the buffer from @end on and its arguments from @args on: makes
 * one event of it and the begin, at @begin, if the range has no length.  Return: whether it did.
 */
bool chrome_empty_end(struct xsp_out *out, const struct xsp_track *thread, uint64_t begin,
		      uint64_t ns, size_t end, size_t args);
/* The thread is no more. */
void chrome_empty_forget(struct xsp_out *out, const struct xsp_track *thread);

/* kernel.c: names, events, and at the end, behind otherData, what became of all. */
void chrome_kernel_thread(struct xsp_out *out, struct xsp_track *thread);
void chrome_kernel_event(struct xsp_out *out, const struct xsprof_event *ev);
/* Of the scheduler, the tracer's or the module's, before the time that is shown; and its begin. */
void chrome_kernel_before(struct xsp_out *out, const struct xsprof_event *ev);
void chrome_kernel_begin(struct xsp_out *out, uint64_t ns);
/* An event of a program may tell of a switch that the tracer left out. */
void chrome_kernel_marker(struct xsp_out *out, const struct xsprof_event *ev);
/* A record of the module's, told as the tracer would.  Return: false when it is to be shown. */
bool chrome_sched_event(struct xsp_out *out, const struct xsprof_event *ev);
void chrome_kernel_end(struct xsp_out *out);

#endif /* XSPROF_CHROME_LOCAL_H */
