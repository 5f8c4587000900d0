// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows of ranges: finds the row of a range, and adds the range to it. report.c reads the events,
 * and counts the others.
 */
#include <string.h>

#include "report/join.h"
#include "report/local.h"
#include "report/why-local.h"

static bool is_wanted(struct report *report, uint32_t producer, uint32_t pid, uint32_t tid,
		      uint32_t name)
{
	uint8_t match = 0;

	return xsp_filter_thread(&report->filter, pid, tid) &&
	       xsp_filter_name(&report->filter, report->source.trace, producer, name, &match);
}

struct xsp_group *report_row(struct report *report, uint32_t type, uint32_t producer, uint32_t pid,
			     uint32_t tid, uint32_t name, const struct report_range_words *words)
{
	struct xsp_group *group;
	struct xsp_key key = {
		.type = type, .shape = words ? words->shape : 0,
		.module = words ? words->module : 0,
	};

	if (!is_wanted(report, producer, pid, tid, name))
		return NULL;
	/* Names without rows of their own use no memory for words. */
	if (type || report->by & REPORT_BY_NAME)
		xsp_groups_words(report->groups, producer, name, &key.name, &key.category);
	else if (report->by & REPORT_BY_CATEGORY)
		key.category = xsp_groups_category(report->groups, producer, name);
	/* The same name in another category is a different row: see report_split(). */
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

/* Adds the range to the modules around its own. */
static void add_outer(struct report *report, const struct xsprof_range *range,
		      const struct report_range_words *words, const struct cause_sum *sum,
		      const struct report_used *used, uint64_t ns)
{
	struct report_range_words outer = { 0 };
	struct xsp_group *group;

	for (uint32_t i = 0; i < words->nr_outer; i++) {
		outer.module = words->outer[i];
		group = report_row(report, 0, range->producer, range->pid, range->tid,
				   range->name, &outer);
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
 * Adds to the row of a thread or process the time that its ranges cover. @sum: causes of the whole
 * range, NULL: not known.
 */
static void add_covered(struct report *report, struct xsp_group *group,
			const struct xsprof_range *range, const struct cause_sum *sum)
{
	struct report_piece pieces[REPORT_COVERED + 1];
	struct cause_sum part;
	uint32_t n;

	/* Time inside another range is covered already. */
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

/* Was it open at the end of its process, of which only an interval is known? */
static bool is_unsure(struct report *report, const struct xsprof_range *range)
{
	struct xsprof_trace_producer p = { 0 };

	if (range->how != XSPROF_RANGE_OPEN ||
	    xsprof_trace_get_producer(report->source.trace, range->producer, &p))
		return false;
	/* A range open at the end of the time shown has nothing to do with the process's end. */
	return p.exit_within_ns && range->end_ns >= p.exit_ns;
}

/* A range whose times do not count because of losses: neither does its usage. */
static void leave_out(struct report *report, const struct report_part *part)
{
	if (part->uses)
		report_usage_doubt(report->usage, &part->used);
}

/* Adds to a row; @unsure: its end is not known. Return: false: its times do not count. */
static bool count(struct report *report, struct xsp_group *group, const struct report_part *part,
		  bool unsure)
{
	const struct xsprof_range *range = &part->range;

	report->ranges[range->how % 3]++;
	group->count++;
	group->how[range->how % 3]++;
	if (!(range->flags & XSPROF_RANGEF_UNCERTAIN))
		return true;
	report->nr_uncertain++;
	group->uncertain++;
	if (report->uncertain && !unsure)
		return true;
	leave_out(report, part);
	return false;
}

static void add_times(struct report *report, struct xsp_group *group,
		      const struct report_part *part)
{
	const struct xsprof_range *range = &part->range;
	uint64_t ns = range->end_ns > range->begin_ns ? range->end_ns - range->begin_ns : 0;
	const struct cause_sum *sum = part->told ? &part->cause : NULL;
	const struct report_used *used = part->uses ? &part->used : NULL;

	group->timed++;
	group->sum += ns;
	group->of_thread += why_has_thread(range);
	/* If ranges need not nest, inner ranges are not known: no own time. */
	if (why_on_thread(range)) {
		group->on_thread++;
		group->self += range->self_ns;
	}
	if (report->cover && why_has_thread(range)) {
		add_covered(report, group, range, sum);
	} else if (!part->words.inside) {
		group->total += ns;
		if (sum)
			add_cause(group, sum, ns);
	}
	if (used)
		report_usage_add(report->usage, group, used, report->by & REPORT_BY_NAME,
				 part->words.inside);
	add_outer(report, range, &part->words, sum, used, ns);
	if (ns < group->min)
		group->min = ns;
	if (ns > group->max)
		group->max = ns;
	xsp_group_duration(report->groups, group, ns);
}

void report_whole(void *data, const struct report_part *part)
{
	const struct xsprof_range *range = &part->range;
	struct report *report = data;
	struct xsp_group *group;
	bool unsure;

	if (!xsp_filter_time(&report->filter, range->end_ns))
		return;
	if (report->steps) {
		report->ranges[range->how % 3]++;
		report->nr_uncertain += !!(range->flags & XSPROF_RANGEF_UNCERTAIN);
		return;
	}
	/* Its duration is not known: it is printed with the ranges open at the end. */
	unsure = is_unsure(report, range);
	if (unsure && !(range->flags & XSPROF_RANGEF_UNCERTAIN)) {
		if (is_wanted(report, range->producer, range->pid, range->tid, range->name)) {
			report->ranges[XSPROF_RANGE_OPEN]++;
			report->unsure++;
			leave_out(report, part);
		}
		return;
	}
	group = report_row(report, 0, range->producer, range->pid, range->tid, range->name,
			   &part->words);
	if (group && count(report, group, part, unsure))
		add_times(report, group, part);
}

/* From the end of the part before, but not before --from, to the end of this one. */
static void find_cause(struct report *report, struct report_part *part, uint64_t from)
{
	const struct xsprof_range *range = &part->range;
	uint64_t key = cause_reader_key(report->reader, range->producer, range->tid);
	struct cause_sum gap;

	cause_range(report->cause, key, range->begin_ns, range->end_ns,
		    range->kind == XSPROF_REC_BEGIN, &part->cause);
	if (from < report->filter.from_ns)
		from = report->filter.from_ns;
	if (from >= range->begin_ns)
		return;
	cause_range(report->cause, key, from, range->begin_ns, false, &gap);
	for (int i = 0; i < CAUSE_SUMS; i++)
		part->cause.v[i] += gap.v[i];
}

static void clip(const struct report *report, struct xsprof_range *range)
{
	range->begin_ns = xsp_filter_begin(&report->filter, range->begin_ns, range->end_ns);
}

/* Its own time includes that between two parts, except before --from. */
static void join(struct report *report, const struct report_part *before,
		 struct report_part *part)
{
	uint64_t from = report->filter.from_ns, early = 0;

	if (before && before->range.end_ns < from)
		early = (part->range.begin_ns < from ? part->range.begin_ns : from) -
			before->range.end_ns;
	report_join_to(report->join, before, part);
	part->range.self_ns -= early;
	clip(report, &part->range);
}

static void add_open(struct report *report, const struct report_part *part)
{
	struct xsprof_range range = part->range;

	/* It was in the outer range all the time. */
	range.begin_ns = part->began;
	open_ranges_add(&report->open, &range);
}

void report_range(void *data, const struct xsprof_range *range)
{
	struct report_part part = { .range = *range, .began = range->begin_ns };
	struct report *report = data;
	const struct report_part *before = report_join_before(report->join, range);

	clip(report, &part.range);
	part.uses = report_usage_of(report->usage, &part.used);
	/* A range without a thread has no time on a thread. */
	part.told = why_has_thread(range) && cause_get_stats(report->cause)->switches;
	if (part.told)
		find_cause(report, &part, before ? before->range.end_ns : UINT64_MAX);
	if (report->steps)
		report_steps_range(report->steps, range);
	part.words.inside = !report_counts_once(report, range);
	if (report->shapes)
		report_shapes_of(report->shapes, range, &part.words);
	join(report, before, &part);
	add_open(report, &part);
	if (!report_join_keep(report->join, &part))
		report_whole(report, &part);
}
