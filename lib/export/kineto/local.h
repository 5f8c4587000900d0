/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Private header of the Kineto format: JSON in the form of PyTorch's profiler, as its tools expect
 * it. Events come in time order; a range is written at its end, so memory depends on the open
 * ranges.
 *
 *	save.c		saves a result in this format
 *	kineto.c	order of events, and the window they are cut to
 *	host.c		ops and ranges of threads
 *	point.c step.c	instants, memory, counters; steps
 *	gpu.c		GPU activities and runtime calls
 *	fill.c		occupancy of kernels
 *	node.c		op in which a graph's kernel was captured
 *	past.c wait.c	finished ranges; activities whose call is not recorded yet
 *	activity.c	activities timed by the program
 *	op.c stack.c	details of ops: inputs, stack, modules
 *	args.c		arguments under their own names
 *	link.c		links: launches to ops, ops to their backwards
 *	user.c		ids pushed by threads
 *	note.c		annotations on streams
 *	head.c		top-level keys, and marks at the end
 *	track.c lane.c	tracks
 *	thread.c	state of threads
 */
#ifndef XSR_KINETO_H
#define XSR_KINETO_H

#include <xsprof/result.h>

#include "base/map.h"
#include "export/kineto/kineto.h"
#include "ranges/captured.h"
#include "ranges/device-names.h"
#include "export/kineto/past.h"
#include "export/kineto/wait.h"
#include "result/occupancy.h"
#include "result/writer.h"

/* Kinds of tracks other than threads. */
enum xsr_kineto_track {
	XSR_THREAD	= 0,
	XSR_OVERLAP	= 1,	/* ranges that do not nest in their thread */
	XSR_SPANS	= 2,	/* ranges without a thread */
	XSR_STREAM	= 3,	/* GPU stream; tid: device << 32 | stream */
	XSR_STREAM_SYNC	= 4,	/* waits for a stream */
};

#define XSR_LANES	4096u	/* tracks per kind and key; a tid is key * XSR_LANES + number */

/* Kinds of ranges. */
enum xsr_kineto_range {
	XSR_RANGE_ANNOTATION	= 0,
	XSR_RANGE_OP		= 1,
	XSR_RANGE_HIDDEN	= 2,	/* not shown */
};

/* Bits for keys that the exporter itself writes in an event. GPU events have many. */
enum xsr_own {
	XSR_OWN_INDEX		= 1 << 0,
	XSR_OWN_FINISHED	= 1 << 1,
	XSR_OWN_UNCERTAIN	= 1 << 2,
	XSR_OWN_EXTERNAL	= 1 << 3,
	XSR_OWN_RECORD		= 1 << 4,
	XSR_OWN_SEQUENCE	= 1 << 5,
	XSR_OWN_INPUTS		= 1 << 6,
	XSR_OWN_CUT		= 1 << 7,
	XSR_OWN_MODULE		= 1 << 8,
	XSR_OWN_STACK		= 1 << 9,
	XSR_OWN_DEVICE		= 1 << 10,
	XSR_OWN_THREAD		= 1 << 11,
	XSR_OWN_CORRELATION	= 1 << 12,
	XSR_OWN_PLACE		= 1 << 13,
	XSR_OWN_BYTES		= 1 << 14,
	XSR_OWN_GRAPH		= 1 << 15,
	XSR_OWN_SYNC		= 1 << 16,
	XSR_OWN_THREAD_ENDED	= 1 << 17,
	XSR_OWN_CATEGORY	= 1 << 18,
};

struct xsr_link;
struct xsr_stacks;
struct xsr_users;
struct xsr_post;

#define XSR_STEPS	64u

/* An open step. */
struct xsr_step {
	uint64_t	begin;
	uint64_t	index;
	uint64_t	number;
	uint64_t	tag;
	uint64_t	tid;
	uint32_t	producer;
	uint32_t	pid;
	uint32_t	name;
	bool		used;
};

