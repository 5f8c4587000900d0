// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Waits of the program for a queue or a command list, and barriers on a device. PTI's record of a
 * wait names the queue but not the device: other records of the queue do, and may come later. Waits
 * for an event, a fence or a whole device have no queue: their call is recorded, which holds the
 * same information.
 */
#include "gpu/levelzero/local.h"

#define KEPT		4096u

static struct pti_sync kept[KEPT];
static uint32_t nr_kept;
static uint32_t settled;	/* number of known queues at the last levelzero_wait_settle() */

static void put(const struct pti_sync *s, const struct levelzero_place *place)
{
	static const char *const texts[] = {
		"Synchronization", "Barrier", "Memory Barrier", "Fence Sync", "Event Sync",
		"Command List Sync", "Command Queue Sync", "Device Sync",
	};
	static xsprof_name_t names[ARRAY_SIZE(texts)];
	uint32_t type = s->type < ARRAY_SIZE(texts) ? s->type : 0;
	struct xsprof_device_activity a;

	if (!names[type])
		names[type] = xsprof_name_in(levelzero_category(), texts[type]);
	if (!levelzero_work(&a, XSPROF_GPU_SYNC, names[type], s->start, s->end, s->correlation))
		return;
	a.device = place->device;
	a.context = place->context;
	a.stream = place->stream;
	levelzero_put(&a, NULL, 0);
}

void levelzero_wait_settle(void)
{
	struct levelzero_place place;
	uint32_t left = 0;

	for (uint32_t i = 0; i < nr_kept; i++) {
		if (levelzero_place_of(kept[i].queue, &place))
			put(&kept[i], &place);
		else
			kept[left++] = kept[i];
	}
	nr_kept = left;
	settled = levelzero_queues();
}

void levelzero_wait(const struct pti_sync *sync)
{
	struct levelzero_place place;

	if (!sync->queue)
		return;
	if (levelzero_place_of(sync->queue, &place)) {
		put(sync, &place);
		return;
	}
	/* Retry only if queues came: a program may poll a queue forever that has no other work. */
	if (nr_kept == KEPT && settled != levelzero_queues())
		levelzero_wait_settle();
	if (nr_kept < KEPT)
		kept[nr_kept++] = *sync;
	else
		levelzero_miss(LEVELZERO_MISS_QUEUE, 1);
}

void levelzero_wait_end(void)
{
	levelzero_wait_settle();
	levelzero_miss(LEVELZERO_MISS_QUEUE, nr_kept);
	nr_kept = 0;
}
