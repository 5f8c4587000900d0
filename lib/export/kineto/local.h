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
 *	early.c		activities that began before their call
 *	past.c wait.c	finished ranges; activities whose call is not recorded yet
 *	activity.c	activities timed by the program
 *	op.c stack.c	details of ops: inputs, stack, modules
 *	args.c		arguments under their own names
 *	link.c		links: launches to ops, ops to their backwards
 *	user.c		ids pushed by threads
 *	note.c		annotations on streams
 *	head.c		top-level keys, and marks at the end
 *	track.c lane.c	tracks
 *	number.c	numbers of devices
 *	recent.c	latest ranges of a device's track
 *	thread.c	state of threads
 */
#ifndef XSR_KINETO_H
#define XSR_KINETO_H

#include "export/kineto/handle.h"
#include "export/kineto/kineto.h"
#include "ranges/past.h"
#include "export/kineto/wait.h"

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
	struct xsp_past		*past;
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
/* A sample of a device's counters: at the device, each from the begin of the time it is of. */
void xsr_kineto_metrics(struct xsr_kineto *k, const struct xsprof_event *ev,
			struct xsr_walk *walk);
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
 * The category to write as an argument: readers would not know it in place of Kineto's. NULL: it is
 * none, or one that Kineto's words state.
 */
const char *xsr_kineto_category(const struct xsr_kineto *k, uint32_t producer, uint32_t name);
/* Writes it after a comma. */
char *xsr_kineto_put_category(struct xsr_kineto *k, const char *category, char *p);
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

/* early.c: marks an activity that began before its call, after commas. */
char *xsr_early_put(const struct xsr_kineto *k, const struct xsprof_event *ev, char *p);

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

/**
 * struct xsr_called - what is known of a call
 * @external: the op that it belongs to, 0: none
 * @tag: number of the annotation around it, 0: none
 * @arrow: an arrow begins at it
 */
struct xsr_called {
	uint64_t	external;
	uint64_t	tag;
	bool		arrow;
};

void xsr_link_call(struct xsr_kineto *k, uint32_t producer, uint64_t correlation,
		   const struct xsr_called *called);
/* NULL: there was no such call, or it was long ago. */
const struct xsr_called *xsr_link_find(const struct xsr_kineto *k, uint32_t producer,
				       uint64_t correlation);
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

/* number.c */
/**
 * struct xsr_numbered - a device with a number in the trace
 * @facts: its description; NULL: none
 * @producer: the process that stated it first
 * @latest: that which stated it last
 * @number: of the first process
 * @shared: others stated it too
 * @used: there is such a device
 */
struct xsr_numbered {
	const char	*facts;
	uint32_t	producer;
	uint32_t	latest;
	uint32_t	number;
	bool		shared;
	bool		used;
};

/* After @k->main is set. */
int xsr_numbers_new(struct xsr_kineto *k);
void xsr_numbers_free(struct xsr_numbers *numbers);
/* The number in the trace of a process' device. */
uint32_t xsr_number_of(struct xsr_kineto *k, uint32_t producer, uint32_t device);
/* The number in the trace of a process: + XST_TID_APART if a device has its number. */
uint32_t xsr_pid_shown(const struct xsr_kineto *k, uint32_t pid);
/* A whole number among a device event's arguments, which may be of a device; for the writer. */
uint64_t xsr_number_arg(void *data, uint32_t producer, const char *key, uint64_t value);
/* How many devices are shown as another, because there are no more numbers. */
uint64_t xsr_numbers_merged(const struct xsr_kineto *k);
/* NULL: there is no such device. @number: less than XSP_DEVICE_NUMBERS. */
const struct xsr_numbered *xsr_numbered_at(const struct xsr_kineto *k, uint32_t number);

/* lane.c: a track on which the range nests; NULL for none. */
struct xsp_track *xsr_kineto_lane(struct xsr_kineto *k, const struct xsprof_event *ev,
				  uint32_t kind, uint64_t key, uint64_t begin, uint64_t end);
/* Gives the track a tid that no thread and no stream has. Return: false: there is none left. */
bool xsr_kineto_own_tid(struct xsr_kineto *k, struct xsp_track *track);
void xsr_lanes_free(struct xsr_kineto *k);

/* recent.c */
/* Adds a range. Return: false if it overlaps with a recent one, neither inside the other. */
bool xsr_recent_add(struct xsr_kineto *k, struct xsp_track *track, uint64_t begin, uint64_t end);
void xsr_recent_free(struct xsr_kineto *k, struct xsp_track *track);
/* Those of tracks that are forgotten without a call: the trace was not finished. */
void xsr_recents_free(struct xsr_kineto *k);

/* call.c */
/* Does a call with this name have a flow arrow: does it submit work to a device, or wait for it? */
bool xsr_call_launches(const char *name);
/* Writes the public name of the function: cudaLaunchKernel for "cudaLaunchKernel_v7000". */
char *xsr_call_put_name(const char *name, size_t len, char *p);

/* device.c */
/* The number with key @name among the arguments. */
bool xsr_kineto_number(const struct xsr_kineto *k, const struct xsr_walk *from, const char *name,
		       uint64_t *value);
void xsr_kineto_device_memory(struct xsr_kineto *k, const struct xsprof_event *ev,
			      const struct xsr_walk *args, uint64_t ns, uint64_t correlation);
/* Overhead, a time without recording, or a fault. */
void xsr_kineto_overhead(struct xsr_kineto *k, const struct xsprof_event *ev,
			 const struct xsr_walk *args, uint64_t begin, uint64_t end,
			 uint64_t correlation);

/* -1: none. */
static inline int64_t xsr_kineto_stream_number(const struct xsprof_rec_gpu *rec)
{
	return rec->stream == XSPROF_NO_STREAM ? -1 : (int64_t)rec->stream;
}

/* track.c */
/* Writes "pid":1,"tid":2, */
char *xsr_kineto_track(struct xsr_kineto *k, struct xsp_track *thread, char *p);
/* Something is at this device. Return: its number in the trace. */
uint32_t xsr_kineto_device(struct xsr_kineto *k, uint32_t producer, uint32_t device);
struct xsp_track *xsr_kineto_stream(struct xsr_kineto *k, uint32_t producer, uint32_t device,
				    uint64_t stream, bool sync);
/* What is about to be written on the track happened in this context. */
void xsr_kineto_in_context(struct xsp_track *stream, uint32_t context);
/* The track of faults of a device, or with XSPROF_NO_DEVICE of the process of @ev. */
struct xsp_track *xsr_kineto_faults(struct xsr_kineto *k, const struct xsprof_event *ev,
				    uint32_t device);
/*
 * The track for a range of a device's: @track, or if it does not nest there, one beside it. NULL
 * without memory.
 */
struct xsp_track *xsr_kineto_beside(struct xsr_kineto *k, const struct xsprof_event *ev,
				    struct xsp_track *track, uint64_t begin, uint64_t end);
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
