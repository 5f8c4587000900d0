// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the events of a report's trace, the first time and again.
 */
#include <string.h>

#include "cli/tool.h"
#include "report/local.h"

#define BATCH	256u

static struct xsprof_event evs[BATCH];

/* @first: the first event. --from and --to count from the start of the trace. */
static int start(struct report *report, const struct xsprof_event *first)
{
	int ret = xsp_source_start(&report->source, first, &report->first_ns);

	if (ret)
		return ret;
	report->last_ns = report->first_ns;
	report->devices = xsp_trace_has_devices(report->source.trace);
	return xsp_filter_base(&report->filter, "report", report->first_ns);
}

int report_read(struct report *report, bool whole,
		int (*event)(void *data, const struct xsprof_event *ev), void *data)
{
	bool first = true;
	int n, ret;

	while ((n = xsprof_trace_next_batch(report->source.trace, evs, BATCH)) > 0) {
		ret = first ? start(report, &evs[0]) : 0;
		if (ret)
			return ret;
		first = false;
		for (int i = 0; i < n; i++) {
			report->devices |= evs[i].type == XSPROF_REC_GPU;
			if (!whole && evs[i].ns > report->filter.to_ns) {
				report->show.window = true;
				/* Activities of devices are written late. */
				if (!report->devices)
					return 0;
				if (evs[i].type != XSPROF_REC_GPU)
					continue;
			}
			ret = event(data, &evs[i]);
			if (ret)
				return tool_error("%s: %s", report->source.path, strerror(-ret));
		}
	}
	return n < 0 ? xsp_source_error(&report->source, n) : 0;
}

int report_read_again(struct report *report, uint64_t to_ns,
		      void (*event)(void *data, const struct xsprof_event *ev), void *data)
{
	bool quiet = report->source.quiet;
	int n = xsprof_trace_rewind(report->source.trace), i;

	/* Warnings were printed the first time. */
	report->source.quiet = true;
	while (!n && (n = xsprof_trace_next_batch(report->source.trace, evs, BATCH)) > 0) {
		for (i = 0; i < n && evs[i].ns <= to_ns; i++)
			event(data, &evs[i]);
		n = n > i;
	}
	report->source.quiet = quiet;
	return n < 0 ? n : 0;
}
