/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What the files of the Kineto format share: JSON of the shape that PyTorch's profiler writes, as
 * its tools want it.  Events come in time order; a range is written when it ends, so memory is
 * that of what is open.
 *
 *	save.c		a result as such a file
 *	kineto.c	events in their order, and the window they are cut to
 *	host.c		ranges: what is on threads
 *	point.c step.c	instants, memory, counters; steps
 *	gpu.c		what a GPU did, and its runtime
 *	fill.c		how much of its device a kernel fills
 *	node.c		which op a kernel of a graph was captured in
 *	past.c wait.c	ranges that are over, activities whose call is not known yet
 *	activity.c	what the program timed itself
 *	op.c stack.c	what is known of an op: inputs, stack, module
 *	args.c		arguments under their own names
 *	link.c		which op a launch belongs to, and forward and backward
 *	user.c		ids that threads pushed
 *	note.c		annotations on streams
 *	head.c		what stands around the events
 *	track.c lane.c	the tracks they are drawn on
 *	thread.c	what is kept of a thread
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

/* Kinds of tracks: those that are no threads. */
enum xsr_kineto_track {
	XSR_THREAD	= 0,
	XSR_OVERLAP	= 1,	/* ranges of a thread that do not nest in it */
	XSR_SPANS	= 2,	/* ranges of no thread */
	XSR_STREAM	= 3,	/* of a GPU; tid: device << 32 | stream */
	XSR_STREAM_SYNC	= 4,	/* waits for one */
};

#define XSR_LANES	4096u	/* tracks of one kind and key; a tid is key * XSR_LANES + number */

/* Kinds of ranges. */
enum xsr_kineto_range {
	XSR_RANGE_ANNOTATION	= 0,
	XSR_RANGE_OP		= 1,
	XSR_RANGE_HIDDEN	= 2,	/* not wanted */
};

/* Keys that an event has for what is not the program's: bits.  Those of a GPU's event are many. */
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

/* A step that goes on. */
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
 * struct xsr_kineto - a trace that is being written
 * @w: where to, and the trace that is read
 * @opts: what of it
 * @tracks: threads, and other tracks
 * @posts: annotations that post_process set, by record number; NULL: none
 * @said: the same by index of the range, for ranges that go on
 * @link: what belongs together
 * @stack: stacks as texts
 * @users: ids that were pushed
 * @shift: what is added to a time to have that of the file, ns
 * @base: of the times of the file, ns of CLOCK_REALTIME
 * @from: window, ns of the trace
 * @to: likewise
 * @first: begin of the trace, 0 while not known
 * @last: the latest time that was seen
 * @over: the window is: only what was written late is still taken
 * @index: of the next event
 * @at: number of the event that is looked at, from 1
 * @ops: written
 * @events: written of what the program and its devices did
 * @lost: arguments that there was no memory for
 * @no_stack: ops whose stacks found no room
 * @waits: what a device did for calls that are not told of yet
 * @captured: nodes of graphs
 * @pushed: ids that there is memory for, of all threads
 * @past: ranges that are over that there is memory for, of all threads
 * @left_out: ranges that no track had room for
 * @lanes: of each kind and key, those that are free when
 * @nr_lanes: of these there is memory for
 * @next_tid: of the next track that is no thread
 * @main: the producer whose process the trace is of, XSPROF_NO_PRODUCER none known
 * @devices: bits of devices that were seen
 * @overhead: the track of it is
 * @host: events of the host are wanted
 * @gpu: events of GPUs are
 * @late: there are any: ranges that are over are kept
 * @shapes: inputs of ops are
 * @stacks: theirs are
 * @modules: theirs are
 * @memory: allocations are
 * @saw_shapes: an op with inputs was written
 * @saw_stacks: one with a stack
 * @saw_modules: one with its modules
 * @saw_memory: an allocation was
 * @steps: that go on
 * @limits: of devices: what each can hold
 * @nr_limits: how many
 * @limit_of: which, + 1, by process and number; 0: not known
 * @limits_once: of a device that there is no memory for
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
 * All of @trace.  @events: set to how many of the program's and its devices' events were written;
 * NULL is allowed.  Return: 0 or -errno; a failed write is kept in @buf.
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
	uint32_t		deep;	/* pushes beyond what is remembered */
};

/**
 * struct xsr_host - what is kept of a thread, as its private data
 * @range: of a record that goes on in those behind it, which is no begin: its note holds them,
 *	its tag is the number of the record
 * @ev: that record
 * @used: there is one
 * @pushes: ids of ops, ids of users' annotations
 * @past: its ranges that are over, or NULL
 */
