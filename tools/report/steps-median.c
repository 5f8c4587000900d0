// SPDX-License-Identifier: GPL-2.0-only
/*
 * Medians of the steps of a thread, and which steps are slow compared with these.
 */
#include <stdlib.h>

#include "report/steps.h"

/* A number of @step by index: the wall time, phases, causes. */
static uint64_t value_of(const struct report_step *step, size_t which)
{
	if (!which)
		return steps_wall(step);
	return which <= STEP_PHASES ? step->ns[which - 1] :
				      step->cause.v[which - 1 - STEP_PHASES];
}

static bool is_whole(const struct report_step *step)
{
	return step->how == STEP_ENDED && !step->uncertain && !step->switched &&
	       !step->first;
}

static int compare(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return (a > b) - (a < b);
}

static uint64_t median(const struct report_step *steps, size_t n, size_t which, uint64_t *values)
{
	size_t nr = 0;

	for (size_t i = 0; i < n; i++)
		if (is_whole(&steps[i]) && (which <= STEP_PHASES || steps[i].told))
			values[nr++] = value_of(&steps[i], which);
	qsort(values, nr, sizeof(*values), compare);
	if (!nr)
		return 0;
	return nr & 1 ? values[nr / 2] :
		values[nr / 2 - 1] + (values[nr / 2] - values[nr / 2 - 1]) / 2;
}

/* Without ops all time is outside of ops: no phases. */
static int columns_of(const struct report_step *steps, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (int k = 0; k < STEP_PHASES; k++)
			if (k != STEP_UNKNOWN && steps[i].ns[k])
				return STEP_COLUMNS;
	return 1;
}

bool steps_find_medians(const struct report_step *steps, size_t n, struct step_medians *m)
{
	uint64_t *values = calloc(n, sizeof(*values));

	*m = (struct step_medians){ .columns = columns_of(steps, n) };
	if (!values)
		return false;
	for (size_t i = 0; i < n; i++)
		m->nr += is_whole(&steps[i]);
	m->wall = median(steps, n, 0, values);
	for (size_t i = 0; i < STEP_PHASES; i++)
		m->ns[i] = median(steps, n, 1 + i, values);
	for (size_t i = 0; i < CAUSE_CLASSES; i++)
		m->cause[i] = median(steps, n, 1 + STEP_PHASES + i, values);
	free(values);
	return true;
}

bool steps_is_slow(const struct report_step *step, const struct step_medians *m)
{
	/* The time after the last step of a process that exits is no step. */
	if (step->how == STEP_PROCESS + XSPROF_HOW_EXITED)
		return false;
	return m->nr > 2 && !step->uncertain && !step->switched && !step->first &&
	       steps_wall(step) > m->wall + m->wall / 4;
}

size_t steps_same_thread(const struct report_steps *steps, size_t at)
{
	size_t n = at;

	while (n < steps->nr && steps->list[n].producer == steps->list[at].producer &&
	       steps->list[n].tid == steps->list[at].tid)
		n++;
	return n - at;
}
