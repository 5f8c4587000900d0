/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The thread of a collector that the process has only where it uses the device: a forked child
 * starts it with its first call.
 */
#ifndef GPU_THREAD_H
#define GPU_THREAD_H

#include <stdbool.h>

#include <xsprof/collector.h>

/* GONE: a forked child does not have it yet; FAILED: it cannot be started. */
enum gpu_thread_state { GPU_THREAD_RUNS, GPU_THREAD_GONE, GPU_THREAD_FAILED };

struct gpu_thread {
	struct xsprof_collector	*collector;
	enum gpu_thread_state	state;
	bool			again;
};

/* Called in a forked child. */
static inline void gpu_thread_forget(struct gpu_thread *thread)
{
	__atomic_store_n(&thread->state, GPU_THREAD_GONE, __ATOMIC_RELAXED);
}

/*
 * Registers our exit handler again, after that of the driver, so that it runs before. To be called
 * with a driver loaded.
 */
static inline void gpu_thread_at_exit(struct gpu_thread *thread)
{
	if (!__atomic_exchange_n(&thread->again, true, __ATOMIC_RELAXED))
		(void)xsprof_collector_add(thread->collector);
}

/* Relaxed: the state orders nothing; creating the thread orders the data it uses. */
static __attribute__((noinline, unused)) bool gpu_thread_restart(struct gpu_thread *thread)
{
	enum gpu_thread_state was = GPU_THREAD_GONE;

	/* One thread of the program restarts it; what the others add is looked at soon after. */
	if (!__atomic_compare_exchange_n(&thread->state, &was, GPU_THREAD_RUNS, false,
					 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return was == GPU_THREAD_RUNS;
	if (!xsprof_collector_add(thread->collector))
		return true;
	/* The library has printed the reason. Without the thread no work is followed. */
	__atomic_store_n(&thread->state, GPU_THREAD_FAILED, __ATOMIC_RELAXED);
	return false;
}

/* Return: the thread runs. */
static inline bool gpu_thread_ready(struct gpu_thread *thread)
{
	return __builtin_expect(__atomic_load_n(&thread->state, __ATOMIC_RELAXED) ==
				GPU_THREAD_RUNS, 1) || gpu_thread_restart(thread);
}

#endif /* GPU_THREAD_H */