struct xsr_host {
	struct xsp_range	range;
	struct xsprof_event	ev;
	bool			used;
	struct xsr_pushes	pushes[2];
	struct xsr_past		*past;
};

/* thread.c */
/* Made when it is new; NULL: no memory, or nothing can be remembered of it. */
struct xsr_host *xsr_kineto_state(struct xsp_track *thread);
void xsr_host_free(struct xsr_kineto *k, struct xsp_track *thread);

/* host.c */
void xsr_kineto_host(struct xsr_kineto *k, const struct xsprof_event *ev,
		     const struct xsp_view *view);
void xsr_kineto_closed(void *data, struct xsp_track *thread, struct xsp_range *range,
		       uint64_t ns, enum xsp_why why);
/* Write the event that waits for further ARGS records: none will come. */
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
/* The producer ends, or does not tell of its steps any more. */
void xsr_kineto_cut_steps(struct xsr_kineto *k, uint32_t producer, uint64_t ns);
/* The window does. */
void xsr_kineto_end_steps(struct xsr_kineto *k, uint64_t ns);

/*
 * The id of an event by which readers find what belongs to it.  Kineto makes one where the program
 * gave none; these are far from those that programs count, and a double still holds them.
 */
static inline uint64_t xsr_kineto_id(uint64_t given, uint64_t index)
{
	return given ? given : (1ull << 52) + index;
}

/* op.c: all there is to say of a range that has @own keys besides, commas in front. */
char *xsr_kineto_op(struct xsr_kineto *k, const struct xsp_range *range, struct xsr_walk *walk,
		    const struct xsr_post *post, uint32_t own, char *p);

/* args.c */
uint64_t xsr_kineto_range_id(const struct xsp_range *range);
/* The annotations that post_process set; @post may be NULL. */
char *xsr_kineto_post(struct xsr_kineto *k, const struct xsr_post *post, bool *any, char *p);
/* The keys that has; XSR_OWN_... */
uint32_t xsr_kineto_post_keys(const struct xsr_post *post);
/*
 * Arguments under their own names, with a number where the event has that key: one of @own, or of
 * an argument before.  @gpu: numbers are numbers, or are left out.
 */
char *xsr_kineto_args(struct xsr_kineto *k, struct xsr_walk *walk, bool gpu, uint32_t own,
		      char *p, bool *any);
/* Such arguments as text, a comma in front, behind others of the same event. */
void xsr_kineto_more(struct xsr_kineto *k, const char *text, size_t len);

/* stack.c */
int xsr_stacks_new(const struct xsprof_trace *trace, struct xsr_stacks **stacks);
void xsr_stacks_free(struct xsr_stacks *stacks);
/* With a comma in front; nothing where there is no such stack. */
char *xsr_kineto_stack(struct xsr_kineto *k, uint32_t producer, uint64_t stack, char *p);

/* gpu.c */
void xsr_kineto_gpu(struct xsr_kineto *k, const struct xsprof_event *ev, struct xsr_walk *walk);
/* Write the activities that wait for a call, without it. */
void xsr_kineto_gpu_finish(struct xsr_kineto *k);

/* node.c: a record of a node; and of a node's activity, commas in front */
void xsr_node_made(struct xsr_kineto *k, const struct xsprof_event *ev);
char *xsr_node_put(struct xsr_kineto *k, const struct xsprof_event *ev, char *p);

/* fill.c: commas in front */
char *xsr_kineto_fill(struct xsr_kineto *k, const struct xsprof_event *ev,
		      const struct xsr_walk *args, char *p);

/* activity.c: false where it is none. */
bool xsr_kineto_activity(struct xsr_kineto *k, const struct xsprof_event *ev,
			 struct xsr_walk *walk, uint64_t at);
bool xsr_kineto_thread_info(struct xsr_kineto *k, const struct xsprof_event *ev,
			    struct xsr_walk *walk);

/* user.c */
int xsr_users_new(struct xsr_users **users);
void xsr_users_free(struct xsr_users *users);
/* Return: false where it could not be remembered. */
bool xsr_user_push(struct xsr_kineto *k, struct xsp_track *thread,
		   const struct xsprof_event *ev);
void xsr_user_pop(struct xsp_track *thread, const struct xsprof_event *ev);
/* The innermost of @kind that was there at @ns, NULL for none. */
const struct xsr_pushed *xsr_user_top(const struct xsp_track *thread, uint32_t kind,
				      uint64_t ns);
