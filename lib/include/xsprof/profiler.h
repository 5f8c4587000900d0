/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Profiling sessions: the interface of a framework's profiler, on top of the same rings as markers.
 *
 * A program enables a session, runs, disables it and gets a result: the ops that ran, with inputs,
 * stacks and memory, as events, as a tree, as tables, and as a trace that PyTorch's tools load.
 * Under `xsprof record` the recorder gets the same ops.
 *
 * Without a session, a recorder and the module an op is one load and one branch. <xsprof/result.h> of
 * libxsprof-trace declares the functions of results: a program that uses them links with both
 * libraries (pkg-config xsprof-user xsprof-trace).
 *
 * Unless stated otherwise, functions return 0 or a negative errno, may be called from any thread
 * and by several threads at once, are not async-signal-safe, and never change errno.
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

/* ---- sessions: states, activities, configuration --------------------------------------------- */

/**
 * enum xsprof_profiler_state - what a session does with ops
 * @XSPROF_PROFILER_DISABLED: nothing
 * @XSPROF_PROFILER_CPU: records them
 * @XSPROF_PROFILER_CUDA: records them, with GPU activities if there is a collector, and with device
 *	times if xsprof_register_device_stubs() was called
 * @XSPROF_PROFILER_NVTX: sends them to an NVTX tool, and records nothing
 * @XSPROF_PROFILER_ITT: sends them to an ITT tool, and records nothing
 * @XSPROF_PROFILER_PRIVATEUSE1: passes them to the callbacks of a backend, and records nothing
 * @XSPROF_PROFILER_KINETO: records them with everything that the configuration selects
 * @XSPROF_PROFILER_KINETO_GPU_FALLBACK: as KINETO; device times are measured with the functions of
 *	xsprof_register_device_stubs()
 * @XSPROF_PROFILER_KINETO_PRIVATEUSE1_FALLBACK: the same for the program's own backend
 * @XSPROF_PROFILER_KINETO_ONDEMAND: as KINETO, of all threads, requested from outside
 * @XSPROF_PROFILER_STATES: number of states
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

/* Kinds of devices whose activities are traced; XSPROF_ACTIVITY(x) is the bit of a set. */
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

/* The part of a framework that runs an op; XSPROF_OP(x) is the bit of a set. */
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
 * struct xsprof_experimental - options called experimental in other profilers; 0 is off
 * @size: sizeof(struct xsprof_experimental)
 * @metrics: names of GPU metrics to measure, NULL for none
 * @nr_metrics: how many
 * @measure_per_kernel: measure @metrics for each kernel
 * @verbose: stacks and modules of each op; no effect: see with_stack and with_modules
 * @enable_cuda_sync_events: include waits on GPUs; see xsprof_kineto_activity_types()
 * @adjust_profiler_step: extend steps over the work that they started; no effect: there is no gap
 *	between steps
 * @disable_external_correlation: no ids for GPU collectors; no effect: ops have no such ids
 * @all_threads: record all threads, not only those that join
 * @capture_overload_names: names with their overload ("add.Tensor"); no effect: the program gives
 *	the full name
 * @custom: passed unchanged to the collector; NULL for none
 *
 * Only @all_threads changes the library itself; metrics, @measure_per_kernel,
 * @enable_cuda_sync_events and @custom are passed to callers of <xsprof/kineto.h>. The others are
 * accepted without effect, so that a configuration for another profiler is valid here.
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
 * @report_input_shapes: record inputs of ops; without it xsprof_op_begin() does not read them
 * @profile_memory: record allocations
 * @with_stack: record stacks of ops
 * @with_flops: compute FLOPs from inputs, which are recorded for this
 * @with_modules: record the modules that ops belong to
 * @experimental: NULL for none
 * @trace_id: id of the trace, NULL for none
 * @buffer_size: bytes of one CPU's ring, 0 for the default; has no effect once the process has
 *	recorded something
 * @post_process: called for each op of a result before the result is returned, by the thread that
 *	ends the session or makes the step that ends it; may be NULL. See @fn of
 *	xsprof_result_post_process()
 * @post_process_data: passed to it
 *
 * The struct is copied, but the memory it points to must stay valid until the session has ended.
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
 * xsprof_prepare_profiler() - do the slow part of the start of a session in advance
 * @config: configuration of the later session
 * @activities: XSPROF_ACTIVITY() of it
 *
 * Return: 0; -EINVAL: invalid configuration; -E2BIG: configuration of a later version; -EBUSY: a
 * session is running; -EPERM and others as xsprof_enable_profiler().
 */
