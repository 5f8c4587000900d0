/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * For collectors: libraries that record what devices do (kernels, copies), and the calls of their
 * runtimes, for programs that know nothing of it.  A program that drives a device by itself may
 * call these functions too: it is its own collector.  The rules for threads, signals and errno are
 * those of <xsprof/xsprof.h>.
 *
 *	devices		xsprof_device_add(), xsprof_context_name(), xsprof_stream_name()
 *	clocks		xsprof_device_clock(), xsprof_device_ticks(), xsprof_ticks_ns(),
 *			xsprof_ns_ticks()
 *	activities	xsprof_device_activity(), xsprof_thread_id()
 *	a collector	xsprof_collector_add(), xsprof_collector_wake(), xsprof_collector_put(),
 *			xsprof_collector_missed(), XSPROF_COLLECTOR_ENTRY
 *	a recorder that comes later	xsprof_join(), xsprof_leave()
 */
#ifndef XSPROF_COLLECTOR_H
#define XSPROF_COLLECTOR_H

#include <xsprof/xsprof.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- activities ----------------------------------------------------------------------------- */

/**
 * struct xsprof_device_activity - something a device or its runtime did
 * @size: sizeof(struct xsprof_device_activity) of the caller
 * @name: what: the kernel, "Memcpy HtoD (Pageable -> Device)", the function called
 * @kind: enum xsprof_gpu_kind
 * @begin: ticks of xsprof_now()
 * @end: ticks of xsprof_now()
 * @correlation: the same number for a call and what the device did for it, and no other's in the
 *	process: CUDA counts from 1, Level Zero from 2^30, OpenCL from 2^31, others from
 *	XSPROF_CORRELATION(@device); of 32 bits, as readers of Kineto's files know no more; 0
 *	for none
 * @device: number of the device, as xsprof_device_add() gave it
 * @context: context on the device
 * @stream: stream or queue of the context
 * @reserved: 0
 * @bytes: bytes moved, for copies and sets
 * @graph: graph that it is part of, 0 for none
 * @graph_node: node of that graph, 0 for none
 * @thread: for calls: the thread that called, as gettid() gives it; else 0
 */
struct xsprof_device_activity {
	size_t		size;
	xsprof_name_t	name;
	uint32_t	kind;
	uint64_t	begin;
	uint64_t	end;
	uint64_t	correlation;
	uint32_t	device;
	uint32_t	context;
	uint32_t	stream;
	uint32_t	reserved;
	uint64_t	bytes;
	uint64_t	graph;
	uint64_t	graph_node;
	uint64_t	thread;
};

/* The first correlation id of a device; there is room for a million before the next one's. */
#define XSPROF_CORRELATION(device)	(0xc0000000u + ((uint32_t)(device) << 20))

/**
 * xsprof_device_activity() - record what a device or its runtime did
 * @activity: what; not kept
 * @kv: arguments; strings and lists are copied before it returns
 * @n: how many; 0 for none
 *
 * From any thread and in any order: readers put activities where their times say.  A ring that is
 * full drops records, and counts them: a collector that writes many at once uses
 * xsprof_collector_put(), which waits for the recorder.  Signal-safe.
 */
#ifdef __cplusplus
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"	/* of the structure's name, as stat() does */
#endif
XSPROF_API void xsprof_device_activity(const struct xsprof_device_activity *activity,
				       const struct xsprof_kv *kv, size_t n);
#ifdef __cplusplus
#pragma GCC diagnostic pop
#endif

/**
 * xsprof_i32s() - a list of numbers as an argument, of this and all other functions with arguments
 * @key: its key
 * @v: the numbers; not copied here
 * @n: how many, at most XSPROF_TEXT_MAX / 4
 *
 * Return: the argument.
 */
static inline struct xsprof_kv xsprof_i32s(xsprof_name_t key, const int32_t *v, size_t n)
{
	struct xsprof_kv kv = { key, XSPROF_ARG_I32S, 0, { 0 } };

	kv.u.ptr = v;
	kv.len = n * sizeof(*v);
	return kv;
}

