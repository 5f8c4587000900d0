/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the module wrote of the scheduler as the kernel's tracer would have told it: switches from
 * one task to another, who was woken, who moves.  Viewers draw what ran on each CPU from that.
 *
 * The module writes of the threads of programs only: that one came, and that one went, and who
 * was next.  Who came after that one it does not tell: a CPU is that one's, or idle, until a
 * thread of a program comes again.  A number is made up where viewers must have one.
 */
#ifndef XSPROF_OUT_SCHED_H
#define XSPROF_OUT_SCHED_H

#include "format/common/out.h"

#define XSP_SCHED_CPUS	1024u		/* Perfetto knows no more */
/* From here on: tasks of which the module told no number.  Linux' own end at 2^22. */
#define XSP_SCHED_NUMBERS	(1u << 30)
#define XSP_SCHED_PRIO	120u		/* nobody told it: that of a task like any other */

struct xsp_sched;

/**
 * struct xsp_task - a task
 * @tid: its number for the kernel; 0: the CPU is idle, or an interrupt
 * @tgid: process, as its events have it; 0: not known
 * @own: a thread of the event's producer
 * @comm: its name
 */
struct xsp_task {
	uint32_t	tid;
	uint32_t	tgid;
	bool		own;
	char		comm[64];
};

enum xsp_sched_kind {
	XSP_SCHED_SAID,		/* the record before said it as well */
	XSP_SCHED_SWITCH,	/* from @by to @task */
	XSP_SCHED_WAKING,	/* of @task, by @by */
	XSP_SCHED_WAKEUP_NEW,	/* likewise, of a new one */
	XSP_SCHED_MIGRATE,	/* of @task, from a CPU to another */
};

/**
 * struct xsp_sched_event - what became of a record
 * @kind: what it is
 * @by: who did it
 * @task: whom it is done to
 * @state: SWITCH: the state that @by is in now, a letter; 'R': it wants to run
 * @from: MIGRATE: CPU before
 * @to: MIGRATE: CPU to run on
 */
struct xsp_sched_event {
	enum xsp_sched_kind	kind;
	struct xsp_task		by;
	struct xsp_task		task;
	char			state;
	bool			preempted;
	uint32_t		from;
	uint32_t		to;
};

int xsp_sched_new(struct xsp_sched **sched);
void xsp_sched_free(struct xsp_sched *sched);

/* Is @ev of the scheduler? */
static inline bool xsp_sched_is(const struct xsprof_event *ev)
{
	return ev->type >= XSPROF_REC_SCHED_IN && ev->type <= XSPROF_REC_SCHED_MIGRATE;
}

/* In the order of their times.  @ev is of the scheduler, and of a CPU below XSP_SCHED_CPUS. */
void xsp_sched_take(struct xsp_sched *sched, const struct xsprof_trace *trace,
		    const struct xsprof_event *ev, struct xsp_sched_event *event);
/* Records of the CPU were lost: what runs there is not known. */
void xsp_sched_lost(struct xsp_sched *sched, int32_t cpu);

#endif /* XSPROF_OUT_SCHED_H */
