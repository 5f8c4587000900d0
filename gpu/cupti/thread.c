// SPDX-License-Identifier: LGPL-2.1-only
/*
 * What the collector's thread does: it takes the buffers that CUPTI has filled, reads samples of
 * metrics, and takes four times a second, and when a session of the program ends, the buffers that
 * are not full and in which all activities are over.  So a program that is killed
 * loses what its devices did in its last quarter of a second, and what a thread whose device is
 * never idle launched since its buffer was full.  The thread is the library's.
 */
#include "gpu/common/period.h"
#include "gpu/cupti/handle.h"
#include "gpu/cupti/managed.h"

/* The first time CUPTI is ours already, since the program initialised CUDA. */
static int start(void *unused)
{
	static int said;
	int err;

	(void)unused;
	if (cupti_attached())
		return 0;
	err = cupti_kinds_on();
	if (err && err != said)
		cupti_tell(err);
	said = err;
	return err;
}

static uint64_t work(void *unused)
{
	static uint64_t next;
	uint64_t now = gpu_now_ns(), until, sampling;
	bool asked;

	(void)unused;
	if (!next)
		next = now + GPU_PERIOD;
	cupti_drain();
	asked = xsprof_collector_asked(&cupti_collector);
	until = cupti_budget(now, asked);
	sampling = cupti_sampling(now, asked);
	if (now >= next || asked) {
		next = now + GPU_PERIOD;
		cupti_flush(0);
		cupti_managed_later();
	}
	until = until < next ? until : next;
	until = until < sampling ? until : sampling;
	now = gpu_now_ns();
	return until > now ? until - now : 1;
}

static void stop(void *unused, int last)
{
	(void)unused;
	cupti_sampling_off();
	/* Of a program that ends nothing is waited for. */
	cupti_ranges_off();
	cupti_managed_end();
	/*
	 * Take what CUPTI still holds, after the last record: the next subscriber must not get it,
	 * and its times are by our clock.
	 */
	if (cupti_budget_end()) {
		if (!last)
			cupti_kinds_pause();
		cupti_flush(CUPTI_FLUSH_FORCED);
		if (!last)
			cupti_detach();
	}
	if (last) {
		cupti_wait_end();
		cupti_sampling_end();
	}
	cupti_bounds_end();
}

static void gave_up(void *unused)
{
	(void)unused;
	/* CUPTI may not have put anything into some of its own, which only CUPTI knows. */
	cupti_miss(CUPTI_MISS_EXIT, cupti_pool_used());
}

/*
 * CUDA does not work in the child of a fork, but CUPTI may give buffers back when that ends: locks
 * that other threads of the parent had are never released there.
 */
static void forget(void *unused)
{
	(void)unused;
	cupti_texts_forget();
	cupti_pool_forget();
	cupti_sampling_forget();
	cupti_ranges_forget();
}

int cupti_thread_start(void)
{
	cupti_collector.start = start;
	cupti_collector.work = work;
	cupti_collector.stop = stop;
	cupti_collector.gave_up = gave_up;
	cupti_collector.forget = forget;
	cupti_collector.handle_named = cupti_handle_named;
	/* Registered after CUDA's own end: it comes before that. */
	return xsprof_collector_add(&cupti_collector);
}
