/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the Perfetto format share.  perfetto.c turns events of programs into packets,
 * range.c those that are ranges, event.c has the pieces of one, kernel.c and sched.c those of the
 * kernel, task.c and end.c say when tasks began and ended, args.c and note.c write arguments;
 * meta.c has the clocks and what is said of the whole, track.c the tracks, bundle.c the events of
 * a CPU, names.c what is interned, sample.c samples of stacks.  wire.h writes what is in packets;
 * those that are rare are begun and ended by packet.c.
 *
 * The numbers of fields are Perfetto's.
 */
#ifndef XSPROF_PERFETTO_LOCAL_H
#define XSPROF_PERFETTO_LOCAL_H

#include "format/common/held.h"
#include "format/common/lane.h"
#include "format/common/out.h"
#include "format/common/running.h"
#include "format/perfetto/wire.h"
#include "text/keys.h"

/* Who writes: a reader keeps what is interned, and what was lost, by this. */
enum { PF_MARKERS = 1, PF_KERNEL = 2, PF_LOSSES = 3, PF_SAMPLES = 4 };

enum { PF_CLEARED = 1, PF_NEEDED = 2 };

/* Clocks, as Perfetto numbers them. */
enum { PF_REALTIME = 1, PF_MONOTONIC = 3, PF_MONOTONIC_RAW = 5, PF_BOOTTIME = 6 };

/* Fields of TracePacket, TrackEvent and DebugAnnotation. */
enum {
	PF_TRACE_PACKET = 1,

	PF_FTRACE_EVENTS = 1, PF_TIMESTAMP = 8, PF_SEQUENCE = 10, PF_TRACK_EVENT = 11,
	PF_INTERNED = 12, PF_FLAGS = 13, PF_DROPPED = 42, PF_CLOCK = 58, PF_TREE = 2,
	PF_CLOCKS = 6, PF_SYSTEM = 45, PF_DEFAULTS = 59, PF_DESCRIPTOR = 60, PF_FIRST = 87,
	PF_ATTRIBUTES = 126,

	PF_ANNOTATION = 4, PF_TYPE = 9, PF_TRACK = 11, PF_CATEGORY = 22, PF_NAME = 23,
	PF_COUNTER_I64 = 30, PF_COUNTER_F64 = 44, PF_FLOW = 47, PF_FLOW_END = 48,
	PF_CORRELATION = 52,

	PF_ARG_BOOL = 2, PF_ARG_U64 = 3, PF_ARG_I64 = 4, PF_ARG_F64 = 5, PF_ARG_TEXT = 6,
	PF_ARG_PTR = 7, PF_ARG_NAME = 10, PF_ARG_ARRAY = 12,
};

/* Fields of ProcessTree and of its Process and Thread. */
enum {
	PF_TREE_PROCESS = 1, PF_TREE_THREAD = 2,

	PF_PROCESS_PID = 1, PF_PROCESS_PPID = 2, PF_PROCESS_CMDLINE = 3, PF_PROCESS_START = 7,

	PF_THREAD_TID = 1, PF_THREAD_NAME = 2, PF_THREAD_TGID = 3,
};

/* Numbers are made of more than tracks: of these, and of kinds of tracks. */
enum {
	PF_ASYNC	= XSP_LANE_OWN,
	PF_COUNTERS	= 6,
	PF_ALONE	= 7,
};

/* What an event is on its track. */
enum { PF_BEGIN = 1, PF_END = 2, PF_INSTANT = 3, PF_COUNTER = 4 };

/* Tracks of the trace itself; those of processes and threads have larger numbers. */
enum { PF_TRACK_GLOBAL = 1, PF_TRACK_LOST = 2 };

/* A name that is interned: the bytes that an event has for it. */
struct pf_name {
	uint64_t	key;
	uint32_t	len;		/* 0: none */
	char		bytes[20];
};

/* What is interned; the kind is a part of the key. */
enum pf_interned {
	PF_IS_NAME	= 0,	/* name and category of an event */
	PF_IS_CATEGORY	= 1,
	PF_IS_KEY	= 2,	/* of an argument */
	PF_IS_VALUE	= 3,	/* an argument that is a name */
	PF_IS_COUNTER	= 4,	/* a track that was described */
	PF_IS_METRIC	= 5,	/* the same of a device's counter */
};

#define PF_NAMES	16384u	/* places; three quarters of them are used */

struct pf_bundles;
struct pf_ends;
struct pf_kernel;
struct pf_samples;

