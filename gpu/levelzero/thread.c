// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Work of the collector's thread, which belongs to the library: it reads the buffers that PTI has
 * filled. So a killed program loses at most one partly filled buffer per thread.
 */
#include "gpu/levelzero/local.h"

/* At the first start the views are already on, enabled when the program initialised Level Zero. */
static int start(void *unused)
{
	static int said;
	int err;

	(void)unused;
	if (levelzero_views())
		return 0;
	err = levelzero_views_on();
	if (err && err != said)
		levelzero_tell(err);
	said = err;
	return err;
}

static uint64_t work(void *unused)
{
	(void)unused;
	levelzero_drain();
	return 0;
}

static void stop(void *unused, int last)
{
	(void)unused;
	levelzero_views_off();
	if (last)
		levelzero_wait_end();
}

static void gave_up(void *unused)
{
	(void)unused;
	levelzero_miss(LEVELZERO_MISS_EXIT, levelzero_pool_full());
}

/* Level Zero does not work in a forked child: no forget function is needed. */
int levelzero_thread_start(void)
{
	levelzero_collector.start = start;
	levelzero_collector.work = work;
	levelzero_collector.stop = stop;
	levelzero_collector.gave_up = gave_up;
	/* Registered after PTI's exit handler, so ours runs before it. */
	return xsprof_collector_add(&levelzero_collector);
}
