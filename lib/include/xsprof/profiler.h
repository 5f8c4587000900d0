/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Profiling sessions: what a framework's profiler is made of, over the same rings as markers.
 *
 * A program switches a session on, runs, switches it off and has a result: the ops that ran, with
 * their inputs, stacks and memory, as events, as a tree, as tables, and as a trace that PyTorch's
 * own tools load.  Under `xsprof record` the same ops go to the recorder as well.
 *
 * With no session and no recorder an op is one load and one branch.  What becomes of a session is
 * in <xsprof/result.h>, which is libxsprof-trace's: a program that looks at its results links with
 * both (pkg-config xsprof-user xsprof-trace).
 *
 * Unless it is said otherwise functions return 0 or a negative errno, may be called from any
 * thread, are not async-signal-safe, and never change errno.
 */
#ifndef XSPROF_PROFILER_H
#define XSPROF_PROFILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <xsprof/mirror.h>
#include <xsprof/xsprof.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what a session is ---------------------------------------------------------------------- */

/**
 * enum xsprof_profiler_state - what a session does with ops
 * @XSPROF_PROFILER_DISABLED: nothing
 * @XSPROF_PROFILER_CPU: records them
 * @XSPROF_PROFILER_CUDA: records them; of a GPU what its collector gives, where there is one, and
 *	their times by its events, where xsprof_register_device_stubs() has told how
 * @XSPROF_PROFILER_NVTX: gives them to whoever listens to NVTX, and records nothing
 * @XSPROF_PROFILER_ITT: gives them to whoever listens to ITT, and records nothing
 * @XSPROF_PROFILER_PRIVATEUSE1: gives them to the callbacks of a backend, and records nothing
 * @XSPROF_PROFILER_KINETO: records them with all that the configuration asks for
 * @XSPROF_PROFILER_KINETO_GPU_FALLBACK: as KINETO; their times on a GPU come by its events, as
 *	xsprof_register_device_stubs() has told
 * @XSPROF_PROFILER_KINETO_PRIVATEUSE1_FALLBACK: the same for a backend of one's own
 * @XSPROF_PROFILER_KINETO_ONDEMAND: as KINETO, of all threads, begun from outside
 */
enum xsprof_profiler_state {
	XSPROF_PROFILER_DISABLED = 0,
	XSPROF_PROFILER_CPU,
	XSPROF_PROFILER_CUDA,
	XSPROF_PROFILER_NVTX,
	XSPROF_PROFILER_ITT,
	XSPROF_PROFILER_PRIVATEUSE1,
	XSPROF_PROFILER_KINETO,
	XSPROF_PROFILER_KINETO_GPU_FALLBACK,
	XSPROF_PROFILER_KINETO_PRIVATEUSE1_FALLBACK,
	XSPROF_PROFILER_KINETO_ONDEMAND,
	XSPROF_PROFILER_STATES
};

/* What is traced; XSPROF_ACTIVITY(x) makes a set. */
enum xsprof_activity {
	XSPROF_ACTIVITY_CPU = 0,
	XSPROF_ACTIVITY_XPU,
	XSPROF_ACTIVITY_CUDA,
	XSPROF_ACTIVITY_HPU,
	XSPROF_ACTIVITY_MTIA,
	XSPROF_ACTIVITY_PRIVATEUSE1,
	XSPROF_ACTIVITIES
};

#define XSPROF_ACTIVITY(x)	(1u << XSPROF_ACTIVITY_##x)

/* Where an op comes from; XSPROF_OP(x) makes a set. */
enum xsprof_op_scope {
	XSPROF_OP_FUNCTION = 0,
	XSPROF_OP_BACKWARD_FUNCTION,
	XSPROF_OP_TORCHSCRIPT_FUNCTION,
	XSPROF_OP_KERNEL_FUNCTION_DTYPE,
	XSPROF_OP_CUSTOM_CLASS,
	XSPROF_OP_BUILD_FEATURE,
	XSPROF_OP_LITE_INTERPRETER,
	XSPROF_OP_USER_SCOPE,
	XSPROF_OP_STATIC_RUNTIME_OP,
	XSPROF_OP_STATIC_RUNTIME_MODEL,
	XSPROF_OP_SCOPES
};

#define XSPROF_OP(x)		(1u << XSPROF_OP_##x)
#define XSPROF_OP_ALL		((1u << XSPROF_OP_SCOPES) - 1)

