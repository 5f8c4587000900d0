/* SPDX-License-Identifier: GPL-2.0-only */
/* The markers of marker.c that are in the program's own code: marker-inline.c. */
#ifndef BENCH_MARKER_H
#define BENCH_MARKER_H

#include <xsprof/xsprof.h>

extern xsprof_name_t bench_inline_name;
void bench_inline_markers(long n);

#endif /* BENCH_MARKER_H */