XSPROF_API int xsprof_prepare_profiler(const struct xsprof_profiler_config *config,
				       uint32_t activities);

/**
 * xsprof_enable_profiler() - begin a session
 * @config: configuration; copied
 * @activities: XSPROF_ACTIVITY() of it, at least one
 * @scopes: XSPROF_OP() of it; 0 for all
 *
 * The session records the calling thread and those that join it
 * (xsprof_enable_profiler_in_child_thread()); all threads with @all_threads or in state
 * KINETO_ONDEMAND.
 *
 * Return: 0; -EINVAL, -E2BIG as above; -EBUSY: a session is running; -EPERM: recording is disabled
 * (XSPROF_BACKEND=none); -ENODEV: the state measures device times, and no device is registered
 * (xsprof_register_device_stubs()); -ENOSPC, -ENOMEM, -EACCES: no memory, or no permission, for the
 * rings.
 */
XSPROF_API int xsprof_enable_profiler(const struct xsprof_profiler_config *config,
				      uint32_t activities, uint32_t scopes);

/**
 * xsprof_disable_profiler() - end the session
 * @result: set to the result, to be freed by xsprof_result_free(), or to NULL by states that record
 *	nothing; may be NULL
 *
 * May be called by any thread. Open ops end here in the trace, marked as unfinished.
 *
 * Return: 0; -ENOENT: no session is running; -EBUSY: the running session was requested from outside
 * (<xsprof/ondemand.h>) and ends by itself; -ENOSYS: libxsprof-trace, which makes the result, was
 * not found, or is older than this library; else an error of the recording, with the result as far
 * as it goes, or the return value of @post_process, also with the result.
 */
XSPROF_API int xsprof_disable_profiler(struct xsprof_result **result);

/**
 * xsprof_toggle_collection() - suspend or resume a running session
 * @on: true to resume, false to suspend
 * @activities: XSPROF_ACTIVITY() to suspend or resume; 0 for all of the session
 *
 * Only ops, memory and shaders are suspended, which are activities of the CPU. Activities from
 * device collectors are recorded all the time.
 *
 * Return: 0; -ENOENT: no session is running; -EBUSY as xsprof_disable_profiler(); -ENOMEM.
 */
XSPROF_API int xsprof_toggle_collection(bool on, uint32_t activities);

/* The state of the running session for this thread: DISABLED if the thread is not part of it. */
XSPROF_API enum xsprof_profiler_state xsprof_profiler_state(void);

/**
 * xsprof_enable_profiler_in_child_thread() - this thread joins the session
 *
 * Return: 0; -ENOENT: no session is running; -EALREADY: it has already joined; -ENOMEM.
 */
XSPROF_API int xsprof_enable_profiler_in_child_thread(void);
/* This thread leaves the session. -ENOENT: it had not joined; -ENOMEM: left, but its ops stay. */
XSPROF_API int xsprof_disable_profiler_in_child_thread(void);
/* Is a session running, started by any thread? */
XSPROF_API bool xsprof_is_profiler_enabled_in_main_thread(void);

/* ---- schedules ------------------------------------------------------------------------------ */

/**
 * struct xsprof_schedule - which steps are recorded
 * @size: sizeof(struct xsprof_schedule)
 * @skip_first: steps to skip once at the start
 * @wait: steps at the start of each cycle that are not recorded
 * @warmup: then steps that are recorded and discarded
 * @active: then steps that are recorded, at least one
 * @repeat: number of cycles, 0 for unlimited
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

/* The action of a schedule for a step; the first step is 0. Async-signal-safe. */
XSPROF_API enum xsprof_profiler_action
xsprof_schedule_action(const struct xsprof_schedule *schedule, uint64_t step);

/**
 * xsprof_schedule_profiler() - start and stop sessions by a program's steps
 * @config: configuration of each session
 * @activities: as xsprof_enable_profiler()
 * @scopes: the same
 * @schedule: the schedule; copied
 * @ready: called with each result by the thread that calls xsprof_profiler_step(); must free it
 * @data: passed to it
 *
 * Step 0 begins here. xsprof_disable_profiler() ends the schedule and returns the result of an
 * unfinished cycle.
 *
 * Return: as xsprof_enable_profiler().
 */
