/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A child that brings its ring into a given state and then writes one record, while its parent
 * observes it instruction by instruction. Owns the states and their expected results; the parent
 * does the checks.
 */
#ifndef XSP_TEST_TRACEE_H
#define XSP_TEST_TRACEE_H

#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "reader.h"
#include "ring/state.h"
#include "stream.h"

/**
 * struct tracee_case - one record into one ring
 * @offset: position of head in its block
 * @slots: slots of the record
 * @full: fill the ring first; then:
 * @room: free this many slots, -1 all
 * @pending: a drop waits for its LOST record
 * @never: instead, fill the ring up to @room free slots: the writer knows of the room
 */
struct tracee_case {
	unsigned int	offset;
	unsigned int	slots;
	bool		full;
	int		room;
	bool		pending;
	bool		never;
};

enum tracee_phase { TRACEE_SETUP, TRACEE_INSIDE, TRACEE_DONE };

/* Shared with the child. */
struct tracee {
	struct tracee_case	now;
	uint64_t		seq;
	uint32_t		ring;		/* the ring it writes to */
	uint32_t		phase;
	uint32_t		whole;		/* also step through the packing of arguments */
	uint32_t		plain;		/* the parent reads: prepare no state */
	uint64_t		signals;	/* signals whose handler wrote a record */
};

static struct tracee *tracee;
static struct rd tracee_own;		/* the child's own mapping of its file */

static void tracee_stop(void)
{
	syscall(SYS_tgkill, syscall(SYS_getpid), syscall(SYS_gettid), SIGSTOP);
}

static struct rd_ring *tracee_ring(struct rd *rd)
{
	for (uint32_t k = 0; k < rd->nr; k++)
		if (rd_ready(rd, k) && rd_head(&rd->ring[k]))
			return &rd->ring[k];
	tap_bail("the child has no ring");
}

static void tracee_fill(struct rd_ring *r, uint64_t slots, bool drained)
{
	for (uint64_t i = 0; i < slots; i++) {
		stream_emit_sized(0, tracee->seq++, 1);
		if (drained)
			__atomic_store_n(&r->r->tail, rd_head(r), __ATOMIC_RELEASE);
	}
}

/* Brings the ring into the state, in the second lap or later. */
static void tracee_prepare(struct rd_ring *r, const struct tracee_case *c)
{
	bool overwrite = tracee_own.ctl->mode == XSPROF_MODE_OVERWRITE;
	uint64_t start;

	/* First a record: it takes a pending LOST with it. */
	__atomic_store_n(&r->r->tail, rd_head(r), __ATOMIC_RELEASE);
	tracee_fill(r, r->size / 4, true);
	while ((rd_head(r) & (XSPROF_BLOCK_SLOTS - 1)) != c->offset || rd_head(r) < r->size)
		tracee_fill(r, 1, true);
	start = rd_head(r);
	if (c->never) {
		tracee_fill(r, r->size - c->room, false);
		return;
	}
	if (c->full)
		tracee_fill(r, r->size, false);
	if (c->pending && r->w->kind == XSPROF_RING_LOCK)
		r->w->busy++;		/* as a handler over this lock would */
	else if (c->pending && !overwrite)
		tracee_fill(r, 1, false);
	if (c->full && c->room)
		__atomic_store_n(&r->r->tail, c->room < 0 ? rd_head(r) : start + c->room,
				 __ATOMIC_RELEASE);
}