/**
 * xsprof_thread_id() - the calling thread, as records have it
 *
 * A collector notes it in a call of the program, with xsprof_now() before and after, and may write
 * the call later and from another thread: it is the @thread of the activity.  Readers find the op
 * and the range that were open on that thread when the call began, and all that has the call's
 * correlation id belongs to them too.  So there is nothing to push and pop, and no id of an op to
 * ask for: markers would have to store one.
 *
 * A load of thread-local memory, and a system call the first time.  Right also in the child of a
 * fork.  Signal-safe.
 *
 * Return: what gettid() gives.
 */
XSPROF_API uint32_t xsprof_thread_id(void);

/**
 * xsprof_join() - be recorded from now on, by a recorder that has come to this process
 * @session: absolute path of its session, as XSPROF_SESSION has it
 * @arena_size: bytes for names and stacks; 0: as before
 *
 * As if the program had been started by that recorder.  Markers that other threads are in go on.
 * Children that are forked afterwards are recorded too.
 *
 * Return: 0; -EBUSY another one records this process; -ENOTCONN that recorder does not live;
 * -EINVAL; -EPERM XSPROF_BACKEND=none; another negative errno: there are no rings.
 */
XSPROF_API int xsprof_join(const char *session, uint64_t arena_size);

/**
 * xsprof_leave() - not any more
 *
 * Markers cost what they cost before.  What they hold is read until then by the recorder; a second
 * call does nothing.
 */
XSPROF_API void xsprof_leave(void);

/* ---- devices -------------------------------------------------------------------------------- */

/* Devices of one kind have as many numbers. */
#define XSPROF_DEVICES_OF_KIND	32u

/**
 * struct xsprof_device_property - something known of a device
 * @key: what, in JSON's words: "totalGlobalMem", "numSms", as "deviceProperties" of PyTorch's
 *	profiler has them, or others
 * @text: its value; NULL: it is @number
 * @number: its value
 */
struct xsprof_device_property {
	const char	*key;
	const char	*text;
	uint64_t	number;
};

/**
 * struct xsprof_device - a device
 * @size: sizeof(struct xsprof_device) of the caller
 * @kind: by what interface it is used: "cuda", "opencl", "vulkan", or another word of at most 23
 *	bytes, such as the backend's name of a PyTorch PrivateUse1 device; also the category of the
 *	counter that tells how well its clock is known
 * @name: what people call it, or NULL
 * @uuid: tells it from all others, and is the same in all processes; or NULL
 * @index: which of its kind, from 0 to XSPROF_DEVICES_OF_KIND - 1
 * @nr_properties: of @properties
 * @properties: more
 *
 * Of texts, what is not printable ASCII, quotes and backslashes are left out.
 */
struct xsprof_device {
	size_t					size;
	const char				*kind;
	const char				*name;
	const char				*uuid;
	uint32_t				index;
	uint32_t				nr_properties;
	const struct xsprof_device_property	*properties;
};

/**
 * xsprof_device_add() - say that there is a device, and what it is
 * @device: what; not kept
 *
 * The number that activities give is 32 times the number of the kind, plus @index: of "cuda" 0 to
 * 31, of "opencl" 32 to 63, of "vulkan" 64 to 95; other kinds have the next 32 each, from 96 on, in
 * the order in which a process first names them.  So devices of different collectors never have one
 * number, and the same device has the same number each time, also in the child of a fork.
 *
 * The process that is recorded states it, so the child of a fork says it again.  From any thread;
 * takes a lock: not signal-safe.
 *
 * Return: the number; -EINVAL; -ENOSPC: a larger @index, more than 29 other kinds, or no room for
 * what is known in the arena; -E2BIG: more is known than fits into 1,900 bytes; -ENOTCONN: the
 * process is not recorded; -ENOMEM.
 */
XSPROF_API int xsprof_device_add(const struct xsprof_device *device);

/**
 * xsprof_stream_name() - name a stream or queue
 * @device: its device's number
 * @context: as activities have it
 * @stream: as activities have it
 * @name: what readers show beside the number; printable ASCII
 *
 * Of several names the last counts, for all that the stream did.  From any thread; not signal-safe.
 *
 * Return: 0; -EINVAL, -ENOTCONN or -ENOSPC as xsprof_fact().
 */
XSPROF_API int xsprof_stream_name(uint32_t device, uint32_t context, uint32_t stream,
				  const char *name);