/**
 * struct perfetto - what the Perfetto format keeps
 * @begun: the first packets are out
 * @begin_ns: time of the first event
 * @iid: the latest number of an interned text
 * @nr_names: used places of @names
 * @names: what is interned since the last time that it was forgotten
 * @described: bits: processes that were described
 * @named: bits: with their names
 * @asyncs: open ranges by id
 * @nr_asyncs: how many ids
 * @kernel: NULL without events of the kernel tracer
 * @bundles: what is drawn of CPUs, NULL while there is nothing
 * @sched: the module's records of the scheduler, NULL without
 * @running: what the tracer's events tell of running tasks, NULL without
 * @samples: what was interned for samples, NULL without
 * @inferred: switches that the tracer left out
 * @ends: what is known of ends of processes, NULL without
 * @made: events among the kernel's that are not: ends of tasks that were told, and the begin
 * @switches: there are events that tell when a task leaves its CPU
 * @left_out: events of CPUs that readers refuse
 * @next_sync: the next sync point of the trace to look at
 * @next_ns: its time; later events have a snapshot of the clocks before them
 * @last_ns: CLOCK_MONOTONIC of the latest snapshot
 * @boot_off: CLOCK_BOOTTIME - CLOCK_MONOTONIC, as in that snapshot
 * @alone: tracks made for one range each
 * @pairs: ranges of which one event, or none, gave both ends
 * @closed: ends that no event gave
 * @keys: of the arguments of the event that is written
 * @track: bytes of a track that cannot be remembered
 */
struct perfetto {
	bool			begun;
	uint64_t		begin_ns;
	uint32_t		iid;
	uint32_t		nr_names;
	struct pf_name		names[PF_NAMES];
	uint8_t			described[XSPROF_CAP_MAX_PRODUCERS / 8];
	uint8_t			named[XSPROF_CAP_MAX_PRODUCERS / 8];
	struct pf_kernel	*kernel;
	struct pf_bundles	*bundles;
	struct fmt_sched	*sched;
	struct fmt_running	*running;
	struct pf_samples	*samples;
	uint64_t		inferred;
	struct pf_ends		*ends;
	uint64_t		made;
	bool			switches;
	uint64_t		left_out;
	uint32_t		next_sync;
	uint64_t		next_ns;
	uint64_t		last_ns;
	uint64_t		boot_off;
	uint64_t		alone;
	uint64_t		pairs;
	uint64_t		closed;
	struct xsp_keys		keys;
	char			track[2 + WIRE_MAX];
};

static inline struct perfetto *pf_of(const struct xsp_out *out)
{
	return out->priv;
}

/**
 * struct pf_task - a task of the kernel's events
 * @ns: when it was seen first
 * @tid: its number
 * @tgid: its process
 * @parent: the process that forked it at @ns, 0 not known
 * @comm: its name
 * @leader: the name of its process' first thread
 */
struct pf_task {
	uint64_t	ns;
	uint32_t	tid;
	uint32_t	tgid;
	uint32_t	parent;
	const char	*comm;
	const char	*leader;
};

/* ---- track.c ------------------------------------------------------------------------------- */

/* A number for a track of @kind, which nothing else has but by an accident of 2^-63. */
uint64_t pf_hash_uuid(uint32_t producer, uint32_t kind, uint64_t key);
/* The track of a thread, described where it is new: the field of an event, @len bytes. */
const char *pf_thread_track(struct xsp_out *out, struct xsp_track *thread, uint32_t *len);
/* The track of the event's process likewise. */
uint64_t pf_process_track(struct xsp_out *out, uint32_t producer, uint32_t pid, uint64_t ns);
/* The same by the process id of a producer. */
void pf_program_track(struct xsp_out *out, uint32_t pid, uint64_t ns);
/* A track for a range that nests there, as chrome_lane(); NULL: there is none. */
struct xsp_track *pf_lane(struct xsp_out *out, const struct xsprof_event *ev, enum xsp_lane kind,
			  uint64_t key, uint64_t begin, uint64_t end);
/* True when it may be drawn on the thread: it nests there, whatever is sorted how. */
bool pf_nests(struct xsp_out *out, struct xsp_track *thread, uint64_t begin, uint64_t end);
/* A track of its own for a range, or for a counter. */
uint64_t pf_alone(struct xsp_out *out, const struct xsprof_event *ev, uint32_t name);
uint64_t pf_counter_track(struct xsp_out *out, const struct xsprof_event *ev, uint32_t name);
/* A counter: how much of the memory of a device is in use. */
uint64_t pf_memory_track(struct xsp_out *out, const struct xsprof_event *ev);
/* A counter of the device itself, by its name. */
uint64_t pf_metric_track(struct xsp_out *out, const struct xsprof_event *ev, uint32_t key);
uint64_t pf_async_uuid(uint32_t producer, uint32_t name, uint64_t id);
/* An async event's track, described unless it is @known: a range is open on it. */
uint64_t pf_async_track(struct xsp_out *out, const struct xsprof_event *ev, uint32_t name,
			bool known);
