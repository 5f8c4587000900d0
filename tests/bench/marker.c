// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a marker costs one thread: through the shared library beside the bare counter, and when
 * the ring is full. Built twice: against the library, and as marker-noclock against a build of
 * it in which the sequence does not read the clock, which otherwise hides all the rest.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

#define EVENTS	60000	/* fewer than a ring of 2 MiB has slots */

static xsprof_name_t name;

static void counter(long n)
{
	for (long i = 0; i < n; i++) {
		uint64_t v = bench_counter();

		__asm__ __volatile__("" : : "r" (v));
	}
}

static void markers(long n)
{
	for (long i = 0; i < n; i += 2) {
		xsprof_begin(name);
		xsprof_end();
	}
}

static uint64_t slots(void)
{
	struct xsprof_stats st = { .size = sizeof(st) };

	xsprof_get_stats(&st);
	return st.slots;
}

static void must_have_lost(bool some)
{
	if ((session_dropped() > 0) == some)
		return;
	fprintf(stderr, "bench: markers: %s\n",
		some ? "none was dropped by a full ring" : "some were dropped");
	exit(1);
}

/* Bytes of ring memory, by what was published. */
static void bytes(void)
{
	struct bench_series pair = { 0 }, complete = { 0 };

	for (int r = 0; r < BENCH_RUNS; r++) {
		uint64_t before = slots(), n = 1000;

		for (uint64_t i = 0; i < n; i++) {
			xsprof_begin(name);
			xsprof_end();
		}
		bench_add(&pair, (double)(slots() - before) * XSPROF_SLOT_SIZE / n);
		before = slots();
		for (uint64_t i = 0; i < n; i++)
			xsprof_complete(name, xsprof_now());
		bench_add(&complete, (double)(slots() - before) * XSPROF_SLOT_SIZE / n);
		session_drain();
	}
	bench_print("bytes_pair", "B", &pair);
	bench_print("bytes_complete", "B", &complete);
}

static double scale(const struct bench_side *sides)
{
	return sides[1].ns * 9 / sides[0].ns;
}

static void enabled(void)
{
	struct bench_side sides[] = {
		{ .fn = counter, .n = EVENTS },
		{ .fn = markers, .n = EVENTS, .after = session_drain },
	};
	struct bench_series bare = { 0 }, cost = { 0 }, ratio = { 0 };

	bench_run(sides, 2);
	for (int r = 0; r < BENCH_RUNS; r++) {
		bench_run(sides, 2);
		bench_add(&bare, sides[0].ns);
		bench_add(&cost, sides[1].ns);
		bench_add(&ratio, sides[1].ns / sides[0].ns);
	}
	must_have_lost(false);
	bench_print("counter", "ns", &bare);
	bench_print("marker", "ns", &cost);
	bench_print("marker_ratio", "ratio", &ratio);
}

static void without_clock(void)
{
	struct bench_side sides[] = {
		{ .fn = counter, .n = EVENTS },
		{ .fn = markers, .n = EVENTS, .after = session_drain },
	};
	struct bench_series scaled = { 0 };

	bench_quiet_runs(sides, 2, scale, &scaled);
	must_have_lost(false);
	bench_print("noclock_so", "ns at 9", &scaled);
}

static void dropped(void)
{
	struct bench_side sides[] = {
		{ .fn = counter, .n = EVENTS },
		{ .fn = markers, .n = EVENTS },	/* nobody reads */
	};
	struct bench_series scaled = { 0 };

	bench_run(sides, 2);
	bench_quiet_runs(sides, 2, scale, &scaled);
	must_have_lost(true);
	bench_print("drop", "ns at 9", &scaled);
}

int main(int argc, char **argv)
{
	session_enter(argv, "2M");
	session_open();
	name = xsprof_name("bench");
	bench_pin(bench_cpu(0));
	bench_hush_start();
	if (!bench_realtime(true))
		fprintf(stderr, "bench: no right to real-time priority: more noise\n");
	(void)argc;
#ifdef BENCH_NO_CLOCK
	(void)bytes, (void)enabled, (void)dropped;
	without_clock();
#else
	(void)without_clock;
	bytes();
	enabled();
	dropped();
#endif
	return 0;
}
