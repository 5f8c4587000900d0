// SPDX-License-Identifier: GPL-2.0-only
/*
 * What threads did with their time, by phase, for steps.c.
 */
#include <stdlib.h>
#include <string.h>

#include "report/steps.h"

#define THREADS_MAX	4096u

/* ---- threads -------------------------------------------------------------------------------- */

static struct step_process *process_of(struct report_steps *steps, uint32_t producer)
{
	struct step_process *v;
	uint32_t n = producer + 1;

	if (producer >= XSPROF_CAP_MAX_PRODUCERS)
		return NULL;
	if (n > steps->nr_processes) {
		v = realloc(steps->processes, n * sizeof(*v));
		if (!v)
			return NULL;
		memset(v + steps->nr_processes, 0, (n - steps->nr_processes) * sizeof(*v));
		steps->processes = v;
		steps->nr_processes = n;
	}
	return &steps->processes[producer];
}

struct step_thread *steps_find_thread(struct report_steps *steps, uint32_t producer, uint32_t tid)
{
	const uint64_t *at = xsp_map_get(&steps->by_thread,
					 ((uint64_t)producer + 1) << 32 | tid);

	return at ? &steps->threads[*at] : NULL;
}

struct step_thread *steps_thread(struct report_steps *steps, const struct xsprof_event *ev)
{
	struct step_thread *th = steps_find_thread(steps, ev->producer, ev->tid);
	uint32_t room = steps->room_threads ? steps->room_threads * 2 : 8;

	if (th)
		return th;
	if (steps->nr_threads == THREADS_MAX || !process_of(steps, ev->producer))
		return NULL;
	if (steps->nr_threads == steps->room_threads) {
		th = realloc(steps->threads, room * sizeof(*th));
		if (!th)
			return NULL;
		steps->threads = th;
		steps->room_threads = room;
	}
	if (xsp_map_set(&steps->by_thread, ((uint64_t)ev->producer + 1) << 32 | ev->tid,
			steps->nr_threads))
		return NULL;
	th = &steps->threads[steps->nr_threads++];
	memset(th, 0, sizeof(*th));
	th->producer = ev->producer;
	th->pid = ev->pid;
	th->tid = ev->tid;
	th->in = STEP_UNKNOWN;
	th->since = steps->now;
	steps->processes[ev->producer].nr[STEP_UNKNOWN]++;
	return th;
}

/* ---- time ----------------------------------------------------------------------------------- */

static void count_process(struct step_process *process, uint64_t now)
{
	if (process->nr[STEP_BACKWARD])
		process->backward += now - process->since;
	else if (process->nr[STEP_COMM])
		process->comm += now - process->since;
	process->since = now;
}

/* What is before now is in its sums. */
void steps_count(struct report_steps *steps, struct step_thread *th)
{
	struct step_process *process = &steps->processes[th->producer];
	uint64_t ns = steps->now - th->since, backward, comm;

	count_process(process, steps->now);
	if (th->in == STEP_UNKNOWN) {
		/* It is in none of the two itself. */
		backward = process->backward - th->backward;
		comm = process->comm - th->comm;
		th->ns[STEP_BACKWARD] += backward;
		th->ns[STEP_COMM] += comm;
		ns -= backward + comm;
	}
	th->ns[th->in] += ns;
	th->since = steps->now;
	th->backward = process->backward;
	th->comm = process->comm;
}

void steps_enter(struct report_steps *steps, struct step_thread *th, uint32_t phase)
{
	struct step_process *process = &steps->processes[th->producer];

	if (th->in == phase)
		return;
	steps_count(steps, th);
	process->nr[th->in]--;
	process->nr[phase]++;
	th->in = phase;
}