/* The same of a context. */
XSPROF_API int xsprof_context_name(uint32_t device, uint32_t context, const char *name);

/* ---- clocks --------------------------------------------------------------------------------- */

/**
 * xsprof_ticks_ns() - ticks of xsprof_now() in nanoseconds
 * @ticks: ticks
 *
 * For runtimes that take nanoseconds from the collector or compare theirs with them.  The rate is
 * measured once in a process, by the thread of a collector, or by the first call of this function,
 * xsprof_ns_ticks() or xsprof_device_ticks(), to a few parts in a million; what comes back by
 * xsprof_ns_ticks() is divided by the same rate.
 *
 * From any thread.  Until the rate is known it may wait for up to 20 ms, and is not signal-safe.
 *
 * Return: ns, close to those of CLOCK_MONOTONIC_RAW.
 */
XSPROF_API uint64_t xsprof_ticks_ns(uint64_t ticks);

/* And back. */
XSPROF_API uint64_t xsprof_ns_ticks(uint64_t ns);

/**
 * xsprof_device_clock() - tell what a device's clock said, and when
 * @device: the device's number
 * @device_ns: its time, in nanoseconds of its clock
 * @before: ticks: it was no earlier
 * @after: ticks: and no later
 *
 * The time of the device was read between two readings of ours, or is one that it took within a
 * call of the program.  What the pairs of the last 20 to 40 ms agree on is what times are moved by,
 * so clocks of different rates, and clocks that are set, do no harm.  How far off that may be is a
 * counter in the trace, "clock of device N: known within ns", once a second where it changed, and
 * at the end of a collector.
 *
 * From any thread; never waits for the rate; takes the device's lock: not signal-safe.  Nothing
 * happens for a number that xsprof_device_add() has not given.
 */
XSPROF_API void xsprof_device_clock(uint32_t device, uint64_t device_ns, uint64_t before,
				    uint64_t after);

/**
 * xsprof_device_ticks() - a time of a device, as activities have it
 * @device: the device's number
 * @device_ns: nanoseconds of its clock
 *
 * Tell pairs that bound the times before you ask for them.  From any thread; takes the device's
 * lock: not signal-safe.
 *
 * Return: ticks; before the first pair, as if the device had CLOCK_MONOTONIC_RAW.
 */
XSPROF_API uint64_t xsprof_device_ticks(uint32_t device, uint64_t device_ns);

/* ---- collectors ----------------------------------------------------------------------------- */

/**
 * struct xsprof_miss - something that a collector could not record
 * @text: why and what, as it stands behind "not recorded: "
 * @n: how much of it; xsprof_collector_missed() adds to it
 * @shown: the library's
 *
 * This structure stays as it is.
 */
struct xsprof_miss {
	const char	*text;
	uint64_t	n;
	uint64_t	shown;
};

#define XSPROF_COLLECTOR_VERSION	1u

/**
 * struct xsprof_collector - what the library is to know of a collector
 * @size: sizeof(struct xsprof_collector) of the caller
 * @version: XSPROF_COLLECTOR_VERSION of the caller
 * @nr_misses: of @misses
 * @name: of its thread ("xsprof-NAME", cut to 15 bytes), and what messages call it
 * @category: of its activities: the collector records while it is on
 * @misses: each a counter of the trace once it is not 0, "not recorded: TEXT"
 * @start: recording is on from here on.  Return: 0; else it is called again in a quarter of a
 *	second, and @work and @stop are not called before it has returned 0
 * @work: write what there is.  Return: after how many ns to call it again at the latest, 0: a
 *	quarter of a second, which is the most; xsprof_collector_wake() makes it earlier, and so
 *	does the end of a session of <xsprof/profiler.h>, which waits for it, up to a second
 * @stop: recording is off from here on (the category is, the process is paused, or the recorder has
 *	taken nothing for two seconds), or, with @last, the program ends: write all that there is,
 *	and leave the device alone.  With @last the program waits for it, for 10 seconds at most,
 *	and 5 of these for the recorder
 * @gave_up: the program does not wait any longer: add to @misses what is lost
 * @forget: in the child of a fork, before anything of it is recorded: no other thread of the parent
 *	is there, locks that they held are never given back, and what the parent had under way is
 *	not the child's.  What a signal handler may not do it may not either
 * @data: passed to them
 * @own: the library's
 *
 * The first call is @start or @stop, as recording is on or off: what a collector had set up before,
 * so that nothing of the program's begin is missed, is undone there.  All but @work may be NULL.
 * Without @start, @work is called whether recording is on or off, for a
 * collector that has to follow up what it began, and @stop with @last only.
 *
 * @start, @work and @stop are called in a thread of the library's, one at a time, in which all
 * signals are blocked, with a stack as the program's threads have it; @gave_up in the thread that
 * ends the program, while @work or @stop has not returned.
 */