/**
 * struct xsprof_experimental - options that other profilers call experimental; zeros are off
 * @size: sizeof(struct xsprof_experimental)
 * @metrics: names of GPU metrics to measure, NULL for none
 * @nr_metrics: how many
 * @measure_per_kernel: measure them for each kernel
 * @verbose: stacks and modules beside each op; no need: with_stack and with_modules put them there
 * @enable_cuda_sync_events: waits on GPUs too; see xsprof_kineto_activity_types()
 * @adjust_profiler_step: steps as long as what they began; no need: a step has no gap behind it
 * @disable_external_correlation: no ids for collectors of GPUs; no need: ops give them none
 * @all_threads: of all threads, not only of those that join
 * @capture_overload_names: names with their overload ("add.Tensor"); no need: a name is what the
 *	program says it is
 * @custom: handed to who collects, as it is; NULL for nothing
 *
 * Only @all_threads changes what the library itself does; the metrics, @measure_per_kernel,
 * @enable_cuda_sync_events and @custom are told to who asks (<xsprof/kineto.h>).  The others are
 * taken, so that a configuration for another profiler is one here, and stay without effect.
 */
struct xsprof_experimental {
	size_t			size;
	const char *const	*metrics;
	size_t			nr_metrics;
	bool			measure_per_kernel;
	bool			verbose;
	bool			enable_cuda_sync_events;
	bool			adjust_profiler_step;
	bool			disable_external_correlation;
	bool			all_threads;
	bool			capture_overload_names;
	const char		*custom;
};

struct xsprof_profiler_event;

/**
 * struct xsprof_profiler_config - a session
 * @size: sizeof(struct xsprof_profiler_config)
 * @state: enum xsprof_profiler_state, not DISABLED
 * @report_input_shapes: inputs of ops are kept; without it xsprof_op_begin() does not look at them
 * @profile_memory: allocations are kept
 * @with_stack: stacks of ops are kept
 * @with_flops: FLOPs are worked out of inputs, which are kept for it
 * @with_modules: the modules that ops belong to are kept
 * @experimental: NULL for none
 * @trace_id: of the trace, NULL for none
 * @buffer_size: bytes of one CPU's ring, 0 for the default; only where nothing was recorded yet
 * @post_process: called with each op of a result before anybody else has it, by the thread that
 *	ends the session, or makes the step that ends it; NULL for nobody.  As @fn of
 *	xsprof_result_post_process()
 * @post_process_data: passed to it
 *
 * It is copied, but what it points to must stay until the session has ended.
 */
struct xsprof_profiler_config {
	size_t		size;
	uint32_t	state;
	bool		report_input_shapes;
	bool		profile_memory;
	bool		with_stack;
	bool		with_flops;
	bool		with_modules;
	const struct xsprof_experimental *experimental;
	const char	*trace_id;
	uint64_t	buffer_size;
	int		(*post_process)(void *data, struct xsprof_profiler_event *ev);
	void		*post_process_data;
};

struct xsprof_result;

/**
 * xsprof_prepare_profiler() - do beforehand what takes time at the start of a session
 * @config: of the session that will be
 * @activities: XSPROF_ACTIVITY() of it
 *
 * Return: 0; -EINVAL, -E2BIG: a configuration that makes no sense, or is of another version;
 * -EBUSY: a session runs; -EPERM and others as xsprof_enable_profiler().
 */
XSPROF_API int xsprof_prepare_profiler(const struct xsprof_profiler_config *config,
				       uint32_t activities);

/**
 * xsprof_enable_profiler() - begin a session
 * @config: what is wanted
 * @activities: XSPROF_ACTIVITY() of it, at least one
 * @scopes: XSPROF_OP() of it; 0 for all
 *
 * The session is of the calling thread and of those that join it
 * (xsprof_enable_profiler_in_child_thread()); of all threads with @all_threads, or in state
 * KINETO_ONDEMAND.
 *
 * Return: 0; -EINVAL, -E2BIG as above; -EBUSY: one runs; -EPERM: the environment says that nothing
 * is recorded (XSPROF_BACKEND=none); -ENODEV: a state that measures a device by its own events, and
 * there is none (xsprof_register_device_stubs()); -ENOSPC, -ENOMEM, -EACCES: no room, or no right,
 * for what is recorded.
 */
XSPROF_API int xsprof_enable_profiler(const struct xsprof_profiler_config *config,
				      uint32_t activities, uint32_t scopes);

