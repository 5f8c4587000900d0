// SPDX-License-Identifier: GPL-2.0-only
/* The loop of marker.c once more, with the marker's sequence in the loop itself. */
#define XSPROF_INLINE
#include "marker.h"

xsprof_name_t bench_inline_name;

void bench_inline_markers(long n)
{
	for (long i = 0; i < n; i += 2) {
		xsprof_begin(bench_inline_name);
		xsprof_end();
	}
}
