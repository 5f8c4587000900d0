/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The functions of PyTorch's kineto_shim: prepare, start and stop a trace, add activities that the
 * framework timed itself, and link device activities to them. The trace is a session of
 * <xsprof/profiler.h>, whose functions can be used with it: xsprof_profiler_add_metadata(),
 * ..._add_metadata_json(), xsprof_profiler_step().
 *
 * It depends on the C library only; results need libxsprof-trace. GPU activities are recorded if
 * there is a collector.
 *
 * Unless stated otherwise, functions return 0 or a negative errno, may be called from any thread,
 * are not async-signal-safe, and never change errno.
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

/* Types of devices in addition to those of <xsprof/xsprof.h>; numbered as in PyTorch. */
#define XSPROF_DEVICE_XPU	12u
#define XSPROF_DEVICE_HPU	15u
#define XSPROF_DEVICE_MTIA	19u

/* The category of a type in traces, "cpu_op"; NULL if there is no such type. */
XSPROF_API const char *xsprof_kineto_activity_name(uint32_t type);

/**
 * xsprof_kineto_activity_types() - the types of activities that belong to devices
 * @activities: XSPROF_ACTIVITY() of them
 * @experimental: of the session, NULL for none
 *
 * Calls of a device's runtime belong to the device and to the CPU. With metrics, the types are
 * ranges of metrics, and those of the CPU only if each kernel is measured, as in Kineto.
 *
 * Return: a set of XSPROF_ACTIVITY_TYPE(), 0 if no device is in @activities.
 */
XSPROF_API uint32_t xsprof_kineto_activity_types(uint32_t activities,
						 const struct xsprof_experimental *experimental);

/**
 * xsprof_kineto_device_type() - the device type of an activity type
 * @type: enum xsprof_activity_type
 *
 * If the program has registered a backend (xsprof_profiler_register_backend()), types of CUDA and
 * MTIA belong to the backend.
 *
 * Return: XSPROF_DEVICE_CPU, XSPROF_DEVICE_CUDA, ...; for an unknown type CPU, with a warning if
 * messages are enabled (KINETO_LOG_LEVEL).
 */
XSPROF_API uint32_t xsprof_kineto_device_type(uint32_t type);

/* ---- a trace -------------------------------------------------------------------------------- */

/**
 * xsprof_kineto_prepare_trace() - configure a trace, and do the slow part of its start in advance
 * @cpu_only: no devices, whatever @activities say
 * @activities: XSPROF_ACTIVITY() of it
 * @experimental: NULL for none; must stay valid until the trace is stopped
 *
 * It replaces an earlier preparation that was not started. Metrics that cannot be measured here are
 * not an error: the trace has the requested ones as "experimental_config".
 *
 * Return: 0; -EINVAL: no activity is left, or a metric's name is invalid; -E2BIG: @experimental is
 * of a later version; -EBUSY: a session is running; else as xsprof_prepare_profiler().
 */
XSPROF_API int xsprof_kineto_prepare_trace(bool cpu_only, uint32_t activities,
					   const struct xsprof_experimental *experimental);

/**
 * xsprof_kineto_start_trace() - start the prepared trace, of all threads
 *
 * Return: 0; -ENODATA: nothing was prepared; -EBUSY: a session is running; else as
 * xsprof_enable_profiler().
 */
XSPROF_API int xsprof_kineto_start_trace(void);

/**
 * xsprof_kineto_stop_trace() - stop the trace
 * @result: set to the result, as in xsprof_disable_profiler(); may be NULL
 *
 * Return: 0; -ENOENT: no trace is running; -ENOSYS: libxsprof-trace, which makes the result, was
 *	not found, or is older than this library.
 */
XSPROF_API int xsprof_kineto_stop_trace(struct xsprof_result **result);

/**
 * xsprof_kineto_experimental_config() - experimental options as Kineto's configuration text
 * @experimental: options
 * @buf: set to the text, cut to what fits and terminated; NULL where @size is 0
 * @size: bytes of it
 *
 * To be passed to a collector: the metrics, whether each kernel is measured, and @custom.
 *
 * Return: bytes of the whole text without its terminator; -ENODATA: no option is set; -EINVAL: a
 * metric's name is invalid, or @custom has more than one line; -E2BIG: a later version.
 */
XSPROF_API int xsprof_kineto_experimental_config(const struct xsprof_experimental *experimental,
						 char *buf, size_t size);

/* ---- activities that the program timed itself ----------------------------------------------- */

/**
 * struct xsprof_kineto_place - the ids of a thread in a trace
 * @device: process id
 * @resource: thread id
 */
struct xsprof_kineto_place {
	int32_t	device;
	int32_t	resource;
};

/* The ids of the calling thread. */
XSPROF_API struct xsprof_kineto_place xsprof_kineto_ids(void);

