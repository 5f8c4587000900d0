// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures the cost of a marker through the shared library without the clock, which otherwise
 * dominates: linked with a build of the library whose sequence does not read it.
 */
#include "bench.h"
#include "markers.h"

int main(int argc, char **argv)
{
	struct bench_side sides[] = {
		[BENCH_COUNTER] = { .fn = bench_counters, .n = BENCH_COUNTERS },
		[BENCH_SCALED] = { .fn = markers, .n = BENCH_MARKERS, .after = session_drain },
	};

	(void)argc;
	session_begin(argv);
	name = xsprof_name("bench");
	bench_quiet("noclock_so", sides);
	session_check_drops("markers without the clock");
	return 0;
}
