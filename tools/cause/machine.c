// SPDX-License-Identifier: GPL-2.0-only
/*
 * Changes the state of tasks: see cause.h. task.c keeps sums and history, cpu.c the CPUs.
 */
#include <stdlib.h>
#include <string.h>

#include "cause/local.h"

/* ---- tasks and where they are ---------------------------------------------------------------- */

static uint8_t class_of(const struct cause *cause, const struct cause_task *task)
{
	const struct cause_who *top;

	switch (task->run) {
	case RUN_ON:
		top = cause_top(cause_find_cpu(cause, task->cpu));
		if (top)
			return top->context == CAUSE_IN_IRQ ? CAUSE_IRQ : CAUSE_SOFTIRQ;
		return task->nr >= 0 ? CAUSE_SYSCALL : CAUSE_CPU;
	case RUN_WAITS:
		return CAUSE_RUNNABLE;
	case RUN_SLEEPS:
		return task->gil.waits ? CAUSE_GIL : CAUSE_BLOCKED;
	case RUN_DISK:
		return CAUSE_IO;
	case RUN_FAULT:
		return CAUSE_FAULT;
	default:
		return CAUSE_UNKNOWN;
	}
}

/* To be called after the task, or the context on top of it, has changed. */
void cause_task_update(struct cause *cause, struct cause_task *task, uint64_t ns)
{
	uint8_t class = class_of(cause, task);

	if (class != task->class)
		cause_task_change(cause, task, ns, class);
}

static void set_run(struct cause *cause, struct cause_task *task, uint64_t ns, int32_t cpu,
		    enum cause_run run, uint64_t waker)
{
	bool moved = task->run != run;

	cause_tell(cause, task, ns);
	task->run = run;
	task->before = RUN_UNKNOWN;
	cause_place(cause, task, cpu);
	cause_task_update(cause, task, ns);
	if (moved)
		cause_task_moved(cause, task, ns, run == RUN_ON ? CAUSE_CPU : task->class, waker);
}

/* ---- switches ------------------------------------------------------------------------------- */

static enum cause_run run_after(const struct cause *cause, const struct cause_task *task,
				enum cause_state state)
{
	if (state == CAUSE_STATE_RUN)
		return RUN_WAITS;
	if (state == CAUSE_STATE_DEAD)
		return RUN_DEAD;
	/*
	 * The end of a fault is not traced. Without system call events a sleep in it cannot be
	 * distinguished from a sleep in a later system call.
	 */
	if (task->fault && task->nr < 0 && cause->stats.syscalls)
		return RUN_FAULT;
	return state == CAUSE_STATE_DISK ? RUN_DISK : RUN_SLEEPS;
}

/*
 * @key is on @cpu, and the switch away from the previous task was not seen: not all switches were
 * recorded, or its id changed in exec. The state of the previous task is unknown.
 */
static void surprise(struct cause *cause, int32_t cpu, uint64_t ns, uint64_t key)
{
	struct cause_cpu *c = cause_find_cpu(cause, cpu);
	struct cause_task *task;

	if (!c || !c->known || c->current == key)
		return;
	task = c->current ? cause_task_find(cause, c->current) : NULL;
	if (!task || task->run != RUN_ON || cause_find_cpu(cause, task->cpu) != c)
		return;
	cause_doubt(cause, task, c->last, ns);
	task->before = RUN_UNKNOWN;
}

void cause_leave(struct cause *cause, int32_t cpu, uint64_t ns, uint64_t prev,
		 enum cause_state state, uint64_t next)
{
	struct cause_task *task = prev ? cause_task_get(cause, prev) : NULL;
	struct cause_cpu *c = cause_get_cpu(cause, cpu);

	ns = cause_clock(cause, ns);
	cause_tell_waiters(cause, cpu, ns, prev, true);
	surprise(cause, cpu, ns, prev);
	if (task) {
		task->switches++;
		cause_task_infer(cause, task, CAUSE_CPU);
		cause_tell(cause, task, ns);
	}
	if (c) {
		/* It continues the softirq when it runs again; an interrupt does not switch. */
		if (task)
			task->softirq = cause_softirq(c);
		c->deep = 0;
		c->left = prev;
		cause_set_current(cause, c, ns, next);
	}
	if (task)
		set_run(cause, task, ns, cpu, run_after(cause, task, state), 0);
}

