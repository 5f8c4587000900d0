// SPDX-License-Identifier: GPL-2.0-only
/*
 * xsprof report: where the time went.  Reads a capture once, pairs begins and ends, and counts
 * ranges per name, thread, process or category; it keeps rows, never events.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tool.h"
#include "ranges/losses.h"
#include "report/local.h"
#include "report/why-local.h"

#define BATCH	256u

static bool is_wanted(struct report *report, uint32_t producer, uint32_t pid, uint32_t tid,
		      uint32_t name)
{
	uint8_t match = 0;

	return xsp_filter_thread(&report->filter, pid, tid) &&
	       xsp_filter_name(&report->filter, report->source.trace, producer, name, &match);
}

/* The row that something belongs to; NULL when it is not wanted. */
static struct xsp_group *find_row(struct report *report, uint32_t type, uint32_t producer,
				  uint32_t pid, uint32_t tid, uint32_t name,
				  const struct report_range_words *words)
{
	struct xsp_group *group;
	struct xsp_key key = {
		.type = type, .shape = words ? words->shape : 0,
		.module = words ? words->module : 0,
	};

	if (!is_wanted(report, producer, pid, tid, name))
		return NULL;
	xsp_groups_words(report->groups, producer, name, &key.name, &key.category);
	if (!(report->by & REPORT_BY_NAME) && !type)
		key.name = 0;
	/* In another category it is another thing of the same name: see report_split(). */
	if (!(report->by & REPORT_BY_CATEGORY) && (type || !(report->by & REPORT_BY_NAME)))
		key.category = 0;
	if (report->by & (REPORT_BY_PROCESS | REPORT_BY_THREAD))
		key.producer = producer + 1;
	if (report->by & REPORT_BY_THREAD)
		key.tid = (uint64_t)tid + 1;
	group = xsp_groups_get(report->groups, &key);
	if (!group)
		report->unlisted++;
	else if (!group->count)
		group->pid = pid;
	return group;
}

static void add_cause(struct xsp_group *group, const struct cause_sum *sum, uint64_t ns)
{
	for (int i = 0; i < CAUSE_SUMS; i++)
		group->cause.v[i] += sum->v[i];
	group->wall += ns;
}

/* Of modules around its own it is a part. */
static void add_outer(struct report *report, const struct xsprof_range *range,
		      const struct report_range_words *words, const struct cause_sum *sum,
		      const struct report_used *used, uint64_t ns)
{
	struct report_range_words outer = { 0 };
	struct xsp_group *group;

	for (uint32_t i = 0; i < words->nr_outer; i++) {
		outer.module = words->outer[i];
		group = find_row(report, 0, range->producer, range->pid, range->tid, range->name,
				 &outer);
		if (!group)
			return;
		group->total += ns;
		if (used)
			report_usage_add_around(group, used);
		if (sum)
			add_cause(group, sum, ns);
	}
}

/*
 * The row of a thread or process has the time that its ranges cover.  @sum is that of the whole
 * range, NULL: not told.
 */
static void add_covered(struct report *report, struct xsp_group *group,
			const struct xsprof_range *range, const struct cause_sum *sum)
{
	struct report_piece pieces[REPORT_COVERED + 1];
	struct cause_sum part;
	uint32_t n;

	/* What is inside another is no news. */
	if (why_on_thread(range) && range->depth)
		return;
	n = report_cover_add(report->cover, range->producer, range->tid, range->begin_ns,
			     range->end_ns, pieces);
	for (uint32_t i = 0; i < n; i++) {
		const struct report_piece *piece = &pieces[i];
		uint64_t ns = piece->end - piece->begin;

		group->total += ns;
		if (!sum)
			continue;
		part = *sum;
		if (piece->begin != range->begin_ns || piece->end != range->end_ns)
			cause_range(report->cause, cause_reader_key(report->reader,
								    range->producer, range->tid),
				    piece->begin, piece->end, false, &part);
		add_cause(group, &part, ns);
	}
}

/* Open when its process ended, at a time that is known to be in an interval only. */
static bool is_unsure(struct report *report, const struct xsprof_range *range)
{
	struct xsprof_trace_producer p = { 0 };

	if (range->how != XSPROF_RANGE_OPEN ||
	    xsprof_trace_get_producer(report->source.trace, range->producer, &p))
		return false;
	/* Open at the end of what is shown, it has nothing to do with that of its process. */
	return p.exit_within_ns && range->end_ns >= p.exit_ns;
}