static void tracee_pin(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* Half the instructions of a long record pack its arguments on the stack: skip these. */
static void tracee_put(const struct stream_record *record)
{
	uint64_t word[30];
	unsigned int type;

	if (record->slots == 1 || tracee->whole) {
		__atomic_store_n(&tracee->phase, TRACEE_INSIDE, __ATOMIC_SEQ_CST);
		stream_put(record);
	} else {
		type = stream_payload(record, word);
		__atomic_store_n(&tracee->phase, TRACEE_INSIDE, __ATOMIC_SEQ_CST);
		xsp_put_slow(xsp_hdr(xsp_thread.tid, type, record->slots), word, record->slots, 0);
	}
	__atomic_store_n(&tracee->phase, TRACEE_DONE, __ATOMIC_SEQ_CST);
}

static void tracee_signal(int sig)
{
	(void)sig;
	stream_emit_sized(2, tracee->signals++, 1);
}

/* The child: writes a record for each case in @tracee, between two stops. */
__attribute__((noreturn, unused)) static void tracee_main(void)
{
	struct stream_record record;
	struct rd_ring *r;

	signal(SIGUSR1, tracee_signal);
	tracee_pin();
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		_exit(96);
	stream_emit_sized(0, tracee->seq++, 1);
	if (rd_open_pid(&tracee_own, getpid()))
		_exit(97);
	r = tracee_ring(&tracee_own);
	tracee->ring = r->k;
	tracee_stop();
	for (;;) {
		struct tracee_case now = tracee->now;

		if (!tracee->plain)
			tracee_prepare(r, &now);
		stream_make(&record, 1, tracee->seq, now.slots);
		tracee->phase = TRACEE_SETUP;
		tracee_stop();
		tracee_put(&record);
		tracee_stop();
		tracee->seq++;
	}
}

/* Lets the child run to its next stop. */
static void tracee_continue(pid_t pid, int sig)
{
	int status;

	do {
		if (ptrace(PTRACE_CONT, pid, NULL, (void *)(intptr_t)sig))
			tap_bail("ptrace: %s", strerror(errno));
		if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
			tap_bail("the child ended, status %x", status);
		sig = WSTOPSIG(status) == SIGSTOP ? 0 : WSTOPSIG(status);
	} while (sig);
}

/* Runs one instruction of the child. */
static inline void tracee_step(pid_t pid, int sig)
{
	int status;

	if (ptrace(PTRACE_SINGLESTEP, pid, NULL, (void *)(intptr_t)sig))
		tap_bail("ptrace: %s", strerror(errno));
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		tap_bail("the child ended under single step, status %x", status);
}

/* Starts a child; it stops before its first case, and @rd has its file open. */
static pid_t tracee_start(struct rd *rd)
{
	int status;
	pid_t pid;

	if (!tracee) {
		tracee = mmap(NULL, sizeof(*tracee), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (tracee == MAP_FAILED)
			tap_bail("no memory");
	}
	memset(tracee, 0, sizeof(*tracee));
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		tap_bail("fork: %s", strerror(errno));
	if (!pid)
		tracee_main();
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		tap_bail("no traced child: status %x", status);
	if (rd_open_pid(rd, pid))
		tap_bail("the child is not attached: run it under session");
	return pid;
}

/* Kills a child and removes its file. */
static void tracee_end(pid_t pid, struct rd *rd)
{
	int status;

	kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status))
		;
	unlink(rd->path);
	rd_close(rd);
}

/**
 * struct tracee_want - the expected result of a case
 * @fits: published; else dropped
 * @lost: a LOST record comes first
 * @pad: slots of padding before the record
 * @slots: all slots together
 */
struct tracee_want {
	bool		fits;
	bool		lost;
	unsigned int	pad;
	unsigned int	slots;
};

/* Computed by the rules of abi.h, not by the library's sequences. */
static inline struct tracee_want tracee_expect(const struct rd_ring *r, bool overwrite,
					       unsigned int n, bool pending)
{
	struct tracee_want w = { .lost = pending };
	uint64_t head = rd_head(r), at = head + pending;
	uint64_t in_block = at & (XSPROF_BLOCK_SLOTS - 1);

	if (in_block + n > XSPROF_BLOCK_SLOTS)
		w.pad = XSPROF_BLOCK_SLOTS - in_block;
	w.slots = pending + w.pad + n;
	w.fits = overwrite || head + w.slots - r->r->tail <= r->size;
	return w;
}

#endif /* XSP_TEST_TRACEE_H */
