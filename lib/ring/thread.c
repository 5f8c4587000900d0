// SPDX-License-Identifier: LGPL-2.1-only
/*
 * A thread's own state: its id, its rseq area, its name in the arena.  Owns registration of
 * rseq where the C library has none; never touches a ring.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ring/rseq.h"

__thread struct xsp_thread xsp_thread __attribute__((tls_model("initial-exec")));

/* glibc 2.35 and newer register rseq themselves and say where; weak: an older one has neither. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

#define RSEQ_MIN_SIZE		20	/* through rseq_cs and flags: all that we use */
#define RSEQ_AREA_SIZE		32
#define RSEQ_FLAG_UNREGISTER	1

/*
 * struct rseq of threads whose C library has none.  cpu_id starts as "uninitialised", which is
 * no ring of ours: an unregistered thread ends in the slow path by itself.
 */
struct own_rseq {
	uint32_t	cpu_id_start;
	uint32_t	cpu_id;
	uint64_t	rseq_cs;
	uint32_t	flags;
	uint32_t	pad[3];
} __attribute__((aligned(32)));

static __thread struct own_rseq own_rseq __attribute__((tls_model("initial-exec"))) = {
	.cpu_id = UINT32_MAX,
};
static bool own_rseq_wanted;
static pthread_key_t own_rseq_key;

/* The kernel writes into the area until it is told to stop; the thread's memory goes next. */
static void unregister_own_rseq(void *area)
{
	syscall(SYS_rseq, area, RSEQ_AREA_SIZE, RSEQ_FLAG_UNREGISTER, XSP_RSEQ_SIG);
	own_rseq.cpu_id = UINT32_MAX;
}

static void register_own_rseq(void)
{
	if (own_rseq.cpu_id != UINT32_MAX)
		return;
	/* Refused (somebody else's registration, no such call): this thread uses lock rings. */
	if (syscall(SYS_rseq, &own_rseq, RSEQ_AREA_SIZE, 0, XSP_RSEQ_SIG))
		return;
	if (pthread_setspecific(own_rseq_key, &own_rseq))
		unregister_own_rseq(&own_rseq);
}

/**
 * xsp_rseq_usable() - can this process use restartable sequences?
 * @offset: set to the offset of struct rseq from the thread pointer
 *
 * A glibc that knows rseq and did not register it was told not to (GLIBC_TUNABLES), or could
 * not (valgrind, qemu-user): the answer is no.  One that does not know it is no reason.
 */
bool xsp_rseq_usable(int64_t *offset)
{
	/* Always an area that a sequence may write to: arming comes before any check. */
	*offset = (char *)&own_rseq - (char *)__builtin_thread_pointer();
#if XSP_HAVE_RSEQ
	if (&__rseq_size) {
		if (__rseq_size < RSEQ_MIN_SIZE)
			return false;
		*offset = __rseq_offset;
		return true;
	}
	if (!own_rseq_wanted) {
		if (pthread_key_create(&own_rseq_key, unregister_own_rseq))
			return false;
		own_rseq_wanted = true;
	}
	register_own_rseq();
	return own_rseq.cpu_id != UINT32_MAX;
#else
	return false;
#endif
}

/**
 * xsp_current_cpu() - the CPU as the thread's rseq area has it
 *
 * Return: the CPU, or -1 where the thread has none.
 */
int xsp_current_cpu(void)
{
#if XSP_HAVE_RSEQ
	const char *area = (const char *)__builtin_thread_pointer() + xsp_kept.rs;

	if (!xsp_set.nr)
		return -1;
	return (int)__atomic_load_n((const uint32_t *)(area + offsetof(struct own_rseq, cpu_id)),
				    __ATOMIC_RELAXED);
#else
	return -1;
#endif
}

/**
 * xsp_thread_enter() - the thread's id, with what its first marker has to do
 *
 * Signal-safe.  The name waits for the next marker when this thread is interrupted while it
 * holds the arena's lock.
 *
 * Return: the thread id.
 */
XSP_COLD uint64_t xsp_thread_enter(void)
{
	struct xsp_thread *t = &xsp_thread;
	int err = errno;

	/* Not to be kept in a handler over the one who makes us forget our parent. */
	if (xsp_fork_check() < 0)
		return (uint32_t)syscall(SYS_gettid);
	if (!t->tid)
		t->tid = (uint32_t)syscall(SYS_gettid);
	if (!xsp_attached() && xsp_attach() < 0) {
		errno = err;
		return t->tid;
	}
	if (own_rseq_wanted)
		register_own_rseq();
	if (!t->named && xsp_names_lock(false) == 0) {
		char comm[16] = "";

		/* Full or not: once. What does not fit is counted there. */
		if (!prctl(PR_GET_NAME, comm))
			xsp_arena_add(XSPROF_ENTRY_THREAD, t->tid, 0, comm,
				      strnlen(comm, sizeof(comm)));
		t->named = 1;
		xsp_names_unlock();
	}
	if (t->named && !t->skips)
		t->hdr = t->tid;
	errno = err;
	return t->tid;
}

/* In the child of a fork: another thread id, another producer. */
void xsp_thread_forget(void)
{
	xsp_thread.hdr = 0;
	xsp_thread.tid = 0;
	xsp_thread.named = 0;
	xsp_thread.lock_ring = 0;
}
