/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * For collectors: libraries that record the activities of devices (kernels, copies) and the calls
 * of their runtimes, in unmodified programs.  A program that drives a device itself may call these
 * functions too.  The rules for threads, signals and errno are those of <xsprof/xsprof.h>.
 *
 *	devices		xsprof_device_add(), xsprof_context_name(), xsprof_stream_name(),
 *			xsprof_handle_name()
 *	clocks		xsprof_device_clock(), xsprof_device_ticks(), xsprof_ticks_ns(),
 *			xsprof_ns_ticks()
 *	activities	xsprof_device_activity(), xsprof_thread_id()
 *	a collector	xsprof_collector_add(), xsprof_collector_wake(), xsprof_collector_put(),
 *			xsprof_collector_asked(), xsprof_collector_missed(),
 *			xsprof_say(), XSPROF_COLLECTOR_ENTRY
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
 * From any thread and in any order: readers place activities by their times.  A full ring drops
 * records and counts them: a collector that writes many at once uses xsprof_collector_put(), which
 * waits for the recorder.  Signal-safe.
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
 * xsprof_thread_id() - the calling thread, as records have it
 *
 * In a call of the program a collector stores this id, and xsprof_now() before and after; it may
 * write the call later and from another thread, with the id as @thread of the activity.  Readers
 * assign the call, and all activities with its correlation id, to the op and range that were open
 * on that thread when the call began.  So a collector pushes and pops nothing, and asks for no id
 * of an op.
 *
 * Costs a load of thread-local memory, and a system call the first time.  Correct also in the child
 * of a fork.  Signal-safe.
 *
 * Return: what gettid() gives.
 */
XSPROF_API uint32_t xsprof_thread_id(void);

/**
 * xsprof_join() - make this running process a producer of a recorder's session
 * @session: absolute path of its session, as XSPROF_SESSION has it
 * @arena_size: bytes for names and stacks; 0: as before
 *
 * From then on the process is recorded as if that recorder had started it, and so are children that
 * it forks.  Other threads may be inside markers during the call.  Rings that the process has from
 * a profile of its own are given up.  A profile that begins later has what the recorder has, too.
 *
 * Return: 0; -EBUSY another recorder records this process; -EINPROGRESS a profile of its own is
 * running, xsprof_disable_profiler() ends it; -ENOTCONN that recorder is dead;
 * -EINVAL; -EPERM XSPROF_BACKEND=none; -EAGAIN in a signal handler that interrupted another
 * call, or in a child of vfork(); another negative errno: there are no rings.  Waits for a fork of
 * another thread to end.
 */
XSPROF_API int xsprof_join(const char *session, uint64_t arena_size);

/**
 * xsprof_leave() - undo xsprof_join()
 *
 * Markers then cost what they cost before.  The recorder reads the records written so far.  A
 * profile of the process' own that is running goes on with other rings; ranges that are open end
 * there.  A second call does nothing.
 */
XSPROF_API void xsprof_leave(void);

/* ---- devices -------------------------------------------------------------------------------- */

/* Devices of one kind have as many numbers. */
#define XSPROF_DEVICES_OF_KIND	32u

/**
 * struct xsprof_device_property - a property of a device
 * @key: its key in JSON: "totalGlobalMem", "numSms" and the others that "deviceProperties" of
 *	PyTorch's profiler has, or further ones
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
 * @kind: the interface that drives it: "cuda", "opencl", "vulkan", or another word of at most 23
 *	bytes, such as the backend's name of a PyTorch PrivateUse1 device; also the category of the
 *	counter for the error of its clock
 * @name: its product name, or NULL
 * @uuid: identifies it, the same in all processes; or NULL
 * @index: its number among devices of its kind, from 0 to XSPROF_DEVICES_OF_KIND - 1
 * @nr_properties: number of @properties
 * @properties: further properties
 *
 * Quotes, backslashes and bytes that are not printable ASCII are removed from texts.
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
 * xsprof_device_add() - register a device
 * @device: description; not kept
 *
 * Returns the device number for activities: 32 times the number of the kind, plus @index.  "cuda"
 * has 0 to 31, "opencl" 32 to 63, "vulkan" 64 to 95; other kinds have the next 32 each, from 96 on,
 * in the order in which a process first registers them.  So devices of different collectors never
 * share a number, and a device has the same number each time, also in the child of a fork.
 *
 * The registration belongs to the recorded process: the child of a fork repeats it.  From any
 * thread; takes a lock: not signal-safe.
 *
 * Return: the number; -EINVAL; -ENOSPC: a larger @index, more than 29 other kinds, or no room in
 * the arena; -E2BIG: the description is longer than 1,900 bytes; -ENOTCONN: the process is not
 * recorded; -ENOMEM.
 */