/**
 * struct xsr_kineto - a trace being written
 * @w: writer, with the trace being read
 * @opts: selection
 * @tracks: threads and other tracks
 * @posts: annotations that post_process set, by record number; NULL: none
 * @said: annotations of open ranges, by index of the range
 * @link: links
 * @stack: texts of stacks
 * @users: pushed ids
 * @shift: offset from trace time to file time, ns
 * @base: start of file time, ns of CLOCK_REALTIME
 * @from: begin of the window, ns of the trace
 * @to: end of the window
 * @first: begin of the trace, 0 if unknown yet
 * @last: latest time seen
 * @over: the window has ended: only records written late are accepted
 * @index: index of the next event
 * @at: number of the current event, from 1
 * @ops: number of ops written
 * @events: number of events of the program and its devices written
 * @lost: number of arguments left out for lack of memory
 * @no_stack: number of ops whose stacks found no room
 * @waits: device activities whose call was not recorded yet
 * @captured: nodes of graphs
 * @pushed: number of pushed ids of all threads that may still be stored
 * @past: number of finished ranges of all threads that may still be stored
 * @left_out: number of ranges without a track
 * @lanes: by kind and key: when each lane is free
 * @nr_lanes: number of these
 * @next_tid: tid of the next track that is not a thread
 * @main: producer whose process the trace is of, XSPROF_NO_PRODUCER if unknown
 * @devices: bitmap of devices seen
 * @overhead: the overhead track exists
 * @host: write host events
 * @gpu: write GPU events
 * @late: the trace has late records: finished ranges are kept
 * @shapes: write inputs of ops
 * @stacks: write stacks of ops
 * @modules: write modules of ops
 * @memory: write allocations
 * @saw_shapes: an op with inputs was written
 * @saw_stacks: an op with a stack was written
 * @saw_modules: an op with modules was written
 * @saw_memory: an allocation was written
 * @steps: open steps
 * @limits: limits of devices
 * @nr_limits: number of these
 * @limit_of: process and device number to index in @limits + 1; 0: unknown
 * @limits_once: limits of a device for which there is no memory
 */
struct xsr_kineto {
	struct xsr_writer		w;
	struct xsprof_result_options	opts;
	struct xsp_tracks		*tracks;
	const struct xsp_map		*posts;
	struct xsp_map			said;
	struct xsr_link			*link;
	struct xsr_stacks		*stack;
	struct xsr_users		*users;
	struct xsr_waits		*waits;
	struct xsp_captured		captured;
	int64_t				shift;
	uint64_t			base;
	uint64_t			from;
	uint64_t			to;
	uint64_t			first;
	uint64_t			last;
	uint64_t			index;
	uint64_t			at;
	uint64_t			ops;
	uint64_t			events;
	uint64_t			lost;
	uint64_t			no_stack;
	uint64_t			devices[XSP_DEVICE_NUMBERS / 64];
	uint64_t			left_out;
	struct xsp_map			lanes;
	uint32_t			nr_lanes;
	uint32_t			pushed;
	uint32_t			past;
	uint32_t			next_tid;
	uint32_t			main;
	bool				over;
	bool				overhead;
	bool				host;
	bool				gpu;
	bool				late;
	bool				shapes;
	bool				stacks;
	bool				modules;
	bool				memory;
	bool				saw_shapes;
	bool				saw_stacks;
	bool				saw_modules;
	bool				saw_memory;
	struct xsr_step			steps[XSR_STEPS];
	struct xsr_limits		*limits;
	uint32_t			nr_limits;
	struct xsp_map			limit_of;
	struct xsr_limits		limits_once;
};

/* kineto.c */
/*
 * Writes all of @trace. @events: set to the number of events of the program and its devices; may be
 * NULL. Return: 0 or -errno; a failed write is stored in @buf.
 */
int xsr_write_kineto(struct xsprof_trace *trace, const struct xsprof_result_options *opts,
		     const struct xsp_map *posts, struct xsp_buf *buf, const char *name,
		     uint64_t *events);

/* An id that a thread has pushed. */
struct xsr_pushed {
	uint64_t	id;
	uint64_t	ns;
};

struct xsr_pushes {
	struct xsr_pushed	*v;
	uint32_t		n;
	uint32_t		room;
	uint32_t		deep;	/* number of pushes beyond the limit */
};

