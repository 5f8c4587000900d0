// SPDX-License-Identifier: GPL-2.0-only
/*
 * xsprof report: where the time went. Reads a capture once, pairs begins and ends, and counts
 * ranges per name, thread, process or category; keeps rows, never events.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tool.h"
#include "ranges/losses.h"
#include "ranges/pair.h"
#include "report/functions.h"
#include "report/gpu.h"
#include "report/handovers.h"
#include "report/join.h"
#include "report/local.h"
#include "report/why-local.h"

struct pass {
	struct report		*report;
	struct xsprof_pairer	*pairer;
};

static void add_value(struct xsp_group *group, double value)
{
	bool first = group->count == group->strange;

	group->last = value;
	if (!isfinite(value)) {
		group->strange++;
		return;
	}
	if (first || value < group->low)
		group->low = value;
	if (first || value > group->high)
		group->high = value;
}

/* Counts an event other than of a range, by type and name. */
static void add_event(struct report *report, const struct xsprof_event *ev)
{
	struct xsp_group *group;
	uint64_t waited = REPORT_NO_WAIT;
	double f64;

	if (xst_losses_at(ev))
		report_waits_lost(report->waits, ev);
	if (ev->type == XSPROF_REC_SYNC)
		waited = report_waits_event(report->waits, ev, report->filter.from_ns);
	if (!xsp_filter_time(&report->filter, xsp_event_when(ev)))
		return;
	/* The decoder adds events for begins and ends of processes: these do not count. */
	report->events += xsp_event_counts(ev);
	report_hints_event(report, ev);
	if (xsp_event_is_range(ev) || ev->type == XSPROF_REC_ARGS || xsp_event_nameless(ev))
		return;
	/* Samples are in the rows of functions. */
	if (ev->type == XSPROF_REC_SAMPLE)
		return;
	group = report_row(report, ev->type, ev->producer, ev->pid, ev->tid, ev->name, NULL);
	if (!group)
		return;
	if (ev->type == XSPROF_REC_COUNTER_I64) {
		add_value(group, (double)(int64_t)ev->value);
	} else if (ev->type == XSPROF_REC_COUNTER_F64) {
		memcpy(&f64, &ev->value, sizeof(f64));
		add_value(group, f64);
	}
	group->count++;
	if (waited != REPORT_NO_WAIT)
		report_waits_add(group, waited);
}

static int one(void *data, const struct xsprof_event *ev)
{
	struct pass *pass = data;
	struct report *report = pass->report;
	bool rest;
	int ret;

	if (ev->ns > report->filter.to_ns) {
		/* An activity of a device, which may belong to the time shown. */
		if (!xsp_filter_time(&report->filter, ev->end_ns))
			return 0;
		add_event(report, ev);
		return xsprof_pairer_event(pass->pairer, ev);
	}
	/* --from is known from the first event on. */
	xst_pairer_clip(pass->pairer, report->filter.from_ns);
	report->last_ns = ev->ns;
	report_threads_event(report, ev);
	cause_reader_event(report->reader, ev);
	/* Events of the kernel's tracer are not of a program. */
	if (ev->producer == XSPROF_NO_PRODUCER)
		return 0;
	report->lossy_ns = xst_losses_until(ev, report->lossy_ns);
	add_event(report, ev);
	rest = report_join_event(report->join, ev);
	ret = open_ranges_event(&report->open, pass->pairer, ev);
	if (ret < 0)
		return ret;
	report_usage_event(report->usage, ev);
	if (report->steps)
		report_steps_event(report->steps, ev, rest);
	if (report->shapes)
		report_shapes_event(report->shapes, ev);
	return 0;
}

static void place(void *data, const struct xsprof_event *ev)
{
	struct report *report = data;

	if (ev->producer != XSPROF_NO_PRODUCER)
		report_places_event(report->open.places, ev);
}

/* Finds where ranges open at the end were called: their begins say so. */
static int place_open(struct report *report)
{
	int ret;

	if (!report->open.nr || report->no_open || !report_usage_said(report->usage))
		return 0;
	ret = open_ranges_ask(&report->open);
	return ret ? ret : report_read_again(report, report->filter.to_ns, place, report);
}

