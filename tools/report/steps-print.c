// SPDX-License-Identifier: GPL-2.0-only
/*
 * How steps look: a table for each thread that has any, and what the slow ones had more of than
 * the median.  It never counts a step.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tool.h"
#include "decode/rank.h"
#include "format/common/out.h"
#include "report/steps.h"

#define SHOWN		50u	/* rows of a thread, without -n */
#define SLOW_SHOWN	5u

static const struct {
	const char	*head;
	const char	*text;
} phases[STEP_PHASES] = {
	[STEP_FORWARD]	 = { "Forward", "in forward and other ops" },
	[STEP_BACKWARD]	 = { "Backward", "in the backward pass" },
	[STEP_OPTIMIZER] = { "Optimizer", "in the optimizer" },
	[STEP_DATA]	 = { "Data", "for the next batch" },
	[STEP_COMM]	 = { "Comm.", "for communication" },
	[STEP_UNKNOWN]	 = { "In no op", "in no op" },
};

static const char *const causes[CAUSE_CLASSES] = {
	[CAUSE_CPU] = "on the CPU", [CAUSE_SYSCALL] = "in system calls",
	[CAUSE_FAULT] = "in page faults", [CAUSE_IRQ] = "interrupted",
	[CAUSE_SOFTIRQ] = "interrupted by softirqs", [CAUSE_RUNNABLE] = "waiting for a CPU",
	[CAUSE_GIL] = "waiting for the GIL",
	[CAUSE_BLOCKED] = "asleep", [CAUSE_IO] = "asleep, uninterruptible",
	[CAUSE_UNKNOWN] = "not known",
};

/* ---- tables --------------------------------------------------------------------------------- */

static void cells_of(uint64_t wall, const uint64_t ns[STEP_PHASES], char cell[STEP_COLUMNS][32])
{
	tool_format_time(cell[0], 32, wall);
	for (int i = 0; i < STEP_PHASES; i++) {
		if (ns[i])
			tool_format_time(cell[i + 1], 32, ns[i]);
		else
			strcpy(cell[i + 1], "-");
	}
}

static void print_cells(const size_t wide[STEP_COLUMNS], int columns, uint64_t wall,
			const uint64_t ns[STEP_PHASES])
{
	char cell[STEP_COLUMNS][32];

	cells_of(wall, ns, cell);
	for (int c = 0; c < columns; c++)
		printf("  %*s", (int)wide[c], cell[c]);
}

static const char *head_of(int column)
{
	return column ? phases[column - 1].head : "Wall";
}

static void widen(size_t wide[STEP_COLUMNS], uint64_t wall, const uint64_t ns[STEP_PHASES])
{
	char cell[STEP_COLUMNS][32];

	cells_of(wall, ns, cell);
	for (int c = 0; c < STEP_COLUMNS; c++)
		wide[c] = report_max(report_max(wide[c], strlen(head_of(c))), strlen(cell[c]));
}

static void print_more(const char **sep, uint64_t now, uint64_t usual, uint64_t least,
		       const char *what)
{
	char more[32];

	if (now < usual + least)
		return;
	printf("%s%s more %s", *sep, tool_format_time(more, sizeof(more), now - usual), what);
	*sep = ", ";
}

static void print_seconds(uint64_t ns)
{
	printf("%" PRIu64 ".%09" PRIu64, ns / 1000000000u, ns % 1000000000u);
}

static uint64_t excess_of(const struct report_step *step, const struct step_medians *m, int phase)
{
	return step->ns[phase] > m->ns[phase] ? step->ns[phase] - m->ns[phase] : 0;
}