XSPROF_API int xsprof_device_add(const struct xsprof_device *device);

/**
 * xsprof_stream_name() - name a stream or queue
 * @device: its device's number
 * @context: as activities have it
 * @stream: as activities have it
 * @name: what readers show beside the number, in UTF-8; cut after 255 bytes
 *
 * The last name counts, for all activities of the stream.  From any thread; not signal-safe.
 *
 * Return: 0; -EINVAL, -ENOTCONN or -ENOSPC as xsprof_fact().
 */
XSPROF_API int xsprof_stream_name(uint32_t device, uint32_t context, uint32_t stream,
				  const char *name);

/* The same of a context. */
XSPROF_API int xsprof_context_name(uint32_t device, uint32_t context, const char *name);

/**
 * xsprof_handle_name() - the same of an object that has a handle of its runtime, as with NVTX
 * @type: of the handle: "CUstream", "CUcontext", or another that a collector knows
 * @handle: the handle
 * @name: its name
 *
 * Return: the same; -ENOENT: no collector knows the type; -EAGAIN: that one does not record now;
 * -ENOSYS: its runtime is too old.
 */
XSPROF_API int xsprof_handle_name(const char *type, const void *handle, const char *name);

/* ---- clocks --------------------------------------------------------------------------------- */

/**
 * xsprof_ticks_ns() - ticks of xsprof_now() in nanoseconds
 * @ticks: ticks
 *
 * For runtimes that take nanoseconds from the collector or compare theirs with them.  The rate is
 * measured once in a process, to a few parts in a million, by the thread of a collector or by the
 * first call of this function, xsprof_ns_ticks() or xsprof_device_ticks().  xsprof_ns_ticks()
 * divides by the same rate.
 *
 * From any thread.  Until the rate is known it may wait for up to 20 ms, and is not signal-safe.
 *
 * Return: ns, close to those of CLOCK_MONOTONIC_RAW.
 */
XSPROF_API uint64_t xsprof_ticks_ns(uint64_t ticks);

/* And back. */
XSPROF_API uint64_t xsprof_ns_ticks(uint64_t ns);

/**
 * xsprof_device_clock() - relate a time of a device to the markers' clock
 * @device: the device's number
 * @device_ns: its time, in nanoseconds of its clock
 * @before: ticks: the device had that time no earlier than this
 * @after: ticks: and no later than this
 *
 * Read the device's clock between two calls of xsprof_now(), or use a time that the device stored
 * during a call of the program.  xsprof_device_ticks() uses the offset that fits all pairs of the
 * last 20 to 40 ms, so clocks of different rates, and clocks that are set, do no harm.  The bound
 * of its error is a counter in the trace, "clock of device N: known within ns", once a second if it
 * changed, and at the end of a collector.
 *
 * From any thread; never waits for the rate; takes the device's lock: not signal-safe.  Ignores
 * numbers that xsprof_device_add() has not returned.
 */
XSPROF_API void xsprof_device_clock(uint32_t device, uint64_t device_ns, uint64_t before,
				    uint64_t after);

/**
 * xsprof_device_ticks() - convert a time of a device to ticks, for activities
 * @device: the device's number
 * @device_ns: nanoseconds of its clock
 *
 * Call xsprof_device_clock() with pairs around the times first.  From any thread; takes the
 * device's lock: not signal-safe.
 *
 * Return: ticks; before the first pair, as if the device had CLOCK_MONOTONIC_RAW.
 */
XSPROF_API uint64_t xsprof_device_ticks(uint32_t device, uint64_t device_ns);

/* ---- collectors ----------------------------------------------------------------------------- */

/**
 * struct xsprof_miss - a count of activities that a collector could not record
 * @text: the reason, which follows "not recorded: "
 * @n: the count; xsprof_collector_missed() adds to it
 * @shown: used by the library
 *
 * This structure never changes.
 */
struct xsprof_miss {
	const char	*text;
	uint64_t	n;
	uint64_t	shown;
};

#define XSPROF_COLLECTOR_VERSION	1u

