// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Activities that a program timed itself: the result's types for them. An unknown type keeps its
 * name and counts as a range on the host.
 */
#include <string.h>

#include "result/activity.h"

#define CPU	0u
#define CUDA	1u
#define HPU	15u
#define MTIA	19u

#define HOST	XSR_ON_HOST
#define CALL	(XSR_ON_HOST | XSR_ON_DEVICE)
#define STREAM	(XSR_ON_DEVICE | XSR_ON_STREAM)

static const struct type {
	const char	*name;
	uint8_t		kind;
	uint8_t		on;
	uint8_t		device;
} types[] = {
	{ "cpu_op", XSPROF_EVENT_OP, HOST, CPU },
	{ "user_annotation", XSPROF_EVENT_ANNOTATION, HOST, CPU },
	{ "python_function", XSPROF_EVENT_PYTHON_FUNCTION, HOST, CPU },
	{ "cpu_instant_event", XSPROF_EVENT_INSTANT, HOST, CPU },
	{ "cuda_runtime", XSPROF_EVENT_RUNTIME, CALL, CPU },
	{ "cuda_driver", XSPROF_EVENT_DRIVER, CALL, CPU },
	{ "xpu_runtime", XSPROF_EVENT_RUNTIME, CALL, CPU },
	{ "mtia_runtime", XSPROF_EVENT_RUNTIME, CALL, CPU },
	{ "glow_runtime", XSPROF_EVENT_RUNTIME, CALL, CPU },
	{ "privateuse1_runtime", XSPROF_EVENT_RUNTIME, CALL, CPU },
	{ "privateuse1_driver", XSPROF_EVENT_DRIVER, CALL, CPU },
	{ "overhead", XSPROF_EVENT_OVERHEAD, CALL, CPU },
	{ "collective_comm", XSPROF_EVENT_ANNOTATION, CALL, CPU },
	{ "gpu_user_annotation", XSPROF_EVENT_ANNOTATION, STREAM, CUDA },
	{ "gpu_memcpy", XSPROF_EVENT_MEMCPY, STREAM, CUDA },
	{ "gpu_memset", XSPROF_EVENT_MEMSET, STREAM, CUDA },
	{ "kernel", XSPROF_EVENT_KERNEL, STREAM, CUDA },
	{ "cuda_sync", XSPROF_EVENT_SYNC, STREAM, CUDA },
	{ "cuda_event", XSPROF_EVENT_SYNC, STREAM, CUDA },
	{ "cuda_profiler_range", XSPROF_EVENT_ANNOTATION, STREAM, CUDA },
	{ "mtia_ccp_events", XSPROF_EVENT_KERNEL, STREAM, MTIA },
	{ "mtia_workloadd", XSPROF_EVENT_KERNEL, STREAM, MTIA },
	{ "hpu_op", XSPROF_EVENT_KERNEL, STREAM, HPU },
};

static bool first_arg(const struct xsprof_event *ev, size_t *pos, struct xsprof_trace_arg *arg)
{
	*pos = 0;
	return (ev->type == XSPROF_REC_SPAN || ev->type == XSPROF_REC_INSTANT) &&
	       xsprof_trace_args(ev, pos, arg) && arg->key == XSPROF_KEY_ACTIVITY &&
	       arg->type == XSPROF_ARG_NAME;
}

bool xsr_is_activity(const struct xsprof_event *ev)
{
	struct xsprof_trace_arg arg;
	size_t pos;

	return first_arg(ev, &pos, &arg);
}

bool xsr_activity_read(const struct xsprof_trace *trace, const struct xsprof_event *ev,
		       struct xsr_activity *a)
{
	struct xsprof_trace_arg arg, device, resource;
	size_t pos;

	if (!first_arg(ev, &pos, &arg) || !xsprof_trace_args(ev, &pos, &device) ||
	    !xsprof_trace_args(ev, &pos, &resource) || device.key != XSPROF_KEY_DEVICE ||
	    resource.key != XSPROF_KEY_RESOURCE || device.type != XSPROF_ARG_I64 ||
	    resource.type != XSPROF_ARG_I64)
		return false;
	*a = (struct xsr_activity){
		.type = xsprof_trace_name(trace, ev->producer, (uint32_t)arg.u.u64),
		.device = device.u.i64, .resource = resource.u.i64,
		.kind = XSPROF_EVENT_ANNOTATION, .on = HOST, .device_type = CPU,
	};
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (strcmp(types[i].name, a->type))
			continue;
		a->kind = types[i].kind;
		a->on = types[i].on;
		a->device_type = types[i].device;
		break;
	}
	return true;
}