/* Prints phases that are longer than the median by at least a tenth of the excess. */
static void print_slow(const struct report_steps *steps, const struct report_step *step,
		       const struct step_medians *m)
{
	uint64_t first = steps->report->first_ns, excess = steps_wall(step) - m->wall;
	uint64_t least = excess / 10 ? excess / 10 : 1;
	const char *sep = "";
	char wall[32], usual[32];
	bool idle, gil, named;

	printf("step %" PRIu64 ": %s%s, the median is %s: ", step->number,
	       step->how == STEP_ENDED ? "" : "unfinished after ",
	       tool_format_time(wall, sizeof(wall), steps_wall(step)),
	       tool_format_time(usual, sizeof(usual), m->wall));
	for (int i = 0; i < m->columns - 1; i++)
		print_more(&sep, step->ns[i], m->ns[i], least, phases[i].text);
	if (!*sep)
		fputs(m->columns > 1 ? "no phase stands out" : "it has no ops", stdout);
	fputs(step->told ? "" : "; scheduler events were not recorded (-e sched)", stdout);
	sep = "; the thread was ";
	for (int i = 0; step->told && i < CAUSE_CLASSES; i++)
		print_more(&sep, step->cause.v[i], m->cause[i], least, causes[i]);
	putchar('\n');
	if (!step->ranges)
		return;
	/*
	 * A range without ops, or with its time in none of them, is slow itself: --why. Else, if
	 * the excess is in no op, it is in gaps between ranges: --gaps. A step without ranges has
	 * nothing to look at.
	 */
	gil = step->told && step->cause.v[CAUSE_GIL] > m->cause[CAUSE_GIL] + excess / 3;
	idle = step->told && excess_of(step, m, STEP_UNKNOWN) > excess / 2;
	named = step->told && steps->range && !strchr(steps->range, '\'');
	if (gil)
		printf("  look at: xsprof report --why 'GIL wait' -n 1 --tid %u --from ",
		       step->tid);
	else if (named && (m->columns <= 1 || idle))
		printf("  look at: xsprof report --why '%s' -n 1 --tid %u --from ", steps->range,
		       step->tid);
	else
		printf("  look at: xsprof report %s --tid %u --from ",
		       idle ? "--gaps" : "-s self", step->tid);
	print_seconds(step->begin + 1 - first);
	fputs(" --to ", stdout);
	print_seconds(step->end - first);
	putchar(' ');
	report_print_text(steps->report->source.arg, strlen(steps->report->source.arg), 0);
	putchar('\n');
}

static int slower(const void *pa, const void *pb)
{
	uint64_t a = steps_wall(*(struct report_step *const *)pa);
	uint64_t b = steps_wall(*(struct report_step *const *)pb);

	return (a < b) - (a > b);
}

static void print_slow_ones(const struct report_steps *steps, const struct report_step *list,
			    size_t n, const struct step_medians *m)
{
	const struct report_step **slow = calloc(n, sizeof(*slow));
	size_t nr = 0;

	if (!slow) {
		puts("# no memory for the list of slow steps");
		return;
	}
	for (size_t i = 0; i < n; i++)
		if (steps_is_slow(&list[i], m))
			slow[nr++] = &list[i];
	qsort(slow, nr, sizeof(*slow), slower);
	if (nr)
		printf("\n%zu step%s took more than 1.25 times the median%s\n", nr,
		       nr == 1 ? "" : "s", nr > SLOW_SHOWN ? ", the slowest:" : ":");
	for (size_t i = 0; i < nr && i < SLOW_SHOWN; i++)
		print_slow(steps, slow[i], m);
	free(slow);
}

static void print_thread(const struct report_steps *steps, const struct report_step *step)
{
	const char *comm = xsprof_trace_thread(steps->report->source.trace, step->producer,
					       step->tid);

	report_print_text(*comm ? comm : "?", *comm ? strlen(comm) : 1, 0);
	printf("-%u", step->tid);
}

static void print_head(const struct report_steps *steps, const struct xsp_ranks *ranks,
		       const struct report_step *step, size_t n)
{
	const struct step_thread *th = report_steps_thread(steps, step);
	const char *by = th->by;
	struct xsp_rank rank = { 0 };
	size_t ended = 0;

	fputs("\n# ", stdout);
	print_thread(steps, step);
	if (ranks)
		xsp_ranks_get(ranks, step->pid, &rank);
	if (rank.known)
		printf(", rank %u", rank.rank);
	if (rank.known && rank.world_size)
		printf(" of %u", rank.world_size);
	for (size_t i = 0; i < n; i++)
		ended += step[i].how == STEP_ENDED;
	printf(": %zu step%s, ", ended, ended == 1 ? "" : "s");
	if (steps->range) {
		fputs("each a range ", stdout);
		by = steps->range;
	} else {
		fputs(!*by ? "as counted by the program" : th->passes ?
		      "each until the end of the backward pass with " : "each until the end of ",
		      stdout);
	}
	report_print_text(by, strlen(by), 0);
	if (*th->other) {
		fputs("; not of ", stdout);
		report_print_text(th->other, strlen(th->other), 0);
	}
	putchar('\n');
}

