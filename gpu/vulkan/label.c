// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Labels that a program gives to submitted work (VK_EXT_debug_utils). A batch is named after the
 * first label in its command buffers, else after the open label of its queue. When a label begins
 * and ends on the device is unknown.
 */
#include "gpu/vulkan/local.h"

#define BUFFERS		4096u	/* command buffers, a power of 2 */
#define NAMES		1024u	/* different labels, a power of 2 */
#define PROBES		32u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	vk_handle	commands;
	xsprof_name_t	name;
} buffers[BUFFERS];
static struct {
	uint64_t	hash;
	xsprof_name_t	name;
} names[NAMES];
/* Relaxed: the program orders the recording of a command buffer before its submission. */
static bool used;

void vulkan_labels_forget(void)
{
	pthread_mutex_init(&lock, NULL);
}

/* FNV-1a; never 0, which means none. */
static uint64_t hash_of(const char *text)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (; *text; text++)
		h = (h ^ (uint8_t)*text) * 0x100000001b3u;
	return h ? h : 1;
}

/* Called with the lock held. 0: the table is full: some programs number their labels. */
static xsprof_name_t name_of(const char *text)
{
	uint64_t hash = hash_of(text);

	for (uint32_t i = 0; i < PROBES; i++) {
		uint32_t at = (uint32_t)(hash + i) & (NAMES - 1);

		if (!names[at].hash) {
			names[at].hash = hash;
			names[at].name = xsprof_name_in(vulkan_category(), text);
		}
		if (names[at].hash == hash)
			return names[at].name;
	}
	return 0;
}

/* Called with the lock held. @name: 0 removes the label. If the table is full it is dropped. */
static void set(vk_handle commands, xsprof_name_t name)
{
	uint32_t first = (uint32_t)(((uintptr_t)commands * 0x9e3779b97f4a7c15u) >> 32);

	for (uint32_t i = 0; i < PROBES; i++) {
		uint32_t at = (first + i) & (BUFFERS - 1);

		if (buffers[at].commands == commands || (name && !buffers[at].commands)) {
			buffers[at].commands = commands;
			buffers[at].name = name;
			return;
		}
		if (!buffers[at].commands)
			return;
	}
}

static xsprof_name_t get(vk_handle commands)
{
	uint32_t first = (uint32_t)(((uintptr_t)commands * 0x9e3779b97f4a7c15u) >> 32);

	for (uint32_t i = 0; i < PROBES; i++) {
		uint32_t at = (first + i) & (BUFFERS - 1);

		if (buffers[at].commands == commands)
			return buffers[at].name;
		if (!buffers[at].commands)
			return 0;
	}
	return 0;
}

static bool is_used(void)
{
	return __atomic_load_n(&used, __ATOMIC_RELAXED);
}

xsprof_name_t vulkan_label_of(vk_handle commands)
{
	xsprof_name_t name;

	if (!is_used())
		return 0;
	pthread_mutex_lock(&lock);
	name = get(commands);
	pthread_mutex_unlock(&lock);
	return name;
}

xsprof_name_t vulkan_label_of_queue(const struct vulkan_queue *q)
{
	uint32_t n = q->nr_labels < VULKAN_LABELS ? q->nr_labels : VULKAN_LABELS;

	return n ? q->labels[n - 1] : 0;
}

/* ---- command buffers ------------------------------------------------------------------------- */

static int32_t begin_commands(vk_handle commands, const struct vk_begin_info *info)
{
	struct vulkan_device *d = vulkan_device_of(commands);

	/* To begin a command buffer discards what was recorded in it. */
	if (is_used()) {
		pthread_mutex_lock(&lock);
		set(commands, 0);
		pthread_mutex_unlock(&lock);
	}
	return NEXT(d, BeginCommandBuffer, begin_commands)(commands, info);
}

static void begin_label(vk_handle commands, const struct vk_label *label)
{
	struct vulkan_device *d = vulkan_device_of(commands);

	if (d->on && label->name) {
		__atomic_store_n(&used, true, __ATOMIC_RELAXED);
		pthread_mutex_lock(&lock);
		if (!get(commands))
			set(commands, name_of(label->name));
		pthread_mutex_unlock(&lock);
	}
	NEXT(d, CmdBeginDebugUtilsLabelEXT, begin_label)(commands, label);
}

/* ---- queues: the program makes no two calls for one at one time ------------------------------ */

static void begin_queue_label(vk_handle queue, const struct vk_label *label)
{
	struct vulkan_device *d = vulkan_device_of(queue);
	struct vulkan_queue *q = d->on ? vulkan_queue_get(d, queue) : NULL;

	if (q && q->nr_labels < VULKAN_LABELS) {
		pthread_mutex_lock(&lock);
		q->labels[q->nr_labels] = label->name ? name_of(label->name) : 0;
		pthread_mutex_unlock(&lock);
	}
	if (q)
		q->nr_labels++;
	NEXT(d, QueueBeginDebugUtilsLabelEXT, begin_queue_label)(queue, label);
}

static void end_queue_label(vk_handle queue)
{
	struct vulkan_device *d = vulkan_device_of(queue);
	struct vulkan_queue *q = d->on ? vulkan_queue_get(d, queue) : NULL;

	if (q && q->nr_labels)
		q->nr_labels--;
	NEXT(d, QueueEndDebugUtilsLabelEXT, end_queue_label)(queue);
}

const struct vulkan_hook vulkan_label_hooks[] = {
	HOOK(BeginCommandBuffer, begin_commands),
	HOOK(CmdBeginDebugUtilsLabelEXT, begin_label),
	HOOK(QueueBeginDebugUtilsLabelEXT, begin_queue_label),
	HOOK(QueueEndDebugUtilsLabelEXT, end_queue_label),
	{ NULL, 0, NULL },
};
