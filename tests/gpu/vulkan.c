// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program that uses Vulkan, without xsprof, and prints what it did: lines of "call NAME COUNT",
 * "batch COMMANDS COUNT", "ran NS" for a dispatch by the device's own timestamps, and "queues N".
 *
 *	vulkan all		each kind of call that needs no window
 *	vulkan old		Vulkan 1.0: one submit
 *	vulkan threads N M	N threads with a device each submit M times
 *	vulkan storm M		M submits to one queue, and one wait
 *	vulkan again N		N times: an instance, a device and a submit
 *	vulkan destroyed	a device destroyed while its work is under way
 *	vulkan endless		a submit that never begins
 *	vulkan later		submits that wait for values of a timeline, the first for the host's
 *	vulkan transfer		399 dispatches and a copy, each of which is waited for
 *	vulkan labels		batches with labels of the program: "name NAME COUNT"
 *	vulkan labelled HOW	10,000 command buffers with labels, see vulkan-labels.c
 *	vulkan fork		"all" in a child; its parent has an instance
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vulkan-labels.h"
#include "vulkan-work.h"

/* ---- each kind of call ----------------------------------------------------------------------- */

static VkSemaphore timeline(struct work *w)
{
	const VkSemaphoreTypeCreateInfo type = {
		.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
		.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
	};
	const VkSemaphoreCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type,
	};
	VkSemaphore semaphore;

	MUST(vkCreateSemaphore(w->device, &info, NULL, &semaphore));
	return semaphore;
}

/* With a fence of the program's: one batch that it times itself. */
static void with_fence(struct work *w)
{
	const VkFenceCreateInfo info = { .sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO };
	VkCommandBuffer c = dispatch(w, 20000, true);
	const VkSubmitInfo batch = of(1, &c);
	uint64_t times[2];
	VkFence fence;

	MUST(vkCreateFence(w->device, &info, NULL, &fence));
	MUST(vkQueueSubmit(w->queue, 1, &batch, fence));
	MUST(vkWaitForFences(w->device, 1, &fence, VK_TRUE, UINT64_MAX));
	MUST(vkGetQueryPoolResults(w->device, w->queries, 0, 2, sizeof(times), times, 8,
				   VK_QUERY_RESULT_64_BIT));
	vkDestroyFence(w->device, fence, NULL);
	printf("call vkQueueSubmit 1\ncall vkWaitForFences 1\nbatch 1 1\nran %.0f\n",
	       (double)(times[1] - times[0]) * w->period);
}

/* Three batches, one without commands, and one command buffer that is in two of them. */
static void several(struct work *w)
{
	VkCommandBuffer list[] = { dispatch(w, 1, false), copy(w) };
	const VkCommandBuffer twice[] = { list[0], list[0], list[0] };
	VkSubmitInfo batches[3] = { of(2, list), of(0, NULL), of(3, twice) };
	const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
	const VkSemaphoreCreateInfo info = { .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO };
	VkSemaphore semaphore;

	MUST(vkCreateSemaphore(w->device, &info, NULL, &semaphore));
	batches[1].signalSemaphoreCount = 1;
	batches[1].pSignalSemaphores = &semaphore;
	batches[2].waitSemaphoreCount = 1;
	batches[2].pWaitSemaphores = &semaphore;
	batches[2].pWaitDstStageMask = &stage;
	MUST(vkQueueSubmit(w->queue, 3, batches, VK_NULL_HANDLE));
	MUST(vkQueueWaitIdle(w->queue));
	vkDestroySemaphore(w->device, semaphore, NULL);
	puts("call vkQueueSubmit 1\ncall vkQueueWaitIdle 1\nbatch 2 1\nbatch 3 1");
}

/* More command buffers than fit on a stack. */
static void long_batch(struct work *w)
{
	VkCommandBuffer list[400] = { NULL };
	VkSubmitInfo batch = of(400, list);

	list[0] = dispatch(w, 1, false);
	for (int i = 1; i < 400; i++)
		list[i] = list[0];
	MUST(vkQueueSubmit(w->queue, 1, &batch, VK_NULL_HANDLE));
	MUST(vkQueueSubmit(w->queue, 0, NULL, VK_NULL_HANDLE));
	MUST(vkDeviceWaitIdle(w->device));
	puts("call vkQueueSubmit 2\ncall vkDeviceWaitIdle 1\nbatch 400 1");
}

