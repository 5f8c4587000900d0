/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Results of profiling sessions and of captures: events, their tree, tables, and files for
 * PyTorch's tools. Part of libxsprof-trace.
 *
 * Threads may use different results at once; a result with its events and tables must be used by
 * one thread at a time. No function is async-signal-safe. Unless stated otherwise, functions return
 * 0 or a negative errno; after an error xsprof_result_error() has a message.
 */
#ifndef XSPROF_RESULT_H
#define XSPROF_RESULT_H

#include <xsprof/profiler.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct xsprof_absence - a time whose ops, memory and shaders are left out of the result
 * @from: begin, in ticks of the trace as from xsprof_now()
 * @to: end, the same; UINT64_MAX: the end of the trace
 * @tid: only this thread's, 0 for all
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
 * @absences: times to leave out, NULL for none; those of one thread must not overlap
 * @nr_absences: how many
 * @steps_to: steps with a lower number ended at or before @to_ns, and all other open ranges were
 *	open until then; 0: not known
 * @from_ticks: begin in ticks of the trace as from xsprof_now(), which are exact (ns are converted
 *	from them); 0: use @from_ns
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
 * @result: set to the result, to be freed by xsprof_result_free(); NULL on error
 *
 * Return: 0; -EINVAL, -E2BIG: invalid @opts; -ENOMEM; else as xsprof_trace_open(), with a message
 * in xsprof_trace_error(NULL).
 */
int xsprof_result_open(const char *path, const struct xsprof_result_options *opts,
		       struct xsprof_result **result);
/* Free a result and all its events, texts and tables. NULL is allowed. */
void xsprof_result_free(struct xsprof_result *result);

/* ns of CLOCK_REALTIME at which the trace began. */
uint64_t xsprof_result_start_ns(const struct xsprof_result *result);

/**
 * xsprof_result_lost() - how much of what was recorded is missing
 * @result: result
 * @slots: set to the number of slots of 32 bytes, one or more of them a record, that were
 *	overwritten before they were read: the oldest of a session whose buffer was too small. NULL
 *	is allowed
 *
 * Of a session what was lost during it, in all threads; of a capture all that it counts.
 *
 * Return: number of records lost otherwise.
 */
uint64_t xsprof_result_lost(const struct xsprof_result *result, uint64_t *slots);

/* Why the last call for this result failed, as a message valid until the next call; "" if none. */
const char *xsprof_result_error(const struct xsprof_result *result);

/**
 * xsprof_result_save() - write the trace in the JSON format of PyTorch's profiler
 * @result: result
 * @path: file; compressed if it ends in ".gz". "scheme://..." is passed to the registered handler
 *
 * The trace is written to a temporary file, which is then renamed: @path is complete or does not
 * exist. A result can be saved once.
 *
 * Return: 0; -EALREADY: already saved; -ENODATA: there is no trace; -EPROTONOSUPPORT: unknown
 * scheme; else the error of the file.
 */
int xsprof_result_save(struct xsprof_result *result, const char *path);

/**
 * xsprof_result_save_as() - xsprof_result_save() to a file that will be moved or renamed
 * @result: result
 * @path: as xsprof_result_save()
 * @name: value of "traceName" in the file; NULL: @path
 * @events: set to the number of events of the program and of its devices that were written; NULL
 *	is allowed; not set on error
 *
 * Return: as xsprof_result_save().
 */
int xsprof_result_save_as(struct xsprof_result *result, const char *path, const char *name,
			  uint64_t *events);

/**
 * xsprof_result_register_handler() - set the function that saves to "scheme://..."
 * @scheme: "s3" for "s3://...", at most 64 bytes; copied
 * @save: called with the given path and an unnamed file, at offset 0, that contains the whole
 *	trace; returns 0 or a negative errno. NULL removes the handler
 * @data: passed to it
 *
 * A handler is for all results of the process. It may be called by any thread.
 *
 * Return: 0; -EEXIST: the scheme has a handler; -EINVAL: not a scheme; -ENOMEM.
 */
