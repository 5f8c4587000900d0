// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Which records PTI collects.
 *
 * Partly filled buffers are returned by ptiFlushAllViews() only, which takes them away even from a
 * thread that is writing: the program crashes. So it is called only after all views have been off
 * for a while.
 */
#include <errno.h>
#include <time.h>

#include "gpu/common/refused.h"
#include "gpu/levelzero/local.h"

#define QUIET_NS	20000000	/* by then a recorded call has returned, or is waiting */

static const uint32_t views[] = {
	PTI_COPY, PTI_COPY_PEER, PTI_FILL, PTI_SYNC, PTI_RUNTIME_CALL,
};

static bool on;

/* PTI's timestamp callback. */
static uint64_t now_ns(void)
{
	return xsprof_ticks_ns(xsprof_now());
}

/* The kernel view is required; other views may be missing. */
int levelzero_views_on(void)
{
	static bool set;
	int err = 0;

	if (!set) {
		err = pti.set_callbacks(levelzero_pool_request, levelzero_pool_complete);
		if (!err)
			err = pti.set_timestamp(now_ns);
		set = !err;
	}
	if (!err)
		err = pti.enable(PTI_KERNEL);
	if (err)
		return err;
	for (size_t i = 0; i < ARRAY_SIZE(views); i++)
		(void)pti.enable(views[i]);
	/* SYCL's calls are seen only if PTI was loaded before SYCL started. */
	(void)pti.enable_runtime_class(1, PTI_CLASS_WORK, PTI_GROUP_SYCL);
	if (!pti.enable(PTI_DRIVER_CALL))
		levelzero_choose_calls();
	on = true;
	return 0;
}

void levelzero_views_off(void)
{
	const struct timespec quiet = { .tv_nsec = QUIET_NS };

	if (!on)
		return;
	on = false;
	(void)pti.disable(PTI_KERNEL);
	(void)pti.disable(PTI_DRIVER_CALL);
	for (size_t i = 0; i < ARRAY_SIZE(views); i++)
		(void)pti.disable(views[i]);
	clock_nanosleep(CLOCK_MONOTONIC, 0, &quiet, NULL);
	(void)pti.flush();
	levelzero_drain();
}

bool levelzero_views(void)
{
	return on;
}

void levelzero_tell(int err)
{
	if (err == PTI_NO_TRACING)
		gpu_refused("Level Zero was initialised without ZE_ENABLE_TRACING_LAYER=1 in the "
			    "environment: it is not recorded");
	else
		gpu_refused("PTI: %s (%d): Level Zero is not recorded", levelzero_text(err), err);
}
