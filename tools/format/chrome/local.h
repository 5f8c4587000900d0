/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the files of the Chrome format: chrome.c turns events into JSON, range.c ranges, flow.c
 * flow arrows, arrow.c arrows from calls to activities, empty.c ranges of zero length, event.c
 * writes one event, head.c the parts around the events, kernel.c the lines of the kernel's tracer,
 * args.c arguments, track.c the processes and tracks. Each file calls only those after it.
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

/* Kind of a range, for struct xsp_range. */
#define CHROME_OP	1

/* Kind of the tracks with the scheduler state of a thread. */
#define CHROME_SCHED	XSP_LANE_OWN

struct chrome_process {
	uint32_t	pid;	/* as the viewer sees it; 0 not seen yet */
	uint32_t	real;
};

/* The begin of a range: its position in the buffer. */
struct chrome_begin {
	const struct xsp_track	*thread;
	size_t			from;
	size_t			to;
};

#define CHROME_EMPTY	64u
#define CHROME_FLOWS	4096u	/* a power of 2 */

/* An arrow that continues: its id, and when it was last at a thread. */
struct chrome_flow {
	uint64_t	id;
	uint64_t	ns;
};

/**
 * struct chrome_empty - begins at the current time, whose ranges may turn out to have zero length
 * @ns: that time, from the start of the trace
 * @total: bytes written before the buffer
 * @from: position of the current begin
 * @n: number of begins
 * @v: the latest begins, in their order
 */
struct chrome_empty {
	uint64_t		ns;
	uint64_t		total;
	size_t			from;
	uint32_t		n;
	struct chrome_begin	v[CHROME_EMPTY];
};

/**
 * struct chrome - state of the Chrome format
 * @sep: separator before the next event
 * @processes: by producer number
 * @used: bitmap of viewer pids up to 2^22
 * @others: the same for processes in the kernel's events
 * @given: number of viewer pids beyond
 * @next_tid: next number of a track that is not a thread
 * @next_id: next id of an async range created by the format
 * @to_async: ranges drawn as async ones because they fit on no track
 * @pairs: ranges in one record that are drawn as a begin and an end
 * @spool: lines of the kernel's tracer, NULL before the first
 * @kernel_lines: number of lines
 * @keys: keys of the current arguments
 * @sched: the module's scheduler records, NULL: none
 * @running: running tasks by the tracer's events, NULL: none
 * @empty: ranges that may have zero length
 * @arrows: places of calls and activities, NULL before the first
 * @flows: arrows that continue, the latest of those with the same slot, see flow.c
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
 * Viewers store microseconds in a double, which holds the steps of put.h up to here: 25 days. Later
 * times are set to this time; their order is kept, so ranges still nest.
 */
#define CHROME_LAST	(1000ull << 41)

static inline uint64_t chrome_rel(const struct xsp_out *out, uint64_t ns)
{
	if (ns <= out->base_ns)
		return 0;
	return ns - out->base_ns < CHROME_LAST ? ns - out->base_ns : CHROME_LAST;
}

#define CHROME_ROOM	XSP_BUF_ROOM
#define CHROME_PIDS	(1u << 22)	/* Linux's limit of pids and tids */

/* track.c */
void chrome_tracks_start(struct chrome *chrome);
uint32_t chrome_pid(struct xsp_out *out, uint32_t producer, uint32_t pid);
/* Writes "pid":1,"tid":2,"ts": of the thread. */
char *chrome_put_thread(struct xsp_out *out, struct xsp_track *thread, char *p);
/*
 * The track to draw the range on: that of the thread, or another one of @kind. NULL: it nests on
 * none.
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
 * args.c: writes the arguments of a record, each after a comma if there was @any, and with a number
 * if its key is already in struct chrome's @keys.
 */
char *chrome_put_args(struct xsp_out *out, const struct xsprof_event *ev, char *p, bool *any);
/* Adds the arguments of a record to the note of @range; all that the note can hold. */
bool chrome_note_args(struct xsp_out *out, const struct xsprof_event *ev,
		      struct xsp_range *range);
bool chrome_has_note(const struct xsp_range *range);
char *chrome_put_note(struct xsp_out *out, const struct xsp_range *range, char *p, bool *any);
/* The begin of @range, just written, has all keys known so far: the end must use others. */
void chrome_note_keys(struct xsp_out *out, struct xsp_range *range);
/* Writes the fields of the record's type, with their own keys. */
char *chrome_put_fields(struct xsp_out *out, const struct xsprof_event *ev, char *p, bool *any);

/* Position of the next event, from the start of the buffer. */
static inline size_t chrome_offset(struct xsp_out *out)
{
	return (size_t)(xsp_buf_room(&out->buf, CHROME_ROOM) - out->buf.base);
}

/* event.c: up to the name; the name; the arguments, where there are any, and the end. */
char *chrome_open(struct xsp_out *out, struct xsp_track *thread, char ph, uint64_t ns);
/* On the track with @prefix, as chrome_put_thread() writes it. */
char *chrome_open_at(struct xsp_out *out, const char *prefix, size_t len, char ph, uint64_t ns);
char *chrome_put_name(struct xsp_out *out, const struct xsprof_event *ev, uint32_t name, char *p);
/*
 * @more: JSON to put first; then the note of @range; then the fields and arguments of @ev. Each may
 *	be NULL.
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
 * arrow.c: the call or activity @ev was written on @track, with begin @begin: writes an arrow to or
 * from it, if the other end is already written.
 */
void chrome_arrow(struct xsp_out *out, const struct xsprof_event *ev,
		  const struct xsp_track *track, uint64_t begin);

/* flow.c */
void chrome_put_flow(struct xsp_out *out, const struct xsp_view *view);
/* Writes the end of an arrow that waits, before the next event of its thread, at @ns. */
void chrome_flow_done(struct xsp_out *out, struct xsp_track *thread, uint64_t ns);

/* empty.c: to be called before a begin at @ns, and after it. */
void chrome_empty_open(struct xsp_out *out, uint64_t ns);
void chrome_empty_begin(struct xsp_out *out, const struct xsp_track *thread);
/*
 * To be called after an end at @ns, which is in the buffer from @end on, its arguments from @args
 * on: merges it with the begin, at @begin, if the range has zero length. Return: true if merged.
 */
bool chrome_empty_end(struct xsp_out *out, const struct xsp_track *thread, uint64_t begin,
		      uint64_t ns, size_t end, size_t args);
/* The thread has ended. */
void chrome_empty_forget(struct xsp_out *out, const struct xsp_track *thread);

/* kernel.c: names, events, and after otherData the spooled lines. */
void chrome_kernel_thread(struct xsp_out *out, struct xsp_track *thread);
void chrome_kernel_event(struct xsp_out *out, const struct xsprof_event *ev);
/*
 * A scheduler event of the tracer or the module before the time shown; and the begin of that time.
 */
void chrome_kernel_before(struct xsp_out *out, const struct xsprof_event *ev);
void chrome_kernel_begin(struct xsp_out *out, uint64_t ns);
/* An event of a program may prove a switch that the tracer left out. */
void chrome_kernel_marker(struct xsp_out *out, const struct xsprof_event *ev);
/* Writes a record of the module as a tracer event. Return: false: show it as a record. */
bool chrome_sched_event(struct xsp_out *out, const struct xsprof_event *ev);
void chrome_kernel_end(struct xsp_out *out);

#endif /* XSPROF_CHROME_LOCAL_H */
