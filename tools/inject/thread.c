// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stops, uses and releases a thread of another process by ptrace().
 *
 * Registers are always restored in a stop that comes before the kernel checks for an interrupted
 * system call. So the kernel restarts such a call, as if there had been no stop: with the rest of
 * its timeout, if it has one.
 */
#ifdef __x86_64__

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/proc.h"
#include "inject/local.h"

#ifndef PTRACE_GETSIGMASK
#define PTRACE_GETSIGMASK	0x420a
#define PTRACE_SETSIGMASK	0x420b
#endif

#define STOP_NS		1000000000u	/* a thread that takes longer is released later */
#define LOOK_NS		20000000u	/* then check whether it waits for a disk */
#define CALL_NS		1000000000u
#define SEIZE_TRIES	20	/* a millisecond apart */
#define EVENT(status)	((status) >> 16)
#define SYSCALL_STOP	(SIGTRAP | 0x80)
#define RED_ZONE	128u	/* bytes below the stack's end that a function may use */
#define FRAME_ROOM	1024u	/* bytes of a ucontext_t, aligned */

/* Return: 0; -ETIMEDOUT; -ESRCH. */
static int wait_for(pid_t tid, int *status, uint64_t until)
{
	const struct timespec pause = { 0, 50000 };
	pid_t got;

	for (;;) {
		got = waitpid(tid, status, __WALL | WNOHANG);
		if (got == tid)
			return WIFSTOPPED(*status) ? 0 : -ESRCH;
		if (got < 0 && errno != EINTR)
			return -ESRCH;
		if (xsp_clock_ns(CLOCK_MONOTONIC) > until)
			return -ETIMEDOUT;
		nanosleep(&pause, NULL);
	}
}

/*
 * How it continues after a stop while it is used. All signals except SIGSTOP are blocked; SIGSTOP
 * is delivered after its use, since it executes xsprof's code now. A group stop by others is only
 * noted: it keeps running until then. SIGCONT causes a stop that reports it.
 */
static int goes_on_with(struct stopped *s, int status)
{
	int sig = EVENT(status) ? 0 : WSTOPSIG(status);

	if (EVENT(status) == PTRACE_EVENT_STOP && WSTOPSIG(status) == SIGTRAP)
		s->stops = false;
	if (sig == SIGSTOP)
		s->stops = true;
	return sig == SIGSTOP || sig == SYSCALL_STOP ? 0 : sig;
}

/* Waits for the stop by PTRACE_INTERRUPT; delivers signals that come before. */
static int wait_interrupted(struct stopped *s, uint64_t ns)
{
	uint64_t until = xsp_clock_ns(CLOCK_MONOTONIC) + ns;
	bool used = s->xstate_len;
	int status, err, sig;

	for (;;) {
		err = wait_for(s->tid, &status, until);
		if (err)
			return err;
		sig = WSTOPSIG(status);
		if (EVENT(status) == PTRACE_EVENT_STOP)
			/* A stopped process (Ctrl-Z) cannot be used. */
			return sig == SIGTRAP || used ? 0 : -EAGAIN;
		if (used)
			sig = goes_on_with(s, status);
		else if (EVENT(status) || sig == SYSCALL_STOP)
			sig = 0;
		ptrace(PTRACE_CONT, s->tid, 0, (void *)(long)sig);
	}
}

/*
 * Another xsprof that attaches to the process traces each thread for a moment: wait for that. It
 * may have left between the refusal and the check of the tracer: then try once more.
 */
static int seize(pid_t tid)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	int err = 0, plain = 0;

	for (int i = 0; i < SEIZE_TRIES; i++) {
		if (!ptrace(PTRACE_SEIZE, tid, 0, (void *)PTRACE_O_TRACESYSGOOD))
			return 0;
		err = -errno;
		if (err != -EPERM)
			break;
		if (inject_tracer(tid) == TRACER_XSPROF)
			nanosleep(&moment, NULL);
		else if (inject_tracer(tid) != TRACER_NONE || ++plain == 3)
			break;
	}
	return err;
}

int thread_stop(struct stopped *s, const struct target *t, pid_t tid)
{
	struct xsp_proc_stat st;
	int err;

	s->t = t;
	s->tid = tid;
	s->stops = false;
	s->xstate_len = 0;
	if (xsp_proc_stat(tid, &st))
		return -ESRCH;
	/* It stops only when its wait is over, and needs an entry in the list until then. */
	if (st.state == 'D' || st.state == 'T' || left_has(tid) || !left_has_room())
		return -EAGAIN;
	err = seize(tid);
	if (err)
		return err;
	if (ptrace(PTRACE_INTERRUPT, tid, 0, 0))
		return -errno;
	err = wait_interrupted(s, LOOK_NS);
	if (err == -ETIMEDOUT && !xsp_proc_stat(tid, &st) && st.state != 'D')
		err = wait_interrupted(s, STOP_NS);
	if (err == -ETIMEDOUT) {
		left_add(tid);
		return -EAGAIN;
	}
	if (!err && ptrace(PTRACE_GETREGS, tid, 0, &s->regs))
		err = -errno;
	if (err && err != -ESRCH)
		ptrace(PTRACE_DETACH, tid, 0, 0);
	return err;
}