/**
 * xsprof_disable_profiler() - end the session
 * @result: set to its result, to be freed by xsprof_result_free(); NULL: it is not wanted.
 *	NULL is also what it is set to by states that record nothing
 *
 * From any thread.  Ops that are open end in the trace here, and say so.
 *
 * Return: 0; -ENOENT: no session runs; -EBUSY: one does that was asked for from outside
 * (<xsprof/ondemand.h>), and ends by itself; -ENOSYS: a result is wanted and libxsprof-trace is not
 * there; else what went wrong with the recording, which is kept as far as it goes, or what
 * @post_process of the configuration returned, with which the result is there as well.
 */
XSPROF_API int xsprof_disable_profiler(struct xsprof_result **result);

/**
 * xsprof_toggle_collection() - leave a part of a session out, or take it in again
 * @on: collect from here on
 * @activities: which; 0 for all of the session
 *
 * It acts on ops, memory and shaders, which are CPU; of what collectors of devices give nothing is
 * left out.
 *
 * Return: 0; -ENOENT: no session runs; -EBUSY as xsprof_disable_profiler(); -ENOMEM.
 */
XSPROF_API int xsprof_toggle_collection(bool on, uint32_t activities);

/* The state of the session that runs, seen from this thread: DISABLED where it is not in it. */
XSPROF_API enum xsprof_profiler_state xsprof_profiler_state(void);

/**
 * xsprof_enable_profiler_in_child_thread() - this thread joins the session
 *
 * Return: 0; -ENOENT: none runs; -EALREADY: it has joined; -ENOMEM.
 */
XSPROF_API int xsprof_enable_profiler_in_child_thread(void);
/* This thread leaves it; -ENOENT: it was not in it; -ENOMEM: it has left, but its ops stay in. */
XSPROF_API int xsprof_disable_profiler_in_child_thread(void);
/* Does a session run that was begun by another thread, or by this one? */
XSPROF_API bool xsprof_is_profiler_enabled_in_main_thread(void);

/* ---- schedules ------------------------------------------------------------------------------ */

/**
 * struct xsprof_schedule - which steps are recorded
 * @size: sizeof(struct xsprof_schedule)
 * @skip_first: steps before all
 * @wait: steps of each cycle with nothing recorded
 * @warmup: then steps that are recorded and thrown away
 * @active: then steps that are recorded, at least one
 * @repeat: cycles, 0 for no end
 */
struct xsprof_schedule {
	size_t		size;
	uint32_t	skip_first;
	uint32_t	wait;
	uint32_t	warmup;
	uint32_t	active;
	uint32_t	repeat;
};

enum xsprof_profiler_action {
	XSPROF_PROFILER_NONE = 0,
	XSPROF_PROFILER_WARMUP,
	XSPROF_PROFILER_RECORD,
	XSPROF_PROFILER_RECORD_AND_SAVE,
};

/* What a schedule says of a step, counted from 0. */
XSPROF_API enum xsprof_profiler_action
xsprof_schedule_action(const struct xsprof_schedule *schedule, uint64_t step);

/**
 * xsprof_schedule_profiler() - sessions that come and go with the steps of a program
 * @config: of each session
 * @activities: as xsprof_enable_profiler()
 * @scopes: the same
 * @schedule: when; copied
 * @ready: called with each result, by the thread that makes the step; the result is the callee's
 * @data: passed to it
 *
 * Step 0 begins here.  xsprof_disable_profiler() ends it, with the result of a cycle that was not
 * over.
 *
 * Return: as xsprof_enable_profiler().
 */
XSPROF_API int xsprof_schedule_profiler(const struct xsprof_profiler_config *config,
					uint32_t activities, uint32_t scopes,
					const struct xsprof_schedule *schedule,
					void (*ready)(void *data, struct xsprof_result *result),
					void *data);

/**
 * xsprof_profiler_step() - the next step begins
 *
 * Marks it in the trace ("ProfilerStep#N"), moves the schedule on, and tells whoever asked from
 * outside for so many iterations.
 *
 * Return: 0; what a session that was to begin or end here could not, or what @post_process of its
 * configuration returned.
 */
XSPROF_API int xsprof_profiler_step(void);

/**
 * struct xsprof_profiler_backend - who is told of ops in state PRIVATEUSE1
 * @size: sizeof(struct xsprof_profiler_backend)
 * @range_push: an op begins; its name, good during the call
 * @range_pop: the innermost op of the thread ends
 * @data: passed to both
 */
struct xsprof_profiler_backend {
	size_t	size;
	void	(*range_push)(void *data, const char *name);
	void	(*range_pop)(void *data);
	void	*data;
};

/* @backend stays the caller's, and must stay; NULL takes it back.  0 or -EINVAL. */
XSPROF_API int xsprof_profiler_register_backend(const struct xsprof_profiler_backend *backend);

