// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Per-thread memory, and its state after a fork.
 *
 * A thread gets memory from mmap() at its first call and returns it at its end for the next thread:
 * the process keeps as many as it had threads at the same time.  The static TLS block, which has
 * little room for libraries that are loaded late, holds only a pointer.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

#include "gpu/nvtx/local.h"

__thread struct nvtx_thread *nvtx_thread __attribute__((tls_model("initial-exec")));

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct nvtx_thread *free_threads;
static pthread_key_t key;
static bool has_key;

static sigset_t signals;

void nvtx_lock(void)
{
	sigset_t all, was;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &was);
	pthread_mutex_lock(&lock);
	signals = was;
}

void nvtx_unlock(void)
{
	sigset_t was = signals;

	pthread_mutex_unlock(&lock);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
}

static void thread_gone(void *data)
{
	struct nvtx_thread *t = data;

	/* Other destructors may still call NVTX: the thread then gets memory again. */
	nvtx_thread = NULL;
	t->depth = 0;
	t->dead = 0;
	nvtx_lock();
	t->next = free_threads;
	free_threads = t;
	nvtx_unlock();
}

static struct nvtx_thread *take_free(void)
{
	struct nvtx_thread *t;

	nvtx_lock();
	t = free_threads;
	if (t)
		free_threads = t->next;
	nvtx_unlock();
	return t;
}

__attribute__((cold, noinline)) struct nvtx_thread *nvtx_thread_new(void)
{
	struct nvtx_thread *t = take_free();
	int err = errno;

	if (!t) {
		t = mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
		if (t == MAP_FAILED) {
			nvtx_miss(NVTX_MISS_MEMORY);
			errno = err;
			return NULL;
		}
	}
	/* Without the key the memory is not reused after this thread: no other harm. */
	if (has_key)
		(void)pthread_setspecific(key, t);
	nvtx_thread = t;
	errno = err;
	return t;
}

/* The open ranges of the forking thread belong to the parent's trace. */
static void in_child(void)
{
	nvtx_unlock();
	if (nvtx_thread)
		nvtx_thread->dead = nvtx_thread->depth;
	nvtx_miss_reset();
}

__attribute__((constructor)) static void thread_start(void)
{
	has_key = !pthread_key_create(&key, thread_gone);
	/* If it fails, a child forked while another thread holds the lock can never take it. */
	(void)pthread_atfork(nvtx_lock, nvtx_unlock, in_child);
}
