// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pairer: random trees of open and of complete ranges against their own definition, and each
 * way in which begins and ends do not fit.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/draw.h"
#include "decoder/pairer.h"

#define NODES	4000

/* ---- random trees ------------------------------------------------------------------------ */

struct node {
	uint64_t	begin;
	uint64_t	end;
	uint64_t	children;
	uint32_t	depth;		/* open BEGINs around it */
	bool		complete;
};

static struct node nodes[NODES + 1];
static uint32_t nr_nodes;
static uint64_t now;

/* Emits a tree in the order in which its records arrive.  Return: its time. */
static uint64_t grow(struct xsprof_pairer *p, uint32_t depth, unsigned int level,
		     unsigned int kinds)
{
	struct node *node = &nodes[++nr_nodes];
	uint32_t name = nr_nodes, tid = 1;

	node->begin = now += 1 + draw(50);
	node->complete = kinds == 1 || (kinds == 2 && draw(2));
	node->depth = depth;
	node->children = 0;
	if (!node->complete)
		event(p, XSPROF_REC_BEGIN, tid, node->begin, name, 0);
	while (nr_nodes < NODES && level < 60 && draw(5) > 1)
		node->children += grow(p, depth + !node->complete, level + 1, kinds);
	node->end = now += 1 + draw(50);
	if (node->complete)
		event(p, XSPROF_REC_COMPLETE, tid, node->end, name, node->end - node->begin);
	else
		event(p, XSPROF_REC_END, tid, node->end, draw(2) ? name : 0, 0);
	return node->end - node->begin;
}

static void test_trees(unsigned int kinds, const char *what)
{
	for (unsigned int round = 0; round < 20; round++) {
		struct xsprof_pairer *p = start();
		struct xsprof_pairer_stats stats;

		draw_seed = round * 7 + kinds;
		nr_nodes = 0;
		now = 1000;
		while (nr_nodes < NODES)
			grow(p, 0, 0, kinds);
		stats = finish(p);
		CHECK_EQ(nr_ranges, nr_nodes);
		CHECK(!stats.cut && !stats.open && !stats.unmatched_ends && !stats.too_deep);
		for (size_t i = 0; i < nr_ranges; i++) {
			const struct xsprof_range *range = &ranges[i];
			const struct node *node = &nodes[range->name];

			CHECK_EQ(range->begin_ns, node->begin);
			CHECK_EQ(range->end_ns, node->end);
			CHECK_EQ(range->self_ns, node->end - node->begin - node->children);
			CHECK_EQ(range->depth, node->depth);
			CHECK_EQ(range->kind,
				 node->complete ? XSPROF_REC_COMPLETE : XSPROF_REC_BEGIN);
			CHECK_EQ(range->how, XSPROF_RANGE_ENDED);
		}
	}
	tap_result("20 trees of %d ranges: %s", NODES, what);
}

/* Many more siblings than are kept: exact for the open parent, bounded for the complete one. */
static void test_many_children(void)
{
	struct xsprof_pairer *p = start();
	const int n = 300000;

	event(p, XSPROF_REC_BEGIN, 1, 10, 1, 0);
	event(p, XSPROF_REC_COMPLETE, 1, 100, 2, 50);
	for (int i = 0; i < n; i++)
		event(p, XSPROF_REC_COMPLETE, 1, 1000 + i * 10, 3, 5);
	event(p, XSPROF_REC_COMPLETE, 1, 1000 + n * 10, 4, n * 10 + 100);
	event(p, XSPROF_REC_END, 1, 2000 + n * 10, 0, 0);
	finish(p);
	CHECK_EQ(nr_ranges, n + 3);
	CHECK(ranges[n + 1].name == 4 &&
	      llabs((long long)ranges[n + 1].self_ns - (n * 5 + 100)) < n * 5 / 1000);
	CHECK(ranges[n + 2].name == 1 &&
	      llabs((long long)ranges[n + 2].self_ns - 1840) < n * 5 / 1000);
	tap_result("%d children", n);
}

/* ---- what does not fit ------------------------------------------------------------------- */

