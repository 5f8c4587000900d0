/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Results of profiling sessions and of captures: events, their tree, tables, and files for
 * PyTorch's tools. Part of libxsprof-trace.
 *
 * A result and its events and tables may be used by one thread at a time. Unless stated otherwise,
 * functions return 0 or a negative errno, and are not async-signal-safe.
 */
#ifndef XSPROF_RESULT_H
#define XSPROF_RESULT_H

#include <xsprof/profiler.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct xsprof_absence - a time whose ops, memory and shaders are left out of the result
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
 * struct xsprof_result_options - which part of a capture is the result; fields of 0 do not limit it
 * @size: sizeof(struct xsprof_result_options)
 * @from_ns: begin, ns of CLOCK_MONOTONIC; earlier ranges that reach into it are cut
 * @to_ns: end, 0 for that of the capture
 * @pid: only this process, 0 for all
 * @tids: only these threads of it
 * @nr_tids: number of @tids, 0 for all
 * @activities: XSPROF_ACTIVITY()
 * @scopes: XSPROF_OP() of ops
 * @config: configuration of the session; NULL: show everything recorded
 * @keys: metadata: names, NULL for none
 * @values: and JSON values
 * @nr_metadata: how many
 * @steps_from: leave out steps of xsprof_profiler_step() with a lower number
 * @absences: times to leave out, NULL for none; those of a thread do not overlap
 * @nr_absences: how many
 * @steps_to: steps with a lower number were over at @to_ns, and everything still open was open
 *	until then; 0: not known
 * @from_ticks: begin in ticks of the trace, as of xsprof_now(), which is exact where ns are
 *	converted; 0: use @from_ns
 * @to_ticks: end, the same; 0: use @to_ns
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
 * xsprof_result_open() - make a result from a capture file
 * @path: capture, of `xsprof record` or of a session
 * @opts: which part of it; copied; NULL: all
 * @result: set to it, NULL on error
 *
 * Return: 0, or as xsprof_trace_open().
 */
int xsprof_result_open(const char *path, const struct xsprof_result_options *opts,
		       struct xsprof_result **result);
/* Free a result and all its events, texts and tables. NULL is allowed. */
void xsprof_result_free(struct xsprof_result *result);

/* ns of CLOCK_REALTIME at which the trace began. */
uint64_t xsprof_result_start_ns(const struct xsprof_result *result);

/* Why the last call for this result failed, as a message; "" if none failed. */
const char *xsprof_result_error(const struct xsprof_result *result);

/**
 * xsprof_result_save() - write the trace in the JSON format of PyTorch's profiler
 * @result: result
 * @path: file; compressed if it ends in ".gz". "scheme://..." is passed to the registered handler
 *
 * Written to a temporary file first and then renamed: @path is complete or not there.
 *
 * Return: 0; -EALREADY: already saved; -ENODATA: there is no trace; -EPROTONOSUPPORT: unknown
 * scheme; else the error of the file.
 */
int xsprof_result_save(struct xsprof_result *result, const char *path);

/**
 * xsprof_result_save_as() - xsprof_result_save() to a place that is not the trace's last one
 * @result: result
 * @path: as xsprof_result_save() takes it
 * @name: what the trace says it is called ("traceName"); NULL: @path
 * @events: set to how many events of the program and of its devices were written, where that
 *	succeeds; NULL is allowed
 *
 * Return: as xsprof_result_save().
 */
int xsprof_result_save_as(struct xsprof_result *result, const char *path, const char *name,
			  uint64_t *events);

/**
 * xsprof_result_register_handler() - set the function that saves to "scheme://..."
 * @scheme: "s3" for "s3://..."; copied
 * @save: called with the given path and an unnamed file, at offset 0, that holds the whole trace;
 *	returns 0 or a negative errno. NULL removes the handler
 * @data: passed to it
 *
 * Return: 0; -EEXIST: the scheme has a handler; -EINVAL; -ENOMEM.
 */
int xsprof_result_register_handler(const char *scheme,
				   int (*save)(void *data, const char *path, int fd), void *data);

