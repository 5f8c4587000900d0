/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Converts the module's scheduler records to the events of the kernel tracer: switches between
 * tasks, wakeups, migrations. Viewers draw from these which task ran on each CPU.
 *
 * The module records only threads of programs: when one was switched to, and when it was switched
 * away from and to which task. What ran after that task is not known: the CPU is shown with that
 * task, or as idle, until a thread of a program comes again. If viewers require a tid that is not
 * known, one is made up.
 */
#ifndef XSPROF_OUT_SCHED_H
#define XSPROF_OUT_SCHED_H

#include "format/common/out.h"

#define FMT_SCHED_CPUS		1024u		/* Perfetto's limit */
/* From here on: made-up tids. Linux's own end at 2^22. */
#define FMT_SCHED_NUMBERS	(1u << 30)
#define FMT_SCHED_PRIO		120u		/* the default, as the priority is not known */

struct fmt_sched;

/**
 * struct xsp_task - a task
 * @tid: its kernel thread id; 0: the CPU is idle, or in an interrupt
 * @tgid: process, as in its events; 0: not known
 * @own: it is a thread of the event's producer
 * @comm: its name
 */
struct xsp_task {
	uint32_t	tid;
	uint32_t	tgid;
	bool		own;
	char		comm[64];
};

enum fmt_sched_kind {
	FMT_SCHED_SAID,			/* a repetition of the previous record */
	FMT_SCHED_SWITCH,		/* from @by to @task */
	FMT_SCHED_WAKING,	/* of @task, by @by */
	FMT_SCHED_WAKEUP_NEW,	/* likewise, of a new one */
	FMT_SCHED_MIGRATE,	/* of @task, from a CPU to another */
};

/**
 * struct fmt_sched_event - a converted record
 * @kind: type of the event
 * @by: the task that causes it
 * @task: the task that it is about
 * @state: SWITCH: the state of @by, a letter; 'R': runnable
 * @from: MIGRATE: CPU before
 * @to: MIGRATE: new CPU
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
 * struct fmt_inferred - a switch that was not recorded
 * @ns: its earliest possible time: the task's last wakeup or switch away, or this CPU's last event
 *	or marker, whichever is later
 * @from: the previous task
 * @state: its state, a letter: 'X' if @to took its tid in exec, else 'R': viewers require one, and
 *	the state is not known
 * @to: the next task
 */
struct fmt_inferred {
	uint64_t	ns;
	char		state;
	struct xsp_task	from;
	struct xsp_task	to;
};

int fmt_sched_new(struct fmt_sched **sched);
void fmt_sched_free(struct fmt_sched *sched);

/* Is @ev a scheduler record? */
static inline bool fmt_sched_is(const struct xsprof_event *ev)
{
	return ev->type >= XSPROF_REC_SCHED_IN && ev->type <= XSPROF_REC_SCHED_MIGRATE;
}

/* To be called in the order of time. @ev is a scheduler record of a CPU below FMT_SCHED_CPUS. */
void fmt_sched_take(struct fmt_sched *sched, const struct xsprof_trace *trace,
		    const struct xsprof_event *ev, struct fmt_sched_event *event);
/* Like fmt_running_at(). */
void fmt_sched_at(const struct fmt_sched *sched, uint64_t ns,
		  void (*put)(void *data, int32_t cpu, const struct fmt_inferred *inferred),
		  void *data);
/* Records of the CPU were lost: its running task is not known. */
void fmt_sched_lost(struct fmt_sched *sched, int32_t cpu);

#endif /* XSPROF_OUT_SCHED_H */