static void test_cut(void)
{
	struct xsprof_pairer *p = start();
	struct xsprof_pairer_stats stats;

	event(p, XSPROF_REC_BEGIN, 1, 10, 1, 0);
	event(p, XSPROF_REC_BEGIN, 1, 20, 2, 0);
	event(p, XSPROF_REC_BEGIN, 1, 30, 3, 0);
	event(p, XSPROF_REC_END, 1, 100, 1, 0);		/* 2 and 3 never end */
	event(p, XSPROF_REC_END, 1, 110, 2, 0);		/* nothing is open */
	event(p, XSPROF_REC_END, 1, 120, 0, 0);
	event(p, XSPROF_REC_BEGIN, 1, 130, 4, 0);
	event(p, XSPROF_REC_END, 1, 140, 5, 0);		/* not of that name */
	event(p, XSPROF_REC_END, 2, 150, 0, 0);		/* another thread */
	event(p, XSPROF_REC_END, 1, 160, 4, 0);
	stats = finish(p);
	expect(0, 3, 30, 100, 70, XSPROF_RANGE_CUT);
	expect(1, 2, 20, 100, 10, XSPROF_RANGE_CUT);
	expect(2, 1, 10, 100, 10, XSPROF_RANGE_ENDED);
	expect(3, 4, 130, 160, 30, XSPROF_RANGE_ENDED);
	CHECK_EQ(stats.unmatched_ends, 4);
	CHECK_EQ(stats.cut, 2);
	tap_result("ends that skip, and ends of nothing");
}

#define NET	(1u << XSPROF_NAME_SHIFT)

static void test_earlier(void)
{
	struct xsprof_pairer *p = start();
	struct xsprof_pairer_stats stats;

	event(p, XSPROF_REC_BEGIN, 1, 10, 1, 0);
	event(p, XSPROF_REC_BEGIN, 1, 20, 1, 0);
	event(p, XSPROF_REC_END, 1, 50, 1, XSPROF_END_EARLIER);
	event(p, XSPROF_REC_BEGIN, 1, 60, 2, 0);
	event(p, XSPROF_REC_BEGIN, 1, 70, 3, 0);
	event(p, XSPROF_REC_END, 1, 80, 2, XSPROF_END_EARLIER);
	event(p, XSPROF_REC_END, 1, 81, 2, XSPROF_END_EARLIER);		/* not any more */
	event(p, XSPROF_REC_END, 1, 90, 0, 0);				/* of 3 */
	event(p, XSPROF_REC_END, 1, 100, 0, 0);
	event(p, XSPROF_REC_END, 1, 110, 2, XSPROF_END_EARLIER);
	/* One that a pause or its category has cut. */
	event(p, XSPROF_REC_BEGIN, 1, 120, 4, 0);
	event(p, XSPROF_REC_BEGIN, 1, 121, NET, 0);
	event(p, XSPROF_REC_CONTROL, 1, 130, 1, 1);
	event(p, XSPROF_REC_END, 1, 131, NET, XSPROF_END_EARLIER);
	event(p, XSPROF_REC_BEGIN, 1, 140, 5, 0);
	event(p, XSPROF_REC_END, 1, 150, 0, 0);
	event(p, XSPROF_REC_END, 1, 160, 0, 0);
	event(p, XSPROF_REC_END, 1, 170, 0, 0);				/* nothing is open */
	stats = finish(p);
	expect(0, 1, 20, 50, 30, XSPROF_RANGE_CUT);
	expect(1, 2, 60, 80, 10, XSPROF_RANGE_CUT);
	expect(2, 3, 70, 90, 20, XSPROF_RANGE_ENDED);
	expect(3, 1, 10, 100, 30, XSPROF_RANGE_ENDED);
	expect(4, NET, 121, 130, 9, XSPROF_RANGE_CUT);
	expect(5, 5, 140, 150, 10, XSPROF_RANGE_ENDED);
	expect(6, 4, 120, 160, 21, XSPROF_RANGE_ENDED);
	CHECK_EQ(stats.unmatched_ends, 1);
	CHECK_EQ(stats.cut, 3);
	tap_result("ends of what ended earlier");
}


