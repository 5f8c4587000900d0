// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decides at which moments a thread of another program may be made to call a function.
 *
 * The called functions take locks: loading a library those of malloc() and of the dynamic linker, a
 * pending call that of Python's pending calls. A thread that already holds one of these would
 * deadlock. Held locks cannot be queried, so they are inferred from where the thread is.
 *
 * Loading. While they hold a lock, malloc() and the dynamic linker make system calls that allocate
 * memory, read and map files, or wait for a lock; they never wait for time, for a descriptor to be
 * ready, for a message or for a process, and never read from a pipe, a socket or a terminal. The C
 * library waits for its own locks by FUTEX_WAIT, and by FUTEX_WAIT_BITSET for a program's
 * semaphore, condition or thread: a thread in the latter holds no lock of the C library. So a
 * thread in one of these calls can be used, unless it is in a signal handler, which may have
 * interrupted anything: the frame of each handler has an address that identifies it. If the linker
 * is further out on its stack, as in a constructor, the thread holds the linker's recursive lock,
 * and may load more.
 *
 * Pending calls. The lock is held for a few instructions of Py_AddPendingCall(), and of the
 * interpreter's main thread when it removes a call. A thread in the former, or in any signal
 * handler, is not used. The latter cannot be detected from outside; it happens only while calls are
 * pending, which is very rare: then the call does not return within its time, and the thread
 * continues as before.
 */
#ifdef __x86_64__

#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inject/local.h"

#define STACK_SPAN	(256u << 10)	/* of a stack that is searched */

#ifndef PTRACE_GET_RSEQ_CONFIGURATION
#define PTRACE_GET_RSEQ_CONFIGURATION	0x420f
#endif

/* Reads words on its stack, among them its return addresses. */
static size_t read_stack(const struct stopped *s, uint64_t *words)
{
	ssize_t n = pread(s->t->mem, words, STACK_SPAN, (off_t)(s->regs.rsp & ~7ull));

	return n > 0 ? (size_t)n / sizeof(*words) : 0;
}

static bool in_pending(const struct stopped *s, uint64_t at)
{
	return at - s->t->add_pending < s->t->add_pending_size + !s->t->add_pending_size;
}

/* Is it in a signal handler, or in Py_AddPendingCall()? */
static bool is_over(const struct stopped *s, bool pending)
{
	static uint64_t words[STACK_SPAN / sizeof(uint64_t)];
	size_t nr = read_stack(s, words);

	if (!nr)
		return true;
	for (size_t i = 0; i < nr; i++)
		if (words[i] == s->t->restorer || (pending && in_pending(s, words[i])))
			return true;
	return false;
}

/* File types that the dynamic linker never reads. */
static bool waits_for_others(const struct stopped *s)
{
	char path[64], to[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)s->tid, (int)s->regs.rdi);
	n = readlink(path, to, sizeof(to) - 1);
	if (n < 0)
		return false;
	to[n] = '\0';
	return !strncmp(to, "pipe:", 5) || !strncmp(to, "socket:", 7) ||
	       !strncmp(to, "/dev/pts/", 9) || !strncmp(to, "/dev/tty", 8);
}

static bool waits(const struct stopped *s)
{
	switch ((long)s->regs.orig_rax) {
	case SYS_poll:
	case SYS_ppoll:
	case SYS_select:
	case SYS_pselect6:
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
	case SYS_nanosleep:
	case SYS_clock_nanosleep:
	case SYS_accept:
	case SYS_accept4:
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_wait4:
	case SYS_waitid:
	case SYS_pause:
		return true;
	case SYS_read:
		return waits_for_others(s);
	case SYS_futex:
		return (s->regs.rsi & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET;
	default:
		return false;
	}
}

/* Kernel-internal: an interrupted call that will restart, or fail with EINTR. */
static bool interrupted(const struct stopped *s)
{
	int64_t is = (int64_t)s->regs.rax;

	return (int64_t)s->regs.orig_rax >= 0 && (is == -4 || (is <= -512 && is >= -516));
}

/* The thread is in a restartable sequence (rseq) of the program, which would have to be aborted. */
static bool in_sequence(const struct stopped *s)
{
	struct { uint64_t area; uint32_t size, signature, flags, pad; } c;
	struct { uint32_t version, flags; uint64_t start, bytes, abort; } cs;
	uint64_t at;

	if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, s->tid, (void *)sizeof(c), &c) < 0 || !c.area ||
	    !target_read(s->t, c.area + 8, &at, sizeof(at)) || !at ||
	    !target_read(s->t, at, &cs, sizeof(cs)))
		return false;
	return s->regs.rip - cs.start < cs.bytes;
}

bool safe_for_loader(const struct stopped *s)
{
	return interrupted(s) && waits(s) && !is_over(s, false);
}

bool safe_for_pending(const struct stopped *s)
{
	return !in_pending(s, s->regs.rip) && !is_over(s, true) && !in_sequence(s);
}

#endif /* __x86_64__ */