/**
 * struct xsr_host - state of a thread, stored as its private data
 * @range: a record, not a begin, that continues in later records: its note holds them, its tag is
 *	the number of the record
 * @ev: that record
 * @used: @range is in use
 * @pushes: stacks of pushed ids: of ops, of users' annotations
 * @past: its finished ranges, or NULL
 */
struct xsr_host {
	struct xsp_range	range;
	struct xsprof_event	ev;
	bool			used;
	struct xsr_pushes	pushes[2];
	struct xsr_past		*past;
};

/* thread.c */
/* The state, created if new; NULL: no memory, or the thread is a stand-in. */
struct xsr_host *xsr_kineto_state(struct xsp_track *thread);
void xsr_host_free(struct xsr_kineto *k, struct xsp_track *thread);

/* host.c */
void xsr_kineto_host(struct xsr_kineto *k, const struct xsprof_event *ev,
		     const struct xsp_view *view);
void xsr_kineto_closed(void *data, struct xsp_track *thread, struct xsp_range *range,
		       uint64_t ns, enum xsp_why why);
/* Writes the event that waits for further ARGS records: none will come. */
void xsr_kineto_flush(struct xsr_kineto *k, struct xsp_track *thread);

/* point.c */

void xsr_kineto_memory(struct xsr_kineto *k, const struct xsprof_event *ev,
		       struct xsp_track *thread);
void xsr_kineto_instant(struct xsr_kineto *k, const struct xsprof_event *ev,
			struct xsp_track *thread, struct xsr_walk *walk);
void xsr_kineto_counter(struct xsr_kineto *k, const struct xsprof_event *ev,
			struct xsp_track *thread);
void xsr_kineto_linked(struct xsr_kineto *k, const struct xsprof_event *ev,
		       struct xsp_track *thread, struct xsr_walk *walk);
void xsr_kineto_async_closed(void *data, struct xsp_track *thread,
			     const struct xsprof_range *range, enum xsp_why why);
void xsr_kineto_lost(struct xsr_kineto *k, const struct xsprof_event *ev,
		     struct xsp_track *thread);

/* step.c */
void xsr_kineto_step(struct xsr_kineto *k, const struct xsprof_event *ev,
		     struct xsp_track *thread);
/* Ends the producer's steps: it ended, or no longer records steps. */
void xsr_kineto_cut_steps(struct xsr_kineto *k, uint32_t producer, uint64_t ns);
/* Ends steps at the end of the window. */
void xsr_kineto_end_steps(struct xsr_kineto *k, uint64_t ns);

/*
 * The id by which readers find related events. If the program gave none, Kineto makes one; these
 * are far from those that programs count, and still exact in a double.
 */
static inline uint64_t xsr_kineto_id(uint64_t given, uint64_t index)
{
	return given ? given : (1ull << 52) + index;
}

/* op.c: writes the details of a range that has @own keys too, each after a comma. */
char *xsr_kineto_op(struct xsr_kineto *k, const struct xsp_range *range, struct xsr_walk *walk,
		    const struct xsr_post *post, uint32_t own, char *p);

/* args.c */
uint64_t xsr_kineto_range_id(const struct xsp_range *range);
/* Writes annotations from post_process; @post may be NULL. */
char *xsr_kineto_post(struct xsr_kineto *k, const struct xsr_post *post, bool *any, char *p);
/* The keys that it writes; XSR_OWN_... */
uint32_t xsr_kineto_post_keys(const struct xsr_post *post);
/*
 * Writes arguments under their own names, numbered if the key is in use: one of @own, or of an
 * earlier argument. @gpu: only numbers are written, others are left out.
 */
char *xsr_kineto_args(struct xsr_kineto *k, struct xsr_walk *walk, bool gpu, uint32_t own,
		      char *p, bool *any);
/* Writes arguments given as text, each after a comma, after others of the same event. */
void xsr_kineto_more(struct xsr_kineto *k, const char *text, size_t len);

/* stack.c */
int xsr_stacks_new(const struct xsprof_trace *trace, struct xsr_stacks **stacks);
void xsr_stacks_free(struct xsr_stacks *stacks);
/* Writes a stack after a comma; nothing if there is no such stack. */
char *xsr_kineto_stack(struct xsr_kineto *k, uint32_t producer, uint64_t stack, char *p);

