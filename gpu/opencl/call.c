// SPDX-License-Identifier: LGPL-2.1-only
/*
 * What is alike in all calls: when they began and ended, the activity of a call, and the event by
 * which its work is followed.
 */
#include <sys/syscall.h>
#include <unistd.h>

#include "gpu/opencl/local.h"

/* Above all that CUDA gives: a process may use both. */
#define FIRST_CORRELATION	(1ull << 32)

static uint64_t correlations = FIRST_CORRELATION;

static int32_t retain(cl_handle event)
{
	return NEXT(RetainEvent, retain)(event);
}

static int32_t release(cl_handle event)
{
	return NEXT(ReleaseEvent, release)(event);
}

static uint64_t thread_id(void)
{
	static __thread uint32_t tid;

	if (!tid)
		tid = (uint32_t)syscall(SYS_gettid);
	return tid;
}

cl_handle *opencl_begin(struct opencl_calling *c, cl_handle queue, cl_handle *event)
{
	c->on = xsprof_enabled() >> opencl_category() & 1;
	if (!c->on)
		return event;
	memset(&c->command, 0, sizeof(c->command));
	c->queue = queue;
	c->own = NULL;
	c->event = event ? event : &c->own;
	c->begin = xsprof_now();
	return c->event;
}

static void put_call(const struct opencl_calling *c, enum opencl_call call, uint64_t end,
		     uint64_t correlation, const struct opencl_queue *q)
{
	const struct xsprof_device_activity a = {
		.size = sizeof(a), .name = opencl_call_name(call), .kind = XSPROF_GPU_RUNTIME,
		.begin = c->begin, .end = end, .correlation = correlation, .thread = thread_id(),
		.device = q ? q->device->number : 0, .context = q ? q->context : 0,
		.stream = q ? q->number : 0,
	};

	xsprof_device_activity(&a, NULL, 0);
}

int32_t opencl_call_end(struct opencl_calling *c, enum opencl_call call, int32_t result)
{
	uint64_t end;

	if (!c->on)
		return result;
	end = xsprof_now();
	put_call(c, call, end, 0, c->queue && !result ? opencl_queue_get(c->queue) : NULL);
	return result;
}

/* What the device does for it is followed by its event, which is ours in any case. */
static void follow(struct opencl_calling *c, enum opencl_call call, uint64_t bytes, uint64_t end)
{
	struct opencl_command *command = &c->command;

	command->event = *c->event;
	if (!command->event) {
		opencl_miss(OPENCL_MISS_NO_EVENT, 1);
		return;
	}
	/* One that the program asked for is released by the program when it likes. */
	if (!c->own && retain(command->event)) {
		opencl_miss(OPENCL_MISS_NO_EVENT, 1);
		return;
	}
	command->begin = collect_clock_ns(c->begin);
	command->end = collect_clock_ns(end);
	command->kind = opencl_work_kind(call);
	command->bytes = bytes;
	if (!command->name)
		command->name = opencl_work_name(call);
	if (opencl_command_add(command))
		(void)release(command->event);
}

int32_t opencl_end(struct opencl_calling *c, enum opencl_call call, uint64_t bytes, int32_t result)
{
	uint64_t end;

	if (!c->on)
		return result;
	end = xsprof_now();
	/* One that was refused gives a device nothing to do. */
	c->command.queue = result ? NULL : opencl_queue_get(c->queue);
	if (c->command.queue)
		c->command.correlation = __atomic_fetch_add(&correlations, 1, __ATOMIC_RELAXED);
	put_call(c, call, end, c->command.correlation, c->command.queue);
	if (c->command.queue)
		follow(c, call, bytes, end);
	else if (!result && c->own)
		(void)release(c->own);
	return result;
}

void opencl_started(uint64_t begin)
{
	const struct xsprof_device_activity a = {
		.size = sizeof(a), .kind = XSPROF_GPU_OVERHEAD, .begin = begin, .end = xsprof_now(),
		.name = xsprof_name_in(opencl_category(), "Start of OpenCL's collector"),
	};

	xsprof_device_activity(&a, NULL, 0);
}
