// SPDX-License-Identifier: GPL-2.0-only
/*
 * What runs on each CPU by what the tracer recorded, and when tasks were woken: see running.h.
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

enum what { NOT_KNOWN, OTHER, SWITCH, WAKE, EXEC };

/* Of an event's flags: interrupts are off, or the machine does not tell. */
#define IRQS_OFF	0x3u

struct kind {
	enum what				what;
	const struct xsprof_kernel_field	*task;	/* who comes, is woken, or was there */
};

struct cpu {
	bool		known;
	uint32_t	runs;
	uint64_t	left;		/* in the latest switch, until another is heard of: + 1 */
	uint64_t	last;		/* event of it */
};

struct fmt_running {
	struct kind	*kinds;		/* by id */
	struct cpu	cpus[CPUS];
	struct xsp_map	woken;		/* by task + 1: when */
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
	xsp_map_free(&running->woken);
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

/* Another task runs on the CPU than the one that it was last switched to. */
static bool was_left_out(const struct fmt_running *r, const struct xsprof_trace *trace,
			 const struct kind *kind, const struct cpu *cpu,
			 const struct xsprof_event *ev, struct fmt_inferred *inferred)
{
	const uint64_t *woken;
	uint64_t old;

	if (!cpu->known || cpu->runs == ev->tid)
		return false;
	/* After its switch is told the kernel is still the task before for a moment. */
	if (ev->tid + 1ull == cpu->left && ev->aux & IRQS_OFF && kind->what != SWITCH)
		return false;
	inferred->state = kind->what == EXEC && xsprof_kernel_value(ev, kind->task, &old) &&
			  old == cpu->runs ? 'X' : 'R';
	woken = xsp_map_get(&r->woken, (uint64_t)ev->tid + 1);
	inferred->ns = woken && *woken > cpu->last ? *woken : cpu->last;
	set_task(trace, ev->cpu, cpu->runs, &inferred->from);
	set_task(trace, ev->cpu, ev->tid, &inferred->to);
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
	} else if (task && kind->what == WAKE) {
		/* With no memory the CPU's last event is the earliest that is known. */
		(void)xsp_map_set(&running->woken, task + 1, ev->ns);
	}
}

bool fmt_running_take(struct fmt_running *running, const struct xsprof_trace *trace,
		      const struct xsprof_event *ev, struct fmt_inferred *inferred)
{
	struct cpu *cpu = &running->cpus[(uint32_t)ev->cpu % CPUS];
	struct kind *kind;
	bool left_out;

	if ((uint32_t)ev->cpu >= CPUS)
		return false;
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
	if (kind->what != OTHER)
		take_sched(running, kind, cpu, ev);
	cpu->last = ev->ns;
	return left_out;
}