/**
 * struct xsprof_kineto_activity - an activity
 * @size: sizeof(struct xsprof_kineto_activity)
 * @name: what it was; copied
 * @type: enum xsprof_activity_type
 * @device: process id; for an activity of a device, the device's index
 * @resource: thread id; for an activity of a device, its stream
 * @correlation_id: correlation id of the activities that it launches, 0 for none
 * @start_ns: ns of CLOCK_REALTIME
 * @end_ns: the same; ignored for CPU_INSTANT_EVENT
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

/* Activities, collected before they are added to the trace. For one thread at a time. */
struct xsprof_kineto_cpu_trace;

/**
 * xsprof_kineto_cpu_trace_new() - create an empty collection of activities
 * @name: name of its span in the trace, "PyTorch Profiler"; NULL: no span; copied
 * @start_ns: begin of the span, ns of CLOCK_REALTIME
 *
 * Return: the collection; NULL if out of memory.
 */
XSPROF_API struct xsprof_kineto_cpu_trace *xsprof_kineto_cpu_trace_new(const char *name,
								       uint64_t start_ns);
/* NULL is allowed. */
XSPROF_API void xsprof_kineto_cpu_trace_free(struct xsprof_kineto_cpu_trace *trace);
/* Number of activities in it; 0 for NULL. */
XSPROF_API size_t xsprof_kineto_cpu_trace_size(const struct xsprof_kineto_cpu_trace *trace);

/**
 * xsprof_kineto_add_cpu_activity() - add an activity
 * @trace: collection
 * @activity: copied
 *
 * Return: its number in @trace, for metadata; -EINVAL: no trace or name, unknown type, or end
 * before start; -E2BIG: a later version of the struct; -ENOMEM.
 */
XSPROF_API int64_t xsprof_kineto_add_cpu_activity(struct xsprof_kineto_cpu_trace *trace,
						  const struct xsprof_kineto_activity *activity);

/**
 * xsprof_kineto_add_activity_metadata() - add a key with a string to an activity
 * @trace: collection of the activity
 * @number: number of the activity
 * @key: its name
 * @value: text
 *
 * Return: 0; -EINVAL; -E2BIG: more than some 8000 bytes of metadata of an activity; -ENOMEM.
 */
XSPROF_API int xsprof_kineto_add_activity_metadata(struct xsprof_kineto_cpu_trace *trace,
						   int64_t number, const char *key,
						   const char *value);
/* The same with a JSON value, stored unchanged; -EINVAL if it is not valid JSON. */
XSPROF_API int xsprof_kineto_add_activity_metadata_json(struct xsprof_kineto_cpu_trace *trace,
							int64_t number, const char *key,
							const char *json);

/**
 * xsprof_kineto_transfer_cpu_trace() - add all collected activities to the running trace
 * @trace: collection; empty afterwards, and can be used again
 * @end_ns: end of its span, ns of CLOCK_REALTIME
 *
 * Call it before the trace is stopped: activities outside of the trace are cut off. It takes as
 * long as recording as many markers. Names are in category "profiler"; they are not recorded if a
 * recorder disables it.
 *
 * Return: 0; -EINVAL: no @trace; -ENOENT: no session is running; -ENODATA: the session records
 * nothing. On error @trace is unchanged.
 */
XSPROF_API int xsprof_kineto_transfer_cpu_trace(struct xsprof_kineto_cpu_trace *trace,
						uint64_t end_ns);

/* ---- correlation ----------------------------------------------------------------------------- */

#define XSPROF_CORRELATION_OP	0u	/* kinds of xsprof_correlation_push() */
#define XSPROF_CORRELATION_USER	1u

/**
 * xsprof_kineto_push_correlation_id() - later launches of this thread belong to an op
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

/* The same for a user annotation: its device activities are in a gpu_user_annotation. */
static inline void xsprof_kineto_push_user_correlation_id(uint64_t id)
{
	xsprof_correlation_push(XSPROF_CORRELATION_USER, id);
}

static inline void xsprof_kineto_pop_user_correlation_id(void)
{
	xsprof_correlation_pop(XSPROF_CORRELATION_USER);
}

/**
 * xsprof_kineto_record_thread_info() - record the ids and name of this thread
 *
 * Records its thread id, pthread_self() and name, even if it has no other record.
 *
 * Return: 0; -ENOENT: not recorded.
 */
XSPROF_API int xsprof_kineto_record_thread_info(void);

/**
 * xsprof_kineto_log_invariant_violation() - report a violated invariant
 * @assertion: the expected condition
 * @error: the actual condition
 * @profile_id: id of the profile, "" for none
 * @group_profile_id: id of its group, "" for none
 *
 * Written as an error message if messages are enabled (KINETO_LOG_LEVEL), even without a trace, and
 * into the trace's list "invariant_violations". NULL means "".
 *
 * Return: 0; -ENOENT: no session is running; -E2BIG: too many; -EEXIST: the program has set a value
 * of that name; -ENOMEM.
 */
XSPROF_API int xsprof_kineto_log_invariant_violation(const char *assertion, const char *error,
						     const char *profile_id,
						     const char *group_profile_id);

#ifdef __cplusplus
}
#endif

#endif /* XSPROF_KINETO_H */