/* Number of events, ordered by begin; they are built at the first call. -errno on failure. */
int64_t xsprof_result_nr_events(struct xsprof_result *result);
/* Event number @index, valid until the result is freed; NULL past the last. */
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
 * Accessors of an event. Texts are valid until the result is freed; a missing value is 0, "" or -1
 * (sequence number). Times are ns of CLOCK_REALTIME.
 */
const char *xsprof_event_name(const struct xsprof_profiler_event *ev);
enum xsprof_event_kind xsprof_event_kind(const struct xsprof_profiler_event *ev);
uint64_t xsprof_event_start_ns(const struct xsprof_profiler_event *ev);
uint64_t xsprof_event_end_ns(const struct xsprof_profiler_event *ev);
uint64_t xsprof_event_duration_ns(const struct xsprof_profiler_event *ev);
/* Its duration without that of its direct children. */
uint64_t xsprof_event_self_ns(const struct xsprof_profiler_event *ev);
/* True if it was open when the trace ended. */
bool xsprof_event_unfinished(const struct xsprof_profiler_event *ev);
/* True if records of its thread may have been lost inside it: its end may be that of another. */
bool xsprof_event_uncertain(const struct xsprof_profiler_event *ev);
uint32_t xsprof_event_device_type(const struct xsprof_profiler_event *ev);
int32_t xsprof_event_device_index(const struct xsprof_profiler_event *ev);
/* The stream on a GPU, the thread id on the host. */
uint64_t xsprof_event_device_resource_id(const struct xsprof_profiler_event *ev);
uint32_t xsprof_event_process_id(const struct xsprof_profiler_event *ev);
uint64_t xsprof_event_start_thread_id(const struct xsprof_profiler_event *ev);
uint64_t xsprof_event_end_thread_id(const struct xsprof_profiler_event *ev);
uint64_t xsprof_event_forward_thread_id(const struct xsprof_profiler_event *ev);
int64_t xsprof_event_sequence_number(const struct xsprof_profiler_event *ev);
uint64_t xsprof_event_record_function_id(const struct xsprof_profiler_event *ev);
/* For an op its own correlation id, for others that of the runtime call that launched them. */
uint64_t xsprof_event_correlation_id(const struct xsprof_profiler_event *ev);
/* For activities launched by an op: the op's correlation id. */
uint64_t xsprof_event_linked_correlation_id(const struct xsprof_profiler_event *ev);
/*
 * Time of an op on a device, measured by xsprof_register_device_stubs(); -1 if not measured. The
 * other two are the same for a GPU and for the program's own backend, as in other profilers.
 */
int64_t xsprof_event_device_elapsed_ns(const struct xsprof_profiler_event *ev);
int64_t xsprof_event_cuda_elapsed_us(const struct xsprof_profiler_event *ev);
int64_t xsprof_event_privateuse1_elapsed_us(const struct xsprof_profiler_event *ev);
uint32_t xsprof_event_scope(const struct xsprof_profiler_event *ev);
bool xsprof_event_is_async(const struct xsprof_profiler_event *ev);
bool xsprof_event_is_user_annotation(const struct xsprof_profiler_event *ev);
/* Memory: bytes, negative if they were freed; copies: bytes moved. */
int64_t xsprof_event_nbytes(const struct xsprof_profiler_event *ev);
uint64_t xsprof_event_address(const struct xsprof_profiler_event *ev);
uint64_t xsprof_event_total_allocated(const struct xsprof_profiler_event *ev);
uint64_t xsprof_event_total_reserved(const struct xsprof_profiler_event *ev);
/* By PyTorch's formulas for conv2d, mm, addmm, bmm, baddbmm, mul and add; 0 for other ops. */
uint64_t xsprof_event_flops(const struct xsprof_profiler_event *ev);
const char *xsprof_event_module(const struct xsprof_profiler_event *ev);
/* As JSON: "[[2,3],[]]", the same of strides, "[\"float\",\"Scalar\"]", "[\"\",\"1\"]", {...} */
const char *xsprof_event_shapes(const struct xsprof_profiler_event *ev);
const char *xsprof_event_strides(const struct xsprof_profiler_event *ev);
const char *xsprof_event_dtypes(const struct xsprof_profiler_event *ev);
const char *xsprof_event_concrete_inputs(const struct xsprof_profiler_event *ev);
const char *xsprof_event_kwargs(const struct xsprof_profiler_event *ev);
/* Number of inputs of an op, if inputs were recorded; including those of unknown type. */
size_t xsprof_event_nr_inputs(const struct xsprof_profiler_event *ev);
/**
 * xsprof_event_input_dims() - sizes of an input that is a tensor
 * @ev: event
 * @index: place of the input, from 0
 * @nr: set to the number of sizes; 0 for a tensor without dimensions, for other inputs, and for a
 *	list of tensors, whose sizes xsprof_event_shapes() has
 *
 * Return: the sizes, -1 for one that is not known; NULL if there are none.
 */
