// SPDX-License-Identifier: GPL-2.0-only
/*
 * pair: measures the cost of a begin/end pair in this process' rings, on any backend, and the time
 * to set them up: release those created at the start, attach, map, write the process's facts, first
 * marker. Prints "BACKEND NS-PER-PAIR FIRST-MS". A script runs it alternately on both backends.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <xsprof/xsprof.h>

#define SLICES	21
#define WARM	7
#define PAIRS	20000

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(void)
{
	static const char *const names[] = { "none", "tmpfs", "device" };
	struct xsprof_options opts = { .size = sizeof(opts), .ring_size = 1 << 20 };
	struct xsprof_stats stats = { .size = sizeof(stats) };
	double slice[SLICES], first;
	xsprof_name_t name;

	/* Releases the rings made at the start, and measures making new ones. */
	first = now();
	if (xsprof_init(&opts)) {
		fprintf(stderr, "pair: no rings\n");
		return 1;
	}
	name = xsprof_name("pair");
	xsprof_begin(name);
	first = now() - first;
	xsprof_end();
	for (int s = 0; s < SLICES; s++) {
		slice[s] = now();
		for (int i = 0; i < PAIRS; i++) {
			xsprof_begin(name);
			xsprof_end();
		}
		slice[s] = (now() - slice[s]) / PAIRS;
	}
	if (xsprof_get_stats(&stats) || stats.backend > 2 || stats.lost) {
		fprintf(stderr, "pair: lost %llu records\n", (unsigned long long)stats.lost);
		return 1;
	}
	/* The first slices walk the rings for the first time. */
	qsort(slice + WARM, SLICES - WARM, sizeof(slice[0]), by_size);
	printf("%s %.3f %.4f\n", names[stats.backend], slice[(WARM + SLICES) / 2], first / 1e6);
	return 0;
}
