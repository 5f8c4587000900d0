// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Calls that submit command buffers to a queue. Each batch is passed on with two more command
 * buffers, which write its begin and end time; the program's own arrays are not changed.
 *
 * Vulkan forbids a program to call for the same queue from two threads, so another call for the
 * queue can be made here.
 */
#include <stdlib.h>

#include "gpu/vulkan/local.h"

/**
 * struct submitting - a submit call of the program
 * @device: its device
 * @queue: its queue; NULL: not known
 * @handle: handle of the queue
 * @pending: tracks its batches; NULL: they are not timed
 * @begin: ticks
 * @memory: the arrays passed on, if @room is too small
 * @room: the same, on the stack
 */
struct submitting {
	struct vulkan_device	*device;
	struct vulkan_queue	*queue;
	vk_handle		handle;
	struct vulkan_pending	*pending;
	uint64_t		begin;
	void			*memory;
	uint64_t		room[256];
};

static int32_t submit(vk_handle handle, uint32_t n, const struct vk_submit *submits,
		      vk_object fence);

/* ---- of both versions ------------------------------------------------------------------------ */

/* Can command buffers be added to a batch with this chain? */
static bool takes_more(const struct vk_any *chain)
{
	for (; chain; chain = chain->next)
		if (chain->type == VULKAN_IS_GROUP_SUBMIT ||
		    (chain->type == VULKAN_IS_PROTECTED_SUBMIT &&
		     ((const struct vk_protected_submit *)chain)->is_protected))
			return false;
	return true;
}

/* Starts a submit: @taken batches with command buffers are timed, @left are not. */
static void *start(struct submitting *s, uint32_t taken, uint32_t left, size_t bytes)
{
	s->queue = vulkan_queue_get(s->device, s->handle);
	if (!s->queue || !s->queue->mask) {
		vulkan_miss(s->queue ? VULKAN_MISS_NO_QUERIES : VULKAN_MISS_QUEUES, taken + left);
		return NULL;
	}
	vulkan_miss(VULKAN_MISS_PROTECTED, left);
	if (!taken)
		return NULL;
	s->memory = bytes > sizeof(s->room) ? malloc(bytes) : NULL;
	if (bytes > sizeof(s->room) && !s->memory) {
		vulkan_miss(VULKAN_MISS_NO_MEMORY, taken);
		return NULL;
	}
	s->pending = vulkan_pending_take(s->queue, taken);
	return !s->pending ? NULL : s->memory ? s->memory : s->room;
}

/* Our fence if the program passes none. */
static vk_object fence_of(const struct submitting *s, vk_object fence)
{
	return !fence && s->pending ? s->pending->fence : fence;
}

static int32_t finish(struct submitting *s, enum vulkan_call call, vk_object fence, int32_t result)
{
	uint64_t end = xsprof_now(), correlation = s->pending ? vulkan_correlation() : 0;
	struct vulkan_pending *p = s->pending;

	vulkan_end(s->device, s->queue, call, s->begin, end, correlation);
	free(s->memory);
	if (p && result) {
		vulkan_pending_give(p);
	} else if (p && fence && NEXT(s->device, QueueSubmit, submit)(s->handle, 0, NULL,
								      p->fence)) {
		/* Without a fence the end of the submit stays unknown: never reuse its objects. */
		vulkan_miss(VULKAN_MISS_NO_MEMORY, p->nr);
	} else if (p) {
		p->begin = s->begin;
		p->end = end;
		p->correlation = correlation;
		vulkan_pending_add(p);
	}
	return result;
}

/* ---- vkQueueSubmit --------------------------------------------------------------------------- */

static const struct vk_submit *add(struct submitting *s, uint32_t n,
				   const struct vk_submit *submits)
{
	uint32_t taken = 0, left = 0;
	size_t bytes = n * sizeof(*submits);
	struct vulkan_slot *slot;
	struct vk_submit *to;
	vk_handle *list;

	for (uint32_t i = 0; i < n; i++) {
		if (!submits[i].nr_commands)
			continue;
		if (takes_more(submits[i].next)) {
			taken++;
			bytes += ((size_t)submits[i].nr_commands + 2) * sizeof(*list);
		} else {
			left++;
		}
	}
	to = start(s, taken, left, bytes);
	if (!to)
		return submits;
	memcpy(to, submits, n * sizeof(*to));
	list = (vk_handle *)(to + n);
	slot = s->pending->slots;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t nr = to[i].nr_commands;

		if (!nr || !takes_more(to[i].next))
			continue;
		list[0] = slot->commands[0];
		memcpy(list + 1, to[i].commands, nr * sizeof(*list));
		list[nr + 1] = slot->commands[1];
		to[i].commands = list;
		to[i].nr_commands = nr + 2;
		list += nr + 2;
		slot->nr_commands = nr;
		slot->name = 0;
		for (uint32_t k = 0; k < nr && !slot->name; k++)
			slot->name = vulkan_label_of(submits[i].commands[k]);
		if (!slot->name)
			slot->name = vulkan_label_of_queue(s->queue);
		slot = slot->next;
	}
	return to;
}

