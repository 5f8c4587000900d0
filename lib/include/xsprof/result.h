/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Results of profiling sessions, and of any capture: events, their tree, tables, and the files
 * that PyTorch's own tools load.  libxsprof-trace's.
 *
 * A result and what it gave may be used by one thread at a time.  Unless it is said otherwise
 * functions return 0 or a negative errno.
 */
#ifndef XSPROF_RESULT_H
#define XSPROF_RESULT_H

#include <xsprof/profiler.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct xsprof_absence - a time in which ops, memory and shaders are not of the result
 * @from: ticks of the trace, as of xsprof_now()
 * @to: the same; UINT64_MAX: to the end
 * @tid: of this thread, 0 for all
 * @reserved: 0
 */
struct xsprof_absence {
	uint64_t	from;
	uint64_t	to;
	uint32_t	tid;
	uint32_t	reserved;
};

/**
 * struct xsprof_result_options - what of a capture is the result; zeros are all of it
 * @size: sizeof(struct xsprof_result_options)
 * @from_ns: begin, ns of CLOCK_MONOTONIC; earlier ranges that reach into it are cut
 * @to_ns: end, 0 for that of the capture
 * @pid: of this process alone, 0 for all
 * @tids: of these threads of it alone
 * @nr_tids: how many, 0 for all
 * @activities: XSPROF_ACTIVITY()
 * @scopes: XSPROF_OP() of ops
 * @config: what was asked for; NULL: all that is there is shown
 * @keys: metadata: names, NULL for none
 * @values: and JSON values
 * @nr_metadata: how many
 * @steps_from: what xsprof_profiler_step() marked with a lower number is left out
 * @absences: what lies in them is left out, NULL for none; those of a thread do not overlap
 * @nr_absences: how many
 * @steps_to: what xsprof_profiler_step() marked with a lower number was over at @to_ns, and it is
 *	known that all that is still open was open until then; 0: nothing is known of it
 * @from_ticks: begin, ticks of the trace, as of xsprof_now(): what is on which side of it does
 *	not depend on how well ticks become ns; 0: @from_ns is it
 * @to_ticks: end, the same; 0: @to_ns is it
 */
struct xsprof_result_options {
	size_t		size;
	uint64_t	from_ns;
	uint64_t	to_ns;
	uint32_t	pid;
	uint32_t	nr_tids;
	const uint32_t	*tids;
	uint32_t	activities;
	uint32_t	scopes;
	const struct xsprof_profiler_config *config;
	const char *const *keys;
	const char *const *values;
	size_t		nr_metadata;
	uint64_t	steps_from;
	const struct xsprof_absence *absences;
	size_t		nr_absences;
	uint64_t	steps_to;
	uint64_t	from_ticks;
	uint64_t	to_ticks;
};

/**
 * xsprof_result_open() - a result out of a capture file
 * @path: capture, of `xsprof record` or of a session
 * @opts: what of it; copied; NULL: all
 * @result: set to it, NULL on error
 *
 * Return: 0, or as xsprof_trace_open().
 */
int xsprof_result_open(const char *path, const struct xsprof_result_options *opts,
		       struct xsprof_result **result);
/* NULL is fine.  All that accessors gave ends with it. */
void xsprof_result_free(struct xsprof_result *result);

/* ns of CLOCK_REALTIME at which the trace began. */
uint64_t xsprof_result_start_ns(const struct xsprof_result *result);

/* Why the last call with it failed, for people; "" when nothing did. */
const char *xsprof_result_error(const struct xsprof_result *result);

/**
 * xsprof_result_save() - write it as the JSON that PyTorch's profiler writes
 * @result: result
 * @path: file; ".gz" at its end: compressed.  "scheme://...": whoever registered the scheme
 *
 * Written beside it first and renamed then, so that there is a whole file or none.
 *
 * Return: 0; -EALREADY: it was saved before; -ENODATA: there is no trace; -EPROTONOSUPPORT:
 * nobody knows the scheme; else what went wrong with the file.
 */
int xsprof_result_save(struct xsprof_result *result, const char *path);

/**
 * xsprof_result_register_handler() - who saves to "scheme://..."
 * @scheme: "s3" for "s3://..."; copied
 * @save: gets the path as it was given and a file without a name, at its beginning, with the
 *	whole trace; returns 0 or a negative errno.  NULL takes it back
 * @data: passed to it
 *
 * Return: 0; -EEXIST: there is one; -EINVAL; -ENOMEM.
 */
int xsprof_result_register_handler(const char *scheme,
				   int (*save)(void *data, const char *path, int fd), void *data);

