// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waits for the GIL: lock: those that no row of a report has, as records were lost inside one, and
 * there are more locks than a report has room for; handover: of four threads. report.sh has the
 * numbers.
 */
#include <xsprof/python-names.h>

#include "tools/capture-wide.h"

#define LOCKS	4096u	/* the most in a report */
#define MORE	3u

uint32_t cap_lock_name(enum cap_lock_name name)
{
	return name | 1u << XSPROF_NAME_SHIFT;
}

void cap_lock_names(void)
{
	cap_entry(XSPROF_ENTRY_CATEGORY, 1, 0, XSPROF_PYTHON_CATEGORY,
		  sizeof(XSPROF_PYTHON_CATEGORY) - 1);
	cap_name(1, CAP_LOCK_WAIT, XSPROF_GIL_WAIT);
	cap_name(1, CAP_LOCK_TAKEN, XSPROF_GIL_TAKEN);
	cap_name(1, CAP_LOCK_HELD, XSPROF_GIL_HELD);
	cap_name(1, CAP_LOCK_KEY_HOLDER, XSPROF_GIL_KEY_HOLDER);
	cap_name(1, CAP_LOCK_KEY_LOCK, XSPROF_GIL_KEY_LOCK);
	cap_name(1, CAP_LOCK_KEY_TAKEN, XSPROF_GIL_KEY_TAKEN);
}

void cap_lock_wait(struct cap_ring *r, uint64_t ticks, uint32_t tid, uint32_t holder, uint32_t lock)
{
	struct cap_wide w;

	cap_wide(&w, ticks, XSPROF_REC_BEGIN, tid, cap_lock_name(CAP_LOCK_WAIT), 0, 0);
	if (lock)
		cap_wide_value(&w, cap_lock_name(CAP_LOCK_KEY_LOCK), XSPROF_ARG_U64, lock);
	if (holder)
		cap_wide_value(&w, cap_lock_name(CAP_LOCK_KEY_HOLDER), XSPROF_ARG_U64, holder);
	cap_wide_put(r, &w, false);
}

/* The wait ends without the lock. */
static void untaken(struct cap_ring *r, uint64_t ticks, uint32_t tid)
{
	struct cap_wide w;

	cap_wide(&w, ticks, XSPROF_REC_END, tid, 0, 0, 0);
	cap_wide_value(&w, cap_lock_name(CAP_LOCK_KEY_TAKEN), XSPROF_ARG_U64, 0);
	cap_wide_put(r, &w, false);
}

static void hold(struct cap_ring *r, uint64_t begin, uint64_t end, uint32_t tid, uint32_t lock)
{
	const struct xsprof_rec_span span = {
		.rec = cap_head(end, XSPROF_REC_SPAN, tid, cap_lock_name(CAP_LOCK_HELD), 0, lock),
		.begin = begin, .end = end,
	};

	cap_record(r, &span, 2);
}

/* 10 us that are known, a wait across a loss, and 5 us that are known again. */
static void waits(struct cap_ring *r)
{
	cap_event(r, T(10), XSPROF_REC_BEGIN, 7, cap_lock_name(CAP_LOCK_WAIT), 0, 0);
	cap_event(r, T(20), XSPROF_REC_END, 7, 0, 0, 0);
	cap_event(r, T(30), XSPROF_REC_BEGIN, 7, cap_lock_name(CAP_LOCK_WAIT), 0, 0);
	cap_event(r, T(40), XSPROF_REC_LOST, 7, 0, 0, 5);
	cap_event(r, T(50), XSPROF_REC_END, 7, 0, 0, 0);
	cap_event(r, T(60), XSPROF_REC_BEGIN, 7, cap_lock_name(CAP_LOCK_WAIT), 0, 0);
	cap_event(r, T(65), XSPROF_REC_END, 7, 0, 0, 0);
}

/*
 * The waits are for lock 0; thread 8 holds others, a microsecond each in which thread 10 waits, and
 * the last find no room.
 */
static void holds(struct cap_ring *r)
{
	uint32_t i;

	for (i = 1; i < LOCKS + MORE; i++) {
		cap_lock_wait(r, T(99 + i), 10, 8, i);
		hold(r, T(99 + i), T(100 + i), 8, i);
		cap_event(r, T(100 + i), XSPROF_REC_END, 10, 0, 0, 0);
	}
}

void cap_make_lock(void)
{
	struct cap_ring r[3];

	cap_host("hostname=lock\n");
	cap_clock(T(0), T(10000000));
	cap_producer(0, 7, T(0));
	cap_lock_names();
	cap_arena(0);
	cap_ring_open(&r[0], 0, 0, 4096);
	waits(&r[0]);
	cap_ring_close(&r[0], 5);
	cap_ring_open(&r[1], 0, 1, 4096);
	holds(&r[1]);
	cap_ring_close(&r[1], 0);
	/* A thread that waits when its process ends. */
	cap_ring_open(&r[2], 0, 2, 4096);
	cap_event(&r[2], T(9000), XSPROF_REC_BEGIN, 9, cap_lock_name(CAP_LOCK_WAIT), 0, 0);
	cap_ring_close(&r[2], 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, T(9040));
	cap_end(T(9041));
}

static void handovers(struct cap_ring *r)
{
	const uint32_t slept = 'S' << XSPROF_SCHED_STATE_SHIFT | XSPROF_SCHED_IDLE;

	cap_event(r, T(9), XSPROF_REC_SCHED_IN, 1, 0, 0, 0);
	cap_lock_wait(r, T(10), 2, 1, 0);
	hold(r, T(10), T(30), 1, 0);
	/* Thread 1 yields; 20 us after thread 2 took the lock it runs, and wants the lock back. */
	cap_lock_wait(r, T(30), 1, 0, 0);
	cap_event(r, T(31), XSPROF_REC_END, 2, 0, 0, 0);
	untaken(r, T(51), 1);
	cap_lock_wait(r, T(51), 1, 2, 0);
	cap_event(r, T(51), XSPROF_REC_SCHED_OUT, 1, 0, slept, 0);
	/* Two threads wait, and one ends while it waits. */
	cap_lock_wait(r, T(60), 3, 2, 0);
	cap_lock_wait(r, T(62), 4, 2, 0);
	untaken(r, T(70), 4);
	hold(r, T(51), T(80), 2, 0);
	cap_event(r, T(81), XSPROF_REC_END, 3, 0, 0, 0);
	hold(r, T(81), T(90), 3, 0);
	cap_event(r, T(91), XSPROF_REC_SCHED_IN, 1, 0, 0, 0);
	cap_event(r, T(91), XSPROF_REC_END, 1, 0, 0, 0);
	/* Thread 3 yields to thread 1, which has not waited, and does not want the lock back. */
	cap_lock_wait(r, T(100), 3, 0, 0);
	cap_event(r, T(110), XSPROF_REC_INSTANT, 1, cap_lock_name(CAP_LOCK_TAKEN), 0, 0);
	untaken(r, T(115), 3);
	/* Nobody waits. Then thread 2 waits until the process ends. */
	cap_lock_wait(r, T(150), 2, 1, 0);
}

void cap_make_handover(void)
{
	struct cap_ring r;

	cap_host("hostname=handover\n");
	cap_clock(T(0), T(10000000));
	cap_producer(0, 1, T(0));
	cap_lock_names();
	cap_arena(0);
	cap_ring_open(&r, 0, 0, 4096);
	handovers(&r);
	cap_ring_close(&r, 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, T(190));
	cap_end(T(191));
}
