/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What PyTorch's kineto_shim has, for frameworks that do by hand what it does: a trace is prepared,
 * begun and stopped, activities that the framework timed itself are put into it, and what is
 * launched is linked to them.  It is one of the sessions of <xsprof/profiler.h>, whose functions
 * work in it too: xsprof_profiler_add_metadata(), ..._add_metadata_json(), xsprof_profiler_step().
 *
 * It needs nothing but the C library.  Of GPUs there is what a collector gives, where there is one;
 * the result needs libxsprof-trace.
 *
 * Unless it is said otherwise functions return 0 or a negative errno, may be called from any
 * thread, are not async-signal-safe, and never change errno.
 */
#ifndef XSPROF_KINETO_H
#define XSPROF_KINETO_H

#include <xsprof/profiler.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- types of activities -------------------------------------------------------------------- */

/* XSPROF_ACTIVITY_TYPE(x) makes a set. */
enum xsprof_activity_type {
	XSPROF_ACTIVITY_TYPE_CPU_OP = 0,
	XSPROF_ACTIVITY_TYPE_USER_ANNOTATION,
	XSPROF_ACTIVITY_TYPE_GPU_USER_ANNOTATION,
	XSPROF_ACTIVITY_TYPE_GPU_MEMCPY,
	XSPROF_ACTIVITY_TYPE_GPU_MEMSET,
	XSPROF_ACTIVITY_TYPE_CONCURRENT_KERNEL,
	XSPROF_ACTIVITY_TYPE_EXTERNAL_CORRELATION,
	XSPROF_ACTIVITY_TYPE_CUDA_RUNTIME,
	XSPROF_ACTIVITY_TYPE_CUDA_DRIVER,
	XSPROF_ACTIVITY_TYPE_CPU_INSTANT_EVENT,
	XSPROF_ACTIVITY_TYPE_PYTHON_FUNCTION,
	XSPROF_ACTIVITY_TYPE_OVERHEAD,
	XSPROF_ACTIVITY_TYPE_MTIA_RUNTIME,
	XSPROF_ACTIVITY_TYPE_MTIA_CCP_EVENTS,
	XSPROF_ACTIVITY_TYPE_MTIA_WORKLOADD,
	XSPROF_ACTIVITY_TYPE_CUDA_SYNC,
	XSPROF_ACTIVITY_TYPE_GLOW_RUNTIME,
	XSPROF_ACTIVITY_TYPE_CUDA_EVENT,
	XSPROF_ACTIVITY_TYPE_CUDA_PROFILER_RANGE,
	XSPROF_ACTIVITY_TYPE_HPU_OP,
	XSPROF_ACTIVITY_TYPE_XPU_RUNTIME,
	XSPROF_ACTIVITY_TYPE_COLLECTIVE_COMM,
	XSPROF_ACTIVITY_TYPE_PRIVATEUSE1_RUNTIME,
	XSPROF_ACTIVITY_TYPE_PRIVATEUSE1_DRIVER,
	XSPROF_ACTIVITY_TYPES
};

#define XSPROF_ACTIVITY_TYPE(x)	(1u << XSPROF_ACTIVITY_TYPE_##x)

/* Types of devices, beside those of <xsprof/xsprof.h>; as PyTorch numbers them. */
#define XSPROF_DEVICE_XPU	12u
#define XSPROF_DEVICE_HPU	15u
#define XSPROF_DEVICE_MTIA	19u

/* Its category in traces, "cpu_op"; NULL where there is no such type. */
XSPROF_API const char *xsprof_kineto_activity_name(uint32_t type);

/**
 * xsprof_kineto_activity_types() - the types of activities that belong to devices
 * @activities: XSPROF_ACTIVITY() of them
 * @experimental: of the session, NULL for none
 *
 * Calls of a device's runtime belong to it and to the CPU.  With metrics there are ranges of
 * them, and the CPU's types only where each kernel is measured, as Kineto has it.
 *
 * Return: XSPROF_ACTIVITY_TYPE() of them, 0 for what is no device.
 */
XSPROF_API uint32_t xsprof_kineto_activity_types(uint32_t activities,
						 const struct xsprof_experimental *experimental);

/**
 * xsprof_kineto_device_type() - the type of the device that an activity is of
 * @type: enum xsprof_activity_type
 *
 * Where the program has registered a backend (xsprof_profiler_register_backend()), what would be
 * CUDA's or MTIA's is the backend's.
 *
 * Return: XSPROF_DEVICE_CPU, XSPROF_DEVICE_CUDA, ...; of an unknown type CPU, and a warning for
 * who asked for messages.
 */