static bool wants_thread(const void *data, uint32_t pid, uint32_t tid)
{
	return xsp_filter_thread(data, pid, tid);
}

static int run(struct report *report)
{
	struct pass pass = { .report = report };
	int status, ret;

	report->open.trace = report->source.trace;
	report->show.wanted = wants_thread;
	report->show.data = &report->filter;
	ret = xsp_groups_new(report->source.trace, report->by & REPORT_BY_PATTERN,
			     report->by & (REPORT_BY_SHAPE | REPORT_BY_PLACE), &report->groups);
	if (!ret)
		ret = report_waits_new(&report->waits);
	if (!ret)
		ret = cause_new(&report->cause);
	if (!ret)
		ret = cause_reader_new(report->source.trace, report->cause, &report->reader);
	if (!ret && report->by & (REPORT_BY_SHAPE | REPORT_BY_PLACE))
		ret = report_shapes_new(report->source.trace, report->groups, report->by,
					xsp_filter_names(&report->filter), &report->shapes);
	if (!ret && !(report->by & ~(REPORT_BY_THREAD | REPORT_BY_PROCESS)) &&
	    !xsp_filter_names(&report->filter))
		ret = report_cover_new(&report->cover);
	if (!ret && report->by_step)
		ret = report_steps_new(report, report->step, &report->steps);
	if (!ret)
		ret = report_join_new(report_whole, report, &report->join);
	if (!ret)
		ret = xsprof_pairer_new(report->source.trace, report_range, report, &pass.pairer);
	if (!ret)
		ret = report_usage_new(report, pass.pairer, !report->by_step, &report->usage);
	if (ret) {
		status = tool_error("%s", strerror(-ret));
		goto out;
	}
	report_threads_begin(report);
	status = report_read(report, false, one, &pass);
	if (!status) {
		/* Ranges open at --to count as open until then. */
		if (report->show.window) {
			/* Threads ran also if the time shown has no event. */
			report_threads_count(report, report->filter.to_ns);
			cause_reader_end(report->reader, report->filter.to_ns);
			xsprof_pairer_pass(pass.pairer, report->filter.to_ns);
		}
		ret = xsprof_pairer_finish(pass.pairer);
		report_join_finish(report->join);
		if (!ret)
			ret = open_ranges_finish(&report->open);
		if (!ret)
			ret = place_open(report);
		if (ret < 0)
			status = tool_error("%s: %s", report->source.path, strerror(-ret));
	}
	if (!status) {
		xsprof_pairer_get_stats(pass.pairer, &report->pairs);
		if (report->steps)
			report_steps_finish(report->steps);
		ret = report_split(report);
		if (ret)
			status = tool_error("%s", strerror(-ret));
		else if (report->json)
			report_print_json(report);
		else
			report_print(report);
		status = tool_finish(status);
		if (!status && ((report->steps && !report_steps_any(report->steps)) ||
				report_hints_lack_places(report)))
			status = TOOL_FAILED;
	}
out:
	xsprof_pairer_free(pass.pairer);
	report_usage_free(report->usage);
	cause_reader_free(report->reader);
	cause_free(report->cause);
	report_threads_free(report);
	report_waits_free(report->waits);
	report_steps_free(report->steps);
	report_shapes_free(report->shapes);
	report_cover_free(report->cover);
	report_join_free(report->join);
	xsp_groups_free(report->groups);
	open_ranges_free(&report->open);
	if (!status)
		status = xsp_source_losses(&report->source);
	return status;
}

int cmd_report(int argc, char **argv)
{
	struct report report = {
		.by = REPORT_BY_NAME,
		.reading = { .verb = "report", .help = report_help, .limit = UINT64_MAX },
		.filter.to_ns = UINT64_MAX,
	};
	int status;

	report.reading.filter = &report.filter;
	status = report_options(&report, argc, argv);
	if (status < 0) {
		status = xsp_source_open(&report.source, &report.reading, NULL, 0);
		if (!status) {
			status = report.why || report.gaps ? why_run(&report) :
				 report.gpu ? gpu_run(&report) :
				 report.gil ? handovers_run(&report) :
				 report.functions ? functions_run(&report) : run(&report);
			xsp_source_close(&report.source);
		}
	}
	xsp_filter_free(&report.filter);
	return status;
}