struct xsprof_collector {
	size_t			size;
	uint32_t		version;
	uint32_t		nr_misses;
	const char		*name;
	const char		*category;
	struct xsprof_miss	*misses;
	int			(*start)(void *data);
	uint64_t		(*work)(void *data);
	void			(*stop)(void *data, int last);
	void			(*gave_up)(void *data);
	void			(*forget)(void *data);
	void			*data;
	struct xsp_collector	*own;
};

/**
 * xsprof_collector_add() - a collector is there
 * @collector: what; it stays in memory as long as the process
 *
 * Begins its thread.  Called again it does two things, each where it is needed: it begins the
 * thread in the child of a fork, which has none until then, and its end at exit() comes before what
 * has been registered with atexit() meanwhile, such as the end of the device's runtime.  The end of
 * one that was added before main() alone is among destructors, behind all of that.
 *
 * From any thread but the collector's; not signal-safe.  A process that nobody records gets no
 * thread.
 *
 * Return: 0; -ENOTCONN: nobody records this process: leave it alone; -EINVAL; -EPROTO: another
 * version; -E2BIG: fields that this library does not know are not 0; -EAGAIN, -ENOMEM: no thread;
 * a line on standard error says so.
 */
XSPROF_API int xsprof_collector_add(struct xsprof_collector *collector);

/**
 * xsprof_collector_wake() - call @work now
 * @collector: one that was added
 *
 * From any thread; takes a lock for some instructions: not signal-safe.
 */
XSPROF_API void xsprof_collector_wake(struct xsprof_collector *collector);

/**
 * xsprof_collector_put() - record one of many activities
 * @collector: one that was added
 * @activity: what
 * @kv: as of xsprof_device_activity()
 * @n: how many
 *
 * As xsprof_device_activity(), but where a ring would be full it waits for the recorder, up to a
 * second at a time, and none once that has gone; and what comes while recording is off is counted
 * ("not recorded: activities that came after recording was paused").
 *
 * From the collector's own functions alone.
 */
XSPROF_API void xsprof_collector_put(struct xsprof_collector *collector,
				     const struct xsprof_device_activity *activity,
				     const struct xsprof_kv *kv, size_t n);

/**
 * xsprof_collector_missed() - count what is not recorded
 * @miss: why
 * @n: how much
 *
 * From any thread.  Signal-safe.
 */
static inline void xsprof_collector_missed(struct xsprof_miss *miss, uint64_t n)
{
	/* Relaxed: a sum orders nothing else. */
	__atomic_fetch_add(&miss->n, n, __ATOMIC_RELAXED);
}

/*
 * XSPROF_COLLECTOR_ENTRY(version) { ... } - the entry of a collector that is a plug-in, a shared
 * library that XSPROF_COLLECTORS names: libxsprof-collector(3).  It is called once in a process
 * that is recorded, before main() or when recording begins, with the XSPROF_COLLECTOR_VERSION of
 * the library.  It should take no time and start no thread: that is for @start.
 *
 * Return: the collector, which the library adds; NULL: there is nothing to record in this process.
 */
#ifdef __cplusplus
#define XSPROF_COLLECTOR_C_	extern "C"
#else
#define XSPROF_COLLECTOR_C_	extern
#endif
#define XSPROF_COLLECTOR_ENTRY(version)						\
	XSPROF_COLLECTOR_C_ XSPROF_API struct xsprof_collector *			\
		xsprof_collector_init(uint32_t library_version);			\
	struct xsprof_collector *xsprof_collector_init(uint32_t version)

#ifdef __cplusplus
}
#endif

#endif /* XSPROF_COLLECTOR_H */