XSPROF_API uint32_t xsprof_kineto_device_type(uint32_t type);

/* ---- a trace -------------------------------------------------------------------------------- */

/**
 * xsprof_kineto_prepare_trace() - do beforehand what takes time, and say what the trace will be
 * @cpu_only: no devices, whatever @activities say
 * @activities: XSPROF_ACTIVITY() of it
 * @experimental: NULL for none; what it points to must stay until the trace is stopped
 *
 * What was prepared before and not begun is forgotten.  Metrics that nobody here can measure are
 * no error: what was asked for stands in the trace as "experimental_config".
 *
 * Return: 0; -EINVAL: nothing is left to trace, or a metric's name is none; -E2BIG: @experimental
 * is of a later version; -EBUSY: a session runs; else as xsprof_prepare_profiler().
 */
XSPROF_API int xsprof_kineto_prepare_trace(bool cpu_only, uint32_t activities,
					   const struct xsprof_experimental *experimental);

/**
 * xsprof_kineto_start_trace() - begin what was prepared, of all threads
 *
 * Return: 0; -ENODATA: nothing was prepared; -EBUSY: a session runs; else as
 * xsprof_enable_profiler().
 */
XSPROF_API int xsprof_kineto_start_trace(void);

/**
 * xsprof_kineto_stop_trace() - end it
 * @result: set to its result, as xsprof_disable_profiler(); NULL: it is not wanted
 *
 * Return: 0; -ENOENT: none runs; -ENOSYS: a result is wanted and libxsprof-trace is not there.
 */
XSPROF_API int xsprof_kineto_stop_trace(struct xsprof_result **result);

/**
 * xsprof_kineto_experimental_config() - experimental options as Kineto's configuration text
 * @experimental: options
 * @buf: set to the text, cut to what fits and terminated; NULL where @size is 0
 * @size: bytes of it
 *
 * For who hands them to a collector: the metrics, whether each kernel is measured, and @custom.
 *
 * Return: bytes of the whole text without its end; -ENODATA: nothing in it is asked for; -EINVAL:
 * the name of a metric is none, or @custom has more than one line; -E2BIG: a later version.
 */
XSPROF_API int xsprof_kineto_experimental_config(const struct xsprof_experimental *experimental,
						 char *buf, size_t size);

/* ---- activities that the program timed itself ----------------------------------------------- */

/**
 * struct xsprof_kineto_place - where a thread is in a trace
 * @device: its process
 * @resource: itself
 */
struct xsprof_kineto_place {
	int32_t	device;
	int32_t	resource;
};

/* Those of the caller. */
XSPROF_API struct xsprof_kineto_place xsprof_kineto_ids(void);

/**
 * struct xsprof_kineto_activity - an activity
 * @size: sizeof(struct xsprof_kineto_activity)
 * @name: what it was; copied
 * @type: enum xsprof_activity_type
 * @device: process; of what ran on a device its index
 * @resource: thread; of what ran on a device its stream
 * @correlation_id: what is launched under this id belongs to it, 0 for none
 * @start_ns: ns of CLOCK_REALTIME
 * @end_ns: the same; not looked at in CPU_INSTANT_EVENT
 */
struct xsprof_kineto_activity {
	size_t		size;
	const char	*name;
	uint32_t	type;
	int32_t		device;
	int32_t		resource;
	uint64_t	correlation_id;
	uint64_t	start_ns;
	uint64_t	end_ns;
};

/* Activities that are collected before they go into the trace.  For one thread at a time. */
struct xsprof_kineto_cpu_trace;

/**
 * xsprof_kineto_cpu_trace_new() - nothing yet
 * @name: of the span that it makes in the trace, "PyTorch Profiler"; NULL: no span; copied
 * @start_ns: where that begins, ns of CLOCK_REALTIME
 *
 * Return: it; NULL: no memory.
 */
XSPROF_API struct xsprof_kineto_cpu_trace *xsprof_kineto_cpu_trace_new(const char *name,
								       uint64_t start_ns);
/* NULL is fine. */
XSPROF_API void xsprof_kineto_cpu_trace_free(struct xsprof_kineto_cpu_trace *trace);
/* How many activities wait in it; 0 also for NULL. */
XSPROF_API size_t xsprof_kineto_cpu_trace_size(const struct xsprof_kineto_cpu_trace *trace);

