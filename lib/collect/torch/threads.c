// SPDX-License-Identifier: LGPL-2.1-only
/*
 * PyTorch numbers the threads that it sees, and a backward op names the thread of its forward op
 * by that number. Readers know threads by the system's: each thread enters its own at its first
 * op, which is before any op goes backward from it.
 */
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/torch/local.h"

#define THREADS	65536u	/* backward ops of threads beyond have no link */

static uint32_t tids[THREADS];
/* Not the general model: that needs the dynamic linker of glibc by its name. */
static __thread bool entered __attribute__((tls_model("initial-exec")));

/* glibc's; other C libraries have none of that name, and no PyTorch. */
extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
			     void *dso) __attribute__((weak));

/* The one thread of a child has a number of its own, and PyTorch's is that of its parent. */
static void forked(void)
{
	entered = false;
}

void torch_threads_init(void)
{
	/* Without memory for it a child's links name its parent's thread. */
	if (__register_atfork)
		(void)__register_atfork(NULL, NULL, forked, NULL);
}

void torch_thread_enter(void)
{
	uint64_t number;

	if (__builtin_expect(entered, 1))
		return;
	entered = true;
	number = torch_api.thread_id();
	/* Relaxed: who reads it got the op that names it from this thread. */
	if (number < THREADS)
		__atomic_store_n(&tids[number], (uint32_t)syscall(SYS_gettid), __ATOMIC_RELAXED);
}

uint64_t torch_thread(uint64_t number)
{
	return number < THREADS ? __atomic_load_n(&tids[number], __ATOMIC_RELAXED) : 0;
}