/**
 * struct xsprof_device_stubs - what a device can tell of itself where nobody collects what runs
 * @size: sizeof(struct xsprof_device_stubs)
 * @device_type: of XSPROF_DEVICE(): XSPROF_DEVICE_PRIVATEUSE1 for state
 *	KINETO_PRIVATEUSE1_FALLBACK, another for KINETO_GPU_FALLBACK and CUDA
 * @record: an event goes into the stream that is used now; sets @event to it, not NULL, and,
 *	where they are not NULL, @device to the device's index and @cpu_ns to the host's time.
 *	0 or -errno
 * @elapsed: sets @us to the microseconds from one event to another, and waits for both; 0 or -errno
 * @release: the event is not needed any more
 * @synchronize: waits for all that the devices were given
 * @enabled: are there any?  NULL: yes
 * @on_each_device: calls @op for each device, which is the one in use then; NULL: there is one
 * @mark: a point for the device's own tool, "__start_profile" and "__stop_profile"; may be NULL
 * @range_push: an op begins, in state PRIVATEUSE1 where no other backend has it; may be NULL
 * @range_pop: the innermost op of the thread ends; NULL where @range_push is
 * @data: passed to all of them
 *
 * Each op of a session has an event at its begin and one at its end: its time on the device is
 * xsprof_event_device_elapsed_ns().  They are called by the threads that run ops, and by who begins
 * and ends the session; ops inside of them are not measured, and they do not call functions of
 * sessions.  In such sessions ops are not signal-safe.
 */
struct xsprof_device_stubs {
	size_t		size;
	uint32_t	device_type;
	uint32_t	reserved;
	int		(*record)(void *data, int32_t *device, void **event, int64_t *cpu_ns);
	int		(*elapsed)(void *data, void *begin, void *end, double *us);
	void		(*release)(void *data, void *event);
	void		(*synchronize)(void *data);
	bool		(*enabled)(void *data);
	void		(*on_each_device)(void *data, void (*op)(void *arg, int device),
					  void *arg);
	void		(*mark)(void *data, const char *name);
	void		(*range_push)(void *data, const char *name);
	void		(*range_pop)(void *data);
	void		*data;
};

/**
 * xsprof_register_device_stubs() - times of devices by their own events
 * @stubs: stays the caller's, and must stay; NULL takes all of them back
 *
 * Those of another @device_type stay, as far as they are for another state.
 *
 * Return: 0; -EINVAL; -EBUSY: a session uses some.
 */
XSPROF_API int xsprof_register_device_stubs(const struct xsprof_device_stubs *stubs);

/* ---- ops ------------------------------------------------------------------------------------ */

/**
 * struct xsprof_tensor - a tensor as an op's input
 * @sizes: one a dimension; NULL where they are not known
 * @strides: the same, NULL for none
 * @ndim: dimensions
 * @dtype: name id of its type ("float", "c10::BFloat16"), 0 not known
 * @device: XSPROF_DEVICE(type, index)
 * @id: tells it from others, 0 for none
 * @storage_id: of its memory, 0 for none
 * @offset: elements into its memory
 * @numel: elements
 * @itemsize: bytes of one
 */
struct xsprof_tensor {
	const int64_t	*sizes;
	const int64_t	*strides;
	uint32_t	ndim;
	xsprof_name_t	dtype;
	uint32_t	device;
	uint32_t	itemsize;
	uint64_t	id;
	uint64_t	storage_id;
	uint64_t	offset;
	uint64_t	numel;
};

enum xsprof_input_kind {
	XSPROF_INPUT_NONE = 0,
	XSPROF_INPUT_TENSOR,
	XSPROF_INPUT_TENSORS,		/* @n of them */
	XSPROF_INPUT_I64,
	XSPROF_INPUT_F64,
	XSPROF_INPUT_BOOL,
	XSPROF_INPUT_STR,
	XSPROF_INPUT_I64S,		/* a list of @n */
	XSPROF_INPUT_F64S,
	XSPROF_INPUT_OTHER,		/* an object; @u.type is the name id of its type, or 0 */
};

/**
 * struct xsprof_input - an input of an op, by its place
 * @kind: enum xsprof_input_kind
 * @n: of lists
 * @u: the value; what it points to is only looked at during the call
 */
struct xsprof_input {
	uint32_t	kind;
	uint32_t	n;
	union {
		const struct xsprof_tensor	*tensor;
		int64_t				i64;
		double				f64;
		const char			*str;
		const int64_t			*i64s;
		const double			*f64s;
		xsprof_name_t			type;
	} u;
};

