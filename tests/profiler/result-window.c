// SPDX-License-Identifier: GPL-2.0-only
/*
 * A result's time window: ranges that reach into it are cut, as are those open at its end; in
 * events and in the file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/ops.h"
#include "profiler/saved.h"
#include "profiler/times.h"
#include "common/tap.h"

static void test_cut(void)
{
	struct xsprof_result_options opts = { .size = sizeof(opts), .from_ns = 2150,
					      .to_ns = 2600 };
	struct xsprof_result *r;
	struct ops o;

	nested(&o);
	r = ops_result(&o, &opts);
	/* outer, other, inner, range, point, whole: the rest is outside. */
	CHECK_EQ(xsprof_result_nr_events(r), 6);
	/* 450 minus inner 250 and whole 100. */
	check_times(must(r, "outer", 0), 2150, 2600, 100);
	check_times(must(r, "inner", 0), 2150, 2400, 150);
	check_times(must(r, "whole", 0), 2500, 2600, 100);
	check_times(must(r, "range", 0), 2200, 2300, 100);
	check_times(must(r, "other", 0), 2150, 2600, 450);
	CHECK(xsprof_event_unfinished(must(r, "outer", 0)));
	CHECK(!xsprof_event_unfinished(must(r, "inner", 0)));
	CHECK(!ops_find(r, "inner", 1) && !ops_find(r, "open", 0));
	CHECK_EQ(xsprof_result_start_ns(r), REAL + 2150);
	xsprof_result_free(r);
	/* A range that ends or begins exactly at the border is outside. */
	opts.from_ns = 2300;
	opts.to_ns = 2400;
	r = ops_result(&o, &opts);
	CHECK_EQ(xsprof_result_nr_events(r), 3);
	CHECK(!ops_find(r, "range", 0) && ops_find(r, "inner", 0));
	xsprof_result_free(r);
	opts.from_ns = 2400;
	opts.to_ns = 2500;
	r = ops_result(&o, &opts);
	CHECK_EQ(xsprof_result_nr_events(r), 2);
	check_times(must(r, "outer", 0), 2400, 2500, 100);
	xsprof_result_free(r);
	opts.from_ns = opts.to_ns = 2250;
	r = ops_result(&o, &opts);
	/* The point, and the ranges around it without extent. */
	CHECK_EQ(xsprof_result_nr_events(r), 5);
	CHECK_EQ(xsprof_event_duration_ns(must(r, "range", 0)), 0);
	xsprof_result_free(r);
	opts.from_ns = 2150;
	opts.to_ns = 2600;
	r = ops_result(&o, &opts);
	/* Ranges that begin at once keep their order. */
	CHECK(xsprof_event_parent(must(r, "inner", 0)) == must(r, "outer", 0));
	xsprof_result_free(r);
	ops_free(&o);
	tap_result("a part of the time");
}

/* Two ticks are a nanosecond, and the clock did not start at 0. */
#define NS(ticks)	(500 + (ticks) / 2)

static struct xsprof_sync at(uint64_t ticks)
{
	struct xsprof_sync sync = sync_at(NS(ticks), 0);

	sync.ticks = ticks;
	return sync;
}

static void nested_by_ticks(struct ops *o)
{
	struct xsprof_sync syncs[] = { at(1000), at(1000000000) };

	ops_begin_by(o, syncs, 2);
	nest(o);
}

static void test_ticks(void)
{
	struct xsprof_result_options opts = { .size = sizeof(opts), .from_ticks = 2150,
					      .to_ticks = 2600 };
	struct xsprof_result *r;
	struct ops o;

	nested_by_ticks(&o);
	r = ops_result(&o, &opts);
	CHECK_EQ(xsprof_result_nr_events(r), 6);
	check_times(must(r, "outer", 0), NS(2150), NS(2600), 50);
	check_times(must(r, "inner", 0), NS(2150), NS(2400), 75);
	check_times(must(r, "range", 0), NS(2200), NS(2300), 50);
	CHECK_EQ(xsprof_result_start_ns(r), REAL + NS(2150));
	xsprof_result_free(r);
	/* Ticks take precedence over ns. */
	opts.from_ns = 1;
	opts.to_ns = 2;
	r = ops_result(&o, &opts);
	CHECK_EQ(xsprof_result_nr_events(r), 6);
	xsprof_result_free(r);
	/* One of each unit. */
	opts.from_ns = NS(2150);
	opts.from_ticks = 0;
	r = ops_result(&o, &opts);
	check_times(must(r, "outer", 0), NS(2150), NS(2600), 50);
	xsprof_result_free(r);
	opts.from_ns = NS(2700);
	CHECK_EQ(xsprof_result_open(cap_path(o.cap.data, o.cap.len), &opts, &r), -EINVAL);
	opts.from_ticks = 2601;
	CHECK_EQ(xsprof_result_open(cap_path(o.cap.data, o.cap.len), &opts, &r), 0);
	xsprof_result_free(r);
	opts.from_ticks = 2602;
	CHECK_EQ(xsprof_result_open(cap_path(o.cap.data, o.cap.len), &opts, &r), -EINVAL);
	/* A window before the clock's start is empty. */
	opts = (struct xsprof_result_options){ .size = sizeof(opts), .to_ticks = 1 };
	r = ops_result(&o, &opts);
	CHECK_EQ(xsprof_result_nr_events(r), 0);
	xsprof_result_free(r);
	ops_free(&o);
	tap_result("the same by the clock of the records");
}

