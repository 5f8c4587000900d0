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

#define FMT_SCHED_CPUS	1024u		/* Perfetto knows no more */
/* From here on: tasks of which the module told no number.  Linux' own end at 2^22. */
#define FMT_SCHED_NUMBERS	(1u << 30)
#define FMT_SCHED_PRIO	120u		/* nobody told it: that of a task like any other */

struct fmt_sched;

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

enum fmt_sched_kind {
	FMT_SCHED_SAID,		/* the record before said it as well */
	FMT_SCHED_SWITCH,	/* from @by to @task */
	FMT_SCHED_WAKING,	/* of @task, by @by */
	FMT_SCHED_WAKEUP_NEW,	/* likewise, of a new one */
	FMT_SCHED_MIGRATE,	/* of @task, from a CPU to another */
};

/**
 * struct fmt_sched_event - what became of a record
 * @kind: what it is
 * @by: who did it
 * @task: whom it is done to
 * @state: SWITCH: the state that @by is in now, a letter; 'R': it wants to run
 * @from: MIGRATE: CPU before
 * @to: MIGRATE: CPU to run on
 */
struct fmt_sched_event {
	enum fmt_sched_kind	kind;
	struct xsp_task		by;
	struct xsp_task		task;
	char			state;
	bool			preempted;
	uint32_t		from;
	uint32_t		to;
};

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

int fmt_sched_new(struct fmt_sched **sched);
void fmt_sched_free(struct fmt_sched *sched);

/* Is @ev of the scheduler? */
static inline bool fmt_sched_is(const struct xsprof_event *ev)
{
	return ev->type >= XSPROF_REC_SCHED_IN && ev->type <= XSPROF_REC_SCHED_MIGRATE;
}

/* In the order of their times.  @ev is of the scheduler, and of a CPU below FMT_SCHED_CPUS. */
void fmt_sched_take(struct fmt_sched *sched, const struct xsprof_trace *trace,
		    const struct xsprof_event *ev, struct fmt_sched_event *event);
/* As fmt_running_at(). */
void fmt_sched_at(const struct fmt_sched *sched, uint64_t ns,
		  void (*put)(void *data, int32_t cpu, const struct fmt_inferred *inferred),
		  void *data);
/* Records of the CPU were lost: what runs there is not known. */
void fmt_sched_lost(struct fmt_sched *sched, int32_t cpu);

#endif /* XSPROF_OUT_SCHED_H */