/* Events of the result in the order of their begins; made at the first call.  -errno on failure. */
int64_t xsprof_result_nr_events(struct xsprof_result *result);
/* Event number @index, until the result is freed; NULL past the last. */
const struct xsprof_profiler_event *xsprof_result_event(struct xsprof_result *result,
							uint64_t index);

enum xsprof_event_kind {
	XSPROF_EVENT_OP = 0,		/* cpu_op */
	XSPROF_EVENT_ANNOTATION,	/* user_annotation: a range of the program, a step */
	XSPROF_EVENT_INSTANT,		/* cpu_instant_event */
	XSPROF_EVENT_MEMORY,		/* [memory] */
	XSPROF_EVENT_OUT_OF_MEMORY,	/* [OutOfMemory] */
	XSPROF_EVENT_VULKAN,
	XSPROF_EVENT_KERNEL,
	XSPROF_EVENT_MEMCPY,
	XSPROF_EVENT_MEMSET,
	XSPROF_EVENT_SYNC,
	XSPROF_EVENT_RUNTIME,
	XSPROF_EVENT_DRIVER,
	XSPROF_EVENT_OVERHEAD,
	XSPROF_EVENT_PYTHON_FUNCTION,
};

/*
 * Accessors of an event.  Texts live as long as the result; what an event does not have is 0, ""
 * or -1 (sequence number).  Times are ns of CLOCK_REALTIME.
 */
const char *xsprof_event_name(const struct xsprof_profiler_event *ev);
enum xsprof_event_kind xsprof_event_kind(const struct xsprof_profiler_event *ev);
uint64_t xsprof_event_start_ns(const struct xsprof_profiler_event *ev);
uint64_t xsprof_event_end_ns(const struct xsprof_profiler_event *ev);
uint64_t xsprof_event_duration_ns(const struct xsprof_profiler_event *ev);
/* Its time less that of the events right inside it. */
uint64_t xsprof_event_self_ns(const struct xsprof_profiler_event *ev);
/* It was open when the trace ended. */
bool xsprof_event_unfinished(const struct xsprof_profiler_event *ev);
uint32_t xsprof_event_device_type(const struct xsprof_profiler_event *ev);
int32_t xsprof_event_device_index(const struct xsprof_profiler_event *ev);
/* Stream of a GPU, thread id on the host. */
uint64_t xsprof_event_device_resource_id(const struct xsprof_profiler_event *ev);
uint32_t xsprof_event_process_id(const struct xsprof_profiler_event *ev);
uint64_t xsprof_event_start_thread_id(const struct xsprof_profiler_event *ev);
uint64_t xsprof_event_end_thread_id(const struct xsprof_profiler_event *ev);
uint64_t xsprof_event_forward_thread_id(const struct xsprof_profiler_event *ev);
int64_t xsprof_event_sequence_number(const struct xsprof_profiler_event *ev);
uint64_t xsprof_event_record_function_id(const struct xsprof_profiler_event *ev);
/* Of an op its own number, of others that of the runtime call that launched them. */
uint64_t xsprof_event_correlation_id(const struct xsprof_profiler_event *ev);
/* Of what an op launched: that op's correlation id. */
uint64_t xsprof_event_linked_correlation_id(const struct xsprof_profiler_event *ev);
/*
 * Of an op its time on a device, by the device's own events (xsprof_register_device_stubs()); -1
 * where it has none.  The others as other profilers have it: of a GPU, of a backend of one's own.
 */
int64_t xsprof_event_device_elapsed_ns(const struct xsprof_profiler_event *ev);
int64_t xsprof_event_cuda_elapsed_us(const struct xsprof_profiler_event *ev);
int64_t xsprof_event_privateuse1_elapsed_us(const struct xsprof_profiler_event *ev);
uint32_t xsprof_event_scope(const struct xsprof_profiler_event *ev);
bool xsprof_event_is_async(const struct xsprof_profiler_event *ev);
bool xsprof_event_is_user_annotation(const struct xsprof_profiler_event *ev);
/* Memory: bytes, negative where they were freed; copies: bytes moved. */
int64_t xsprof_event_nbytes(const struct xsprof_profiler_event *ev);
uint64_t xsprof_event_address(const struct xsprof_profiler_event *ev);
uint64_t xsprof_event_total_allocated(const struct xsprof_profiler_event *ev);
uint64_t xsprof_event_total_reserved(const struct xsprof_profiler_event *ev);
/* By the formulas PyTorch uses for conv2d, mm, addmm, bmm, baddbmm, mul and add; 0 for others. */
uint64_t xsprof_event_flops(const struct xsprof_profiler_event *ev);
const char *xsprof_event_module(const struct xsprof_profiler_event *ev);
/* As JSON: "[[2,3],[]]", the same of strides, "[\"float\",\"Scalar\"]", "[\"\",\"1\"]", {...} */
const char *xsprof_event_shapes(const struct xsprof_profiler_event *ev);
const char *xsprof_event_strides(const struct xsprof_profiler_event *ev);
const char *xsprof_event_dtypes(const struct xsprof_profiler_event *ev);
const char *xsprof_event_concrete_inputs(const struct xsprof_profiler_event *ev);
const char *xsprof_event_kwargs(const struct xsprof_profiler_event *ev);
/* Inputs of an op, where they were asked for: places, whatever is known of them. */
size_t xsprof_event_nr_inputs(const struct xsprof_profiler_event *ev);
/**
 * xsprof_event_input_dims() - sizes of an input that is a tensor
 * @ev: event
 * @index: place of the input, from 0
 * @nr: set to how many; 0 for one without any, for what is no tensor, and for a list of them,
 *	whose sizes xsprof_event_shapes() has
 *
 * Return: the sizes, -1 for one that is not known; NULL where there are none.
 */