/* Times at which ranges of nest() begin or end. */
static const uint64_t edges[] = {
	2000, 2050, 2100, 2200, 2250, 2300, 2400, 2500, 2700, 2800, 2850, 2900, 3000, 3100, 4000,
};

#define EDGES	(sizeof(edges) / sizeof(edges[0]))

/* For all threads, and for one. */
static void check_edges(struct ops *o, uint64_t from, uint64_t to)
{
	const uint32_t tid = TID;

	for (uint32_t nr = 0; nr < 2; nr++) {
		struct xsprof_result_options opts = {
			.size = sizeof(opts), .from_ticks = from, .to_ticks = to, .tids = &tid,
			.nr_tids = nr, .steps_to = nr,
		};
		struct xsprof_result *r = ops_result(o, &opts);

		if (!saved_check(r, saved(r)))
			tap_note("from %llu to %llu of %u", (unsigned long long)from,
				 (unsigned long long)to, nr);
		xsprof_result_free(r);
	}
}

static void test_edges(void)
{
	struct ops o;

	nested_by_ticks(&o);
	for (unsigned int i = 0; i < EDGES; i++)
		for (int near = -2; near <= 2; near++) {
			check_edges(&o, edges[i] + (uint64_t)near, 0);
			check_edges(&o, 0, edges[i] + (uint64_t)near);
		}
	for (unsigned int i = 0; i < EDGES; i++)
		for (unsigned int k = i; k < EDGES; k++)
			check_edges(&o, edges[i], edges[k]);
	ops_free(&o);
	tap_result("at every edge the file says what events say");
}

/* Two steps of the profiler, one of the program's own; ops that stay open. */
static void steps(struct ops *o)
{
	ops_begin(o);
	ops_op(o, TID, 1900, "around", NULL);
	ops_rec(o, XSPROF_REC_STEP, TID, 2000, "ProfilerStep", 0, 7);
	ops_rec(o, XSPROF_REC_STEP, TID, 2050, "epoch", 0, 1);
	ops_op(o, TID, 2100, "a", NULL);
	ops_end(o, TID, 2300);
	ops_rec(o, XSPROF_REC_STEP, TID, 3000, "ProfilerStep", 0, 8);
	ops_op(o, TID, 3100, "b", NULL);
	ops_end(o, TID, 3500);
}

static void check_steps(struct ops *o, uint64_t to, uint64_t over, uint64_t end, bool open)
{
	struct xsprof_result_options opts = { .size = sizeof(opts), .to_ns = to,
					      .steps_to = over };
	struct xsprof_result *r;

	r = ops_result(o, &opts);
	check_times(must(r, "ProfilerStep#7", 0), 2000, 3000, 800);
	check_times(must(r, "ProfilerStep#8", 0), 3000, end, end - 3000 - 400);
	CHECK(!xsprof_event_unfinished(must(r, "ProfilerStep#7", 0)));
	CHECK_EQ(xsprof_event_unfinished(must(r, "ProfilerStep#8", 0)), open);
	CHECK(xsprof_event_unfinished(must(r, "epoch#1", 0)));
	CHECK(xsprof_event_unfinished(must(r, "around", 0)));
	CHECK_EQ(xsprof_event_end_ns(must(r, "around", 0)), REAL + end);
	CHECK(xsprof_event_parent(must(r, "ProfilerStep#8", 0)) != NULL);
	saved_check(r, saved(r));
	xsprof_result_free(r);
}

static void test_steps(void)
{
	struct ops o;

	steps(&o);
	check_steps(&o, 0, 0, 3500, true);
	check_steps(&o, 4000, 0, 3500, true);
	check_steps(&o, 4000, 8, 4000, true);
	check_steps(&o, 4000, 9, 4000, false);
	check_steps(&o, 0, 9, 3500, false);
	/* The program begins another step after the window; the session has switched it off. */
	ops_free(&o);
	steps(&o);
	ops_rec(&o, XSPROF_REC_CONTROL, TID, 4050, NULL, XSPROF_CONTROL_PAUSE, 0);
	ops_rec(&o, XSPROF_REC_STEP, TID, 4100, "ProfilerStep", 0, 9);
	check_steps(&o, 4000, 0, 4000, true);
	check_steps(&o, 4000, 9, 4000, false);
	ops_free(&o);
	tap_result("a step that was over at the end, and one that was not");
}

int main(void)
{
	test_cut();
	test_ticks();
	test_edges();
	test_steps();
	return tap_done();
}
