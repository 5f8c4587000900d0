// SPDX-License-Identifier: LGPL-2.1-only
/*
 * State of a thread: its id, and its name in the arena. Touches no ring.
 */
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "ring/state.h"

/*
 * The time now if the thread is new to us; else 0. Not while paused, when there may be no clock
 * (PR_SET_TSC), and not for a thread that only interns a name.
 */
static uint64_t begins(struct xsp_thread *t)
{
	if (t->begun || !xsprof_enabled())
		return 0;
	t->begun = 1;
	return xsp_ticks(xsp_kept.clock);
}

/**
 * xsp_thread_enter() - get the thread's id, and do the work of its first marker
 *
 * Signal-safe. The name is added at the next marker if this thread was interrupted while it holds
 * the arena's lock.
 *
 * Return: the thread id.
 */
XSP_COLD uint64_t xsp_thread_enter(void)
{
	struct xsp_thread *t = &xsp_thread;
	int err = errno;

	/* Not kept in a handler that interrupted the settling of a forked child. */
	if (xsp_fork_check() < 0)
		return (uint32_t)syscall(SYS_gettid);
	/* In a child that shares the memory this state is its creator's. */
	if (!t->tid && xsp_shares_memory())
		return (uint32_t)syscall(SYS_gettid);
	if (!t->tid)
		t->tid = (uint32_t)syscall(SYS_gettid);
	if (!xsp_attached() && xsp_attach_now() < 0) {
		errno = err;
		return t->tid;
	}
	xsp_rseq_enter();
	if (!t->named && xsp_names_lock(false) == 0) {
		/* Read under the lock, so that threads are stored in the order of time. */
		uint64_t since = begins(t);
		char comm[16] = "";

		/* Once, even if the arena is full: what does not fit is counted there. */
		if (!prctl(PR_GET_NAME, comm))
			xsp_arena_add_thread(t->tid, comm, strnlen(comm, sizeof(comm)), since);
		t->named = 1;
		xsp_names_unlock();
	}
	if (t->named && !t->skips)
		t->hdr = t->tid;
	errno = err;
	return t->tid;
}

/* In a forked child: another thread id, another producer. */
void xsp_thread_forget(void)
{
	xsp_thread.hdr = 0;
	xsp_thread.key = XSP_NO_KEY;
	xsp_thread.tid = 0;
	xsp_thread.named = 0;
	xsp_thread.begun = 0;
	xsp_thread.lock_ring = 0;
}

/* @tid: another thread; 0: the calling one. */
static int give_name(uint32_t tid, const char *name)
{
	int ret, err = errno;

	xsp_thread_enter();
	if (xsp_names_lock(true) < 0)
		return -EBUSY;
	if (tid)
		ret = xsp_arena_name_thread(tid, name, xsp_text_len(name));
	else
		ret = xsp_arena_add(XSPROF_ENTRY_THREAD, xsp_thread.tid, XSPROF_THREAD_GIVEN, name,
				    xsp_text_len(name));
	xsp_names_unlock();
	errno = err;
	return ret;
}

int xsprof_thread_name(const char *name)
{
	if (!xsp_attached_now())
		return -ENOTCONN;
	if (!name)
		name = "";
	/* Reads the kernel's again. */
	if (!*name) {
		xsp_thread.named = 0;
		xsp_thread.hdr = 0;
	}
	return give_name(0, name);
}

int xsprof_thread_name_of(uint32_t tid, const char *name)
{
	if (!tid || !name)
		return -EINVAL;
	return xsp_attached_now() ? give_name(tid, name) : -ENOTCONN;
}
