// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Labels that a program gives to submitted work (VK_EXT_debug_utils). A batch is named after the
 * first label in its command buffers, else after the open label of its queue. When a label begins
 * and ends on the device is unknown.
 */
#include "gpu/vulkan/local.h"

#define BUFFERS		8192u	/* command buffers, a power of 2 */
#define NAMES		1024u	/* different labels, a power of 2 */
#define PROBES		32u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct place {
	vk_handle			commands;	/* NULL: never used */
	const struct vulkan_device	*device;
	xsprof_name_t			name;		/* 0: free */
} places[BUFFERS];
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

/* Called with the lock held. 0: there is no room, as some programs number their labels; counted. */
static xsprof_name_t name_of(const char *text)
{
	uint64_t hash = hash_of(text);
	xsprof_name_t name = 0;

	for (uint32_t i = 0; i < PROBES; i++) {
		uint32_t at = (uint32_t)(hash + i) & (NAMES - 1);

		if (!names[at].hash) {
			names[at].hash = hash;
			names[at].name = xsprof_name_in(vulkan_category(), text);
		}
		if (names[at].hash == hash) {
			name = names[at].name;
			break;
		}
	}
	vulkan_miss(VULKAN_MISS_NAMES, !name);
	return name;
}

static struct place *place_at(vk_handle commands, uint32_t i)
{
	uint32_t first = (uint32_t)(((uintptr_t)commands * 0x9e3779b97f4a7c15u) >> 32);

	return &places[(first + i) & (BUFFERS - 1)];
}

/* Called with the lock held. NULL: the command buffer has no place. */
static struct place *find(vk_handle commands)
{
	for (uint32_t i = 0; i < PROBES; i++) {
		struct place *p = place_at(commands, i);

		if (p->commands == commands)
			return p;
		if (!p->commands)
			break;
	}
	return NULL;
}

/*
 * Called with the lock held. A place without a name is given to another command buffer, and never
 * becomes unused again, so that find() gets past it.
 */
static void set(const struct vulkan_device *device, vk_handle commands, xsprof_name_t name)
{
	struct place *p = find(commands);

	for (uint32_t i = 0; i < PROBES && !p; i++)
		if (!place_at(commands, i)->name)
			p = place_at(commands, i);
	if (p)
		*p = (struct place){ commands, device, name };
	else
		vulkan_miss(VULKAN_MISS_LABELS, 1);
}

static xsprof_name_t get(vk_handle commands)
{
	const struct place *p = find(commands);

	return p ? p->name : 0;
}

static void clear(vk_handle commands)
{
	struct place *p = find(commands);

	if (p)
		p->name = 0;
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
		clear(commands);
		pthread_mutex_unlock(&lock);
	}
	return NEXT(d, BeginCommandBuffer, begin_commands)(commands, info);
}

/* Before they are gone: another thread may get the same handles then. */
static void free_commands(vk_handle device, vk_object pool, uint32_t nr, const vk_handle *list)
{
	struct vulkan_device *d = vulkan_device_of(device);

	if (is_used()) {
		pthread_mutex_lock(&lock);
		for (uint32_t i = 0; i < nr; i++)
			if (list[i])
				clear(list[i]);
		pthread_mutex_unlock(&lock);
	}
	NEXT(d, FreeCommandBuffers, free_commands)(device, pool, nr, list);
}

void vulkan_labels_end(const struct vulkan_device *device)
{
	if (!is_used())
		return;
	pthread_mutex_lock(&lock);
	for (uint32_t i = 0; i < BUFFERS; i++)
		if (places[i].device == device)
			places[i].name = 0;
	pthread_mutex_unlock(&lock);
}

static void begin_label(vk_handle commands, const struct vk_label *label)
{
	struct vulkan_device *d = vulkan_device_of(commands);
	xsprof_name_t name;

	if (d->on && label->name) {
		__atomic_store_n(&used, true, __ATOMIC_RELAXED);
		pthread_mutex_lock(&lock);
		name = get(commands) ? 0 : name_of(label->name);
		if (name)
			set(d, commands, name);
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
	HOOK(FreeCommandBuffers, free_commands),
	HOOK(CmdBeginDebugUtilsLabelEXT, begin_label),
	HOOK(QueueBeginDebugUtilsLabelEXT, begin_queue_label),
	HOOK(QueueEndDebugUtilsLabelEXT, end_queue_label),
	{ NULL, 0, NULL },
};
