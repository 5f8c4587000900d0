// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pairer across losses of records: which ranges it calls uncertain.
 */
#include "decoder/pairer.h"

static void check_uncertain(size_t i, bool uncertain)
{
	if (i < nr_ranges)
		CHECK_EQ(ranges[i].flags, uncertain ? XSPROF_RANGEF_UNCERTAIN : 0);
}

/*
 * A loss in a ring of its thread: the end of an outer range ends an inner one, whose own was lost,
 * and the outer one is open at the end, as far as the records say.
 */
static void test_lost(void)
{
	struct xsprof_pairer *p = start();

	event(p, XSPROF_REC_BEGIN, 1, 10, 1, 0);
	event(p, XSPROF_REC_BEGIN, 1, 11, 2, 0);
	event(p, XSPROF_REC_END, 1, 12, 0, 0);
	event(p, XSPROF_REC_BEGIN, 1, 13, 3, 0);
	event(p, XSPROF_EV_LOST, 0, 20, 0, 1);
	event(p, XSPROF_REC_BEGIN, 1, 21, 4, 0);
	event(p, XSPROF_REC_COMPLETE, 1, 23, 5, 3);
	event(p, XSPROF_REC_END, 1, 24, 0, 0);
	event(p, XSPROF_REC_END, 1, 30, 0, 0);
	finish(p);
	CHECK_EQ(nr_ranges, 5);
	expect(0, 2, 11, 12, 1, XSPROF_RANGE_ENDED);
	check_uncertain(0, false);
	expect(1, 5, 20, 23, 3, XSPROF_RANGE_ENDED);
	check_uncertain(1, false);
	expect(2, 4, 21, 24, 1, XSPROF_RANGE_ENDED);
	check_uncertain(2, false);
	expect(3, 3, 13, 30, 14, XSPROF_RANGE_ENDED);
	check_uncertain(3, true);
	expect(4, 1, 10, 30, 2, XSPROF_RANGE_OPEN);
	check_uncertain(4, true);
	tap_result("lost: what was open in the thread's ring has no certain end");
}

/* Threads 1 to 3 each on a CPU of their own; that of the first loses, where any may have been. */
static void test_lost_elsewhere(void)
{
	struct xsprof_pairer *p = start();

	for (uint32_t tid = 1; tid <= 3; tid++) {
		on_cpu = (int32_t)tid + 1;
		event(p, XSPROF_REC_BEGIN, tid, 10 + tid, tid, 0);
	}
	on_cpu = 2;
	event(p, XSPROF_EV_LOST, 0, 20, 0, 1);
	for (uint32_t tid = 1; tid <= 2; tid++) {
		on_cpu = (int32_t)tid + 1;
		event(p, XSPROF_REC_END, tid, 30 + tid, 0, 0);
	}
	on_cpu = 2;
	event(p, XSPROF_REC_END, 3, 33, 0, 0);
	event(p, XSPROF_REC_BEGIN, 3, 40, 4, 0);
	event(p, XSPROF_REC_BEGIN, 2, 41, 5, 0);
	/* In the ring that all share, or in none. */
	on_cpu = -1;
	event(p, XSPROF_EV_LOST, 0, 50, 0, 1);
	on_cpu = 3;
	event(p, XSPROF_REC_END, 2, 51, 0, 0);
	event(p, XSPROF_REC_BEGIN, 2, 52, 6, 0);
	finish(p);
	on_cpu = 0;
	CHECK_EQ(nr_ranges, 6);
	expect(0, 1, 11, 31, 20, XSPROF_RANGE_ENDED);
	check_uncertain(0, true);
	expect(1, 2, 12, 32, 20, XSPROF_RANGE_ENDED);
	check_uncertain(1, true);
	expect(2, 3, 13, 33, 20, XSPROF_RANGE_ENDED);
	check_uncertain(2, true);
	expect(3, 5, 41, 51, 10, XSPROF_RANGE_ENDED);
	check_uncertain(3, true);
	tap_result("lost: whichever ring it was, a thread may have been there");
	check_uncertain(4, ranges[4].name == 4);
	check_uncertain(5, ranges[5].name == 4);
	tap_result("lost: what is open at the end, after and before a loss");
}

/* Events while another ring is in a hole, which is told of when it is over, or never. */
static void test_lost_meanwhile(void)
{
	struct xsprof_pairer *p = start();

	event(p, XSPROF_REC_BEGIN, 1, 10, 1, 0);
	event(p, XSPROF_REC_BEGIN, 1, 11, 2, 0);
	event(p, XSPROF_REC_END, 1, 12, 0, 0);
	in_hole = XSPROF_EVF_HOLE;
	event(p, XSPROF_REC_BEGIN, 1, 20, 3, 0);
	event(p, XSPROF_REC_END, 1, 21, 0, 0);
	event(p, XSPROF_REC_BEGIN, 1, 22, 4, 0);
	in_hole = 0;
	event(p, XSPROF_EV_LOST, 0, 30, 0, 1);
	event(p, XSPROF_REC_END, 1, 31, 0, 0);
	event(p, XSPROF_REC_BEGIN, 1, 32, 5, 0);
	event(p, XSPROF_REC_END, 1, 33, 0, 0);
	in_hole = XSPROF_EVF_HOLE;
	event(p, XSPROF_REC_BEGIN, 1, 40, 6, 0);
	in_hole = 0;
	finish(p);
	CHECK_EQ(nr_ranges, 6);
	for (size_t i = 0; i < nr_ranges; i++)
		check_uncertain(i, ranges[i].name != 2 && ranges[i].name != 5);
	tap_result("lost: what is seen of a time when another ring misses records");
}

/* An async range ends by its id: only one without an end may have lost it. */
static void test_lost_async(void)
{
	struct xsprof_pairer *p = start();

	event(p, XSPROF_REC_ASYNC_BEGIN, 1, 10, 1, 7);
	event(p, XSPROF_REC_ASYNC_BEGIN, 1, 11, 1, 8);
	event(p, XSPROF_EV_LOST, 0, 20, 0, 1);
	event(p, XSPROF_REC_ASYNC_END, 1, 30, 1, 7);
	event(p, XSPROF_REC_ASYNC_BEGIN, 1, 31, 1, 9);
	event(p, XSPROF_REC_INSTANT, 1, 40, 1, 0);
	finish(p);
	CHECK_EQ(nr_ranges, 3);
	expect(0, 1, 10, 30, 20, XSPROF_RANGE_ENDED);
	check_uncertain(0, false);
	expect(1, 1, 11, 40, 29, XSPROF_RANGE_OPEN);
	check_uncertain(1, true);
	expect(2, 1, 31, 40, 9, XSPROF_RANGE_OPEN);
	check_uncertain(2, false);
	tap_result("lost: an async range without an end");
}

int main(void)
{
	open_trace();
	test_lost();
	test_lost_elsewhere();
	test_lost_meanwhile();
	test_lost_async();
	return close_trace();
}
