// SPDX-License-Identifier: LGPL-2.1-only
/*
 * What the collector's thread does: it takes the records that rocprofiler-sdk has handed over, and
 * four times a second, and when a session of the program ends, has it hand over what it holds.  So
 * a program that is killed loses what its devices did in its last quarter of a second.  The thread
 * is the library's.
 */
#include "gpu/common/period.h"
#include "gpu/common/refused.h"
#include "gpu/rocm/local.h"

static bool over;

/* The first time it is on already, since the program initialised ROCm. */
static int start(void *unused)
{
	static int said;
	int err;

	(void)unused;
	if (rocm_services())
		return 0;
	err = rocm_services_on();
	if (err && err != said)
		gpu_refused("rocprofiler-sdk: %s (%d): ROCm is not recorded", rocm_text(err), err);
	said = err;
	return err;
}

static uint64_t work(void *unused)
{
	static uint64_t next;
	uint64_t now = gpu_now_ns();

	(void)unused;
	if (now >= next || xsprof_collector_asked(&rocm_collector)) {
		next = now + GPU_PERIOD;
		rocm_services_flush();
	}
	rocm_clock_look();
	rocm_drain();
	now = gpu_now_ns();
	return next > now ? next - now : 1;
}

static void stop(void *unused, int last)
{
	(void)unused;
	rocm_services_off();
	rocm_clock_look();
	rocm_drain();
	/* Release: pairs with the acquire where rocprofiler-sdk ends: the thread is done. */
	if (last)
		__atomic_store_n(&over, true, __ATOMIC_RELEASE);
}

static void gave_up(void *unused)
{
	(void)unused;
	rocm_miss(ROCM_MISS_EXIT, rocm_pool_full());
}

/* It has waited for what devices still did: with that nothing is in use by anyone else any more. */
void rocm_thread_late(void)
{
	if (!__atomic_load_n(&over, __ATOMIC_ACQUIRE))
		return;
	rocm_services_flush();
	rocm_drain();
}

/*
 * ROCm does not work in the child of a fork, but rocprofiler-sdk may hand over records when that
 * ends: locks that other threads of the parent had are never released there.
 */
static void forget(void *unused)
{
	(void)unused;
	rocm_pool_forget();
	rocm_kernels_forget();
}

int rocm_thread_start(void)
{
	rocm_collector.start = start;
	rocm_collector.work = work;
	rocm_collector.stop = stop;
	rocm_collector.gave_up = gave_up;
	rocm_collector.forget = forget;
	/* Registered after rocprofiler-sdk's own end: it comes before that. */
	return xsprof_collector_add(&rocm_collector);
}