/* gpu.c */
void xsr_kineto_gpu(struct xsr_kineto *k, const struct xsprof_event *ev, struct xsr_walk *walk);
/* Writes the activities that still wait for a call, without it. */
void xsr_kineto_gpu_finish(struct xsr_kineto *k);

/* node.c: handles a record of a node; writes arguments of a node's activity, after commas. */
void xsr_node_made(struct xsr_kineto *k, const struct xsprof_event *ev);
char *xsr_node_put(struct xsr_kineto *k, const struct xsprof_event *ev, char *p);

/* fill.c: writes the occupancy, after commas. */
char *xsr_kineto_fill(struct xsr_kineto *k, const struct xsprof_event *ev,
		      const struct xsr_walk *args, char *p);

/* activity.c: false if it is not one. */
bool xsr_kineto_activity(struct xsr_kineto *k, const struct xsprof_event *ev,
			 struct xsr_walk *walk, uint64_t at);
bool xsr_kineto_thread_info(struct xsr_kineto *k, const struct xsprof_event *ev,
			    struct xsr_walk *walk);

/* user.c */
int xsr_users_new(struct xsr_users **users);
void xsr_users_free(struct xsr_users *users);
/* Return: false if it could not be stored. */
bool xsr_user_push(struct xsr_kineto *k, struct xsp_track *thread,
		   const struct xsprof_event *ev);
void xsr_user_pop(struct xsp_track *thread, const struct xsprof_event *ev);
/* The innermost pushed id of @kind at @ns, NULL for none. */
const struct xsr_pushed *xsr_user_top(const struct xsp_track *thread, uint32_t kind,
				      uint64_t ns);
/* Tag of the last pushed id, like that of xsr_link_around(); 0 for none. */
uint64_t xsr_user_tag(struct xsr_kineto *k, const struct xsp_track *thread);
/* Names the annotation with that id. */
void xsr_user_name(struct xsr_kineto *k, uint32_t producer, uint64_t id, uint32_t name);
/* Like xsr_link_gpu(); false if the tag is not of a pushed id. */
bool xsr_user_gpu(struct xsr_kineto *k, uint64_t tag, uint32_t device, uint64_t stream,
		  uint64_t begin, uint64_t end);
void xsr_user_finish(struct xsr_kineto *k);

/* Activities of a stream that belong to an annotation. */
struct xsr_gpu_note {
	uint64_t	external;	/* 0 for none */
	uint64_t	step;
	uint64_t	stream;
	uint64_t	begin;
	uint64_t	end;
	uint32_t	producer;
	uint32_t	name;
	uint32_t	device;
	bool		is_step;
};

/* note.c */
void xsr_kineto_gpu_note(struct xsr_kineto *k, const struct xsr_gpu_note *note);

/* link.c */
int xsr_link_new(struct xsr_link **link);
void xsr_link_free(struct xsr_link *link);
/* Assigns a number to an annotation. */
uint64_t xsr_link_tag(struct xsr_kineto *k, uint32_t producer, uint32_t name, uint64_t external);
/* The number of the annotation around the current position of @thread, 0 for none. */
uint64_t xsr_link_around(struct xsr_kineto *k, struct xsp_track *thread);
/* An op with a correlation id begins inside an annotation. */
void xsr_link_op(struct xsr_kineto *k, uint32_t producer, uint64_t correlation, uint64_t tag);
uint64_t xsr_link_op_tag(struct xsr_kineto *k, uint32_t producer, uint64_t correlation);
/* A call with @correlation belongs to the op @external, and to an annotation. */
void xsr_link_call(struct xsr_kineto *k, uint32_t producer, uint64_t correlation,
		   uint64_t external, uint64_t tag);
bool xsr_link_find(struct xsr_kineto *k, uint32_t producer, uint64_t correlation,
		   uint64_t *external, uint64_t *tag);
/* Adds GPU activities that belong to an annotation. */
void xsr_link_gpu(struct xsr_kineto *k, uint64_t tag, uint32_t device, uint64_t stream,
		  uint64_t begin, uint64_t end);
/*
 * Stores the metadata of a collective, for the kernels that its op launches. @text is kept, and
 * returned by xsr_link_collective() for that op; NULL for none.
 */