const int64_t *xsprof_event_input_dims(const struct xsprof_profiler_event *ev, size_t index,
				       size_t *nr);
/* The same of its strides, where they were given. */
const int64_t *xsprof_event_input_strides(const struct xsprof_profiler_event *ev, size_t index,
					  size_t *nr);
/* "float", "Scalar", "ScalarList", "TensorList", or ""; the value of a scalar as Python has it. */
const char *xsprof_event_input_dtype(const struct xsprof_profiler_event *ev, size_t index);
const char *xsprof_event_input_concrete(const struct xsprof_profiler_event *ev, size_t index);
/* Frames of its stack, innermost first. */
size_t xsprof_event_nr_frames(const struct xsprof_profiler_event *ev);
/* "function at file.c:12"; names come from elfutils, inlined functions are frames of their own. */
const char *xsprof_event_frame(const struct xsprof_profiler_event *ev, size_t index);
/**
 * xsprof_result_post_process() - the program says of ops what was not recorded of them
 * @result: result, not saved yet
 * @fn: called with each op, in the order of their begins; it may look at all of the result.  Not
 *	0: no more ops, and that is returned
 * @data: passed to it
 *
 * For frames of interpreters and of code that was made while the program ran, which only the
 * program can name.  In @fn, and only there, are xsprof_event_set_stack() and
 * xsprof_event_set_module() to be called.  What they set is in all that is made of the result from
 * then on: accessors, tables, files; what was made of it before stays as it is.
 *
 * xsprof_disable_profiler() does it by itself where the session's configuration says so
 * (struct xsprof_profiler_config, @post_process).
 *
 * Return: 0; what @fn returned; -EINVAL: no @fn; as xsprof_result_nr_events().
 */
int xsprof_result_post_process(struct xsprof_result *result,
			       int (*fn)(void *data, struct xsprof_profiler_event *ev),
			       void *data);

/**
 * xsprof_event_set_stack() - another stack for an op
 * @ev: op that xsprof_result_post_process() gave
 * @frames: texts, innermost first, in the form that the program's readers are to see; copied
 * @nr: how many; 0: it has none
 *
 * It is shown whether or not the session was to keep stacks.
 *
 * Return: 0; -EINVAL: a frame is NULL; -EOPNOTSUPP: no op; -ENOMEM: it stays as it was.
 */
int xsprof_event_set_stack(struct xsprof_profiler_event *ev, const char *const *frames, size_t nr);
/* The same of the modules it belongs to, one text, as op->module; "": of none. */
int xsprof_event_set_module(struct xsprof_profiler_event *ev, const char *module);

/* The tree: what is around it, what is inside it first, what begins next beside it; or NULL. */
const struct xsprof_profiler_event *xsprof_event_parent(const struct xsprof_profiler_event *ev);
const struct xsprof_profiler_event *xsprof_event_child(const struct xsprof_profiler_event *ev);
const struct xsprof_profiler_event *xsprof_event_next(const struct xsprof_profiler_event *ev);

/* The first event of the tree that has none around it; go on with xsprof_event_next(). */
const struct xsprof_profiler_event *xsprof_result_tree(struct xsprof_result *result);

/* ---- tables --------------------------------------------------------------------------------- */

#define XSPROF_BY_NAME		0x0u
#define XSPROF_BY_SHAPE		0x1u	/* events of a name with other shapes are another row */
#define XSPROF_BY_STACK		0x2u	/* the same with another stack; @depth frames of it */
#define XSPROF_BY_DEVICE	0x4u