/**
 * struct xsprof_collector - a collector: its functions and what it could not record
 * @size: sizeof(struct xsprof_collector) of the caller
 * @version: XSPROF_COLLECTOR_VERSION of the caller
 * @nr_misses: number of @misses
 * @name: of its thread ("xsprof-NAME", cut to 15 bytes), and in messages
 * @category: of its activities: the collector records while it is enabled
 * @misses: each a counter of the trace once it is not 0, "not recorded: TEXT"
 * @start: recording begins.  Return: 0; otherwise the library calls it again after a quarter of a
 *	second, and does not call @work and @stop until it has returned 0
 * @work: write the activities that are complete.  Return: ns until the next call at the latest; 0:
 *	a quarter of a second, which is the maximum.  xsprof_collector_wake() makes the call
 *	earlier, and so does the end of a session of <xsprof/profiler.h>, which waits for it, up to
 *	a second
 * @stop: recording stops (the category is disabled, the process is paused, or the recorder has read
 *	nothing for two seconds), or, with @last, the program ends: write all activities that are
 *	left, and stop using the device.  With @last the program waits for it, for 10 seconds at
 *	most, of which at most 5 are spent waiting for the recorder
 * @gave_up: the program does not wait any longer: add what is lost to @misses
 * @forget: called in the child of a fork, before the child records anything: the parent's other
 *	threads do not exist there, locks that they held are never released, and the parent's
 *	activities are not the child's.  It may only do what a signal handler may do
 * @data: passed to the functions
 * @own: used by the library
 * @handle_named: of xsprof_handle_name(), in its thread: call xsprof_stream_name() or
 *	xsprof_context_name() with the numbers that activities have.  Also while recording is off.
 *	Return: as that; -ENOENT: handles of this type are another collector's
 *
 * The first call is @start if recording is on, else @stop, which undoes what a collector set up in
 * advance in order to miss nothing at the program's start.  All functions except @work may be NULL.
 * After a time in which recording was off, the library calls @start and writes an activity of kind
 * XSPROF_GPU_UNRECORDED for it: what devices did then is unknown.
 * Without @start, the library calls @work whether recording is on or off, for a collector that has
 * to finish what it began, and calls @stop with @last only.
 *
 * A thread of the library calls @start, @work and @stop, one at a time, with all signals blocked
 * but those that a thread raises itself (SIGSEGV, SIGSYS and such), and with a stack of the
 * program's default size.  The thread that ends the program calls @gave_up, if @work or @stop has
 * not returned.
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
	int			(*handle_named)(void *data, const char *type, const void *handle,
						const char *name);
};

/**
 * xsprof_collector_add() - start a collector's thread
 * @collector: the collector; must stay valid as long as the process
 *
 * Call it again in the child of a fork, which has no thread until then.  Call it again also after
 * the device's runtime has registered its end with atexit(): the collector then ends before the
 * runtime does.  A collector that was added only before main() ends among destructors, after all
 * atexit() functions.
 *
 * From any thread but the collector's; not signal-safe.  In a process that is not recorded it
 * starts no thread.
 *
 * Return: 0; -ENOTCONN: the process is not recorded: do nothing in it; -EINVAL; -EPROTO: another
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
 * xsprof_collector_asked() - does a session wait for what is known by now?
 * @collector: one that was added
 *
 * A session of the program ends, and waits for @work to return, for a second at most: a collector
 * that writes activities later than they are over writes them now.  From @work alone.
 *
 * Return: 1, or 0.
 */
XSPROF_API int xsprof_collector_asked(struct xsprof_collector *collector);

/**
 * xsprof_say() - tell the user why something is not recorded
 * @fmt: of printf(), without the end of the line
 *
 * A line on standard error, "xsprof: ...", cut after 512 bytes, without control characters.  Not
 * signal-safe.
 */
XSPROF_API void xsprof_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/**
 * xsprof_collector_put() - record one activity of a batch
 * @collector: one that was added
 * @activity: the activity
 * @kv: as of xsprof_device_activity()
 * @n: number of arguments
 *
 * As xsprof_device_activity(), with two differences.  If the ring is full it waits for the
 * recorder, up to a second at a time, as long as the recorder lives.  While recording is off it
 * records what began before, and counts the rest ("not recorded: activities that began after
 * recording was paused").
 *
 * From the collector's own functions alone.
 */
XSPROF_API void xsprof_collector_put(struct xsprof_collector *collector,
				     const struct xsprof_device_activity *activity,
				     const struct xsprof_kv *kv, size_t n);

/**
 * xsprof_collector_missed() - count activities that are not recorded
 * @miss: the count to add to
 * @n: number of activities
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
