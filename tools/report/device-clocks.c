// SPDX-License-Identifier: GPL-2.0-only
/*
 * Collects the counters of device-clocks.h.
 */
#include <stdio.h>
#include <string.h>

#include "report/device-clocks.h"

static const char prefix[] = "clock of device ";
static const char *const suffixes[CLOCK_ERRORS] = {
	[CLOCK_WITHIN] = ": known within ns", [CLOCK_LATE] = ": late by at most ns",
	[CLOCK_EARLY] = ": early by at most ns",
};

/* What the counter bounds, and the number of the device; CLOCK_ERRORS: another counter. */
static uint32_t error_of(const char *text, uint32_t *number)
{
	uint32_t e = CLOCK_ERRORS;
	int end = 0;

	if (strncmp(text, prefix, sizeof(prefix) - 1) ||
	    sscanf(text + sizeof(prefix) - 1, "%9u%n", number, &end) != 1)
		return CLOCK_ERRORS;
	for (e = 0; e < CLOCK_ERRORS; e++)
		if (!strcmp(text + sizeof(prefix) - 1 + end, suffixes[e]))
			break;
	return e;
}

struct device_clock *device_clocks_get(struct device_clocks *clocks, const struct xsprof_event *ev,
				       uint32_t device)
{
	uint32_t i = 0;

	while (i < clocks->nr && (clocks->v[i].producer != ev->producer ||
				  clocks->v[i].device != device))
		i++;
	if (i == DEVICE_CLOCKS)
		return NULL;
	if (i == clocks->nr) {
		clocks->nr++;
		clocks->v[i] = (struct device_clock){
			.producer = ev->producer, .pid = ev->pid, .device = device,
		};
	}
	return &clocks->v[i];
}

static struct clock_bound *known_bound(struct device_clocks *clocks, const struct xsprof_event *ev)
{
	for (uint32_t i = 0; i < clocks->nr; i++) {
		struct device_clock *clock = &clocks->v[i];

		for (uint32_t e = 0; clock->producer == ev->producer && e < CLOCK_ERRORS; e++)
			if (clock->bounds[e].known && clock->bounds[e].name == ev->name)
				return &clock->bounds[e];
	}
	return NULL;
}

static struct clock_bound *new_bound(struct device_clocks *clocks, struct xsprof_trace *trace,
				     const struct xsprof_event *ev)
{
	struct device_clock *clock;
	uint32_t device, e;

	e = error_of(xsprof_trace_name(trace, ev->producer, ev->name), &device);
	clock = e == CLOCK_ERRORS ? NULL : device_clocks_get(clocks, ev, device);
	if (!clock)
		return NULL;
	clock->bounds[e] = (struct clock_bound){
		.name = ev->name, .known = true, .least = INT64_MAX, .most = INT64_MIN,
	};
	return &clock->bounds[e];
}

void device_clocks_event(struct device_clocks *clocks, struct xsprof_trace *trace,
			 const struct xsprof_event *ev)
{
	struct clock_bound *b;

	if (ev->type != XSPROF_REC_COUNTER_I64)
		return;
	b = known_bound(clocks, ev);
	b = b ? b : new_bound(clocks, trace, ev);
	if (!b)
		return;
	b->last = (int64_t)ev->value;
	b->least = b->last < b->least ? b->last : b->least;
	b->most = b->last > b->most ? b->last : b->most;
}
