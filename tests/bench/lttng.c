// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares a tracepoint of LTTng-UST with a marker with the same payload, alternating in one
 * process. run.sh creates an LTTng session in snapshot mode before it starts this.
 */
#include <sys/syscall.h>
#include <unistd.h>

#include "bench.h"
#include "lttng-event.h"
#include "markers.h"

#define EVENTS	60000

static uint32_t tid;

static void tracepoints(long n)
{
	for (long i = 0; i < n; i += 2) {
		lttng_ust_tracepoint(xsprof_bench, marker, tid, name, 0);
		lttng_ust_tracepoint(xsprof_bench, marker, tid, 0, 0);
	}
}

int main(int argc, char **argv)
{
	struct bench_side sides[] = {
		{ .fn = tracepoints, .n = EVENTS },
		{ .fn = markers, .n = EVENTS, .after = session_drain },
	};
	struct bench_series theirs = { 0 }, ratio = { 0 };

	(void)argc;
	session_begin(argv);
	name = xsprof_name("bench");
	tid = (uint32_t)syscall(SYS_gettid);
	if (!lttng_ust_tracepoint_enabled(xsprof_bench, marker)) {
		bench_skip("lttng_ratio", "LTTng-UST's tracepoint is not enabled");
		return 0;
	}
	bench_run(sides, 2);
	for (int r = 0; r < BENCH_RUNS; r++) {
		bench_run(sides, 2);
		bench_add(&theirs, sides[0].ns);
		bench_add(&ratio, sides[0].ns / sides[1].ns);
	}
	session_check_drops("markers beside LTTng-UST");
	bench_print("lttng", "ns", &theirs);
	bench_print("lttng_ratio", "ratio", &ratio);
	return 0;
}
