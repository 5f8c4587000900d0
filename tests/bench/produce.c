// SPDX-License-Identifier: GPL-2.0-only
/*
 * A producer of a steady rate, for measuring recorders: one thread emits so many events a second,
 * spread evenly, and says at the end what it emitted and lost. Which of a few names, how deep
 * they nest and what a counter says is drawn anew each time (from a fixed seed): a stream that
 * repeats itself would compress to nothing.
 * Usage: produce EVENTS_PER_SECOND EVENTS [CPU]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench.h"

#define BURST	240	/* events between looks at the clock: 12 microseconds at 20 M/s */

static const char *const texts[] = {
	"forward", "backward", "conv2d", "matmul", "batch_norm", "relu", "softmax", "copy",
	"all_reduce", "optimizer", "loader", "decode",
};

#define NAMES	(sizeof(texts) / sizeof(*texts))

static xsprof_name_t names[NAMES];

static uint64_t draw(void)
{
	static uint64_t x = 88172645463325252ull;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

/* An outer range with one to three things in it: 4 to 8 events. */
static unsigned int emit(void)
{
	uint64_t x = draw();
	unsigned int n = 4;

	xsprof_begin(names[x % NAMES]);
	xsprof_begin(names[x >> 8 & 7]);
	if (x & 1 << 16) {
		xsprof_counter(names[NAMES - 1], (int64_t)(x >> 40));
		n++;
	}
	xsprof_end();
	if (x & 1 << 17) {
		xsprof_begin(names[x >> 20 & 7]);
		xsprof_end();
		n += 2;
	}
	if (x & 1 << 18) {
		xsprof_instant(names[x >> 24 & 7]);
		n++;
	}
	xsprof_end();
	return n;
}

static void wait_until(uint64_t ns)
{
	uint64_t now;

	while ((now = bench_ns()) < ns) {
		if (ns - now > 200000)
			bench_pause_us(50);
		else
			bench_relax();
	}
}

int main(int argc, char **argv)
{
	struct xsprof_stats st = { .size = sizeof(st) };
	uint64_t rate, total, sent = 0, start, end;

	if (argc < 3 || argc > 4) {
		fprintf(stderr, "usage: produce EVENTS_PER_SECOND EVENTS [CPU]\n");
		return 2;
	}
	rate = strtoull(argv[1], NULL, 10);
	total = strtoull(argv[2], NULL, 10);
	if (!rate || !total) {
		fprintf(stderr, "produce: %s %s: not a rate and a number\n", argv[1], argv[2]);
		return 2;
	}
	if (argc == 4)
		bench_pin(atoi(argv[3]));
	for (unsigned int i = 0; i < NAMES; i++)
		names[i] = xsprof_name(texts[i]);
	start = bench_ns();
	while (sent < total) {
		for (unsigned int n = 0; n < BURST; ) {
			unsigned int k = emit();

			n += k;
			sent += k;
		}
		wait_until(start + (uint64_t)((double)sent * 1e9 / rate));
	}
	end = bench_ns();
	xsprof_get_stats(&st);
	/* events, lost, seconds: a producer that could not keep its rate shows it */
	printf("%" PRIu64 "\t%" PRIu64 "\t%.3f\n", sent, st.lost, (end - start) / 1e9);
	return st.attached ? 0 : 1;
}