enum xsprof_table_sort {
	XSPROF_SORT_SELF_CPU = 0,
	XSPROF_SORT_CPU,
	XSPROF_SORT_SELF_DEVICE,
	XSPROF_SORT_DEVICE,
	XSPROF_SORT_COUNT,
	XSPROF_SORT_FLOPS,
	XSPROF_SORT_MEMORY,
	XSPROF_SORT_NAME,
};

/**
 * struct xsprof_table_row - what the events of a kind add up to
 * @name: of them
 * @shapes: BY_SHAPE: of them, as xsprof_event_shapes()
 * @stack: BY_STACK: a frame a line
 * @count: how many
 * @cpu_ns: time on the host, that of a range inside one of its own name counted once
 * @self_cpu_ns: less what was inside
 * @device_ns: of what they launched on devices, or what that took by the device's own events
 * @self_device_ns: of what they launched themselves, or the same less that of ops inside
 * @flops: of them
 * @cpu_memory: bytes allocated less those freed, inside
 * @device_memory: the same
 * @self_cpu_memory: less what was inside
 * @self_device_memory: the same
 */
struct xsprof_table_row {
	const char	*name;
	const char	*shapes;
	const char	*stack;
	uint64_t	count;
	uint64_t	cpu_ns;
	uint64_t	self_cpu_ns;
	uint64_t	device_ns;
	uint64_t	self_device_ns;
	uint64_t	flops;
	int64_t		cpu_memory;
	int64_t		device_memory;
	int64_t		self_cpu_memory;
	int64_t		self_device_memory;
};

struct xsprof_table;

/**
 * xsprof_result_table() - key averages
 * @result: result
 * @by: XSPROF_BY_*
 * @depth: frames of stacks, for XSPROF_BY_STACK
 * @sort: enum xsprof_table_sort, the largest first
 * @table: set to it; lives until xsprof_table_free(), or the result is freed
 *
 * Return: 0, -EINVAL, -ENOMEM.
 */
int xsprof_result_table(struct xsprof_result *result, uint32_t by, uint32_t depth, uint32_t sort,
			struct xsprof_table **table);
size_t xsprof_table_nr_rows(const struct xsprof_table *table);
const struct xsprof_table_row *xsprof_table_get_row(const struct xsprof_table *table, size_t index);
/* The sums over all rows, with @count of all. */
const struct xsprof_table_row *xsprof_table_total(const struct xsprof_table *table);
/* As text with @rows of them (0: all), columns as wide as they need; free() it.  NULL: no room. */
char *xsprof_table_text(const struct xsprof_table *table, size_t rows);
void xsprof_table_free(struct xsprof_table *table);

#define XSPROF_STACKS_CPU	0u	/* self time on the host */
#define XSPROF_STACKS_DEVICE	1u	/* self time on devices */

/* Folded stacks, "outer;inner 1234" (us), as flame graph tools read them.  0 or -errno. */
int xsprof_result_save_stacks(struct xsprof_result *result, const char *path, uint32_t what);

/**
 * xsprof_result_tensorboard_path() - where TensorBoard's profiler plugin looks for a trace
 * @dir: its log directory, made with those above it where there is none
 * @worker: name of the process among others of the run; NULL or "": host and process id
 * @gzip: it is to be compressed
 * @path: set to a name for xsprof_result_save(), DIR/WORKER.TIME.pt.trace.json, ".gz" behind it
 *	with @gzip; "" on error
 * @size: bytes of @path
 *
 * In @worker a slash, and what is no text, becomes "_".
 *
 * Return: 0; -EINVAL: no directory; -ENAMETOOLONG: the name is too long for a file or for @path;
 * -ENOTDIR: something else is there; -EACCES or another error: the directory cannot be made.
 */
int xsprof_result_tensorboard_path(const char *dir, const char *worker, bool gzip, char *path,
				   size_t size);

/* ---- other exports -------------------------------------------------------------------------- */

/* Memory by category over time, as PyTorch's export_memory_timeline(): JSON, or .gz by its name. */
int xsprof_result_save_memory_timeline(struct xsprof_result *result, const char *path,
				       uint32_t device);
/* A snapshot that PyTorch's memory viewer reads: a pickle. */
int xsprof_result_save_memory_snapshot(struct xsprof_result *result, const char *path);
/* The execution trace of ops (Chakra's JSON), joined by record function id. */
int xsprof_result_save_execution_trace(struct xsprof_result *result, const char *path);

#ifdef __cplusplus
}
#endif

#endif /* XSPROF_RESULT_H */