void pf_thread_gone(struct xsp_out *out, struct xsp_track *thread);
void pf_process_names(struct xsp_out *out);
void pf_trace_tracks(struct xsp_out *out);

/* ---- args.c: arguments, and what a type's own fields say -------------------------- */

char *pf_put_args(struct xsp_out *out, const struct xsprof_event *ev, char *p);
char *pf_put_fields(struct xsp_out *out, const struct xsprof_event *ev, char *p);
/* Interns all that the arguments need. */
void pf_intern_args(struct xsp_out *out, const struct xsprof_event *ev);

/* Opens an annotation.  Return: where its value goes; wire_close() ends it at @start. */
char *pf_open_arg(struct xsp_out *out, char *p, const char *name, size_t len, char **start);
char *pf_arg_u64(struct xsp_out *out, char *p, const char *name, uint64_t v);
char *pf_arg_text(struct xsp_out *out, char *p, const char *name, const char *s, size_t len);
char *pf_arg_true(struct xsp_out *out, char *p, const char *name);

/* ---- note.c: arguments that wait for the end of their range ----------------------- */

/* The names of the arguments that were written since pf_open(), before all else in the note. */
void pf_note_keys(struct xsp_out *out, struct xsp_range *range);
bool pf_note_args(struct xsp_out *out, const struct xsprof_event *ev, struct xsp_range *range);
/* The note of a range, and one more for it; of one text: PF_NOTE. */
#define PF_NOTE(key, text)	"\2s" key "\3" text
char *pf_put_note(struct xsp_out *out, char *p, const char *note);

/* An event of no message of its own, and its fields. */
enum { E_GENERIC = 327 };
enum { G_NAME = 1, G_FIELD = 2, G_FIELD_NAME = 1, G_TEXT = 3, G_I64 = 4, G_U64 = 5 };

/* ---- kernel.c, sched.c --------------------------------------------------------------------- */

void pf_kernel_event(struct xsp_out *out, const struct xsprof_event *ev);
void pf_kernel_free(struct pf_kernel *kernel);

/* running.c: as fmt_running_take(). */
bool pf_running_take(struct xsp_out *out, const struct xsprof_event *ev,
		     struct fmt_inferred *inferred);
/* Before the time that is shown; and when that begins. */
void pf_running_before(struct xsp_out *out, const struct xsprof_event *ev);
void pf_running_begin(struct xsp_out *out, uint64_t ns);
/* An event of a program may tell of a switch that the tracer left out. */
void pf_running_marker(struct xsp_out *out, const struct xsprof_event *ev);

/* sched.c: of the module's records the same. */
void pf_sched_before(struct xsp_out *out, const struct xsprof_event *ev);
void pf_sched_begin(struct xsp_out *out, uint64_t ns);
/* A record of the module's, told as the tracer would.  Return: false when it is to be shown. */
bool pf_sched_event(struct xsp_out *out, const struct xsprof_event *ev);
/* A switch from idle that the tracer left out, found by @ev: drawn, and marked by an event. */
void pf_sched_inferred(struct xsp_out *out, const struct xsprof_event *ev,
		       const struct fmt_inferred *inferred);

/* ---- bundle.c ------------------------------------------------------------------------------ */

/*
 * Begins an event of kind @number at @p; @message is where its fields go, and the event ends as
 * wire_close(event, wire_close(message, p)).
 */
char *pf_open_kernel(struct xsp_out *out, uint64_t ns, uint32_t tid, uint32_t number, char *p,
		     char **message);
/* Return: false when readers refuse that CPU: the event is left out, and counted. */
bool pf_bundle_takes(struct xsp_out *out, int32_t cpu);
void pf_bundle_add(struct xsp_out *out, int32_t cpu, uint64_t ns, const char *data, size_t len);
void pf_bundle_lost(struct xsp_out *out, int32_t cpu);
void pf_bundles_finish(struct xsp_out *out);
void pf_bundles_free(struct pf_bundles *all);
/* Was said of which process the task is?  Then it is, with what remains to be said of that. */
bool pf_is_told(struct xsp_out *out, uint32_t tid);
enum pf_told { PF_TOLD, PF_PROCESS, PF_PROGRAM };
enum pf_told pf_mark_told(struct xsp_out *out, uint32_t tid, uint32_t tgid);
/* The first producer of a process that is PF_PROGRAM. */
bool pf_program_of(const struct xsp_out *out, uint32_t pid, uint32_t *producer);
/* It ended: the number is another's when it comes again. */
void pf_forget_task(struct xsp_out *out, uint32_t tid);
uint64_t pf_kernel_written(const struct perfetto *pf);
/* Is there an event of the kernel, or one made here? */
bool pf_bundles_any(const struct perfetto *pf);

