// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Maps PyTorch's thread numbers to thread ids. A backward op names the thread of its forward op by
 * PyTorch's number; readers need the system's id. Each thread stores its own id at its first op,
 * which precedes all backward ops that refer to it.
 */
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/torch/local.h"

#define THREADS	65536u	/* backward ops of later threads have no link */

static uint32_t tids[THREADS];
/* Not the general TLS model: it refers to glibc's dynamic linker by name. */
static __thread bool entered __attribute__((tls_model("initial-exec")));

/* glibc's; other C libraries lack it, and run no PyTorch. */
extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
			     void *dso) __attribute__((weak));

/* The child's only thread has a new id; PyTorch's number for it is the parent's. */
static void forked(void)
{
	entered = false;
}

void torch_threads_init(void)
{
	/* If it fails, links in the child name the parent's thread. */
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
	/* Relaxed: a reader got the op that names the number from this thread. */
	if (number < THREADS)
		__atomic_store_n(&tids[number], (uint32_t)syscall(SYS_gettid), __ATOMIC_RELAXED);
}

uint64_t torch_thread(uint64_t number)
{
	return number < THREADS ? __atomic_load_n(&tids[number], __ATOMIC_RELAXED) : 0;
}
