// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures the cost of a marker in one thread, compared with the bare counter: called, and with the
 * sequence inline; and the memory used by markers. Linked with the shared library, and once more
 * (BENCH_ARCHIVE) with the static one.
 */
#include "bench.h"
#include "marker.h"
#include "markers.h"

#ifdef BENCH_ARCHIVE
#define ID(name)	"archive_" name
#else
#define ID(name)	name
#endif

#define EVENTS	60000	/* with the warm-up fewer than a ring of 2 MiB has slots */

#ifndef BENCH_ARCHIVE
static uint64_t slots(void)
{
	struct xsprof_stats st = { .size = sizeof(st) };

	xsprof_get_stats(&st);
	return st.slots;
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
#endif

static void enabled(void)
{
	struct bench_side sides[] = {
		{ .fn = bench_counters, .n = EVENTS },
		{ .fn = markers, .n = EVENTS, .after = session_drain },
		{ .fn = bench_inline_markers, .n = EVENTS, .after = session_drain },
	};
	struct bench_series bare = { 0 }, cost[2] = { 0 }, ratio[2] = { 0 };

	bench_run(sides, 3);
	for (int r = 0; r < BENCH_RUNS; r++) {
		bench_run(sides, 3);
		bench_add(&bare, sides[0].ns);
		for (int i = 0; i < 2; i++) {
			bench_add(&cost[i], sides[1 + i].ns);
			bench_add(&ratio[i], sides[1 + i].ns / sides[0].ns);
		}
	}
	session_check_drops("markers");
	bench_print(ID("counter"), "ns", &bare);
	bench_print(ID("marker"), "ns", &cost[0]);
	bench_print(ID("marker_ratio"), "ratio", &ratio[0]);
	bench_print(ID("inline"), "ns", &cost[1]);
	bench_print(ID("inline_ratio"), "ratio", &ratio[1]);
}

int main(int argc, char **argv)
{
	session_begin(argv);
	name = xsprof_name("bench");
	bench_inline_name = name;
	(void)argc;
#ifndef BENCH_ARCHIVE
	bytes();
#endif
	enabled();
	return 0;
}