void xsr_link_set_collective(struct xsr_kineto *k, uint32_t producer, uint64_t correlation,
			     const char *text, size_t len);
const char *xsr_link_collective(const struct xsr_kineto *k, uint32_t producer,
				uint64_t correlation, size_t *len);
/* Writes the remaining annotations. */
void xsr_link_finish(struct xsr_kineto *k);
/* A forward or backward op was written: writes the arrow between them. */
void xsr_link_forward(struct xsr_kineto *k, const struct xsp_track *thread, int64_t sequence,
		      uint64_t begin);
void xsr_link_backward(struct xsr_kineto *k, struct xsp_track *thread, uint64_t forward_thread,
		       int64_t sequence, uint64_t begin);

/* head.c */
void xsr_kineto_head(struct xsr_kineto *k);
void xsr_kineto_tail(struct xsr_kineto *k, const char *name);

/* lane.c: a track on which the range nests; NULL for none. */
struct xsp_track *xsr_kineto_lane(struct xsr_kineto *k, const struct xsprof_event *ev,
				  uint32_t kind, uint64_t key, uint64_t begin, uint64_t end);
void xsr_lanes_free(struct xsr_kineto *k);

/* track.c */
/* Writes "pid":1,"tid":2, */
char *xsr_kineto_track(struct xsr_kineto *k, struct xsp_track *thread, char *p);
struct xsp_track *xsr_kineto_stream(struct xsr_kineto *k, uint32_t producer, uint32_t device,
				    uint64_t stream, bool sync);
/* Writes the track's name, if it has events. */
void xsr_kineto_name_track(struct xsr_kineto *k, struct xsp_track *thread);
/* Writes an event with a name id from "ph" to "ts"; @kind is the text after "ph". */
char *xsr_kineto_begin(struct xsr_kineto *k, struct xsp_track *thread, const char *kind,
		       uint32_t producer, uint32_t name, uint64_t ns);
/* Writes the names of devices and processes. */
void xsr_kineto_names(struct xsr_kineto *k);

/* Converts to ns of the file; earlier times become its base. */
static inline uint64_t xsr_kineto_ns(const struct xsr_kineto *k, uint64_t ns)
{
	int64_t v = (int64_t)(ns + (uint64_t)k->shift);

	return v < 0 ? 0 : (uint64_t)v;
}

/* Writes "ts": of an instant, without a comma. */
static inline char *xsr_kineto_ts(const struct xsr_kineto *k, char *p, uint64_t ns)
{
	return put_micros(put_lit(p, "\"ts\":"), xsr_kineto_ns(k, ns));
}

/* Writes ,"dur": of a range. */
static inline char *xsr_kineto_dur(const struct xsr_kineto *k, char *p, uint64_t begin,
				   uint64_t end)
{
	return put_micros_between(put_lit(p, ",\"dur\":"), xsr_kineto_ns(k, begin),
				  xsr_kineto_ns(k, end));
}

/* Writes "finished": for a range that nothing ended, and the interval of its end if known. */
static inline char *xsr_kineto_unfinished(const struct xsr_kineto *k, char *p, uint32_t producer,
					  uint64_t begin, uint64_t end, enum xsp_why why)
{
	uint64_t after = xsp_ended_after(k->w.trace, producer, begin, end, why);

	p = put_lit(p, "\"finished\":false");
	if (why == XSP_WHY_THREAD)
		p = put_lit(p, ",\"thread_ended\":true");
	if (after == end)
		return p;
	return put_micros(put_lit(p, ",\"ended_after\":"), xsr_kineto_ns(k, after));
}

/*
 * Cuts a range to the window. Return: false if nothing of it is inside: a range that ends or begins
 * exactly at an edge is outside, as in build.c; an instant is not.
 */
static inline bool xsr_kineto_cut(const struct xsr_kineto *k, uint64_t *begin, uint64_t *end)
{
	if (*end < k->from || *begin > k->to ||
	    (*begin < *end && (*end == k->from || *begin == k->to)))
		return false;
	if (*begin < k->from)
		*begin = k->from;
	if (*end > k->to)
		*end = k->to;
	if (*end < *begin)
		*end = *begin;
	return true;
}

#endif /* XSR_KINETO_H */
