// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shared by all fuzz targets: reads the generated file in several ways, and pairs its ranges.
 */
#include <stdlib.h>
#include <string.h>

#include "decoder/builder.h"
#include "decoder/drain.h"
#include "decoder/fuzz.h"
#include "common/tap.h"

static void check_range(void *data, const struct xsprof_range *range)
{
	(void)data;
	if (range->end_ns < range->begin_ns ||
	    range->self_ns > range->end_ns - range->begin_ns || range->depth >= 4096)
		tap_wrong("a range that cannot be");
}

static void pair(const char *path)
{
	struct xsprof_pairer_stats stats;
	struct xsprof_pairer *pairer;
	const struct xsprof_event *ev;
	struct xsprof_trace *t;

	if (xsprof_trace_open(path, NULL, &t))
		return;
	if (xsprof_pairer_new(t, check_range, NULL, &pairer))
		abort();
	while (xsprof_trace_next(t, &ev) == 1)
		if (xsprof_pairer_event(pairer, ev))
			tap_wrong("the pairer failed");
	if (xsprof_pairer_finish(pairer))
		tap_wrong("the pairer failed at the end");
	xsprof_pairer_get_stats(pairer, &stats);
	xsprof_pairer_free(pairer);
	xsprof_trace_close(t);
}

void fuzz_read(const void *data, size_t size)
{
	const char *path = cap_path(data, size);
	struct xsprof_trace_options opts = { .size = sizeof(opts), .memory = 1 };
	struct drained a, b;

	drain(&a, path, NULL, 64);
	drain(&b, path, &opts, 1);
	/* Batch size and memory must make no difference. */
	if (a.open != b.open || a.nr != b.nr || a.end != b.end || a.lost != b.lost ||
	    a.lost_slots != b.lost_slots || a.info.bad_slots != b.info.bad_slots)
		tap_wrong("two ways of reading differ: %zu and %zu events", a.nr, b.nr);
	drained_free(&a);
	drained_free(&b);
	pair(path);
	if (tap_bad)
		abort();
}