static void test_pause(void)
{
	struct xsprof_pairer *p = start();
	struct xsprof_pairer_stats stats;

	/* Category 1 is turned off inside category 0 and around it. */
	event(p, XSPROF_REC_BEGIN, 1, 10, NET | 1, 0);
	event(p, XSPROF_REC_COMPLETE, 1, 15, 9, 3);
	event(p, XSPROF_REC_BEGIN, 1, 20, 2, 0);
	event(p, XSPROF_REC_BEGIN, 1, 30, NET | 3, 0);
	event(p, XSPROF_REC_BEGIN, 2, 35, NET | 4, 0);
	event(p, XSPROF_REC_BEGIN, 2, 35, 8, 0);
	event(p, XSPROF_REC_END, 2, 35, 8, 0);
	event(p, XSPROF_REC_ASYNC_BEGIN, 1, 36, NET | 5, 7);
	event(p, XSPROF_REC_CONTROL, 3, 40, XSPROF_CONTROL_ENABLE, 1);
	expect(2, NET | 3, 30, 40, 10, XSPROF_RANGE_CUT);
	expect(3, NET | 1, 10, 40, 30 - 20 - 3, XSPROF_RANGE_CUT);
	expect(4, NET | 4, 35, 40, 5, XSPROF_RANGE_CUT);
	expect(5, NET | 5, 36, 40, 4, XSPROF_RANGE_CUT);
	CHECK_EQ(nr_ranges, 6);
	event(p, XSPROF_REC_END, 1, 45, 0, 0);		/* of NET | 3, and no other's */
	CHECK_EQ(nr_ranges, 6);
	event(p, XSPROF_REC_END, 1, 50, 0, 0);
	expect(6, 2, 20, 50, 20, XSPROF_RANGE_ENDED);
	event(p, XSPROF_REC_END, 1, 55, NET | 1, 0);	/* of NET | 1, by name */
	event(p, XSPROF_REC_END, 1, 56, 0, 0);		/* nobody's */
	event(p, XSPROF_REC_BEGIN, 1, 60, 6, 0);
	event(p, XSPROF_REC_CONTROL, 1, 70, XSPROF_CONTROL_PAUSE, ~0ull);
	expect(7, 6, 60, 70, 10, XSPROF_RANGE_CUT);
	event(p, XSPROF_REC_CONTROL, 1, 80, XSPROF_CONTROL_RESUME, 1);
	event(p, XSPROF_REC_BEGIN, 1, 90, 7, 0);
	event(p, XSPROF_REC_END, 1, 95, 7, 0);
	expect(8, 7, 90, 95, 5, XSPROF_RANGE_ENDED);
	stats = finish(p);
	CHECK_EQ(stats.cut, 5);
	CHECK_EQ(stats.unmatched_ends, 1);
	CHECK_EQ(nr_ranges, 9);
	tap_result("categories turned off, pause, resume");
}

/* What is cut out of the middle leaves its time to its parent as before. */
static void test_cut_middle(void)
{
	for (int with = 0; with < 2; with++) {
		struct xsprof_pairer *p = start();

		event(p, XSPROF_REC_BEGIN, 1, 100, 1, 0);
		event(p, XSPROF_REC_BEGIN, 1, 110, NET | 2, 0);
		if (with)
			event(p, XSPROF_REC_COMPLETE, 1, 115, 3, 2);
		event(p, XSPROF_REC_BEGIN, 1, 120, 4, 0);
		event(p, XSPROF_REC_CONTROL, 1, 130, XSPROF_CONTROL_ENABLE, 1);
		event(p, XSPROF_REC_END, 1, 150, 0, 0);
		event(p, XSPROF_REC_END, 1, 160, 0, 0);	/* of what was cut */
		event(p, XSPROF_REC_END, 1, 200, 0, 0);
		finish(p);
		expect(with + 0, NET | 2, 110, 130, 10 - 2 * with, XSPROF_RANGE_CUT);
		expect(with + 1, 4, 120, 150, 30, XSPROF_RANGE_ENDED);
		expect(with + 2, 1, 100, 200, 100 - 10 - 30, XSPROF_RANGE_ENDED);
	}
	tap_result("a range cut out of the middle");
}

static void test_open(void)
{
	struct xsprof_event ev = { .type = XSPROF_EV_EXIT, .ns = 100, .producer = 0 };
	struct xsprof_pairer *p = start();
	struct xsprof_pairer_stats stats;

	event(p, XSPROF_REC_BEGIN, 1, 10, 1, 0);
	event(p, XSPROF_REC_ASYNC_BEGIN, 1, 20, 2, 5);
	CHECK_EQ(xsprof_pairer_event(p, &ev), 0);
	expect(0, 1, 10, 100, 90, XSPROF_RANGE_OPEN);
	expect(1, 2, 20, 100, 80, XSPROF_RANGE_OPEN);
	event(p, XSPROF_REC_BEGIN, 1, 110, 3, 0);
	event(p, XSPROF_REC_BEGIN, 2, 150, 4, 0);
	stats = finish(p);
	CHECK_EQ(nr_ranges, 4);
	CHECK(ranges[2].end_ns == 150 && ranges[3].end_ns == 150);
	CHECK_EQ(stats.open, 4);
	tap_result("open at the exit, and at the end");
}