/* The place for its state: on its stack, below the red zone. */
static uint64_t xstate_at(const struct stopped *s, size_t xstate_len)
{
	return (s->regs.rsp - RED_ZONE - xstate_len - 64) & ~63ull;
}

static uint64_t frame_at(const struct stopped *s, size_t xstate_len)
{
	return xstate_at(s, xstate_len) - FRAME_ROOM;
}

int thread_take(struct stopped *s)
{
	struct iovec iov = { s->xstate, sizeof(s->xstate) };

	if (ptrace(PTRACE_GETREGSET, s->tid, (void *)NT_X86_XSTATE, &iov) ||
	    ptrace(PTRACE_GETSIGMASK, s->tid, (void *)sizeof(s->mask), &s->mask))
		return -errno;
	if (!target_has_room(s->t, frame_at(s, iov.iov_len) - sizeof(uint64_t), s->regs.rsp))
		return -EAGAIN;
	s->xstate_len = iov.iov_len;
	return 0;
}

/* In this order: if xsprof is killed between the two, the thread continues from its frame. */
static int begin(const struct stopped *s, const struct user_regs_struct *regs)
{
	uint64_t all = ~(uint64_t)0;

	return ptrace(PTRACE_SETREGS, s->tid, 0, regs) ||
	       ptrace(PTRACE_SETSIGMASK, s->tid, (void *)sizeof(all), &all) ? -errno : 0;
}

void thread_go_on(struct stopped *s)
{
	struct iovec iov = { s->xstate, s->xstate_len };

	if (s->xstate_len) {
		ptrace(PTRACE_SETREGSET, s->tid, (void *)NT_X86_XSTATE, &iov);
		ptrace(PTRACE_SETSIGMASK, s->tid, (void *)sizeof(s->mask), &s->mask);
		ptrace(PTRACE_SETREGS, s->tid, 0, &s->regs);
	}
	s->xstate_len = 0;
	/* It gets it when released, unless a SIGCONT came after it. */
	if (s->stops)
		syscall(SYS_tgkill, s->t->pid, s->tid, SIGSTOP);
	ptrace(PTRACE_DETACH, s->tid, 0, 0);
}

static int interrupt(struct stopped *s, int err)
{
	int stopped;

	ptrace(PTRACE_INTERRUPT, s->tid, 0, 0);
	if (!err)
		ptrace(PTRACE_CONT, s->tid, 0, 0);
	stopped = wait_interrupted(s, CALL_NS);
	return stopped ? stopped : err;
}

/* By syscall() of the C library, which returns to the signal return code. */
int64_t thread_system_call(struct stopped *s, long nr, uint64_t a, uint64_t b, uint64_t c,
			   uint64_t d)
{
	uint64_t until = xsp_clock_ns(CLOCK_MONOTONIC) + CALL_NS;
	uint64_t frame = frame_at(s, s->xstate_len), back = frame - sizeof(uint64_t);
	struct user_regs_struct regs = s->regs;
	int status, err, stops = 0;

	if (!frame_write(s, frame, xstate_at(s, s->xstate_len)) ||
	    !target_write(s->t, back, &s->t->restorer, sizeof(s->t->restorer)))
		return -EAGAIN;
	regs.rip = s->t->system_call;
	regs.rsp = back;
	/* Prevents a restart of the interrupted call here. */
	regs.orig_rax = UINT64_MAX;
	regs.rdi = (uint64_t)nr;
	regs.rsi = a;
	regs.rdx = b;
	regs.rcx = c;
	regs.r8 = d;
	regs.r9 = UINT64_MAX;	/* mmap(): no file; its offset is the frame's first word, 0 */
	err = begin(s, &regs);
	while (!err && stops < 2) {
		if (ptrace(PTRACE_SYSCALL, s->tid, 0, 0))
			return -errno;
		err = wait_for(s->tid, &status, until);
		if (err)
			break;
		(void)goes_on_with(s, status);
		stops += !EVENT(status) && WSTOPSIG(status) == SYSCALL_STOP;
	}
	if (!err && ptrace(PTRACE_GETREGS, s->tid, 0, &regs))
		err = -errno;
	if (!err || err == -ETIMEDOUT)
		err = interrupt(s, err);
	return err ? err : (int64_t)regs.rax;
}

int thread_run(struct stopped *s, const struct user_regs_struct *start, uint64_t at,
	       uint64_t limit_ns)
{
	uint64_t until = xsp_clock_ns(CLOCK_MONOTONIC) + limit_ns;
	struct user_regs_struct regs;
	int status, err, sig = 0, there = 0;

	err = begin(s, start);
	if (err)
		return err;
	for (;;) {
		if (ptrace(PTRACE_SYSCALL, s->tid, 0, (void *)(long)sig))
			return -errno;
		err = wait_for(s->tid, &status, until);
		if (err == -ETIMEDOUT)
			return interrupt(s, err);
		if (err)
			return err;
		sig = goes_on_with(s, status);
		if (EVENT(status) || WSTOPSIG(status) != SYSCALL_STOP)
			continue;
		if (ptrace(PTRACE_GETREGS, s->tid, 0, &regs))
			return -errno;
		/* After the instruction, at the entry and at the exit. */
		if (regs.rip == at + 2 && ++there == 2)
			return interrupt(s, 0);
	}
}

#endif /* __x86_64__ */
