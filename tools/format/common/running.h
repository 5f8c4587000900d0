/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Switches that the kernel's tracer left out: some kernels record none from an idle task to the
 * one that comes, and viewers then show a CPU as idle while a task runs.  The next event of
 * that task on the CPU tells that it ran.
 */
#ifndef XSPROF_OUT_RUNNING_H
#define XSPROF_OUT_RUNNING_H

#include "format/common/out.h"

struct fmt_running;

/**
 * struct fmt_inferred - a switch from idle that was left out
 * @ns: when, at the earliest: the task was woken, or the CPU had its last event, whichever was
 *	later
 * @tid: the task that came
 * @comm: its name
 */
struct fmt_inferred {
	uint64_t	ns;
	uint32_t	tid;
	char		comm[64];
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

#endif /* XSPROF_OUT_RUNNING_H */
