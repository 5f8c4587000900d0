/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A pairer that is given events by hand, and the ranges that it made of them.
 */
#ifndef TESTS_DECODER_PAIRER_H
#define TESTS_DECODER_PAIRER_H

#include <stdlib.h>

#include "decoder/builder.h"
#include "decoder/drain.h"
#include "common/tap.h"

static struct xsprof_range *ranges;
static size_t nr_ranges, room_ranges;
static struct xsprof_trace *trace;

static void take(void *data, const struct xsprof_range *range)
{
	(void)data;
	if (nr_ranges == room_ranges) {
		room_ranges = room_ranges ? room_ranges * 2 : 64;
		ranges = realloc(ranges, room_ranges * sizeof(*ranges));
		if (!ranges)
			tap_bail("no memory");
	}
	ranges[nr_ranges++] = *range;
}

static struct xsprof_pairer *start(void)
{
	struct xsprof_pairer *p;

	nr_ranges = 0;
	if (xsprof_pairer_new(trace, take, NULL, &p))
		tap_bail("no memory");
	return p;
}

static int32_t on_cpu;		/* of what comes next */
static uint16_t in_hole;	/* likewise: XSPROF_EVF_HOLE */

static void event(struct xsprof_pairer *p, uint16_t type, uint32_t tid, uint64_t ns,
		  uint32_t name, uint64_t value)
{
	struct xsprof_event ev = { .type = type, .tid = tid, .ns = ns, .name = name,
				   .value = value, .pid = 100, .cpu = on_cpu,
				   .flags = in_hole };

	if (type == XSPROF_REC_COMPLETE) {
		ev.begin_ns = ns - value;
		ev.end_ns = ns;
	}
	if (type == XSPROF_REC_END)
		ev.aux = (uint32_t)value;
	if (type == XSPROF_REC_CONTROL) {
		ev.aux = name;
		ev.name = 0;
	}
	CHECK_EQ(xsprof_pairer_event(p, &ev), 0);
}

/* Range number @i is as given. */
static void expect(size_t i, uint32_t name, uint64_t begin, uint64_t end, uint64_t self,
		   uint16_t how)
{
	if (i >= nr_ranges) {
		tap_wrong("there is no range %zu", i);
		return;
	}
	CHECK_EQ(ranges[i].name, name);
	CHECK_EQ(ranges[i].begin_ns, begin);
	CHECK_EQ(ranges[i].end_ns, end);
	CHECK_EQ(ranges[i].self_ns, self);
	CHECK_EQ(ranges[i].how, how);
}

static struct xsprof_pairer_stats finish(struct xsprof_pairer *p)
{
	struct xsprof_pairer_stats stats;

	CHECK_EQ(xsprof_pairer_finish(p), 0);
	xsprof_pairer_get_stats(p, &stats);
	xsprof_pairer_free(p);
	return stats;
}

/* A trace for pairers to belong to. */
static void open_trace(void)
{
	struct cap cap;

	cap_begin(&cap);
	cap_end(&cap, 1);
	if (xsprof_trace_open(cap_path(cap.data, cap.len), NULL, &trace))
		tap_bail("%s", xsprof_trace_error(NULL));
	cap_free(&cap);
}

static int close_trace(void)
{
	xsprof_trace_close(trace);
	free(ranges);
	return tap_done();
}

#endif /* TESTS_DECODER_PAIRER_H */