#define XSPROF_NO_SEQUENCE	(-1)

/**
 * struct xsprof_op - an op that begins
 * @name: what it is; its category must be wanted
 * @scope: enum xsprof_op_scope
 * @nr_inputs: how many
 * @nr_kwargs: how many
 * @sequence: number that an op and the backward of it share, XSPROF_NO_SEQUENCE for none
 * @forward_thread: of a backward: the thread of its forward, 0 for none
 * @record_function_id: as the framework counts ops, 0 for none
 * @inputs: by their place
 * @kwargs: by their name, and further metadata
 * @module: the modules it is in, "net.encoder.0", NULL for none
 *
 * Zeros but for @sequence are none.
 */
struct xsprof_op {
	xsprof_name_t			name;
	uint32_t			scope;
	uint32_t			nr_inputs;
	uint32_t			nr_kwargs;
	int64_t				sequence;
	uint64_t			forward_thread;
	uint64_t			record_function_id;
	const struct xsprof_input	*inputs;
	const struct xsprof_kv		*kwargs;
	const char			*module;
};

/*
 * Who wants ops: XSPROF_OP() of the scopes, 0 while there is neither a session nor a recorder.
 * Never write to it.
 */
extern XSPROF_API uint32_t xsprof_op_wanted;

XSPROF_API void xsprof_emit_op_begin(const struct xsprof_op *op);
XSPROF_API void xsprof_emit_op_end(void);

/**
 * xsprof_op_begin() - an op begins in this thread
 * @op: what it is; not kept
 *
 * Ops nest with each other and with the ranges of <xsprof/xsprof.h>.  Each needs its
 * xsprof_op_end(), also when nobody wants ops at that moment.
 *
 * Signal-safe as far as nothing but its name is recorded of it; else not.
 */
static inline void xsprof_op_begin(const struct xsprof_op *op)
{
	if (__builtin_expect(__atomic_load_n(&xsprof_op_wanted, __ATOMIC_RELAXED) != 0, 0))
		xsprof_emit_op_begin(op);
}

static inline void xsprof_op_end(void)
{
	if (__builtin_expect(__atomic_load_n(&xsprof_op_wanted, __ATOMIC_RELAXED) != 0, 0))
		xsprof_emit_op_end();
}

/* ---- memory --------------------------------------------------------------------------------- */

/**
 * xsprof_report_memory_usage() - memory was allocated or freed
 * @ptr: its address on its device
 * @alloc_size: bytes; negative: so many were freed
 * @total_allocated: bytes in use after it
 * @total_reserved: bytes the allocator holds after it
 * @device: XSPROF_DEVICE(type, index)
 *
 * Kept by sessions that profile memory, and by recorders.  Signal-safe.
 */
XSPROF_API void xsprof_report_memory_usage(const void *ptr, int64_t alloc_size,
					   uint64_t total_allocated, uint64_t total_reserved,
					   uint32_t device);

/* The allocator had no @alloc_size bytes to give; the others as above.  Signal-safe. */
XSPROF_API void xsprof_report_out_of_memory(int64_t alloc_size, uint64_t total_allocated,
					    uint64_t total_reserved, uint32_t device);

/**
 * xsprof_report_vulkan_event() - a shader ran
 * @name: which
 * @begin: ticks of xsprof_now()
 * @end: the same
 * @queue: of the device
 *
 * It is recorded in category "vulkan", whichever @name is of.  Signal-safe.
 */
XSPROF_API void xsprof_report_vulkan_event(xsprof_name_t name, uint64_t begin, uint64_t end,
					   uint32_t queue);

/* ---- metadata and threads ------------------------------------------------------------------- */

/**
 * xsprof_profiler_add_metadata() - a key of the trace's own, a string
 * @key: its name
 * @value: text
 *
 * It takes the place of what the trace has of its own under "distributedInfo", "deviceProperties",
 * "host_name" and the names of the environment.  What else a trace says of itself
 * ("schemaVersion", "traceEvents", ..., "xsprof_...") is not the program's to say: such a key is
 * left out.
 *
 * Return: 0; -ENOENT: no session runs; -E2BIG: there are too many; -ENOMEM.
 */
XSPROF_API int xsprof_profiler_add_metadata(const char *key, const char *value);
/* The same with a value that is JSON, taken as it is; -EINVAL where it is none. */
XSPROF_API int xsprof_profiler_add_metadata_json(const char *key, const char *json);

#ifdef __cplusplus
}
#endif

#endif /* XSPROF_PROFILER_H */