static void with_timeline(struct work *w)
{
	VkSemaphore semaphore = timeline(w);
	const uint64_t value = 7;
	VkCommandBuffer c = dispatch(w, 10, false);
	const VkCommandBufferSubmitInfo commands = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO, .commandBuffer = c,
	};
	const VkSemaphoreSubmitInfo signal = {
		.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO, .semaphore = semaphore,
		.value = value, .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
	};
	const VkSubmitInfo2 batch = {
		.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2, .commandBufferInfoCount = 1,
		.pCommandBufferInfos = &commands, .signalSemaphoreInfoCount = 1,
		.pSignalSemaphoreInfos = &signal,
	};
	const VkSemaphoreWaitInfo wait = {
		.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO, .semaphoreCount = 1,
		.pSemaphores = &semaphore, .pValues = &value,
	};

	MUST(vkQueueSubmit2(w->queue, 1, &batch, VK_NULL_HANDLE));
	MUST(vkWaitSemaphores(w->device, &wait, UINT64_MAX));
	MUST(vkQueueWaitIdle(w->queue));
	vkDestroySemaphore(w->device, semaphore, NULL);
	puts("call vkQueueSubmit2 1\ncall vkWaitSemaphores 1\ncall vkQueueWaitIdle 1\nbatch 1 1");
}

static void all(void)
{
	struct work w = { 0 };

	make_instance(&w, VK_API_VERSION_1_3);
	make_all(&w, true);
	with_fence(&w);
	several(&w);
	long_batch(&w);
	with_timeline(&w);
	check(&w, 20000 + 1 + 3 + 400 + 10);
	destroy_all(&w);
	vkDestroyInstance(w.instance, NULL);
	puts("queues 1");
}

/* Also with functions that the program looked up itself. */
static void old(void)
{
	PFN_vkQueueSubmit submit;
	struct work w = { 0 };
	VkCommandBuffer c;
	VkSubmitInfo batch;

	make_instance(&w, 0);
	make_all(&w, false);
	c = dispatch(&w, 100, false);
	batch = of(1, &c);
	submit = (PFN_vkQueueSubmit)vkGetInstanceProcAddr(w.instance, "vkQueueSubmit");
	MUST(submit(w.queue, 1, &batch, VK_NULL_HANDLE));
	submit = (PFN_vkQueueSubmit)vkGetDeviceProcAddr(w.device, "vkQueueSubmit");
	MUST(submit(w.queue, 1, &batch, VK_NULL_HANDLE));
	if (vkGetDeviceProcAddr(w.device, "vkQueuePresentKHR") ||
	    vkGetDeviceProcAddr(w.device, "vkNoSuchFunction"))
		exit(95);
	MUST(vkQueueWaitIdle(w.queue));
	check(&w, 200);
	destroy_all(&w);
	vkDestroyInstance(w.instance, NULL);
	puts("call vkQueueSubmit 2\ncall vkQueueWaitIdle 1\nbatch 1 2\nqueues 1");
}

static void transfer(void)
{
	struct work w = { 0 };
	VkCommandBuffer list[2];
	VkSubmitInfo batch;

	make_instance(&w, VK_API_VERSION_1_3);
	make_all(&w, true);
	list[0] = dispatch(&w, 100, false);
	list[1] = copy(&w);
	for (int i = 0; i < 400; i++) {
		batch = of(1, &list[i == 399]);
		MUST(vkQueueSubmit(w.queue, 1, &batch, VK_NULL_HANDLE));
		MUST(vkQueueWaitIdle(w.queue));
	}
	destroy_all(&w);
	vkDestroyInstance(w.instance, NULL);
	puts("call vkQueueSubmit 400\ncall vkQueueWaitIdle 400\nbatch 1 400\nqueues 1");
}

/* ---- many ------------------------------------------------------------------------------------ */

static struct work shared;
static int each;

static void *one_thread(void *unused)
{
	struct work w = { .instance = shared.instance, .physical = shared.physical };
	VkCommandBuffer c;
	VkSubmitInfo batch;

	(void)unused;
	make_all(&w, true);
	c = dispatch(&w, 1, false);
	batch = of(1, &c);
	for (int i = 0; i < each; i++)
		MUST(vkQueueSubmit(w.queue, 1, &batch, VK_NULL_HANDLE));
	MUST(vkQueueWaitIdle(w.queue));
	check(&w, (uint32_t)each);
	destroy_all(&w);
	return NULL;
}

static void threads(int n, int m)
{
	pthread_t list[64];

	make_instance(&shared, VK_API_VERSION_1_3);
	each = m;
	for (int i = 0; i < n; i++)
		if (pthread_create(&list[i], NULL, one_thread, NULL))
			exit(94);
	for (int i = 0; i < n; i++)
		pthread_join(list[i], NULL);
	vkDestroyInstance(shared.instance, NULL);
	printf("call vkQueueSubmit %d\ncall vkQueueWaitIdle %d\nbatch 1 %d\nqueues %d\n", n * m, n,
	       n * m, n);
}

static void again(int n)
{
	for (int i = 0; i < n; i++)
		threads(1, 1);
}

/* ---- ends ------------------------------------------------------------------------------------ */