/* task.c: says which process a task is of, once: ask first. */
void pf_tell_task(struct xsp_out *out, const struct pf_task *task);
/* A task of the kernel's, unless it was told. */
void pf_tell_kernel_task(struct xsp_out *out, uint32_t tid, uint64_t ns);
/* One that @by made at that moment, with the name that the kernel gave it. */
void pf_tell_forked_task(struct xsp_out *out, uint32_t tid, uint32_t by, uint64_t ns,
			 const char *comm);

/* ---- end.c --------------------------------------------------------------------------------- */

/* A task of the process was told. */
void pf_end_told(struct xsp_out *out, uint32_t tgid);
/* It left its CPU for the last time; @tgid may be 0: not known. */
void pf_end_task(struct xsp_out *out, int32_t cpu, uint64_t ns, uint32_t tid, uint32_t tgid);
/* The process has events of its own, the last when it was seen to end. */
void pf_end_is_program(struct xsp_out *out, uint32_t pid);
bool pf_end_of_program(const struct xsp_out *out, uint32_t pid);
/* Its thread, by the kernel's number; of what process that is, 0: not known. */
void pf_end_thread(struct xsp_out *out, uint32_t tid, uint32_t pid);
uint32_t pf_end_process_of(const struct xsp_out *out, uint32_t tid);
void pf_end_program(struct xsp_out *out, const struct xsprof_event *ev);
void pf_ends_free(struct pf_ends *ends);

/* A packet of a track's event under way. */
struct pf_packet {
	char	*packet;
	char	*event;
};

static inline char *pf_open(struct xsp_out *out, struct pf_packet *pkt, uint64_t ns, char type,
			    const char *track, uint32_t track_len)
{
	static const char middle[4] = {
		PF_SEQUENCE << 3, PF_MARKERS, PF_FLAGS << 3, PF_NEEDED,
	};
	char *p = xsp_buf_room(&out->buf, XSP_BUF_ROOM);

	xsp_keys_clear(&pf_of(out)->keys);
	pkt->packet = p = wire_open(p, PF_TRACE_PACKET);
	p = wire_u64(p, PF_TIMESTAMP, ns);
	memcpy(p, middle, 4);
	pkt->event = p = wire_open(p + 4, PF_TRACK_EVENT);
	*p++ = PF_TYPE << 3;
	*p++ = type;
	memcpy(p, track, 2 + WIRE_MAX);
	return p + track_len;
}

static inline void pf_close(struct xsp_out *out, struct pf_packet *pkt, char *p)
{
	out->buf.p = wire_close(pkt->packet, wire_close(pkt->event, p));
}

/* ---- event.c ------------------------------------------------------------------------------- */

struct pf_name;
char *pf_open_uuid(struct xsp_out *out, struct pf_packet *pkt, uint64_t ns, char type,
		   uint64_t uuid);
char *pf_open_thread(struct xsp_out *out, struct pf_packet *pkt, uint64_t ns, char type,
		     struct xsp_track *thread);
/* What is interned for it, before it is opened; NULL: it has no name, or none that is known. */
const struct pf_name *pf_event_name(struct xsp_out *out, const struct xsprof_event *ev,
				    uint32_t name);
char *pf_put_name(char *p, const struct pf_name *name, const struct xsprof_event *ev);
/* Its fields and arguments. */
char *pf_put_all(struct xsp_out *out, const struct xsprof_event *ev, char *p);
/* On track @uuid, 0: its thread's; @note may be NULL. */
void pf_instant(struct xsp_out *out, const struct xsp_view *view, uint64_t uuid, const char *note);

/* ---- range.c ------------------------------------------------------------------------------- */

void pf_put_begin(struct xsp_out *out, const struct xsp_view *view);
void pf_put_end(struct xsp_out *out, const struct xsp_view *view);
void pf_put_range(struct xsp_out *out, const struct xsp_view *view);
void pf_put_async(struct xsp_out *out, const struct xsp_view *view);
void pf_closed(void *data, struct xsp_track *thread, struct xsp_range *range, uint64_t ns,
	       enum xsp_why why);
void pf_async_closed(void *data, struct xsp_track *thread, const struct xsprof_range *range,
		     enum xsp_why why);

#endif /* XSPROF_PERFETTO_LOCAL_H */