XSPROF_API int xsprof_schedule_profiler(const struct xsprof_profiler_config *config,
					uint32_t activities, uint32_t scopes,
					const struct xsprof_schedule *schedule,
					void (*ready)(void *data, struct xsprof_result *result),
					void *data);

/**
 * xsprof_profiler_step() - end the current step and begin the next one
 *
 * Records a step as the range "ProfilerStep#N", advances the schedule, and advances requests by
 * iterations (<xsprof/ondemand.h>).
 *
 * Return: 0; the error of a session that should have begun or ended here; or the return value of
 * its @post_process.
 */
XSPROF_API int xsprof_profiler_step(void);

/**
 * struct xsprof_profiler_backend - callbacks for ops in state PRIVATEUSE1
 * @size: sizeof(struct xsprof_profiler_backend)
 * @range_push: an op begins; @name is valid during the call
 * @range_pop: the innermost op of the thread ends
 * @data: passed to both
 */
struct xsprof_profiler_backend {
	size_t	size;
	void	(*range_push)(void *data, const char *name);
	void	(*range_pop)(void *data);
	void	*data;
};

/**
 * xsprof_profiler_register_backend() - register the callbacks of state PRIVATEUSE1
 * @backend: not copied, must stay valid; NULL unregisters it
 *
 * Return: 0; -EINVAL: a callback is missing.
 */
XSPROF_API int xsprof_profiler_register_backend(const struct xsprof_profiler_backend *backend);

/**
 * struct xsprof_device_stubs - functions that measure device times without a collector
 * @size: sizeof(struct xsprof_device_stubs)
 * @device_type: of XSPROF_DEVICE(): XSPROF_DEVICE_PRIVATEUSE1 for state
 *	KINETO_PRIVATEUSE1_FALLBACK, another for KINETO_GPU_FALLBACK and CUDA
 * @record: record an event into the current stream; sets @event (not NULL) and, if they are not
 *	NULL, @device to the device's index and @cpu_ns to the host's time. 0 or -errno
 * @elapsed: wait for both events and set @us to the microseconds between them; 0 or -errno
 * @release: free an event
 * @synchronize: wait for all work of the devices
 * @enabled: is there a device? NULL means yes
 * @on_each_device: call @op for each device, with that device selected; NULL if there is only one
 * @mark: a mark for the device's own tool, "__start_profile" or "__stop_profile"; may be NULL
 * @range_push: an op begins, in state PRIVATEUSE1 without a registered backend; may be NULL
 * @range_pop: the innermost op of the thread ends; NULL if @range_push is
 * @data: passed to all of them
 * @reserved: 0
 *
 * Each op of a session has an event at its begin and one at its end;
 * xsprof_event_device_elapsed_ns() returns the time between them. The functions are called by the
 * threads that run ops, and by those that begin and end the session. Ops inside of them are not
 * measured, and they must not call functions of sessions. In such sessions ops are not signal-safe.
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
 * xsprof_register_device_stubs() - register functions that measure device times
 * @stubs: not copied, must stay valid; NULL unregisters all
 *
 * Functions that were registered for another state, by another @device_type, stay registered.
 *
 * Return: 0; -EINVAL: a required function or a valid @device_type is missing; -EBUSY: a running
 * session uses them.
 */
XSPROF_API int xsprof_register_device_stubs(const struct xsprof_device_stubs *stubs);

/* ---- metadata and threads ------------------------------------------------------------------- */

/**
 * xsprof_profiler_add_metadata() - add a key with a string to the trace
 * @key: its name
 * @value: text
 *
 * It replaces the library's own value of "distributedInfo", "deviceProperties", "host_name" and
 * keys from the environment. Other keys of the library ("schemaVersion", "traceEvents", ...,
 * "xsprof_...") cannot be set: they are ignored.
 *
 * Return: 0; -ENOENT: no session is running; -E2BIG: too many keys; -ENOMEM.
 */
XSPROF_API int xsprof_profiler_add_metadata(const char *key, const char *value);
/* The same with a JSON value, stored unchanged; -EINVAL if it is not valid JSON. */
XSPROF_API int xsprof_profiler_add_metadata_json(const char *key, const char *json);

#ifdef __cplusplus
}
#endif

#include <xsprof/op.h>

#endif /* XSPROF_PROFILER_H */
