// SPDX-License-Identifier: GPL-2.0-only
/*
 * Adjusts the state of tasks after lost events, and after the last event: see cause.h.
 */
#include "cause/local.h"

void cause_doubt(struct cause *cause, struct cause_task *task, uint64_t last, uint64_t ns)
{
	cause_unlist(task);
	cause_tell(cause, task, last < ns ? last : ns);
	task->run = RUN_UNKNOWN;
	task->fault = false;
	task->nr = -1;
	task->softirq = 0;
	if (task->class != CAUSE_UNKNOWN)
		cause_task_doubt(cause, task, last, ns);
}

/* ---- losses --------------------------------------------------------------------------------- */

/* Tasks that are on @cpu, or were last; @but_running: except those that run there. */
static void doubt_all(struct cause *cause, struct cause_cpu *cpu, bool but_running, uint64_t last,
		      uint64_t ns)
{
	struct cause_task *task, *next;

	for (task = cpu->tasks; task; task = next) {
		next = task->on_next;
		if (but_running && task->run == RUN_ON)
			continue;
		if (task->run == RUN_DEAD) {
			cause_unlist(task);
			continue;
		}
		task->before = task->run;
		cause_doubt(cause, task, last, ns);
	}
}

void cause_lost(struct cause *cause, int32_t cpu, uint64_t ns)
{
	struct cause_cpu *c = cause_get_cpu(cause, cpu);

	ns = cause_clock(cause, ns);
	cause->stats.lost++;
	cause->lost = ns;
	if (!c)
		return;
	/* The task on this CPU is now unknown: emit waits for it up to here. */
	cause_tell_waiters(cause, cpu, c->last < ns ? c->last : ns, c->current, true);
	cause->nr_blind += !c->blind;
	c->blind = true;
	c->known = false;
	c->deep = 0;
	/* Tasks that slept or waited elsewhere may have been woken and have run here. */
	for (uint32_t i = 0; i < CAUSE_CPUS; i++)
		if (cause->cpus[i])
			doubt_all(cause, cause->cpus[i], i != (uint32_t)cpu, c->last, ns);
	c->last = ns;
}

/* ---- the end -------------------------------------------------------------------------------- */

static void forget(struct cause *cause, struct cause_task *task, uint64_t ns)
{
	if (task->run != RUN_DEAD)
		cause_doubt(cause, task, ns, ns);
}

void cause_end(struct cause *cause, uint64_t from, uint64_t ns)
{
	cause->stats.after = ns > from ? ns - from : 0;
	if (cause->ended)
		return;
	cause->ended = true;
	from = cause_clock(cause, from);
	for (uint32_t i = 0; i < CAUSE_CPUS; i++)
		if (cause->cpus[i])
			cause_tell_waiters(cause, (int32_t)i, from, cause->cpus[i]->current, true);
	/* Tasks without a known CPU are in no list. */
	cause_tasks_all(cause, forget, from);
	for (uint32_t i = 0; i < CAUSE_CPUS; i++) {
		if (!cause->cpus[i])
			continue;
		cause->cpus[i]->known = false;
		cause->cpus[i]->deep = 0;
	}
}
