// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures the cost of a marker without a recorder: a loop of begins and ends, compared with an
 * empty loop, whose backward branch is predicted.
 */
#include <stdio.h>

#include "bench.h"

#define EVENTS	2000000

static xsprof_name_t name;

/* Makes as many rounds as the other loop for as many events: a round has a begin and an end. */
static void empty(long n)
{
	for (long i = 0; i < n; i += 2)
		__asm__ __volatile__("" : : : "memory");
}

static void markers(long n)
{
	for (long i = 0; i < n; i += 2) {
		xsprof_begin(name);
		__asm__ __volatile__("" : : : "memory");
		xsprof_end();
	}
}

int main(int argc, char **argv)
{
	struct bench_side sides[] = {
		{ .fn = empty, .n = EVENTS }, { .fn = markers, .n = EVENTS },
	};
	struct bench_series more = { 0 };

	(void)argc;
	session_leave(argv);
	if (xsprof_enabled()) {
		fprintf(stderr, "bench: disabled: somebody records\n");
		return 1;
	}
	name = xsprof_name("bench");
	bench_pin(bench_cpu(0));
	bench_hush_start();
	bench_realtime(true);
	bench_run(sides, 2);
	for (int r = 0; r < BENCH_RUNS; r++) {
		bench_run(sides, 2);
		bench_add(&more, sides[1].ns - sides[0].ns);
	}
	bench_print("disabled", "ns", &more);
	return 0;
}