static void add_range(void *data, const struct xsprof_range *range)
{
	struct report *report = data;
	uint64_t ns = range->end_ns > range->begin_ns ? range->end_ns - range->begin_ns : 0;
	bool told = why_has_thread(range) && cause_get_stats(report->cause)->switches;
	struct xsp_group *group;
	struct cause_sum sum;
	struct report_range_words words = { 0 };
	struct report_used used;
	bool uses;

	open_ranges_add(&report->open, range);
	uses = report_usage_of(report->usage, &used);
	/* What is of no thread has no time there. */
	if (told)
		cause_range(report->cause,
			    cause_reader_key(report->reader, range->producer, range->tid),
			    range->begin_ns, range->end_ns, range->kind == XSPROF_REC_BEGIN, &sum);
	if (report->steps)
		report_steps_range(report->steps, range);
	words.inside = !report_counts_once(report, range);
	if (report->shapes)
		report_shapes_of(report->shapes, range, &words);
	if (!xsp_filter_time(&report->filter, range->end_ns))
		return;
	if (report->steps) {
		report->ranges[range->how % 3]++;
		report->nr_uncertain += !!(range->flags & XSPROF_RANGEF_UNCERTAIN);
		return;
	}
	/* How long it took is not known: it is told with what was open at the end. */
	if ((report->uncertain || !(range->flags & XSPROF_RANGEF_UNCERTAIN)) &&
	    is_unsure(report, range)) {
		if (is_wanted(report, range->producer, range->pid, range->tid, range->name)) {
			report->ranges[XSPROF_RANGE_OPEN]++;
			report->unsure++;
			if (uses)
				report_usage_doubt(report->usage, &used);
		}
		return;
	}
	group = find_row(report, 0, range->producer, range->pid, range->tid, range->name,
			 &words);
	if (!group)
		return;
	report->ranges[range->how % 3]++;
	group->count++;
	group->how[range->how % 3]++;
	if (range->flags & XSPROF_RANGEF_UNCERTAIN) {
		report->nr_uncertain++;
		group->uncertain++;
		if (!report->uncertain) {
			if (uses)
				report_usage_doubt(report->usage, &used);
			return;
		}
	}
	group->timed++;
	group->sum += ns;
	group->of_thread += why_has_thread(range);
	/* Where ranges need not nest, it is not known what is inside: no time is its own. */
	if (why_on_thread(range)) {
		group->on_thread++;
		group->self += range->self_ns;
	}
	if (report->cover && why_has_thread(range)) {
		add_covered(report, group, range, told ? &sum : NULL);
	} else if (!words.inside) {
		group->total += ns;
		if (told)
			add_cause(group, &sum, ns);
	}
	if (uses)
		report_usage_add(report->usage, group, &used, report->by & REPORT_BY_NAME,
				 words.inside);
	add_outer(report, range, &words, told ? &sum : NULL, uses ? &used : NULL, ns);
	if (ns < group->min)
		group->min = ns;
	if (ns > group->max)
		group->max = ns;
	xsp_group_duration(report->groups, group, ns);
}

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