void cause_enter(struct cause *cause, int32_t cpu, uint64_t ns, uint64_t next)
{
	struct cause_task *task = next ? cause_task_get(cause, next) : NULL;
	struct cause_cpu *c = cause_get_cpu(cause, cpu);

	cause->stats.switches++;
	ns = cause_clock(cause, ns);
	cause_tell_waiters(cause, cpu, ns, next, false);
	if (task) {
		/* Its wake-up would have been seen. */
		if (cause->stats.wakeups)
			cause_task_infer(cause, task, CAUSE_RUNNABLE);
		cause_tell(cause, task, ns);
	}
	if (c) {
		cause_set_current(cause, c, ns, next);
		c->deep = 0;
		if (task && task->softirq) {
			c->nested[0] = (struct cause_who){
				.tid = next, .context = CAUSE_IN_SOFTIRQ, .vec = task->softirq - 1,
			};
			c->deep = 1;
		}
	}
	if (task)
		set_run(cause, task, ns, cpu, RUN_ON, 0);
}

void cause_switch(struct cause *cause, int32_t cpu, uint64_t ns, uint64_t prev,
		  enum cause_state state, uint64_t next)
{
	const struct cause_cpu *c = cause_find_cpu(cause, cpu);

	cause->stats.missed += c && c->known && c->current != prev;
	cause_leave(cause, cpu, ns, prev, state, next);
	cause_enter(cause, cpu, ns, next);
}

void cause_wakeup(struct cause *cause, uint64_t ns, uint64_t key, int32_t target,
		  const struct cause_who *who)
{
	struct cause_task *task = key ? cause_task_get(cause, key) : NULL;

	ns = cause_clock(cause, ns);
	cause->stats.wakeups++;
	if (!task || task->run == RUN_ON)
		return;
	if (task->run == RUN_WAITS) {
		cause_migrate(cause, ns, key, target);
		return;
	}
	/* Another task with the same id. */
	if (task->run == RUN_DEAD) {
		task->nr = -1;
		task->fault = false;
		task->softirq = 0;
		task->gil.waits = false;
	}
	/* It slept; the kind of sleep is known only if it slept before. */
	cause_task_infer(cause, task, task->before == RUN_DISK ? CAUSE_IO :
			 task->before == RUN_FAULT ? CAUSE_FAULT :
			 task->before != RUN_SLEEPS ? CAUSE_UNKNOWN :
			 task->gil.waits ? CAUSE_GIL : CAUSE_BLOCKED);
	cause->waker = *who;
	set_run(cause, task, ns, target, RUN_WAITS, who->context == CAUSE_IN_TASK ? who->tid : 0);
	cause->waker = (struct cause_who){ .context = CAUSE_IN_NOTHING, .vec = -1 };
}

void cause_migrate(struct cause *cause, uint64_t ns, uint64_t key, int32_t target)
{
	struct cause_task *task = key ? cause_task_find(cause, key) : NULL;

	ns = cause_clock(cause, ns);
	if (!task || task->run != RUN_WAITS || target < 0 || target == task->cpu)
		return;
	cause_tell(cause, task, ns);
	cause_place(cause, task, target);
}

/* ---- on a CPU ------------------------------------------------------------------------------- */

/* The current task there; its segment is emitted before it changes. */
static struct cause_task *current_task(struct cause *cause, const struct cause_cpu *cpu,
				       uint64_t ns)
{
	struct cause_task *task = NULL;

	if (cpu && cpu->known && cpu->current)
		task = cause_task_find(cause, cpu->current);
	if (!task || task->run != RUN_ON || cause_find_cpu(cause, task->cpu) != cpu)
		return NULL;
	cause_tell(cause, task, ns);
	return task;
}

void cause_irq_enter(struct cause *cause, int32_t cpu, uint64_t ns, const struct cause_who *who)
{
	struct cause_cpu *c = cause_get_cpu(cause, cpu);
	struct cause_task *task;

	ns = cause_clock(cause, ns);
	if (who->context == CAUSE_IN_IRQ)
		cause->stats.irqs++;
	else
		cause->stats.softirqs++;
	if (!c)
		return;
	task = current_task(cause, c, ns);
	if (c->deep < CAUSE_NESTED)
		c->nested[c->deep] = *who;
	if (c->deep < UINT16_MAX)
		c->deep++;
	if (task)
		cause_task_update(cause, task, ns);
}

void cause_irq_leave(struct cause *cause, int32_t cpu, uint64_t ns, enum cause_context context,
		     int32_t vec)
{
	struct cause_cpu *c = cause_find_cpu(cause, cpu);
	struct cause_task *task;
	uint32_t deep;

	ns = cause_clock(cause, ns);
	if (!c)
		return;
	if (c->deep > CAUSE_NESTED) {
		c->deep--;
		return;
	}
	for (deep = c->deep; deep; deep--)
		if (c->nested[deep - 1].context == context &&
		    (vec < 0 || c->nested[deep - 1].vec == vec))
			break;
	/* It was entered before the trace began. */
	if (!deep)
		return;
	task = current_task(cause, c, ns);
	c->deep = deep - 1;
	if (task) {
		if (context == CAUSE_IN_SOFTIRQ)
			task->softirq = 0;
		cause_task_update(cause, task, ns);
	}
}

