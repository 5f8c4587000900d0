// SPDX-License-Identifier: GPL-2.0-only
/*
 * How fast the decoder yields events: reads a capture to its end by xsprof_trace_next_batch().
 * Prints, with tabs between: events, seconds, million events a second. With -p all events go
 * through the pairer as well. Usage: decode [-p] FILE
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <xsprof/trace.h>

#define BATCH	512

static uint64_t sum;

static void count(void *data, const struct xsprof_range *range)
{
	(void)data;
	sum += range->self_ns;
}

static void warn(void *data, const char *text)
{
	(void)data;
	fprintf(stderr, "decode: %s\n", text);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
	struct xsprof_trace_options opts = { .size = sizeof(opts), .warn = warn };
	static struct xsprof_event evs[BATCH];
	bool pairs = argc > 1 && !strcmp(argv[1], "-p");
	struct xsprof_pairer *pairer = NULL;
	struct xsprof_trace *trace;
	uint64_t events = 0;
	double begin, end;
	int n;

	if (argc != 2 + pairs) {
		fprintf(stderr, "usage: decode [-p] FILE\n");
		return 2;
	}
	begin = now();
	if (xsprof_trace_open(argv[1 + pairs], &opts, &trace)) {
		fprintf(stderr, "decode: %s\n", xsprof_trace_error(NULL));
		return 1;
	}
	if (pairs && xsprof_pairer_new(trace, count, NULL, &pairer))
		return 1;
	while ((n = xsprof_trace_next_batch(trace, evs, BATCH)) > 0) {
		for (int i = 0; pairer && i < n; i++)
			xsprof_pairer_event(pairer, &evs[i]);
		events += n;
		sum ^= evs[0].ns;
	}
	if (n < 0) {
		fprintf(stderr, "decode: %s\n", xsprof_trace_error(trace));
		return 1;
	}
	if (pairer)
		xsprof_pairer_finish(pairer);
	end = now();
	printf("%llu\t%.6f\t%.3f\n", (unsigned long long)events, end - begin,
	       (double)events / (end - begin) / 1e6);
	xsprof_pairer_free(pairer);
	xsprof_trace_close(trace);
	return sum == 1;
}
