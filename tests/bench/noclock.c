// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures the cost of a marker through the shared library without the clock, which otherwise
 * dominates: linked with a build of the library whose sequence does not read it.
 */
#include <stdio.h>

#include "bench.h"

static xsprof_name_t name;

static void markers(long n)
{
	for (long i = 0; i < n; i += 2) {
		xsprof_begin(name);
		xsprof_end();
	}
}

int main(int argc, char **argv)
{
	struct bench_side sides[] = {
		[BENCH_COUNTER] = { .fn = bench_counters, .n = BENCH_COUNTERS },
		[BENCH_SCALED] = { .fn = markers, .n = BENCH_MARKERS, .after = session_drain },
	};

	(void)argc;
	session_enter(argv, "2M");
	session_open();
	name = xsprof_name("bench");
	bench_pin(bench_cpu(0));
	bench_hush_start();
	bench_realtime(true);
	bench_quiet("noclock_so", sides);
	if (session_dropped()) {
		fprintf(stderr, "bench: markers without the clock: some were dropped\n");
		return 1;
	}
	return 0;
}
