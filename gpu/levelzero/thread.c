// SPDX-License-Identifier: LGPL-2.1-only
/*
 * What the collector's thread does: it takes the buffers that PTI has filled.  So a program that is
 * killed loses what is in the one buffer of each thread that is not full.  The thread is the
 * library's.
 */
#include "gpu/levelzero/local.h"

/* The first time views are on already, since the program initialised Level Zero. */
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

/* Level Zero does not work in the child of a fork: there is nothing to forget. */
int levelzero_thread_start(void)
{
	levelzero_collector.start = start;
	levelzero_collector.work = work;
	levelzero_collector.stop = stop;
	levelzero_collector.gave_up = gave_up;
	/* Registered after PTI's own end: it comes before that. */
	return xsprof_collector_add(&levelzero_collector);
}
