/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Switches that the kernel's tracer left out: some kernels do not record switches from the idle
 * task, and a few others, and viewers then show a CPU as idle, or as another task's, while a task
 * runs. The next event or marker of that task on the CPU proves that it ran.
 */
#ifndef XSPROF_OUT_RUNNING_H
#define XSPROF_OUT_RUNNING_H

#include "format/common/out.h"
#include "format/common/sched.h"

struct fmt_running;

int fmt_running_new(struct fmt_running **running);
void fmt_running_free(struct fmt_running *running);

/*
 * Handles an event of the kernel's tracer, or a loss, in the order of time.
 *
 * Return: true: draw @inferred before it.
 */
bool fmt_running_take(struct fmt_running *running, const struct xsprof_trace *trace,
		      const struct xsprof_event *ev, struct fmt_inferred *inferred);
/* Handles an event of a program, likewise. */
bool fmt_running_marker(struct fmt_running *running, const struct xsprof_trace *trace,
			const struct xsprof_event *ev, struct fmt_inferred *inferred);
/*
 * For each CPU on which a task is known to run at @ns, the time of the latest event: calls @put
 * with a switch from the idle task to it.
 */
void fmt_running_at(const struct fmt_running *running, const struct xsprof_trace *trace,
		    uint64_t ns,
		    void (*put)(void *data, int32_t cpu, const struct fmt_inferred *inferred),
		    void *data);

#endif /* XSPROF_OUT_RUNNING_H */
