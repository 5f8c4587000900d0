// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waits for the GIL that no row of a report has: records were lost inside one, and there are more
 * locks than a report has room for.
 */
#include <xsprof/python-names.h>

#include "tools/capture.h"

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

/* The waits are for lock 0; these hold others, a microsecond each, and the last find no room. */
static void holds(struct cap_ring *r)
{
	struct xsprof_rec_span span;
	uint32_t i;

	for (i = 1; i < LOCKS + MORE; i++) {
		span = (struct xsprof_rec_span){
			.rec = cap_head(T(100 + i), XSPROF_REC_SPAN, 8,
					cap_lock_name(CAP_LOCK_HELD), 0, i),
			.begin = T(99 + i), .end = T(100 + i),
		};
		cap_record(r, &span, 2);
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
