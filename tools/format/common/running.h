/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Switches that the kernel's tracer left out: some kernels record none from an idle task to the
 * one that comes, and a few others, and viewers then show a CPU as idle, or as another task's,
 * while a task runs.  The next event of that task on the CPU tells that it ran, or its next marker.
 */
#ifndef XSPROF_OUT_RUNNING_H
#define XSPROF_OUT_RUNNING_H

#include "format/common/out.h"
#include "format/common/sched.h"

struct fmt_running;

/**
 * struct fmt_inferred - a switch that was left out
 * @ns: when, at the earliest: the task was woken or left a CPU, or this one had its last event or
 *	marker, whichever was later
 * @from: the task that was there
 * @state: in which it left, a letter: 'X' where it took the number of @to in exec, else 'R', since
 *	viewers must have one, and that of a task is not known
 * @to: the task that came
 */
struct fmt_inferred {
	uint64_t	ns;
	char		state;
	struct xsp_task	from;
	struct xsp_task	to;
};

int fmt_running_new(struct fmt_running **running);
void fmt_running_free(struct fmt_running *running);

/*
 * Takes an event of the kernel's tracer, in the order of their times, losses among them.
 *
 * Return: true when @inferred is to be told before it.
 */
bool fmt_running_take(struct fmt_running *running, const struct xsprof_trace *trace,
		      const struct xsprof_event *ev, struct fmt_inferred *inferred);
/* Takes an event of a program, likewise. */
bool fmt_running_marker(struct fmt_running *running, const struct xsprof_trace *trace,
			const struct xsprof_event *ev, struct fmt_inferred *inferred);
/*
 * For each CPU on which a task is known to run at @ns, which no event was later than: calls @put
 * with a switch to it, from the idle task.
 */
void fmt_running_at(const struct fmt_running *running, const struct xsprof_trace *trace,
		    uint64_t ns,
		    void (*put)(void *data, int32_t cpu, const struct fmt_inferred *inferred),
		    void *data);

#endif /* XSPROF_OUT_RUNNING_H */