/* Its switch away or wake-up was seen, but no return. */
static bool is_off(const struct cause_task *task)
{
	return task->run == RUN_WAITS || task->run == RUN_SLEEPS || task->run == RUN_DISK ||
	       task->run == RUN_FAULT;
}

/*
 * It certainly runs, even if events were missed; an event of a task just before its switch away is
 * no proof.
 */
static struct cause_task *running(struct cause *cause, int32_t cpu, uint64_t ns, uint64_t key,
				  bool certain)
{
	struct cause_task *task = key ? cause_task_get(cause, key) : NULL;
	struct cause_cpu *c = cause_get_cpu(cause, cpu);

	if (certain && c && c->known && c->current != key) {
		cause_tell_waiters(cause, cpu, ns, key, true);
		surprise(cause, cpu, ns, key);
		c->deep = 0;
		cause_set_current(cause, c, ns, key);
	}
	if (!task)
		return NULL;
	/*
	 * The kernel shows another task there: the switch was missed, or the kernel has another id
	 * for this task, whose switch away would then never be seen. Only a switch from the idle
	 * loop may be missing.
	 */
	if (!certain && task->run == RUN_UNKNOWN && c && c->known && c->current &&
	    c->current != key)
		return task;
	if (task->run == RUN_UNKNOWN || (certain && task->run != RUN_ON)) {
		if (c && (certain || !c->known))
			cause_set_current(cause, c, ns, key);
		cause_task_infer(cause, task, CAUSE_CPU);
		set_run(cause, task, ns, cpu, RUN_ON, 0);
	} else if (task->run == RUN_ON) {
		cause_tell(cause, task, ns);
	}
	return task;
}

void cause_runs(struct cause *cause, int32_t cpu, uint64_t ns, uint64_t key)
{
	struct cause_cpu *c = cause_find_cpu(cause, cpu);

	ns = cause_clock(cause, ns);
	if (c && c->known && c->current == key) {
		c->proven = ns;
		/*
		 * From here on, events of the task that left prove its return, if its switch back
		 * was not seen.
		 */
		c->left = CAUSE_NOBODY_KNOWS;
	} else {
		running(cause, cpu, ns, key, c && c->known && c->left != key);
	}
}

void cause_syscall(struct cause *cause, int32_t cpu, uint64_t ns, uint64_t key, int32_t nr)
{
	struct cause_task *task = running(cause, cpu, cause_clock(cause, ns), key, true);

	cause->stats.syscalls += nr >= 0;
	if (!task)
		return;
	task->nr = nr;
	task->fault = false;
	cause_task_update(cause, task, cause->now);
}

void cause_fault(struct cause *cause, int32_t cpu, uint64_t ns, uint64_t key)
{
	struct cause_task *task = running(cause, cpu, cause_clock(cause, ns), key, true);

	cause->stats.faults++;
	if (!task)
		return;
	task->fault = true;
	cause_task_fault(cause, task, cause->now);
}

void cause_marker(struct cause *cause, int32_t cpu, uint64_t ns, uint64_t key)
{
	const struct cause_cpu *c = cause_find_cpu(cause, cpu);
	struct cause_task *task;
	bool certain;

	/* Without switches markers prove nothing, nor does one without a known CPU. */
	if (!cause->stats.switches || cpu < 0)
		return;
	/* During a loss: it runs now, and its next events are lost. */
	ns = cause_clock(cause, ns);
	task = cause_task_get(cause, key);
	if (!task)
		return;
	/*
	 * The writer of a marker runs, unless it wrote it just before its switch away. A task never
	 * seen on a CPU may have another id in the kernel.
	 */
	certain = c && c->known && ns > c->proven + CAUSE_CLOCKS_NS && is_off(task);
	if (!c || !c->blind)
		running(cause, cpu, ns, key, certain);
	task->marked = true;
	task->fault = false;
	if (task->before)
		task->before = RUN_ON;
}

const struct cause_stats *cause_get_stats(const struct cause *cause)
{
	return &cause->stats;
}

void cause_free(struct cause *cause)
{
	if (!cause)
		return;
	cause_tasks_free(cause);
	for (uint32_t i = 0; i < CAUSE_CPUS; i++) {
		if (cause->cpus[i])
			free(cause->cpus[i]->ran);
		free(cause->cpus[i]);
	}
	free(cause->watched);
	free(cause);
}