/* As that of xsr_link_around(), of the id that was pushed last; 0 for none. */
uint64_t xsr_user_tag(struct xsr_kineto *k, const struct xsp_track *thread);
/* The annotation with that id. */
void xsr_user_name(struct xsr_kineto *k, uint32_t producer, uint64_t id, uint32_t name);
/* As xsr_link_gpu(); false where the tag is none of these. */
bool xsr_user_gpu(struct xsr_kineto *k, uint64_t tag, uint32_t device, uint64_t stream,
		  uint64_t begin, uint64_t end);
void xsr_user_finish(struct xsr_kineto *k);

/* The activities of a stream that belong to an annotation. */
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
/* A number for an annotation. */
uint64_t xsr_link_tag(struct xsr_kineto *k, uint32_t producer, uint32_t name, uint64_t external);
/* The annotation around what @thread does now: its number, 0 for none. */
uint64_t xsr_link_around(struct xsr_kineto *k, struct xsp_track *thread);
/* An op with a correlation id begins inside an annotation. */
void xsr_link_op(struct xsr_kineto *k, uint32_t producer, uint64_t correlation, uint64_t tag);
uint64_t xsr_link_op_tag(struct xsr_kineto *k, uint32_t producer, uint64_t correlation);
/* A call with @correlation belongs to the op @external, and to an annotation. */
void xsr_link_call(struct xsr_kineto *k, uint32_t producer, uint64_t correlation,
		   uint64_t external, uint64_t tag);
bool xsr_link_find(struct xsr_kineto *k, uint32_t producer, uint64_t correlation,
		   uint64_t *external, uint64_t *tag);
/* The activities of a GPU that belong to an annotation. */
void xsr_link_gpu(struct xsr_kineto *k, uint64_t tag, uint32_t device, uint64_t stream,
		  uint64_t begin, uint64_t end);
/*
 * What an op said of a collective: kernels that it launched say it too.  @text is kept, and is
 * what xsr_link_collective() gives for that op; NULL for none.
 */
void xsr_link_set_collective(struct xsr_kineto *k, uint32_t producer, uint64_t correlation,
			     const char *text, size_t len);
const char *xsr_link_collective(const struct xsr_kineto *k, uint32_t producer,
				uint64_t correlation, size_t *len);
/* Writes what is left of the annotations. */
void xsr_link_finish(struct xsr_kineto *k);
/* A forward op was written, or a backward op: the arrow from one to the other. */
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
/* "pid":1,"tid":2, */
char *xsr_kineto_track(struct xsr_kineto *k, struct xsp_track *thread, char *p);
/* Something is at this device. */
void xsr_kineto_device(struct xsr_kineto *k, uint32_t device);
struct xsp_track *xsr_kineto_stream(struct xsr_kineto *k, uint32_t producer, uint32_t device,
				    uint64_t stream, bool sync);
/* Says what it is called, where anything is on it. */
void xsr_kineto_name_track(struct xsr_kineto *k, struct xsp_track *thread);
/* From "ph" to "ts" of an event with a name id; @kind is what stands behind "ph". */
char *xsr_kineto_begin(struct xsr_kineto *k, struct xsp_track *thread, const char *kind,
		       uint32_t producer, uint32_t name, uint64_t ns);
/* The names of devices and processes. */
void xsr_kineto_names(struct xsr_kineto *k);

/* ns of the file; what is before its base is there. */
static inline uint64_t xsr_kineto_ns(const struct xsr_kineto *k, uint64_t ns)
{
	int64_t v = (int64_t)(ns + (uint64_t)k->shift);

	return v < 0 ? 0 : (uint64_t)v;
}

/* "ts": of an event of one moment, without a comma. */
static inline char *xsr_kineto_ts(const struct xsr_kineto *k, char *p, uint64_t ns)
{
	return put_micros(put_lit(p, "\"ts\":"), xsr_kineto_ns(k, ns));
}

/* ,"dur": of a range. */
static inline char *xsr_kineto_dur(const struct xsr_kineto *k, char *p, uint64_t begin,
				   uint64_t end)
{
	return put_micros_between(put_lit(p, ",\"dur\":"), xsr_kineto_ns(k, begin),
				  xsr_kineto_ns(k, end));
}

/* "finished": of a range that nothing ended, and after when it did, if an interval is known. */
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
 * Cuts a range to the window.  Return: false when nothing of it is inside: one that ends or begins
 * right at an edge is outside, as in build.c; a point is not.
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
