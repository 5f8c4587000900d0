// SPDX-License-Identifier: GPL-2.0-only
/*
 * A producer with a steady rate, to measure recorders: one thread emits the given number of events
 * per second, in bursts half a millisecond apart, and prints at the end how many it emitted and
 * lost. Names, nesting and counter values are random (from a fixed seed): a repeating stream would
 * compress to nothing. Usage: produce EVENTS_PER_SECOND EVENTS [CPU]
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench.h"

/* A burst, then sleep: real-time priority must leave the CPU free. */
#define BURST_NS	500000

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

static void sleep_until(uint64_t ns)
{
	const struct timespec ts = { ns / 1000000000, ns % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

int main(int argc, char **argv)
{
	struct xsprof_stats st = { .size = sizeof(st) };
	uint64_t rate, total, burst, sent = 0, start, next, end;

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
	bench_realtime(true);
	burst = (double)rate * BURST_NS / 1e9;
	start = next = bench_ns();
	while (sent < total) {
		for (uint64_t n = 0; n < burst; ) {
			unsigned int k = emit();

			n += k;
			sent += k;
		}
		/* If late, continue from now: catching up would change the rate. */
		next += BURST_NS;
		if (bench_ns() > next + BURST_NS)
			next = bench_ns();
		sleep_until(next);
	}
	end = bench_ns();
	xsprof_get_stats(&st);
	/* events, lost, seconds: a producer that could not keep its rate shows it */
	printf("%" PRIu64 "\t%" PRIu64 "\t%.3f\n", sent, st.lost, (end - start) / 1e9);
	return st.attached ? 0 : 1;
}
