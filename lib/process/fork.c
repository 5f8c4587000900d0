// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Forked children: each is a process with a producer of its own, made at its first marker. Owns how
 * a child detects that it is one, and what it does then.
 *
 * The C library notifies a child of fork(). A child of a raw clone() is not notified, and inherits
 * its thread's state, locks and the addresses of its parent's rings. So the kernel is asked to wipe
 * xsp_set in every child (MADV_WIPEONFORK): before the child's first instruction there is no ring
 * to write to, every marker takes the slow path, and the slow path finds xsp_set.settled empty. If
 * the kernel cannot do it, only the C library's notification remains.
 *
 * A child that shares the memory (vfork(), CLONE_VM) is not wiped: it writes into its parent's
 * rings with the thread id that it had there.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own-fd.h"
#include "base/own.h"
#include "process/backend.h"
#include "process/life.h"
#include "process/local.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK	18	/* Linux 4.14 */
#endif

/* The names' lock is held for a fork; written by the holder only. */
static bool fork_locked;
static struct xsp_fork_hook *hooks;

void xsp_at_fork(struct xsp_fork_hook *hook)
{
	struct xsp_fork_hook **at = &hooks, *there = NULL;

	/* Append; release: a child that acquires the pointer sees a complete hook. */
	while (!__atomic_compare_exchange_n(at, &there, hook, false, __ATOMIC_RELEASE,
					    __ATOMIC_ACQUIRE)) {
		if (there == hook)
			return;
		at = &there->next;
		there = NULL;
	}
}

/*
 * Drops everything of the parent: rings, and locks whatever thread held them. The parent's control
 * page stays mapped until we attach, so that our markers know that there is a recorder.
 */
static void forget_parent(void)
{
	xsp_names_inherit(fork_locked);
	fork_locked = false;
	xsp_thread_forget();
	xsp_fd_forget();
	for (const struct xsp_fork_hook *hook = __atomic_load_n(&hooks, __ATOMIC_ACQUIRE); hook;
	     hook = __atomic_load_n(&hook->next, __ATOMIC_ACQUIRE))
		hook->forget();
	xsp_rings_close();
	if (xsp_set.state == XSP_ATTACHED)
		xsp_set.state = XSP_DETACHED;
	if (xsp_kept.backend)
		xsp_kept.backend->let_go(false);
	xsp_layout_clear();
	xsp_kept.pid = getpid();
	__atomic_store_n(&xsp_set.settled, XSP_SETTLED, __ATOMIC_RELEASE);
}

/**
 * xsp_fork_settle() - set up a child that nothing has notified
 *
 * Called by the child's first thread to come here. That is the forked thread, unless it made other
 * threads before its own first marker: then it keeps its parent's thread id in its records.
 *
 * Signal-safe.
 *
 * Return: 0; -EAGAIN in a handler that interrupted this function.
 */
XSP_COLD int xsp_fork_settle(void)
{
	uint32_t tid = (uint32_t)syscall(SYS_gettid), owner = 0;
	unsigned int turns = 0;

	while (!__atomic_compare_exchange_n(&xsp_set.settled, &owner, tid, false,
					    __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
		if (owner == XSP_SETTLED)
			return 0;
		if (owner == tid)
			return -EAGAIN;
		xsp_wait_turn(&xsp_set.settled, owner, &turns);
		owner = 0;
	}
	forget_parent();
	return 0;
}

/* Asks the kernel to wipe xsp_set in children, and in theirs, if it can. */
void xsp_fork_arm(void)
{
	if (xsp_kept.wiped)
		return;
	xsp_kept.pid = getpid();
	__atomic_store_n(&xsp_set.settled, XSP_SETTLED, __ATOMIC_RELEASE);
	if (!madvise(&xsp_set, sizeof(xsp_set), MADV_WIPEONFORK))
		xsp_kept.wiped = true;
}

static void before_fork(void)
{
	/*
	 * Waits for another thread's entry; a handler that interrupted our own lock forks without
	 * it.
	 */
	fork_locked = !xsp_names_lock(true);
}

static void after_fork_parent(void)
{
	bool locked = fork_locked;

	/* In a child by raw clone() the next holder finds it false. */
	fork_locked = false;
	if (locked)
		xsp_names_unlock();
}

static void after_fork_child(void)
{
	/* Unless a handler of another library, with a marker in it, came first. */
	if (xsp_set.settled != XSP_SETTLED || xsp_kept.pid != getpid())
		forget_parent();
}

/* Called at the start of the program. */
void xsp_fork_init(void)
{
	pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}