static void destroyed(void)
{
	struct work w = { 0 };
	VkCommandBuffer c;
	VkSubmitInfo batch;

	make_instance(&w, VK_API_VERSION_1_3);
	make_all(&w, true);
	c = dispatch(&w, 1000000, false);
	batch = of(1, &c);
	MUST(vkQueueSubmit(w.queue, 1, &batch, VK_NULL_HANDLE));
	vkDestroyDevice(w.device, NULL);
	vkDestroyInstance(w.instance, NULL);
	puts("call vkQueueSubmit 1\nbatch 1 1\nqueues 1");
}

static void endless(void)
{
	const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
	const uint64_t value = 1;
	const VkTimelineSemaphoreSubmitInfo values = {
		.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
		.waitSemaphoreValueCount = 1, .pWaitSemaphoreValues = &value,
	};
	struct work w = { 0 };
	VkSemaphore semaphore;
	VkCommandBuffer c;
	VkSubmitInfo batch;

	make_instance(&w, VK_API_VERSION_1_3);
	make_all(&w, true);
	semaphore = timeline(&w);
	c = dispatch(&w, 1, false);
	batch = of(1, &c);
	batch.pNext = &values;
	batch.waitSemaphoreCount = 1;
	batch.pWaitSemaphores = &semaphore;
	batch.pWaitDstStageMask = &stage;
	MUST(vkQueueSubmit(w.queue, 1, &batch, VK_NULL_HANDLE));
	puts("call vkQueueSubmit 1\nbatch 1 0\nqueues 1");
}

/* A chain: each waits for the value of the one before, the first for the host's. */
static void later(void)
{
	const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
	uint64_t waits[5], signals[5], last = 6, reached = 0;
	VkTimelineSemaphoreSubmitInfo values[5];
	VkSemaphore semaphore;
	struct work w = { 0 };
	VkCommandBuffer c;
	VkSubmitInfo batch;

	make_instance(&w, VK_API_VERSION_1_3);
	make_all(&w, true);
	semaphore = timeline(&w);
	for (uint32_t i = 0; i < 5; i++) {
		waits[i] = i + 1;
		signals[i] = i + 2;
		values[i] = (VkTimelineSemaphoreSubmitInfo){
			.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
			.waitSemaphoreValueCount = 1, .pWaitSemaphoreValues = &waits[i],
			.signalSemaphoreValueCount = 1, .pSignalSemaphoreValues = &signals[i],
		};
		c = dispatch(&w, 1, false);
		batch = of(1, &c);
		batch.pNext = &values[i];
		batch.waitSemaphoreCount = batch.signalSemaphoreCount = 1;
		batch.pWaitSemaphores = batch.pSignalSemaphores = &semaphore;
		batch.pWaitDstStageMask = &stage;
		MUST(vkQueueSubmit(w.queue, 1, &batch, VK_NULL_HANDLE));
	}
	usleep(200000);
	MUST(vkGetSemaphoreCounterValue(w.device, semaphore, &reached));
	printf("result %llu\n", (unsigned long long)reached);
	MUST(vkSignalSemaphore(w.device, &(VkSemaphoreSignalInfo){
		.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = semaphore,
		.value = 1,
	}));
	MUST(vkWaitSemaphores(w.device, &(VkSemaphoreWaitInfo){
		.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO, .semaphoreCount = 1,
		.pSemaphores = &semaphore, .pValues = &last,
	}, UINT64_MAX));
	MUST(vkGetSemaphoreCounterValue(w.device, semaphore, &reached));
	printf("result %llu\n", (unsigned long long)reached);
	puts("call vkQueueSubmit 5\ncall vkWaitSemaphores 1\nbatch 1 5\nqueues 1");
}

static int forked(void)
{
	struct work w = { 0 };
	int status;
	pid_t pid;

	make_instance(&w, VK_API_VERSION_1_3);
	pid = fork();
	if (!pid) {
		all();
		exit(0);
	}
	waitpid(pid, &status, 0);
	vkDestroyInstance(w.instance, NULL);
	return status;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int n = argc > 2 ? atoi(argv[2]) : 1;

	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	if (!strcmp(what, "all"))
		all();
	else if (!strcmp(what, "old"))
		old();
	else if (!strcmp(what, "threads") && argc == 4 && n <= 64)
		threads(n, atoi(argv[3]));
	else if (!strcmp(what, "storm"))
		threads(1, n);
	else if (!strcmp(what, "again"))
		again(n);
	else if (!strcmp(what, "destroyed"))
		destroyed();
	else if (!strcmp(what, "endless"))
		endless();
	else if (!strcmp(what, "later"))
		later();
	else if (!strcmp(what, "transfer"))
		transfer();
	else if (!strcmp(what, "labels"))
		labels();
	else if (!strcmp(what, "labelled") && argc == 3)
		labelled(argv[2]);
	else if (!strcmp(what, "fork"))
		return forked();
	else
		return 93;
	return 0;
}
