// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Common part of all calls: their begin and end, and the event that follows the work they start.
 */
#include "gpu/opencl/local.h"

static int32_t retain(cl_handle event)
{
	return NEXT(RetainEvent, retain)(event);
}

static int32_t release(cl_handle event)
{
	return NEXT(ReleaseEvent, release)(event);
}

cl_handle *opencl_begin(struct opencl_calling *c, cl_handle queue, cl_handle *event)
{
	c->on = xsprof_enabled() >> opencl_category() & 1 && gpu_thread_ready(&opencl_thread);
	if (!c->on)
		return event;
	c->queue = queue;
	c->own = NULL;
	c->kernel = 0;
	c->dimensions = 0;
	c->event = event ? event : &c->own;
	c->begin = xsprof_now();
	return c->event;
}

/* Writes a call that started no work. */
static void put_call(const struct opencl_calling *c, enum opencl_call call, uint64_t end,
		     const struct opencl_queue *queue)
{
	struct xsprof_device_activity a;

	opencl_fill_call(&a, call, c->begin, end, queue);
	a.thread = xsprof_thread_id();
	xsprof_device_activity(&a, NULL, 0);
}

int32_t opencl_call_end(struct opencl_calling *c, enum opencl_call call, int32_t result)
{
	uint64_t end;

	if (!c->on)
		return result;
	end = xsprof_now();
	put_call(c, call, end, c->queue && !result ? opencl_queue_get(c->queue) : NULL);
	return result;
}

/* Leaves out sizes that an int32 cannot hold. */
static void keep_sizes(struct opencl_command *command, const struct opencl_calling *c)
{
	command->dimensions = 0;
	command->local = c->local;
	if (!c->dimensions || c->dimensions > 3 || !c->global)
		return;
	for (uint32_t i = 0; i < c->dimensions; i++) {
		if (c->global[i] > INT32_MAX || (c->local && c->local[i] > INT32_MAX))
			return;
		command->sizes[i] = (int32_t)c->global[i];
		command->sizes[3 + i] = c->local ? (int32_t)c->local[i] : 0;
	}
	command->dimensions = c->dimensions;
}

/* Takes a reference: the program releases an event that it asked for at any time. */
static bool keep_event(const struct opencl_calling *c)
{
	if (*c->event && (c->own || !retain(*c->event)))
		return true;
	opencl_miss(OPENCL_MISS_NO_EVENT, 1);
	return false;
}

/*
 * Follows the device's work by its event. The thread writes the call as well: writing it here would
 * double the cost. Return: false: the event is not followed.
 */
static bool follow(struct opencl_calling *c, enum opencl_call call, uint64_t bytes, uint64_t end,
		   struct opencl_queue *queue)
{
	struct opencl_command *command;

	if (!keep_event(c))
		return false;
	command = opencl_command_new();
	if (!command) {
		(void)release(*c->event);
		return false;
	}
	command->event = *c->event;
	command->queue = queue;
	command->call = call;
	command->begin = c->begin;
	command->end = end;
	command->thread = xsprof_thread_id();
	command->name = c->kernel ? c->kernel : opencl_work_name(call);
	command->bytes = bytes;
	keep_sizes(command, c);
	opencl_command_add(command);
	return true;
}

int32_t opencl_end(struct opencl_calling *c, enum opencl_call call, uint64_t bytes, int32_t result)
{
	struct opencl_queue *queue;
	uint64_t end;

	if (!c->on)
		return result;
	end = xsprof_now();
	/* A refused call starts no work. */
	queue = result ? NULL : opencl_queue_get(c->queue);
	if (queue && follow(c, call, bytes, end, queue))
		return result;
	put_call(c, call, end, queue);
	if (!queue && !result && c->own)
		(void)release(c->own);
	return result;
}