static int32_t submit(vk_handle handle, uint32_t n, const struct vk_submit *submits,
		      vk_object fence)
{
	struct submitting s;

	s.device = vulkan_device_of(handle);
	s.handle = handle;
	s.pending = NULL;
	s.memory = NULL;
	if (!vulkan_begin(s.device, &s.begin))
		return NEXT(s.device, QueueSubmit, submit)(handle, n, submits, fence);
	submits = add(&s, n, submits);
	return finish(&s, VULKAN_CALL_SUBMIT, fence,
		      NEXT(s.device, QueueSubmit, submit)(handle, n, submits,
							  fence_of(&s, fence)));
}

/* ---- vkQueueSubmit2 -------------------------------------------------------------------------- */

static bool takes_more2(const struct vk_submit2 *submit)
{
	return !(submit->flags & VULKAN_PROTECTED) && takes_more(submit->next);
}

static const struct vk_submit2 *add2(struct submitting *s, uint32_t n,
				     const struct vk_submit2 *submits)
{
	uint32_t taken = 0, left = 0;
	size_t bytes = n * sizeof(*submits);
	struct vk_command_submit *list;
	struct vulkan_slot *slot;
	struct vk_submit2 *to;

	for (uint32_t i = 0; i < n; i++) {
		if (!submits[i].nr_commands)
			continue;
		if (takes_more2(&submits[i])) {
			taken++;
			bytes += ((size_t)submits[i].nr_commands + 2) * sizeof(*list);
		} else {
			left++;
		}
	}
	to = start(s, taken, left, bytes);
	if (!to)
		return submits;
	memcpy(to, submits, n * sizeof(*to));
	list = (struct vk_command_submit *)(to + n);
	slot = s->pending->slots;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t nr = to[i].nr_commands;

		if (!nr || !takes_more2(&to[i]))
			continue;
		list[0] = (struct vk_command_submit){
			.type = VULKAN_IS_COMMAND_SUBMIT, .commands = slot->commands[0],
		};
		memcpy(list + 1, to[i].commands, nr * sizeof(*list));
		list[nr + 1] = list[0];
		list[nr + 1].commands = slot->commands[1];
		to[i].commands = list;
		to[i].nr_commands = nr + 2;
		list += nr + 2;
		slot->nr_commands = nr;
		slot->name = 0;
		for (uint32_t k = 0; k < nr && !slot->name; k++)
			slot->name = vulkan_label_of(submits[i].commands[k].commands);
		if (!slot->name)
			slot->name = vulkan_label_of_queue(s->queue);
		slot = slot->next;
	}
	return to;
}

typedef int32_t submit2_function(vk_handle handle, uint32_t n, const struct vk_submit2 *submits,
				 vk_object fence);

static int32_t submit2_by(enum vulkan_device_slot which, vk_handle handle, uint32_t n,
			  const struct vk_submit2 *submits, vk_object fence)
{
	submit2_function *next;
	struct submitting s;

	s.device = vulkan_device_of(handle);
	s.handle = handle;
	s.pending = NULL;
	s.memory = NULL;
	next = (submit2_function *)s.device->next[which];
	if (!vulkan_begin(s.device, &s.begin))
		return next(handle, n, submits, fence);
	submits = add2(&s, n, submits);
	return finish(&s, VULKAN_CALL_SUBMIT2, fence,
		      next(handle, n, submits, fence_of(&s, fence)));
}

static int32_t submit2(vk_handle handle, uint32_t n, const struct vk_submit2 *submits,
		       vk_object fence)
{
	return submit2_by(VULKAN_QueueSubmit2, handle, n, submits, fence);
}

static int32_t submit2_khr(vk_handle handle, uint32_t n, const struct vk_submit2 *submits,
			   vk_object fence)
{
	return submit2_by(VULKAN_QueueSubmit2KHR, handle, n, submits, fence);
}

const struct vulkan_hook vulkan_submit_hooks[] = {
	HOOK(QueueSubmit, submit),
	HOOK(QueueSubmit2, submit2),
	HOOK(QueueSubmit2KHR, submit2_khr),
	{ NULL, 0, NULL },
};
