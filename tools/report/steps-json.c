// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints steps as JSON, and the medians of each thread.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "decode/rank.h"
#include "report/steps.h"
#include "text/json.h"

static const char *const phases[STEP_PHASES] = {
	[STEP_FORWARD] = "forward", [STEP_BACKWARD] = "backward", [STEP_OPTIMIZER] = "optimizer",
	[STEP_DATA] = "data", [STEP_COMM] = "communication", [STEP_UNKNOWN] = "no_op",
};

static void json_step(const struct report_steps *steps, const struct report_step *step)
{
	struct xsprof_trace *trace = steps->report->source.trace;
	const char *comm = xsprof_trace_thread(trace, step->producer, step->tid);

	printf("{\"step\":%" PRIu64 ",\"begin_ns\":%" PRIu64 ",\"end_ns\":%" PRIu64
	       ",\"wall_ns\":%" PRIu64, step->number, step->begin, step->end, steps_wall(step));
	for (int i = 0; i < STEP_PHASES; i++)
		printf(",\"%s_ns\":%" PRIu64, phases[i], step->ns[i]);
	if (step->told) {
		printf(",\"cause\":{\"wall_ns\":%" PRIu64, steps_wall(step));
		report_json_sum(&step->cause);
		putchar('}');
	}
	steps_json_usage(step);
	printf(",\"uncertain\":%s,\"switched\":%s,\"begin_known\":%s,\"ended\":%s"
	       ",\"producer\":%u,\"pid\":%u,\"tid\":%u,\"thread\":",
	       step->uncertain ? "true" : "false", step->switched ? "true" : "false",
	       step->first ? "false" : "true", step->how == STEP_ENDED ? "true" : "false",
	       step->producer, step->pid, step->tid);
	xsp_json_print(stdout, comm, strlen(comm));
	putchar('}');
}

static void json_thread(const struct report_steps *steps, const struct xsp_ranks *ranks,
			const struct report_step *list, size_t n)
{
	const struct step_thread *th = report_steps_thread(steps, list);
	struct xsp_rank rank = { 0 };
	struct step_medians m;
	bool known;

	known = steps_find_medians(list, n, &m);
	if (ranks)
		xsp_ranks_get(ranks, list->pid, &rank);
	printf("{\"producer\":%u,\"pid\":%u,\"tid\":%u", list->producer, list->pid, list->tid);
	/* If memory for them or for ranks ran out, none are printed. */
	if (known)
		printf(",\"whole_steps\":%zu", m.nr);
	if (rank.known)
		printf(",\"rank\":%u", rank.rank);
	if (m.nr)
		printf(",\"wall_ns\":%" PRIu64, m.wall);
	for (int i = 0; i < STEP_PHASES && m.nr; i++)
		printf(",\"%s_ns\":%" PRIu64, phases[i], m.ns[i]);
	if (!steps->range && *th->by) {
		fputs(th->passes ? ",\"until_after_pass_with\":" : ",\"until_end_of\":",
		      stdout);
		xsp_json_print(stdout, th->by, strlen(th->by));
	}
	putchar('}');
}

void report_json_steps(const struct report_steps *steps)
{
	struct xsp_ranks *ranks = NULL;
	const char *sep = "\n";
	bool no_ranks;
	size_t n;

	fputs(",\n\"steps\":[", stdout);
	for (size_t at = 0; at < steps->nr; at += n) {
		n = steps_same_thread(steps, at);
		for (size_t i = at; i < at + n; i++) {
			if (i - at >= steps->report->reading.limit &&
			    steps->list[i].how == STEP_ENDED)
				continue;
			fputs(sep, stdout);
			sep = ",\n";
			json_step(steps, &steps->list[i]);
		}
	}
	fputs("],\n\"medians\":[", stdout);
	no_ranks = xsp_ranks_new(steps->report->source.trace, &ranks) != 0;
	for (size_t at = 0; at < steps->nr; at += n) {
		n = steps_same_thread(steps, at);
		fputs(at ? ",\n" : "\n", stdout);
		json_thread(steps, ranks, &steps->list[at], n);
	}
	xsp_ranks_free(ranks);
	if (no_ranks)
		tool_note("no memory for the ranks of processes: the JSON has none");
	printf("],\"steps_dropped\":%" PRIu64 ",\"steps_in_doubt\":%" PRIu64
	       ",\"steps_beside\":%" PRIu64 ",\"ranges_refused\":%" PRIu64, steps->dropped,
	       steps->doubtful, steps->beside, steps->refused);
}
