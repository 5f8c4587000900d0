// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Kineto's activity types: their names, which devices have which, and experimental options as
 * configuration text.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <xsprof/kineto.h>

#include "profiler/log.h"
#include "profiler/op-mirror.h"
#include "profiler/session.h"

#define T(x)	XSPROF_ACTIVITY_TYPE(x)

static const struct {
	const char	*name;
	uint32_t	device;
} types[XSPROF_ACTIVITY_TYPES] = {
#define TYPE(type, name, device) \
	[XSPROF_ACTIVITY_TYPE_##type] = { name, XSPROF_DEVICE_##device }
	TYPE(CPU_OP, "cpu_op", CPU),
	TYPE(USER_ANNOTATION, "user_annotation", CPU),
	TYPE(GPU_USER_ANNOTATION, "gpu_user_annotation", CUDA),
	TYPE(GPU_MEMCPY, "gpu_memcpy", CUDA),
	TYPE(GPU_MEMSET, "gpu_memset", CUDA),
	TYPE(CONCURRENT_KERNEL, "kernel", CUDA),
	TYPE(EXTERNAL_CORRELATION, "external_correlation", CPU),
	TYPE(CUDA_RUNTIME, "cuda_runtime", CPU),
	TYPE(CUDA_DRIVER, "cuda_driver", CPU),
	TYPE(CPU_INSTANT_EVENT, "cpu_instant_event", CPU),
	TYPE(PYTHON_FUNCTION, "python_function", CPU),
	TYPE(OVERHEAD, "overhead", CPU),
	TYPE(MTIA_RUNTIME, "mtia_runtime", CPU),
	TYPE(MTIA_CCP_EVENTS, "mtia_ccp_events", MTIA),
	TYPE(MTIA_WORKLOADD, "mtia_workloadd", MTIA),
	TYPE(CUDA_SYNC, "cuda_sync", CUDA),
	TYPE(GLOW_RUNTIME, "glow_runtime", CPU),
	TYPE(CUDA_EVENT, "cuda_event", CUDA),
	TYPE(CUDA_PROFILER_RANGE, "cuda_profiler_range", CUDA),
	TYPE(HPU_OP, "hpu_op", HPU),
	TYPE(XPU_RUNTIME, "xpu_runtime", CPU),
	TYPE(COLLECTIVE_COMM, "collective_comm", CPU),
	TYPE(PRIVATEUSE1_RUNTIME, "privateuse1_runtime", CPU),
	TYPE(PRIVATEUSE1_DRIVER, "privateuse1_driver", CPU),
};

const char *xsprof_kineto_activity_name(uint32_t type)
{
	return type < XSPROF_ACTIVITY_TYPES ? types[type].name : NULL;
}

uint32_t xsprof_kineto_device_type(uint32_t type)
{
	uint32_t device;

	if (type >= XSPROF_ACTIVITY_TYPES) {
		xsp_log(XSP_LOG_WARNING, "activity type %u: unknown; treated as a CPU activity",
			type);
		return XSPROF_DEVICE_CPU;
	}
	device = types[type].device;
	/* Device backends of programs use these types for their activities. */
	if ((device == XSPROF_DEVICE_CUDA || device == XSPROF_DEVICE_MTIA) &&
	    xsp_ops_has_backend())
		return XSPROF_DEVICE_PRIVATEUSE1;
	return device;
}

/* ---- sets ----------------------------------------------------------------------------------- */

static const uint32_t sets[XSPROF_ACTIVITIES] = {
	[XSPROF_ACTIVITY_CPU] = T(CPU_OP) | T(CPU_INSTANT_EVENT) | T(USER_ANNOTATION) |
		T(EXTERNAL_CORRELATION) | T(XPU_RUNTIME) | T(CUDA_RUNTIME) | T(CUDA_DRIVER) |
		T(PYTHON_FUNCTION) | T(PRIVATEUSE1_RUNTIME) | T(PRIVATEUSE1_DRIVER),
	[XSPROF_ACTIVITY_XPU] = T(GPU_MEMCPY) | T(GPU_MEMSET) | T(CONCURRENT_KERNEL) |
		T(XPU_RUNTIME),
	[XSPROF_ACTIVITY_CUDA] = T(GPU_MEMCPY) | T(GPU_MEMSET) | T(GPU_USER_ANNOTATION) |
		T(CONCURRENT_KERNEL) | T(CUDA_RUNTIME) | T(CUDA_DRIVER),
	[XSPROF_ACTIVITY_HPU] = T(HPU_OP),
	[XSPROF_ACTIVITY_MTIA] = T(MTIA_CCP_EVENTS) | T(MTIA_RUNTIME) | T(MTIA_WORKLOADD),
	[XSPROF_ACTIVITY_PRIVATEUSE1] = T(GPU_MEMCPY) | T(GPU_MEMSET) | T(GPU_USER_ANNOTATION) |
		T(CONCURRENT_KERNEL) | T(PRIVATEUSE1_RUNTIME) | T(PRIVATEUSE1_DRIVER),
};

/* Accepts any version of the struct; -EINVAL, -E2BIG. */
static int copy(const struct xsprof_experimental *from, struct xsprof_experimental *to)
{
	struct xsprof_profiler_config config = {
		.size = sizeof(config), .state = XSPROF_PROFILER_KINETO, .experimental = from,
	}, copied;

	return xsp_session_copy(&config, &copied, to);
}

uint32_t xsprof_kineto_activity_types(uint32_t activities,
				      const struct xsprof_experimental *experimental)
{
	struct xsprof_experimental e;
	uint32_t set = 0;

	if (activities >> XSPROF_ACTIVITIES || copy(experimental, &e))
		return 0;
	if (e.nr_metrics) {
		set = T(CUDA_PROFILER_RANGE);
		if (activities & XSPROF_ACTIVITY(CPU) && e.measure_per_kernel)
			set |= sets[XSPROF_ACTIVITY_CPU];
		return set;
	}
	for (uint32_t i = 0; i < XSPROF_ACTIVITIES; i++)
		if (activities >> i & 1)
			set |= sets[i];
	if (activities & XSPROF_ACTIVITY(CUDA) && e.enable_cuda_sync_events)
		set |= T(CUDA_SYNC);
	/* Always available: the collectives library reports them itself. */
	return set ? set | T(COLLECTIVE_COMM) : 0;
}

/* ---- options as text ------------------------------------------------------------------------ */

struct text {
	char	*buf;
	size_t	size;
	size_t	len;
};

static void put(struct text *t, const char *s)
{
	size_t n = strlen(s), room = t->len < t->size ? t->size - t->len - 1 : 0;

	if (room)
		memcpy(t->buf + t->len, s, n < room ? n : room);
	t->len += n;
}

int xsprof_kineto_experimental_config(const struct xsprof_experimental *experimental, char *buf,
				      size_t size)
{
	struct text t = { buf, size, 0 };
	struct xsprof_experimental e;
	int err;

	if (!experimental)
		return -ENODATA;
	err = copy(experimental, &e);
	if (err || (size && !buf) || (e.nr_metrics && !e.metrics) ||
	    (e.custom && strchr(e.custom, '\n')))
		return err ? err : -EINVAL;
	/* Names must not contain separators of the text. */
	for (size_t i = 0; i < e.nr_metrics; i++)
		if (!e.metrics[i] || !*e.metrics[i] || strpbrk(e.metrics[i], ",\r\n"))
			return -EINVAL;
	if (e.nr_metrics) {
		put(&t, "ACTIVITIES_WARMUP_PERIOD_SECS=0\nCUPTI_PROFILER_METRICS=");
		for (size_t i = 0; i < e.nr_metrics; i++) {
			put(&t, i ? "," : "");
			put(&t, e.metrics[i]);
		}
		put(&t, "\nCUPTI_PROFILER_ENABLE_PER_KERNEL=");
		put(&t, e.measure_per_kernel ? "true\n" : "false\n");
	}
	if (e.custom && *e.custom) {
		put(&t, "CUSTOM_CONFIG=");
		put(&t, e.custom);
		put(&t, "\n");
	}
	if (size)
		buf[t.len < size ? t.len : size - 1] = '\0';
	if (!t.len)
		return -ENODATA;
	return t.len > INT32_MAX ? -E2BIG : (int)t.len;
}
