// SPDX-License-Identifier: GPL-2.0-only
/*
 * The running task of each CPU by the tracer's events, and when tasks were woken: see running.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "format/common/running.h"
#include "text/utf8.h"

#define CPUS	1024u
#define KINDS	65536u

/* The most by which the clocks of markers and of the kernel differ. */
#define CLOCKS_NS	20000u

enum what { NOT_KNOWN, OTHER, SWITCH, WAKE, EXEC };

/* Flags of an event: interrupts are off, or not known. */
#define IRQS_OFF	0x3u

struct kind {
	enum what				what;
	const struct xsprof_kernel_field	*task;	/* next, woken or previous task */
};

struct cpu {
	bool		known;
	uint32_t	runs;
	uint64_t	left;		/* the previous task of the latest switch, + 1 */
	uint64_t	last;		/* time of its latest event */
	uint64_t	proven;		/* when @runs was switched to, or last seen to run */
};

struct fmt_running {
	struct kind	*kinds;		/* by id */
	struct cpu	cpus[CPUS];
	uint32_t	nr_cpus;	/* highest CPU seen, + 1 */
	struct xsp_map	off;		/* by task + 1: time of its last wakeup or switch away */
};

int fmt_running_new(struct fmt_running **running)
{
	struct fmt_running *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->kinds = calloc(KINDS, sizeof(*r->kinds));
	if (!r->kinds) {
		free(r);
		return -ENOMEM;
	}
	*running = r;
	return 0;
}

void fmt_running_free(struct fmt_running *running)
{
	if (!running)
		return;
	xsp_map_free(&running->off);
	free(running->kinds);
	free(running);
}

static void find_kind(const struct xsprof_trace *trace, uint32_t id, struct kind *kind)
{
	const struct xsprof_kernel_event *event = xsprof_trace_kernel_event(trace, id);

	kind->what = OTHER;
	if (!event || strcmp(event->system, "sched"))
		return;
	if (!strcmp(event->name, "sched_switch")) {
		kind->task = xsprof_kernel_field(event, "next_pid");
		kind->what = kind->task ? SWITCH : OTHER;
	} else if (!strcmp(event->name, "sched_process_exec")) {
		kind->task = xsprof_kernel_field(event, "old_pid");
		kind->what = kind->task ? EXEC : OTHER;
	} else if (!strcmp(event->name, "sched_waking") || !strcmp(event->name, "sched_wakeup") ||
		   !strcmp(event->name, "sched_wakeup_new")) {
		kind->task = xsprof_kernel_field(event, "pid");
		kind->what = kind->task ? WAKE : OTHER;
	}
}

static void set_task(const struct xsprof_trace *trace, int32_t cpu, uint32_t tid,
		     struct xsp_task *task)
{
	const char *comm;
	size_t len;

	*task = (struct xsp_task){ .tid = tid };
	if (!tid) {
		snprintf(task->comm, sizeof(task->comm), "swapper/%d", cpu);
		return;
	}
	comm = xsprof_trace_comm(trace, tid);
	len = xsp_utf8_piece(comm, strlen(comm), sizeof(task->comm) - 4);
	memcpy(task->comm, comm, len);
	task->comm[len] = '\0';
}

/* The earliest time at which the task can have come to the CPU. */
static void infer(const struct fmt_running *r, const struct xsprof_trace *trace,
		  const struct cpu *cpu, int32_t number, uint32_t tid,
		  struct fmt_inferred *inferred)
{
	const uint64_t *off = xsp_map_get(&r->off, (uint64_t)tid + 1);

	inferred->ns = off && *off > cpu->last ? *off : cpu->last;
	inferred->state = 'R';
	set_task(trace, number, cpu->runs, &inferred->from);
	set_task(trace, number, tid, &inferred->to);
}

/* Does the CPU run another task than that of the latest switch? */
static bool was_left_out(const struct fmt_running *r, const struct xsprof_trace *trace,
			 const struct kind *kind, const struct cpu *cpu,
			 const struct xsprof_event *ev, struct fmt_inferred *inferred)
{
	uint64_t old;

	if (!cpu->known || cpu->runs == ev->tid)
		return false;
	/* Right after a switch event the kernel still runs as the previous task. */
	if (ev->tid + 1ull == cpu->left && ev->aux & IRQS_OFF && kind->what != SWITCH)
		return false;
	infer(r, trace, cpu, ev->cpu, ev->tid, inferred);
	if (kind->what == EXEC && xsprof_kernel_value(ev, kind->task, &old) && old == cpu->runs)
		inferred->state = 'X';
	return true;
}