static void test_async(void)
{
	struct xsprof_pairer *p = start();
	struct xsprof_pairer_stats stats;
	const int n = 50000;

	for (int i = 0; i < n; i++)
		event(p, XSPROF_REC_ASYNC_BEGIN, 1, 1000 + i, 1 + i % 3, i / 3);
	for (int i = 0; i < n; i += 2)
		event(p, XSPROF_REC_ASYNC_END, 2, 100000 + i, 1 + i % 3, i / 3);
	event(p, XSPROF_REC_ASYNC_END, 2, 200000, 1, n);
	for (int i = 1; i < n; i += 2)
		event(p, XSPROF_REC_ASYNC_END, 2, 200000 + i, 1 + i % 3, i / 3);
	event(p, XSPROF_REC_ASYNC_BEGIN, 1, 300000, 1, 1);
	event(p, XSPROF_REC_ASYNC_BEGIN, 1, 300001, 1, 1);
	event(p, XSPROF_REC_ASYNC_END, 1, 300002, 1, 1);
	CHECK_EQ(nr_ranges, n + 2);
	expect(0, 1, 1000, 100000, 99000, XSPROF_RANGE_ENDED);
	expect(n, 1, 300000, 300001, 1, XSPROF_RANGE_CUT);
	expect(n + 1, 1, 300001, 300002, 1, XSPROF_RANGE_ENDED);
	CHECK(ranges[0].tid == 1 && ranges[0].id == 0 && ranges[0].kind == XSPROF_REC_ASYNC_BEGIN);
	stats = finish(p);
	CHECK_EQ(stats.unmatched_ends, 1);
	CHECK_EQ(stats.open, 0);
	tap_result("async ranges");
}

static void test_bounds(void)
{
	struct xsprof_pairer *p = start();
	struct xsprof_pairer_stats stats;

	for (int i = 0; i < 5000; i++)
		event(p, XSPROF_REC_BEGIN, 1, 10 + i, 1, 0);
	for (int i = 0; i < 5000; i++)
		event(p, XSPROF_REC_END, 1, 10000 + i, 0, 0);
	CHECK_EQ(nr_ranges, 4096);
	for (uint32_t tid = 0; tid < 600000; tid++) {
		event(p, XSPROF_REC_BEGIN, tid, 20000, 1, 0);
		event(p, XSPROF_REC_END, tid, 20001, 1, 0);
	}
	CHECK_EQ(nr_ranges, 4096 + 600000);
	stats = finish(p);
	CHECK_EQ(stats.too_deep, 5000 - 4096);
	CHECK_EQ(stats.unmatched_ends, 0);
	CHECK_EQ(stats.open, 0);
	tap_result("too deep, too many threads");
}

static void test_recursive(void)
{
	struct xsprof_pairer *p = start();

	event(p, XSPROF_REC_BEGIN, 1, 10, 1, 0);
	event(p, XSPROF_REC_BEGIN, 1, 11, 2, 0);
	event(p, XSPROF_REC_BEGIN, 1, 12, 1, 0);
	event(p, XSPROF_REC_COMPLETE, 1, 14, 2, 1);
	event(p, XSPROF_REC_END, 1, 15, 0, 0);
	event(p, XSPROF_REC_END, 1, 16, 0, 0);
	event(p, XSPROF_REC_BEGIN, 2, 16, 2, 0);
	event(p, XSPROF_REC_END, 2, 17, 0, 0);
	event(p, XSPROF_REC_END, 1, 18, 0, 0);
	finish(p);
	CHECK_EQ(nr_ranges, 5);
	for (size_t i = 0; i < 5; i++)
		CHECK_EQ(ranges[i].flags, i < 2 ? XSPROF_RANGEF_RECURSIVE : 0);
	tap_result("recursive: inside another of its name on its thread");
}

int main(void)
{
	open_trace();
	test_trees(0, "begin and end");
	test_trees(1, "complete");
	test_trees(2, "both");
	test_many_children();
	test_cut();
	test_earlier();
	test_pause();
	test_cut_middle();
	test_open();
	test_async();
	test_bounds();
	test_recursive();
	return close_trace();
}
