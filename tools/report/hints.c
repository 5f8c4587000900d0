// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts records of a Python that other options show, and prints these options: see hints.h.
 */
#include <inttypes.h>
#include <stdio.h>

#include "report/functions.h"
#include "report/local.h"

static void add_sample(struct report *report, const struct xsprof_event *ev)
{
	struct xsprof_trace_sample sample;

	if (!xsprof_trace_sample(ev, &sample) || sample.how >= FUNCTION_HOWS ||
	    !xsp_filter_thread(&report->filter, ev->pid, sample.thread))
		return;
	if (sample.how == XSPROF_SAMPLE_MISSED)
		report->hints.missed += sample.missed;
	else
		report->hints.samples++;
}

static void add_begin(struct report *report, const struct xsprof_event *ev)
{
	enum gil_record what;

	/* The same cache as for open ranges, which look up each begin. */
	what = gil_record_of(&report->open.lock, report->source.trace, ev->producer, ev->name);
	if ((what != GIL_WAIT && what != GIL_COLLECTION) ||
	    !xsp_filter_thread(&report->filter, ev->pid, ev->tid))
		return;
	report->hints.python = true;
	report->hints.gil_waits += what == GIL_WAIT;
}

void report_hints_event(struct report *report, const struct xsprof_event *ev)
{
	if (ev->type == XSPROF_REC_SAMPLE)
		add_sample(report, ev);
	else if (ev->type == XSPROF_REC_BEGIN)
		add_begin(report, ev);
}

void report_hints_print(const struct report *report)
{
	const struct report_hints *hints = &report->hints;

	if (hints->samples || hints->missed)
		printf("# samples: %" PRIu64 " stack samples, %" PRIu64 " missed: --by function "
		       "shows them\n", hints->samples, hints->missed);
	else if (hints->python)
		puts("# samples: none: record --python samples the functions of Python, for "
		     "--by function");
	if (hints->gil_waits)
		printf("# GIL: threads waited for it %" PRIu64 " times: --gil shows for which "
		       "threads\n", hints->gil_waits);
}

bool report_hints_lack_places(const struct report *report)
{
	return report->by & REPORT_BY_PLACE && report->hints.samples &&
	       !report_modules_any(report_shapes_modules(report->shapes));
}
