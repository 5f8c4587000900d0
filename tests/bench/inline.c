// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures the cost of the marker's sequence without the clock and without a call: the library's
 * own rseq.h in the caller's loop, the rest of the library linked in statically (a build in which
 * the sequence does not read the clock).
 */
#include "ring/rseq.h"

#include "bench.h"

static xsprof_name_t name;

static inline __attribute__((always_inline)) void marker(uint32_t type, xsprof_name_t what)
{
	uint32_t tid = (uint32_t)xsp_thread.hdr;

	if (unlikely(!xsprof_enabled()))
		return;
	if (unlikely(xsp_not_short(tid) || !xsp_seq1(tid, type, what, 0)))
		xsprof_emit(type, what, 0, 0);
}

static void markers(long n)
{
	for (long i = 0; i < n; i += 2) {
		marker(XSPROF_REC_BEGIN, name);
		marker(XSPROF_REC_END, 0);
	}
}

int main(int argc, char **argv)
{
	struct bench_side sides[] = {
		[BENCH_COUNTER] = { .fn = bench_counters, .n = BENCH_COUNTERS },
		[BENCH_SCALED] = { .fn = markers, .n = BENCH_MARKERS, .after = session_drain },
	};

	(void)argc;
	session_begin(argv);
	name = xsprof_name("bench");
	bench_quiet("noclock_inline", sides);
	session_check_drops("inline markers");
	return 0;
}
