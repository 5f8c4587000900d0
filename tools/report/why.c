// SPDX-License-Identifier: GPL-2.0-only
/*
 * xsprof report --why and --gaps: reads a trace twice, first to choose windows of threads, then to
 * see what happened in them.  It keeps windows, never events.
 */
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tool.h"
#include "ranges/tracks.h"
#include "report/join.h"
#include "report/why-local.h"

#define DEFAULT	5u

struct choice {
	struct why	*why;
	struct gaps	*gaps;
	struct report_join *join;
};

/* ---- the slowest ---------------------------------------------------------------------------- */

/* Order of the heap: the shortest comes first. */
static bool less(const struct why_window *a, const struct why_window *b)
{
	uint64_t wa = why_wall(a), wb = why_wall(b);

	return wa != wb ? wa < wb : a->begin > b->begin;
}

static void swap(struct why_window *a, struct why_window *b)
{
	struct why_window tmp = *a;

	*a = *b;
	*b = tmp;
}

static void sink(struct why_window *heap, uint32_t n)
{
	uint32_t at = 0, child;

	while ((child = at * 2 + 1) < n) {
		if (child + 1 < n && less(&heap[child + 1], &heap[child]))
			child++;
		if (!less(&heap[child], &heap[at]))
			return;
		swap(&heap[child], &heap[at]);
		at = child;
	}
}

static void keep(struct why *why, const struct why_window *w)
{
	uint32_t at;

	if (why->nr == why->want) {
		if (!why->want || !less(&why->windows[0], w))
			return;
		why->windows[0] = *w;
		sink(why->windows, why->nr);
		return;
	}
	why->windows[why->nr] = *w;
	for (at = why->nr++; at && less(&why->windows[at], &why->windows[(at - 1) / 2]);
	     at = (at - 1) / 2)
		swap(&why->windows[at], &why->windows[(at - 1) / 2]);
}

static bool is_named(const struct report *report, uint32_t producer, uint32_t id)
{
	const char *name = xsprof_trace_name(report->source.trace, producer, id);

	return !strcmp(name, report->why) || !fnmatch(report->why, name, 0);
}

static bool is_meant(struct why *why, const struct xsprof_range *range)
{
	struct report *report = why->report;
	uint8_t match = 0;

	if (!is_named(report, range->producer, range->name))
		return false;
	if (xsp_filter_time(&report->filter, range->end_ns) &&
	    xsp_filter_thread(&report->filter, range->pid, range->tid) &&
	    xsp_filter_name(&report->filter, report->source.trace, range->producer, range->name,
			    &match))
		return true;
	why->filtered++;
	return false;
}

static void choose_whole(void *data, const struct report_part *part)
{
	const struct xsprof_range *range = &part->range;
	struct why *why = data;
	struct why_window w = {
		.kind = WHY_RANGE,
		.producer = range->producer,
		.begin = xsp_filter_begin(&why->report->filter, range->begin_ns, range->end_ns),
		.began = range->begin_ns,
		.end = range->end_ns,
		.pid = range->pid,
		.tid = range->tid,
		.name = range->name,
	};

	if (!is_meant(why, range))
		return;
	if (!why_has_thread(range)) {
		why->off_thread++;
		return;
	}
	if (range->flags & XSPROF_RANGEF_UNCERTAIN && !why->report->uncertain) {
		why->report->nr_uncertain++;
		return;
	}
	why->found++;
	keep(why, &w);
}

static void choose(void *data, const struct xsprof_range *range)
{
	struct report_part part = { .range = *range };
	struct choice *choice = data;

	if (choice->gaps) {
		gaps_range(choice->gaps, range);
		return;
	}
	report_join_to(choice->join, report_join_before(choice->join, range), &part);
	if (!report_join_keep(choice->join, &part))
		choose_whole(choice->why, &part);
}

/* ---- reading -------------------------------------------------------------------------------- */

struct first_pass {
	struct xsprof_pairer	*pairer;
	struct choice		*choice;
};

static int pair_event(void *data, const struct xsprof_event *ev)
{
	struct first_pass *pass = data;

	if (ev->producer == XSPROF_NO_PRODUCER)
		return 0;
	report_join_event(pass->choice->join, ev);
	if (pass->choice->gaps)
		gaps_event(pass->choice->gaps, ev);
	else if (ev->type == XSPROF_REC_SYNC && !pass->choice->why->found)
		pass->choice->why->waits += is_named(pass->choice->why->report, ev->producer,
						     ev->name);
	return xsprof_pairer_event(pass->pairer, ev);
}

static int choose_all(struct why *why)
{
	struct choice choice = { .why = why };
	struct first_pass pass = { .choice = &choice };
	struct report *report = why->report;
	int status = 0, ret = 0;

	if (report->gaps)
		ret = gaps_new(report, &choice.gaps);
	if (!ret)
		ret = report_join_new(choose_whole, why, &choice.join);
	if (!ret)
		ret = xsprof_pairer_new(report->source.trace, choose, &choice, &pass.pairer);
	if (!ret)
		status = report_read(report, false, pair_event, &pass);
	if (!ret && !status && report->show.window)
		xsprof_pairer_pass(pass.pairer, report->filter.to_ns);
	if (!ret && !status)
		ret = xsprof_pairer_finish(pass.pairer);
	if (!ret && !status)
		report_join_finish(choice.join);
	if (!ret && !status && choice.gaps) {
		free(why->windows);
		ret = gaps_take(choice.gaps, why->want, &why->windows, &why->found);
		why->nr = ret > 0 ? (uint32_t)ret : 0;
		ret = ret > 0 ? 0 : ret;
	}
	xsprof_pairer_free(pass.pairer);
	gaps_free(choice.gaps);
	report_join_free(choice.join);
	return ret < 0 ? tool_error("%s: %s", report->source.path, strerror(-ret)) : status;
}

