// SPDX-License-Identifier: GPL-2.0-only
/*
 * The state of CPUs: contexts on top of their tasks, the time of their last event, and the tasks on
 * them. It never changes the state of a task.
 */
#include <stdlib.h>
#include <string.h>

#include "cause/local.h"

struct cause_cpu *cause_find_cpu(const struct cause *cause, int32_t cpu)
{
	return cpu >= 0 && (uint32_t)cpu < CAUSE_CPUS ? cause->cpus[cpu] : NULL;
}

struct cause_cpu *cause_get_cpu(struct cause *cause, int32_t cpu)
{
	if (cpu < 0 || (uint32_t)cpu >= CAUSE_CPUS)
		return NULL;
	if (!cause->cpus[cpu])
		cause->cpus[cpu] = calloc(1, sizeof(*cause->cpus[cpu]));
	return cause->cpus[cpu];
}

/* The machine's time: monotonic, with a few bits less. */
uint64_t cause_clock(struct cause *cause, uint64_t ns)
{
	if (ns > CAUSE_MAX_NS)
		ns = CAUSE_MAX_NS;
	if (ns > cause->now)
		cause->now = ns;
	return cause->now;
}

const struct cause_who *cause_top(const struct cause_cpu *cpu)
{
	uint32_t deep = cpu ? cpu->deep : 0;

	if (!deep)
		return NULL;
	return &cpu->nested[(deep < CAUSE_NESTED ? deep : CAUSE_NESTED) - 1];
}

void cause_context(const struct cause *cause, int32_t cpu, struct cause_who *who)
{
	const struct cause_who *top = cause_top(cause_find_cpu(cause, cpu));

	memset(who, 0, sizeof(*who));
	who->vec = -1;
	if (top)
		*who = *top;
}

uint32_t cause_softirq(const struct cause_cpu *cpu)
{
	uint32_t deep = cpu->deep < CAUSE_NESTED ? cpu->deep : CAUSE_NESTED;

	while (deep--)
		if (cpu->nested[deep].context == CAUSE_IN_SOFTIRQ)
			return (uint32_t)cpu->nested[deep].vec + 1;
	return 0;
}

void cause_seen(struct cause *cause, int32_t cpu, uint64_t ns)
{
	struct cause_cpu *c = cause_get_cpu(cause, cpu);

	if (c)
		c->last = cause_clock(cause, ns);
}

void cause_hear(struct cause *cause, int32_t cpu, uint64_t ns)
{
	struct cause_cpu *c = cause_find_cpu(cause, cpu);

	if (!c || !c->blind)
		return;
	c->blind = false;
	cause->nr_blind--;
	cause->lost = cause_clock(cause, ns);
}

void cause_unlist(struct cause_task *task)
{
	if (!task->on_prev)
		return;
	*task->on_prev = task->on_next;
	if (task->on_next)
		task->on_next->on_prev = task->on_prev;
	task->on_prev = NULL;
}

/* After a loss on @cpu the state of the task is in doubt. */
void cause_place(struct cause *cause, struct cause_task *task, int32_t cpu)
{
	struct cause_cpu *c;

	c = cpu >= 0 ? cause_get_cpu(cause, cpu) : cause_find_cpu(cause, task->cpu);
	if (cpu >= 0)
		task->cpu = cpu;
	cause_unlist(task);
	if (!c)
		return;
	task->on_next = c->tasks;
	task->on_prev = &c->tasks;
	if (c->tasks)
		c->tasks->on_prev = &task->on_next;
	c->tasks = task;
}