int xsprof_result_register_handler(const char *scheme,
				   int (*save)(void *data, const char *path, int fd), void *data);

/* Number of events; the first call reads the trace and builds them. -errno on failure. */
int64_t xsprof_result_nr_events(struct xsprof_result *result);
/* Event number @index, ordered by begin; valid until the result is freed; NULL past the last. */
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
/* True if records of its thread may have been lost inside it: its end may be another event's. */
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
/* An op's own correlation id; for an activity the id of the runtime call that launched it. */
uint64_t xsprof_event_correlation_id(const struct xsprof_profiler_event *ev);
/* The correlation id of the op that launched an activity. */
uint64_t xsprof_event_linked_correlation_id(const struct xsprof_profiler_event *ev);
/*
 * Time of an op on a device, measured with the functions of xsprof_register_device_stubs(); -1 if
 * not measured. The other two return it in us, for a GPU and for the program's own backend.
 */
int64_t xsprof_event_device_elapsed_ns(const struct xsprof_profiler_event *ev);
int64_t xsprof_event_cuda_elapsed_us(const struct xsprof_profiler_event *ev);
int64_t xsprof_event_privateuse1_elapsed_us(const struct xsprof_profiler_event *ev);
uint32_t xsprof_event_scope(const struct xsprof_profiler_event *ev);
bool xsprof_event_is_async(const struct xsprof_profiler_event *ev);
bool xsprof_event_is_user_annotation(const struct xsprof_profiler_event *ev);
/* Bytes: of memory, negative if it was freed; of a copy. */
int64_t xsprof_event_nbytes(const struct xsprof_profiler_event *ev);
uint64_t xsprof_event_address(const struct xsprof_profiler_event *ev);
uint64_t xsprof_event_total_allocated(const struct xsprof_profiler_event *ev);
uint64_t xsprof_event_total_reserved(const struct xsprof_profiler_event *ev);
/* By PyTorch's formulas for conv2d, mm, addmm, bmm, baddbmm, mul and add; 0 for other ops. */
uint64_t xsprof_event_flops(const struct xsprof_profiler_event *ev);
const char *xsprof_event_module(const struct xsprof_profiler_event *ev);
/*
 * As JSON: shapes and strides as "[[2,3],[]]", types as "[\"float\",\"Scalar\"]", values as
 * "[\"\",\"1\"]", keyword arguments as an object.
 */
const char *xsprof_event_shapes(const struct xsprof_profiler_event *ev);
const char *xsprof_event_strides(const struct xsprof_profiler_event *ev);
const char *xsprof_event_dtypes(const struct xsprof_profiler_event *ev);
const char *xsprof_event_concrete_inputs(const struct xsprof_profiler_event *ev);
const char *xsprof_event_kwargs(const struct xsprof_profiler_event *ev);
/* Number of inputs of an op, including those of unknown type; 0 if inputs were not recorded. */
size_t xsprof_event_nr_inputs(const struct xsprof_profiler_event *ev);
/**
 * xsprof_event_input_dims() - sizes of an input that is a tensor
 * @ev: event
 * @index: position of the input, from 0
 * @nr: set to the number of sizes; 0 for a tensor without dimensions, for other inputs, and for a
 *	list of tensors (their sizes are in xsprof_event_shapes())
 *
 * Return: the sizes, valid until the result is freed, with -1 for an unknown size; NULL if there
 * are none.
 */
const int64_t *xsprof_event_input_dims(const struct xsprof_profiler_event *ev, size_t index,
				       size_t *nr);
/* The same for its strides, if they were recorded. */
const int64_t *xsprof_event_input_strides(const struct xsprof_profiler_event *ev, size_t index,
					  size_t *nr);
/* "float", "Scalar", "ScalarList", "TensorList" or ""; the value of a scalar in Python's syntax. */
const char *xsprof_event_input_dtype(const struct xsprof_profiler_event *ev, size_t index);
const char *xsprof_event_input_concrete(const struct xsprof_profiler_event *ev, size_t index);
/* Number of frames of its stack. */
size_t xsprof_event_nr_frames(const struct xsprof_profiler_event *ev);
/*
 * Frame number @index, the innermost first: "function at file.c:12", found with elfutils; an
 * inlined function has a frame of its own. "" past the last.
 */