/* The remark for a step. */
static const char *note_of(const struct report_step *step, const struct step_medians *m, char *buf,
			   size_t size)
{
	if (step->how == STEP_PROCESS + XSPROF_HOW_EXITED)
		return "  after the last step, until the process exited";
	if (step->how == STEP_PROCESS + XSPROF_HOW_RUNNING)
		return "  not over at the end";
	if (step->how >= STEP_PROCESS) {
		snprintf(buf, size, "  unfinished when the process ended (%s)",
			 xsp_word_how(step->how - STEP_PROCESS));
		return buf;
	}
	return step->how == STEP_RECORDING ? "  not over at the end" :
	       step->uncertain ? "  uncertain: records were lost" :
	       step->switched ? "  uncertain: markers were disabled or enabled" :
	       step->first ? "  its begin is unknown" : steps_is_slow(step, m) ? "  slow" : "";
}

static void print_table(const struct report_steps *steps, const struct xsp_ranks *ranks,
			const struct report_step *list, size_t n)
{
	uint64_t limit = steps->report->reading.limit;
	bool bold = report_colours();
	size_t wide[STEP_COLUMNS] = { 0 };
	struct step_medians m;
	size_t i, doubt = 0, shown = 0;
	char note[64];

	if (limit == UINT64_MAX)
		limit = SHOWN;
	print_head(steps, ranks, list, n);
	if (!steps_find_medians(list, n, &m))
		puts("# no memory for the medians");
	for (i = 0; i < n; i++)
		widen(wide, steps_wall(&list[i]), list[i].ns);
	widen(wide, m.wall, m.ns);
	printf("%s%8s  %14s", bold ? "\033[1m" : "", "Step", "Begin");
	for (int c = 0; c < m.columns; c++)
		printf("  %*s", (int)wide[c], head_of(c));
	puts(bold ? "\033[0m" : "");
	for (i = 0; i < n; i++) {
		/* A hanging step is always shown. */
		if (i >= limit && list[i].how == STEP_ENDED)
			continue;
		steps_print_begin(steps, &list[i]);
		print_cells(wide, m.columns, steps_wall(&list[i]), list[i].ns);
		puts(note_of(&list[i], &m, note, sizeof(note)));
		shown++;
	}
	if (n > shown)
		printf("... steps left out: %zu: -n %zu shows all\n", n - shown, n);
	if (m.nr) {
		printf("%8s  %14s", "median", "");
		print_cells(wide, m.columns, m.wall, m.ns);
		putchar('\n');
	}
	if (m.nr < 3)
		puts("# too few complete steps to find slow ones");
	for (i = 0; i < n; i++)
		doubt += list[i].uncertain || list[i].switched;
	if (doubt)
		printf("# uncertain: %zu of these steps, each of which may be several: their "
		       "numbers may be too low\n", doubt);
	print_slow_ones(steps, list, n, &m);
	steps_print_usage(steps, list, n, n < limit ? n : (size_t)limit);
}

void report_print_steps(const struct report_steps *steps)
{
	const struct cause_stats *stats = cause_get_stats(steps->report->cause);
	struct xsp_ranks *ranks = NULL;
	size_t n;

	if (stats->switches)
		report_print_sources(stats);
	if (steps->nr && xsp_ranks_new(steps->report->source.trace, &ranks))
		puts("# no memory for the ranks of processes");
	for (size_t at = 0; at < steps->nr; at += n) {
		n = steps_same_thread(steps, at);
		print_table(steps, ranks, &steps->list[at], n);
	}
	xsp_ranks_free(ranks);
	if (!steps->nr && steps->filtered)
		printf("\n... none of %" PRIu64 " steps matches the filters: leave out --pid, "
		       "--tid, --from or --to\n", steps->filtered);
	else if (!steps->nr)
		puts(steps->range ? "\n... no range of that name ended: 'xsprof report' lists "
		     "the names" :
		     "\n... no step: no range Optimizer.step#* ended, and the program counted "
		     "none; --steps=NAME uses ranges of that name as steps");
	if (steps->doubtful)
		printf("... and %" PRIu64 " ranges of that name without a row: records were lost "
		       "inside them\n", steps->doubtful);
	if (steps->beside)
		printf("... and %" PRIu64 " ranges of that name without a row: another was open "
		       "when they began or ended\n", steps->beside);
	if (steps->dropped)
		printf("... and %" PRIu64 " later steps without a row\n", steps->dropped);
	if (steps->refused)
		printf("... and %" PRIu64 " ranges that did not fit: their time is in the phase "
		       "around them\n",
		       steps->refused);
}
