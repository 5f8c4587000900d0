/* SPDX-License-Identifier: GPL-2.0-only */
/* The loop of markers whose cost is measured: in each program, so that it can be inlined. */
#ifndef BENCH_MARKERS_H
#define BENCH_MARKERS_H

#include <xsprof/xsprof.h>

static xsprof_name_t name;

static void markers(long n)
{
	for (long i = 0; i < n; i += 2) {
		xsprof_begin(name);
		xsprof_end();
	}
}

#endif /* BENCH_MARKERS_H */