/**
 * xsprof_kineto_add_cpu_activity() - one more
 * @trace: where to
 * @activity: copied
 *
 * Return: its number in @trace, for metadata; -EINVAL: no trace, no name, no such type, an end
 * before the start; -E2BIG: a later version of the struct; -ENOMEM.
 */
XSPROF_API int64_t xsprof_kineto_add_cpu_activity(struct xsprof_kineto_cpu_trace *trace,
						  const struct xsprof_kineto_activity *activity);

/**
 * xsprof_kineto_add_activity_metadata() - a key of an activity's own, a string
 * @trace: that it is in
 * @number: of the activity
 * @key: its name
 * @value: text
 *
 * Return: 0; -EINVAL; -E2BIG: all metadata of an activity are some 8000 bytes at most; -ENOMEM.
 */
XSPROF_API int xsprof_kineto_add_activity_metadata(struct xsprof_kineto_cpu_trace *trace,
						   int64_t number, const char *key,
						   const char *value);
/* The same with a value that is JSON, taken as it is; -EINVAL where it is none. */
XSPROF_API int xsprof_kineto_add_activity_metadata_json(struct xsprof_kineto_cpu_trace *trace,
							int64_t number, const char *key,
							const char *json);

/**
 * xsprof_kineto_transfer_cpu_trace() - put all that was added into the trace that runs
 * @trace: empty afterwards, and may be used again
 * @end_ns: where its span ends, ns of CLOCK_REALTIME
 *
 * Before the trace is stopped: what lies outside of it is cut off there.  It takes as long as the
 * recording of so much takes.  The names are in category "profiler"; where a recorder leaves that
 * out they are not recorded.
 *
 * Return: 0; -EINVAL: no trace; -ENOENT: no session runs; -ENODATA: it records nothing.  @trace
 * stays as it is then.
 */
XSPROF_API int xsprof_kineto_transfer_cpu_trace(struct xsprof_kineto_cpu_trace *trace,
						uint64_t end_ns);

/* ---- what belongs to what ------------------------------------------------------------------- */

#define XSPROF_CORRELATION_OP	0u	/* kinds of xsprof_correlation_push() */
#define XSPROF_CORRELATION_USER	1u

/**
 * xsprof_kineto_push_correlation_id() - what this thread launches belongs to an op from here on
 * @id: correlation id of its activity
 *
 * Signal-safe, as are the three below.
 */
static inline void xsprof_kineto_push_correlation_id(uint64_t id)
{
	xsprof_correlation_push(XSPROF_CORRELATION_OP, id);
}

static inline void xsprof_kineto_pop_correlation_id(void)
{
	xsprof_correlation_pop(XSPROF_CORRELATION_OP);
}

/* The same for a user's annotation: what a device does for it is a gpu_user_annotation. */
static inline void xsprof_kineto_push_user_correlation_id(uint64_t id)
{
	xsprof_correlation_push(XSPROF_CORRELATION_USER, id);
}

static inline void xsprof_kineto_pop_user_correlation_id(void)
{
	xsprof_correlation_pop(XSPROF_CORRELATION_USER);
}

/**
 * xsprof_kineto_record_thread_info() - the trace is to know this thread
 *
 * By its numbers, of the system and of pthread_self(), and its name, whether or not anything of
 * it is recorded.
 *
 * Return: 0; -ENOENT: nobody records.
 */
XSPROF_API int xsprof_kineto_record_thread_info(void);

/**
 * xsprof_kineto_log_invariant_violation() - something is as it cannot be
 * @assertion: what should have been
 * @error: what was
 * @profile_id: of the profile, "" for none
 * @group_profile_id: of those it belongs to, "" for none
 *
 * Written as an error for who asked for messages (KINETO_LOG_LEVEL), whether or not a trace runs,
 * and into the trace's list "invariant_violations".  NULL is "".
 *
 * Return: 0; -ENOENT: no session runs; -E2BIG: there are too many; -EEXIST: the program has given
 * a value of that name; -ENOMEM.
 */
XSPROF_API int xsprof_kineto_log_invariant_violation(const char *assertion, const char *error,
						     const char *profile_id,
						     const char *group_profile_id);

#ifdef __cplusplus
}
#endif

#endif /* XSPROF_KINETO_H */