static void take_sched(struct fmt_running *running, const struct kind *kind, struct cpu *cpu,
		       const struct xsprof_event *ev)
{
	uint64_t task;

	if (!xsprof_kernel_value(ev, kind->task, &task) || task > UINT32_MAX)
		return;
	if (kind->what == SWITCH) {
		cpu->known = true;
		cpu->runs = (uint32_t)task;
		cpu->left = ev->tid + 1ull;
		cpu->proven = ev->ns;
		task = ev->tid;
	}
	/* If memory ran out, the CPU's last event is the earliest possible time. */
	if (task && kind->what != EXEC)
		(void)xsp_map_set(&running->off, task + 1, ev->ns);
}

bool fmt_running_take(struct fmt_running *running, const struct xsprof_trace *trace,
		      const struct xsprof_event *ev, struct fmt_inferred *inferred)
{
	struct cpu *cpu = &running->cpus[(uint32_t)ev->cpu % CPUS];
	struct kind *kind;
	bool left_out;

	if ((uint32_t)ev->cpu >= CPUS)
		return false;
	if ((uint32_t)ev->cpu >= running->nr_cpus)
		running->nr_cpus = (uint32_t)ev->cpu + 1;
	if (ev->type == XSPROF_EV_LOST) {
		cpu->known = false;
		return false;
	}
	kind = &running->kinds[ev->name % KINDS];
	if (kind->what == NOT_KNOWN)
		find_kind(trace, ev->name % KINDS, kind);
	if (ev->tid + 1ull != cpu->left)
		cpu->left = 0;
	left_out = was_left_out(running, trace, kind, cpu, ev, inferred);
	if (left_out)
		cpu->runs = ev->tid;
	if (cpu->runs == ev->tid)
		cpu->proven = ev->ns;
	if (kind->what != OTHER)
		take_sched(running, kind, cpu, ev);
	cpu->last = ev->ns;
	return left_out;
}

static bool runs_elsewhere(const struct fmt_running *r, uint32_t tid)
{
	for (uint32_t i = 0; i < r->nr_cpus; i++)
		if (r->cpus[i].known && r->cpus[i].runs == tid)
			return true;
	return false;
}

/* Records that a thread writes at their time. */
static bool is_marker(const struct xsprof_event *ev)
{
	return (ev->type >= XSPROF_REC_BEGIN && ev->type <= XSPROF_REC_COUNTER_F64) ||
	       ev->type == XSPROF_REC_SPAN;
}

bool fmt_running_marker(struct fmt_running *running, const struct xsprof_trace *trace,
			const struct xsprof_event *ev, struct fmt_inferred *inferred)
{
	struct cpu *cpu = &running->cpus[(uint32_t)ev->cpu % CPUS];
	uint32_t tid;

	if ((uint32_t)ev->cpu >= CPUS || !cpu->known || !is_marker(ev))
		return false;
	tid = xsprof_trace_kernel_tid(trace, ev->producer, ev->tid);
	if (!tid)
		return false;
	if (cpu->runs == tid) {
		cpu->proven = cpu->last = ev->ns;
		return false;
	}
	/*
	 * The two clocks may differ: a record written just before a switch is no proof. A thread
	 * that the tracer never saw may have another id there.
	 */
	if (ev->ns <= cpu->proven + CLOCKS_NS || !xsp_map_get(&running->off, tid + 1ull) ||
	    runs_elsewhere(running, tid))
		return false;
	infer(running, trace, cpu, ev->cpu, tid, inferred);
	cpu->runs = tid;
	cpu->left = 0;
	cpu->proven = cpu->last = ev->ns;
	return true;
}

void fmt_running_at(const struct fmt_running *running, const struct xsprof_trace *trace,
		    uint64_t ns,
		    void (*put)(void *data, int32_t cpu, const struct fmt_inferred *inferred),
		    void *data)
{
	struct fmt_inferred inferred = { .ns = ns, .state = 'R' };

	for (uint32_t i = 0; i < running->nr_cpus; i++) {
		const struct cpu *cpu = &running->cpus[i];

		if (!cpu->known || !cpu->runs)
			continue;
		set_task(trace, (int32_t)i, 0, &inferred.from);
		set_task(trace, (int32_t)i, cpu->runs, &inferred.to);
		put(data, (int32_t)i, &inferred);
	}
}
