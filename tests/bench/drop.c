// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures the cost of a marker that is dropped because the ring is full and has no reader.
 */
#include <inttypes.h>
#include <stdio.h>

#include "bench.h"
#include "markers.h"

static uint64_t published(void)
{
	struct xsprof_stats st = { .size = sizeof(st) };

	xsprof_get_stats(&st);
	return st.slots;
}

/* The rings of both CPUs on which slices are timed. */
static void fill(void)
{
	for (int turn = 0; turn < 2; turn++) {
		bench_change_cpu(turn);
		markers(session_ring_slots() + 2);
	}
	bench_change_cpu(0);
}

int main(int argc, char **argv)
{
	struct bench_side sides[] = {
		[BENCH_COUNTER] = { .fn = bench_counters, .n = BENCH_COUNTERS },
		[BENCH_SCALED] = { .fn = markers, .n = BENCH_MARKERS },
	};
	uint64_t before;

	(void)argc;
	session_begin(argv);
	name = xsprof_name("bench");
	fill();
	before = published();
	bench_quiet("drop", sides);
	if (!session_dropped() || published() != before) {
		fprintf(stderr, "bench: dropped markers: %" PRIu64 " found room in a full ring\n",
			published() - before);
		return 1;
	}
	return 0;
}
