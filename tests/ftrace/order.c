// SPDX-License-Identifier: GPL-2.0-only
/*
 * order FILE N: checks that the write of each pair is between its markers, and that none is
 * missing. Prints "WRITES OUT-OF-ORDER WORST-NS BOUND-NS": the second counts those off by more than
 * the bound, the third is the largest error; and the 50th and 99th percentile and the maximum of
 * the distance of a write from its markers. Uses the library, not a tool, so that it takes a
 * second.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xsprof/trace.h>

struct pair {
	uint64_t	before;
	uint64_t	write;
	uint64_t	after;
};

static int read_all(struct xsprof_trace *t, struct pair *pairs, uint64_t n)
{
	const struct xsprof_kernel_event *print = xsprof_trace_kernel_find(t, "ftrace", "print");
	const struct xsprof_kernel_field *buf = xsprof_kernel_field(print, "buf");
	const struct xsprof_event *ev;
	int r;

	if (!print || !buf) {
		fprintf(stderr, "order: the trace does not describe ftrace:print\n");
		return 1;
	}
	while ((r = xsprof_trace_next(t, &ev)) == 1) {
		uint64_t i;

		if (ev->type == XSPROF_REC_COUNTER_I64 && ev->value < n) {
			bool before = !strcmp(xsprof_trace_name(t, ev->producer, ev->name),
					      "before");

			*(before ? &pairs[ev->value].before : &pairs[ev->value].after) = ev->ns;
		} else if (ev->type == XSPROF_EV_KERNEL && ev->name == print->id) {
			size_t size = ev->rec_size > buf->offset ? ev->rec_size - buf->offset : 0;
			char text[32] = "";

			memcpy(text, (const char *)ev->rec + buf->offset,
			       size < sizeof(text) - 1 ? size : sizeof(text) - 1);
			i = strtoull(text, NULL, 10);
			if (i < n)
				pairs[i].write = ev->ns;
		}
	}
	return r;
}

static int by_number(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* The distance includes the call into the kernel, and other tasks that ran on the CPU. */
static void print_far(const char *what, int64_t *far, uint64_t n)
{
	if (!n)
		return;
	qsort(far, n, sizeof(*far), by_number);
	printf("%s p50 %" PRId64 " p99 %" PRId64 " max %" PRId64 " ns", what, far[n / 2],
	       far[n - 1 - n / 100], far[n - 1]);
}

int main(int argc, char **argv)
{
	struct xsprof_trace_kernel kernel = { .size = sizeof(kernel) };
	uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 0, writes = 0, wrong = 0, worst = 0;
	struct pair *pairs = calloc(n + 1, sizeof(*pairs));
	int64_t *before = calloc(n + 1, sizeof(*before)), *after = calloc(n + 1, sizeof(*after));
	struct xsprof_trace *t;

	if (!n || !pairs || !before || !after || xsprof_trace_open(argv[1], NULL, &t)) {
		fprintf(stderr, "order: %s\n", n ? xsprof_trace_error(NULL) : "FILE N");
		return 1;
	}
	if (read_all(t, pairs, n) || xsprof_trace_get_kernel(t, &kernel)) {
		fprintf(stderr, "order: %s\n", xsprof_trace_error(t));
		return 1;
	}
	for (uint64_t i = 0; i < n; i++) {
		const struct pair *p = &pairs[i];
		uint64_t off = 0;

		if (!p->before || !p->write || !p->after)
			continue;
		before[writes] = (int64_t)(p->write - p->before);
		after[writes] = (int64_t)(p->after - p->write);
		writes++;
		if (p->write < p->before)
			off = p->before - p->write;
		if (p->write > p->after && p->write - p->after > off)
			off = p->write - p->after;
		if (off > worst)
			worst = off;
		wrong += off > kernel.error_ns;
	}
	printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", writes, wrong, worst,
	       kernel.error_ns);
	print_far("from the marker before", before, writes);
	print_far(", to the one after", after, writes);
	puts("");
	xsprof_trace_close(t);
	free(pairs);
	free(before);
	free(after);
	return 0;
}