const char *xsprof_event_frame(const struct xsprof_profiler_event *ev, size_t index);

/**
 * xsprof_result_post_process() - let the program set stacks and modules of ops
 * @result: result, not saved yet
 * @fn: called for each op, in the order of their begins; it may read all of the result. A value
 *	other than 0 stops the iteration and is returned
 * @data: passed to it
 *
 * Only the program can name the frames of an interpreter or of generated code; @fn sets them by
 * xsprof_event_set_stack() and xsprof_event_set_module(), which may be called in @fn only.
 * Accessors, tables and files use the new values from then on; texts and tables obtained earlier do
 * not change.
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

/* The tree: the parent, the first child, the next sibling; NULL if there is none. */
const struct xsprof_profiler_event *xsprof_event_parent(const struct xsprof_profiler_event *ev);
const struct xsprof_profiler_event *xsprof_event_child(const struct xsprof_profiler_event *ev);
const struct xsprof_profiler_event *xsprof_event_next(const struct xsprof_profiler_event *ev);

/* The first root of the tree, NULL if there is none; xsprof_event_next() returns the next root. */
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
 * @cpu_ns: time on the host; time in nested events of the same row counts once
 * @self_cpu_ns: the same without children
 * @device_ns: time of the device activities that they launched, or their measured device time
 * @self_device_ns: the same without children
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
 * Return: 0; -EINVAL: unknown @by or @sort; -ENOMEM; else as xsprof_result_nr_events().
 */
int xsprof_result_table(struct xsprof_result *result, uint32_t by, uint32_t depth, uint32_t sort,
			struct xsprof_table **table);
size_t xsprof_table_nr_rows(const struct xsprof_table *table);
/* Row number @index, valid as long as the table; NULL past the last. */
const struct xsprof_table_row *xsprof_table_get_row(const struct xsprof_table *table, size_t index);
/* The sums over all rows, including @count. */
const struct xsprof_table_row *xsprof_table_total(const struct xsprof_table *table);
/* The first @rows rows (0: all) as text, to be freed with free(); NULL if out of memory. */
char *xsprof_table_text(const struct xsprof_table *table, size_t rows);
/* Free a table before its result. NULL is allowed. */
void xsprof_table_free(struct xsprof_table *table);

#define XSPROF_STACKS_CPU	0u	/* self time on the host */
#define XSPROF_STACKS_DEVICE	1u	/* self time on devices */

/**
 * xsprof_result_save_stacks() - write folded stacks, "outer;inner 1234", for flame graph tools
 * @result: result
 * @path: file; an existing one is replaced
 * @what: XSPROF_STACKS_*; times are in us
 *
 * The time on the host of uncertain events is left out.
 *
 * Return: 0; -EINVAL: unknown @what; -ENOMEM; the error of the file.
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

/*
 * ---- other exports --------------------------------------------------------------------------
 *
 * Unlike xsprof_result_save() they may be called several times. @path and errors as there.
 */

/**
 * xsprof_result_save_memory_timeline() - write memory by category over time
 * @result: result
 * @path: JSON as from PyTorch's export_memory_timeline(); ".raw.json" and ".raw.json.gz": its list
 *	of single events
 * @device: XSPROF_DEVICE() of the device
 */
int xsprof_result_save_memory_timeline(struct xsprof_result *result, const char *path,
				       uint32_t device);
/* A memory snapshot (pickle) for PyTorch's memory viewer. */
int xsprof_result_save_memory_snapshot(struct xsprof_result *result, const char *path);
/* The execution trace of ops (Chakra JSON); its ops have their record function ids. */
int xsprof_result_save_execution_trace(struct xsprof_result *result, const char *path);

#ifdef __cplusplus
}
#endif

#endif /* XSPROF_RESULT_H */