/* What is no range: counted by type and name. */
static void add_event(struct report *report, const struct xsprof_event *ev)
{
	struct xsp_group *group;
	uint64_t waited = REPORT_NO_WAIT;
	double f64;

	if (xst_losses_at(ev))
		report_waits_lost(report->waits, ev);
	if (ev->type == XSPROF_REC_SYNC)
		waited = report_waits_event(report->waits, ev);
	if (!xsp_filter_time(&report->filter, ev->ns))
		return;
	/* That processes come and go is told by the decoder, and is no event of theirs. */
	report->events += xsp_event_counts(ev);
	if (xsp_event_is_range(ev) || ev->type == XSPROF_REC_ARGS || xsp_event_nameless(ev))
		return;
	group = find_row(report, ev->type, ev->producer, ev->pid, ev->tid, ev->name, NULL);
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

/* The start of the trace, as dump has it. */
static int first_event(struct report *report, const struct xsprof_event *ev)
{
	struct xsprof_trace_info info = { .size_of = sizeof(info) };
	int ret;

	ret = xsprof_trace_get_info(report->source.trace, &info);
	if (ret < 0)
		return xsp_source_error(&report->source, ret);
	report->first_ns = info.first_ns && info.first_ns < ev->ns ? info.first_ns : ev->ns;
	report->last_ns = report->first_ns;
	return xsp_filter_base(&report->filter, "report", report->first_ns);
}

static int read_all(struct report *report, struct xsprof_pairer *pairer)
{
	static struct xsprof_event evs[BATCH];
	bool first = true;
	int n, i, ret;

	while ((n = xsprof_trace_next_batch(report->source.trace, evs, BATCH)) > 0) {
		if (first) {
			ret = first_event(report, &evs[0]);
			if (ret)
				return ret;
			first = false;
		}
		for (i = 0; i < n; i++) {
			if (evs[i].ns > report->filter.to_ns) {
				report->show.window = true;
				/* Where no event is in the window, threads ran all the same. */
				report_threads_count(report, evs[i].ns);
				return 0;
			}
			report->last_ns = evs[i].ns;
			report_threads_event(report, &evs[i]);
			cause_reader_event(report->reader, &evs[i]);
			/* What the kernel's tracer saw is no range of a program. */
			if (evs[i].producer == XSPROF_NO_PRODUCER)
				continue;
			report->lossy_ns = xst_losses_until(&evs[i], report->lossy_ns);
			add_event(report, &evs[i]);
			ret = open_ranges_event(&report->open, pairer, &evs[i]);
			if (ret < 0)
				return tool_error("%s: %s", report->source.path, strerror(-ret));
			report_usage_event(report->usage, &evs[i]);
			if (report->steps)
				report_steps_event(report->steps, &evs[i]);
			if (report->shapes)
				report_shapes_event(report->shapes, &evs[i]);
		}
	}
	return n < 0 ? xsp_source_error(&report->source, n) : 0;
}

/* Where what was open at the end was called: ops said it when they began. */
static int place_open(struct report *report)
{
	static struct xsprof_event evs[BATCH];
	bool quiet = report->source.quiet;
	int n, ret;

	if (!report->open.nr || report->no_open || !report_usage_said(report->usage))
		return 0;
	ret = open_ranges_ask(&report->open);
	if (!ret)
		ret = xsprof_trace_rewind(report->source.trace);
	/* What there is to warn of was said the first time. */
	report->source.quiet = true;
	while (!ret && (n = xsprof_trace_next_batch(report->source.trace, evs, BATCH)) != 0) {
		if (n < 0)
			ret = n;
		for (int i = 0; i < n && evs[i].ns <= report->filter.to_ns; i++)
			if (evs[i].producer != XSPROF_NO_PRODUCER)
				report_places_event(report->open.places, &evs[i]);
		if (n > 0 && evs[n - 1].ns > report->filter.to_ns)
			break;
	}
	report->source.quiet = quiet;
	return ret;
}

static bool wants_thread(const void *data, uint32_t pid, uint32_t tid)
{
	return xsp_filter_thread(data, pid, tid);
}

static int run(struct report *report)
{
	struct xsprof_pairer *pairer = NULL;
	int status, ret;

	report->open.trace = report->source.trace;
	report->show.wanted = wants_thread;
	report->show.data = &report->filter;
	ret = xsp_groups_new(report->source.trace, report->by & REPORT_BY_PATTERN,
			     &report->groups);
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
		ret = xsprof_pairer_new(report->source.trace, add_range, report, &pairer);
	if (!ret)
		ret = report_usage_new(report, pairer, !report->by_step, &report->usage);
	if (ret) {
		status = tool_error("%s", strerror(-ret));
		goto out;
	}
	report_threads_begin(report);
	status = read_all(report, pairer);
	if (!status) {
		/* What is open at the end of what is shown was open until then. */
		if (report->show.window) {
			cause_reader_end(report->reader, report->filter.to_ns);
			xsprof_pairer_pass(pairer, report->filter.to_ns);
		}
		ret = xsprof_pairer_finish(pairer);
		if (!ret)
			ret = open_ranges_finish(&report->open);
		if (!ret)
			ret = place_open(report);
		if (ret < 0)
			status = tool_error("%s: %s", report->source.path, strerror(-ret));
	}
	if (!status) {
		xsprof_pairer_get_stats(pairer, &report->pairs);
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
		if (!status && report->steps && !report_steps_any(report->steps))
			status = TOOL_FAILED;
	}
out:
	xsprof_pairer_free(pairer);
	report_usage_free(report->usage);
	cause_reader_free(report->reader);
	cause_free(report->cause);
	report_threads_free(report);
	report_waits_free(report->waits);
	report_steps_free(report->steps);
	report_shapes_free(report->shapes);
	report_cover_free(report->cover);
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
			status = report.why || report.gaps ? why_run(&report) : run(&report);
			xsp_source_close(&report.source);
		}
	}
	xsp_filter_free(&report.filter);
	return status;
}