const int64_t *xsprof_event_input_dims(const struct xsprof_profiler_event *ev, size_t index,
				       size_t *nr);
/* The same for its strides, if they were recorded. */
const int64_t *xsprof_event_input_strides(const struct xsprof_profiler_event *ev, size_t index,
					  size_t *nr);
/* "float", "Scalar", "ScalarList", "TensorList", or ""; the value of a scalar as Python has it. */
const char *xsprof_event_input_dtype(const struct xsprof_profiler_event *ev, size_t index);
const char *xsprof_event_input_concrete(const struct xsprof_profiler_event *ev, size_t index);
/* Frames of its stack, innermost first. */
size_t xsprof_event_nr_frames(const struct xsprof_profiler_event *ev);
/* "function at file.c:12", found with elfutils; an inlined function has a frame of its own. */
const char *xsprof_event_frame(const struct xsprof_profiler_event *ev, size_t index);
/**
 * xsprof_result_post_process() - let the program set stacks and modules of ops
 * @result: result, not saved yet
 * @fn: called for each op, ordered by begin; it may read all of the result. A value other than 0
 *	stops the iteration and is returned
 * @data: passed to it
 *
 * For frames of interpreters and of generated code, which only the program can name.
 * xsprof_event_set_stack() and xsprof_event_set_module() may be called in @fn only. Accessors,
 * tables and files use the new values from then on; texts and tables obtained earlier do not
 * change.
 *
 * xsprof_disable_profiler() does this itself if the session's configuration has @post_process
 * (struct xsprof_profiler_config).
 *
 * Return: 0; the return value of @fn; -EINVAL: @fn is NULL; else as xsprof_result_nr_events().
 */
int xsprof_result_post_process(struct xsprof_result *result,
			       int (*fn)(void *data, struct xsprof_profiler_event *ev),
			       void *data);

/**
 * xsprof_event_set_stack() - replace the stack of an op
 * @ev: the op passed by xsprof_result_post_process()
 * @frames: texts to be shown, innermost first; copied
 * @nr: number of frames; 0 for no stack
 *
 * The stack is shown even if the session does not record stacks.
 *
 * Return: 0; -EINVAL: a frame is NULL; -EOPNOTSUPP: not an op; -ENOMEM: unchanged.
 */
int xsprof_event_set_stack(struct xsprof_profiler_event *ev, const char *const *frames, size_t nr);
/* The same for its modules, one text as op->module; "" for none. */
int xsprof_event_set_module(struct xsprof_profiler_event *ev, const char *module);

/* The tree: the parent, the first child, the next sibling; or NULL. */
const struct xsprof_profiler_event *xsprof_event_parent(const struct xsprof_profiler_event *ev);
const struct xsprof_profiler_event *xsprof_event_child(const struct xsprof_profiler_event *ev);
const struct xsprof_profiler_event *xsprof_event_next(const struct xsprof_profiler_event *ev);

/* The first root of the tree; iterate over the roots with xsprof_event_next(). */
const struct xsprof_profiler_event *xsprof_result_tree(struct xsprof_result *result);

/* ---- tables --------------------------------------------------------------------------------- */

