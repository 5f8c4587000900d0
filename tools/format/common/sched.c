// SPDX-License-Identifier: GPL-2.0-only
/*
 * Converts the module's scheduler records to events as the tracer would have written them: see
 * sched.h. Keeps the running task of each CPU, and no records.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "decode/tid.h"
#include "format/common/sched.h"
#include "text/utf8.h"

struct cpu {
	bool		known;
	uint32_t	left;	/* the task that left last */
	struct xsp_task	runs;
};

struct fmt_sched {
	struct cpu	cpus[FMT_SCHED_CPUS];
};

int fmt_sched_new(struct fmt_sched **sched)
{
	*sched = calloc(1, sizeof(**sched));
	return *sched ? 0 : -ENOMEM;
}

void fmt_sched_free(struct fmt_sched *sched)
{
	free(sched);
}

void fmt_sched_lost(struct fmt_sched *sched, int32_t cpu)
{
	if ((uint32_t)cpu < FMT_SCHED_CPUS)
		sched->cpus[cpu].known = false;
}

static void set_idle(struct xsp_task *task, int32_t cpu)
{
	*task = (struct xsp_task){ 0 };
	snprintf(task->comm, sizeof(task->comm), "swapper/%d", cpu);
}

void fmt_sched_at(const struct fmt_sched *sched, uint64_t ns,
		  void (*put)(void *data, int32_t cpu, const struct fmt_inferred *inferred),
		  void *data)
{
	struct fmt_inferred inferred = { .ns = ns, .state = 'R' };

	for (int32_t i = 0; i < (int32_t)FMT_SCHED_CPUS; i++) {
		if (!sched->cpus[i].known || !sched->cpus[i].runs.tid)
			continue;
		set_idle(&inferred.from, i);
		inferred.to = sched->cpus[i].runs;
		put(data, i, &inferred);
	}
}

static void set_comm(struct xsp_task *task, const char *s, size_t len)
{
	len = xsp_utf8_piece(s, len, sizeof(task->comm) - 4);
	memcpy(task->comm, s, len);
	task->comm[len] = '\0';
}

static uint32_t kernel_tid(const struct xsprof_trace *trace, uint32_t producer, uint32_t tid)
{
	uint32_t known = xsprof_trace_kernel_tid(trace, producer, tid);

	return known ? known : tid;
}

/* A thread of the producer: its name is in its own events. */
static void own_task(const struct xsprof_trace *trace, const struct xsprof_event *ev, uint32_t tid,
		     struct xsp_task *task)
{
	const char *comm = xsprof_trace_thread(trace, ev->producer, tid);

	*task = (struct xsp_task){
		.tid = xst_tid_shown(trace, ev->producer, tid), .tgid = ev->pid, .own = true,
	};
	set_comm(task, comm, strnlen(comm, sizeof(task->comm)));
}

/* Equal names get equal numbers: kernel threads have unique names. */
static uint32_t number_of(const char *comm, uint32_t salt)
{
	uint64_t h = 0xcbf29ce484222325u ^ salt;

	for (; *comm; comm++)
		h = (h ^ (unsigned char)*comm) * 0x100000001b3u;
	h = (h ^ h >> 29) * 0xd6e8feb86659fd93u;
	return FMT_SCHED_NUMBERS | (uint32_t)(h >> 34);
}

/* The other task in a record. */
static void other_task(const struct xsprof_trace *trace, const struct xsprof_event *ev,
		       struct xsp_task *task)
{
	uint32_t who = ev->aux & XSPROF_SCHED_WHO;
	const char *comm;
	size_t len;

	*task = (struct xsp_task){ 0 };
	comm = fmt_sched_comm(ev, &len);
	switch (who) {
	case XSPROF_SCHED_THREAD:
		own_task(trace, ev, (uint32_t)ev->value, task);
		return;
	case XSPROF_SCHED_IDLE:
		set_idle(task, ev->cpu);
		return;
	case XSPROF_SCHED_NOBODY:
	case XSPROF_SCHED_IRQ:
		return;
	case XSPROF_SCHED_PROCESS:
		task->tid = kernel_tid(trace, ev->producer, (uint32_t)ev->value);
		break;
	}
	if (len)
		set_comm(task, comm, len);
	else
		set_comm(task, "[other]", 7);
	/* Programs may have the same name: at most one of them runs on each CPU at a time. */
	if (!task->tid)
		task->tid = number_of(task->comm, who == XSPROF_SCHED_KERNEL ? 0 :
				      (uint32_t)ev->cpu + 1);
}

/* A task came: the previous one left, which may be in an earlier record. */
static void take_in(struct cpu *cpu, struct fmt_sched_event *event)
{
	if (cpu->known && cpu->runs.tid == event->task.tid) {
		event->kind = FMT_SCHED_SAID;
		cpu->runs = event->task;
		return;
	}
	event->kind = FMT_SCHED_SWITCH;
	event->state = 'R';
	if (cpu->known)
		event->by = cpu->runs;
	cpu->left = event->by.tid;
	cpu->runs = event->task;
	cpu->known = true;
}

/* A task left. If a process has two readers, the second record repeats it. */
static void take_out(struct cpu *cpu, const struct xsprof_event *ev, struct fmt_sched_event *event)
{
	if (cpu->known && cpu->runs.tid != event->by.tid && cpu->left == event->by.tid) {
		event->kind = FMT_SCHED_SAID;
		return;
	}
	event->kind = FMT_SCHED_SWITCH;
	event->state = fmt_sched_state(ev->aux);
	event->preempted = ev->aux & XSPROF_SCHED_PREEMPTED;
	cpu->left = event->by.tid;
	cpu->runs = event->task;
	cpu->known = true;
}

void fmt_sched_take(struct fmt_sched *sched, const struct xsprof_trace *trace,
		    const struct xsprof_event *ev, struct fmt_sched_event *event)
{
	struct cpu *cpu = &sched->cpus[(uint32_t)ev->cpu % FMT_SCHED_CPUS];

	memset(event, 0, sizeof(*event));
	switch (ev->type) {
	case XSPROF_REC_SCHED_IN:
		own_task(trace, ev, ev->tid, &event->task);
		take_in(cpu, event);
		break;
	case XSPROF_REC_SCHED_OUT:
		own_task(trace, ev, ev->tid, &event->by);
		other_task(trace, ev, &event->task);
		take_out(cpu, ev, event);
		break;
	case XSPROF_REC_SCHED_WAKE:
		event->kind = ev->aux & XSPROF_SCHED_NEW ? FMT_SCHED_WAKEUP_NEW : FMT_SCHED_WAKING;
		own_task(trace, ev, ev->tid, &event->task);
		other_task(trace, ev, &event->by);
		break;
	default:
		event->kind = FMT_SCHED_MIGRATE;
		own_task(trace, ev, ev->tid, &event->task);
		if (cpu->known)
			event->by = cpu->runs;
		event->from = (uint32_t)ev->value;
		event->to = (uint32_t)(ev->value >> 32);
	}
}