/* Segments of windows up to the end of the tracer's events are emitted before that end. */
static void end_at(struct why *why, uint64_t ns)
{
	uint64_t until = cause_reader_until(why->reader);

	if (ns <= until)
		return;
	why_advance(why, until);
	cause_reader_end(why->reader, ns);
}

static int watch_event(void *data, const struct xsprof_event *ev)
{
	struct why *why = data;

	end_at(why, ev->ns);
	why_advance(why, ev->ns);
	report_comms_event(why->comms, ev);
	if (ev->producer != XSPROF_NO_PRODUCER)
		report_places_event(why->places, ev);
	cause_reader_event(why->reader, ev);
	why_holders_event(why->holders, ev);
	return 0;
}

static int by_begin(const void *pa, const void *pb)
{
	const struct why_window *a = pa, *b = pb;

	if (a->begin != b->begin)
		return a->begin < b->begin ? -1 : 1;
	return (a->end > b->end) - (a->end < b->end);
}

static int by_wall(const void *pa, const void *pb)
{
	const struct why_window *a = pa, *b = pb;

	return less(a, b) - less(b, a);
}

static int ask_places(struct why *why)
{
	int ret = report_places_new(why->nr, &why->places);

	if (ret)
		return ret;
	for (uint32_t i = 0; i < why->nr; i++) {
		struct report_op op = why_op(&why->windows[i]);

		if (why->windows[i].kind != WHY_STREAM)
			report_places_ask(why->places, &op);
	}
	report_places_begin(why->places);
	return 0;
}

/* Reads the trace again for what happened in the windows. */
static int watch_all(struct why *why)
{
	struct xsprof_trace *trace = why->report->source.trace;
	int ret, status;

	qsort(why->windows, why->nr, sizeof(*why->windows), by_begin);
	why->active = calloc(why->nr + 1, sizeof(struct why_window *));
	ret = why->active ? ask_places(why) : -ENOMEM;
	if (!ret)
		ret = report_comms_new(trace, &why->comms);
	if (!ret)
		ret = why_holders_new(&why->holders);
	if (!ret)
		ret = cause_new(&why->cause);
	if (!ret)
		ret = cause_reader_new(trace, why->cause, &why->reader);
	if (!ret)
		ret = xsprof_trace_rewind(trace);
	if (ret < 0)
		return xsp_source_error(&why->report->source, ret);
	for (uint32_t i = 0; i < why->nr; i++)
		why->windows[i].key = cause_reader_key(why->reader, why->windows[i].producer,
						       why->windows[i].tid);
	cause_hook(why->cause, why_segment, why);
	status = report_read(why->report, false, watch_event, why);
	if (status)
		return status;
	if (why->report->show.window)
		end_at(why, why->report->filter.to_ns);
	why_finish(why);
	qsort(why->windows, why->nr, sizeof(*why->windows), by_wall);
	return 0;
}

static int check(const struct why *why)
{
	const char *path = why->report->source.path;

	if (!cause_get_stats(why->cause)->switches)
		return tool_error("%s: has no scheduler events, which show why: record with -e "
				  "sched (as root), and with --irq --syscalls --faults for more; "
				  "or with --sched if the module is loaded. Without them 'xsprof "
				  "dump -r --name NAME' shows when ranges were, and 'xsprof report "
				  "--gil' which threads waited for Python's GIL", path);
	if (!why->found && !why->report->gaps && why->report->nr_uncertain)
		return tool_error("%s: records were lost inside all ranges named '%s' of threads: "
				  "--include-uncertain shows them", path, why->report->why);
	if (!why->found && !why->report->gaps && why->off_thread)
		return tool_error("%s: all ranges named '%s' are async ranges, GPU activities or "
				  "calls, or spans, for which waits of threads are unknown: name a "
				  "range of a thread; 'xsprof report' lists "
				  "them", path, why->report->why);
	if (!why->found && !why->report->gaps && why->waits)
		return tool_error("%s: '%s' names waits for an object, not a range: 'xsprof "
				  "report' has a table of such waits; --why needs the range that a "
				  "thread was in", path, why->report->why);
	if (!why->found && !why->report->gaps && why->filtered)
		return tool_error("%s: none of the %" PRIu64 " ranges named '%s' matches the "
				  "filters: leave out --name, --category, --pid, --tid, --from or "
				  "--to", path, why->filtered, why->report->why);
	if (!why->found && !why->report->gaps)
		return tool_error("%s: no range of a thread is named '%s': 'xsprof report' lists "
				  "them", path, why->report->why);
	return 0;
}

int why_run(struct report *report)
{
	struct why why = { .report = report, .want = DEFAULT };
	int status = 0;

	if (report->reading.limit < WHY_MAX)
		why.want = (uint32_t)report->reading.limit;
	else if (report->reading.limit != UINT64_MAX)
		why.want = WHY_MAX;
	why.windows = calloc(why.want + 1, sizeof(*why.windows));
	if (!why.windows)
		return tool_error("%s", strerror(ENOMEM));
	status = choose_all(&why);
	if (!status)
		status = watch_all(&why);
	if (!status)
		status = check(&why);
	if (!status) {
		if (report->json)
			why_print_json(&why);
		else
			why_print(&why);
		status = tool_finish(0);
	}
	for (uint32_t i = 0; i < why.nr; i++)
		free(why.windows[i].items);
	free(why.windows);
	free(why.active);
	report_places_free(why.places);
	cause_reader_free(why.reader);
	cause_free(why.cause);
	xsp_tracks_free(why.holders);
	report_comms_free(why.comms);
	if (!status)
		status = xsp_source_losses(&report->source);
	return status;
}