#define XSPROF_BY_NAME		0x0u
#define XSPROF_BY_SHAPE		0x1u	/* a row per name and shapes */
#define XSPROF_BY_STACK		0x2u	/* a row per name and stack, of @depth frames */
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
 * struct xsprof_table_row - sums over the events of a row
 * @name: name of the events
 * @shapes: BY_SHAPE: their shapes, as xsprof_event_shapes()
 * @stack: BY_STACK: their stack, one frame per line
 * @count: how many
 * @cpu_ns: time on the host; nested events of the same name are counted once
 * @self_cpu_ns: the same without children
 * @device_ns: time of the activities that they launched, or their measured device time
 * @self_device_ns: the same without that of their children
 * @flops: FLOPs
 * @cpu_memory: bytes allocated minus bytes freed, on the host
 * @device_memory: the same on devices
 * @self_cpu_memory: the same without children
 * @self_device_memory: the same without children
 * @uncertain: how many of @count are uncertain (xsprof_event_uncertain()): their time on the host
 *	is in neither @cpu_ns nor @self_cpu_ns
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
	uint64_t	uncertain;
};

struct xsprof_table;

/**
 * xsprof_result_table() - make a table of sums by name ("key averages")
 * @result: result
 * @by: XSPROF_BY_*
 * @depth: frames of stacks, for XSPROF_BY_STACK
 * @sort: enum xsprof_table_sort, the largest first
 * @table: set to the table; valid until xsprof_table_free() or until the result is freed
 *
 * Return: 0, -EINVAL, -ENOMEM.
 */
int xsprof_result_table(struct xsprof_result *result, uint32_t by, uint32_t depth, uint32_t sort,
			struct xsprof_table **table);
size_t xsprof_table_nr_rows(const struct xsprof_table *table);
const struct xsprof_table_row *xsprof_table_get_row(const struct xsprof_table *table, size_t index);
/* The sums over all rows, with @count of all. */
const struct xsprof_table_row *xsprof_table_total(const struct xsprof_table *table);
/* The first @rows rows (0: all) as text, to be freed with free(); NULL if out of memory. */
char *xsprof_table_text(const struct xsprof_table *table, size_t rows);
void xsprof_table_free(struct xsprof_table *table);

#define XSPROF_STACKS_CPU	0u	/* self time on the host */
#define XSPROF_STACKS_DEVICE	1u	/* self time on devices */

/*
 * Write folded stacks, "outer;inner 1234" (us), for flame graph tools, without the time of
 * uncertain events on the host. 0 or -errno.
 */
int xsprof_result_save_stacks(struct xsprof_result *result, const char *path, uint32_t what);

/**
 * xsprof_result_tensorboard_path() - make a file name that TensorBoard's profiler plugin finds
 * @dir: its log directory, created with its parents if it does not exist
 * @worker: name of the process within the run; NULL or "": host and process id
 * @gzip: the trace will be compressed
 * @path: set to a name for xsprof_result_save(), DIR/WORKER.TIME.pt.trace.json, with ".gz" appended
 *	if @gzip; "" on error
 * @size: bytes of @path
 *
 * Slashes and bytes in @worker that are not text become "_".
 *
 * Return: 0; -EINVAL: no @dir; -ENAMETOOLONG: the name is too long for a file or for @path;
 * -ENOTDIR: @dir is not a directory; -EACCES or another error: the directory cannot be created.
 */
int xsprof_result_tensorboard_path(const char *dir, const char *worker, bool gzip, char *path,
				   size_t size);

/* ---- other exports -------------------------------------------------------------------------- */

/* Memory by category over time, as PyTorch's export_memory_timeline(): JSON, or ".json.gz". */
int xsprof_result_save_memory_timeline(struct xsprof_result *result, const char *path,
				       uint32_t device);
/* A memory snapshot (pickle) for PyTorch's memory viewer. */
int xsprof_result_save_memory_snapshot(struct xsprof_result *result, const char *path);
/* The execution trace of ops (Chakra JSON), joined by record function id. */
int xsprof_result_save_execution_trace(struct xsprof_result *result, const char *path);

#ifdef __cplusplus
}
#endif

#endif /* XSPROF_RESULT_H */
