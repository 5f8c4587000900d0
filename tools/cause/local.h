/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the files of cause.h: machine.c changes the state of tasks, gil.c tracks the GIL,
 * lost.c handles losses, detail.c answers why a task waited, task.c has tasks, their sums and their
 * history, tell.c keeps and emits segments, cpu.c has the CPUs. Each file calls only those after
 * it; gil.c also calls machine.c.
 */
#ifndef XSPROF_CAUSE_LOCAL_H
#define XSPROF_CAUSE_LOCAL_H

#include "cause/cause.h"

#define CAUSE_CPUS	8192u
#define CAUSE_TASKS	32768u		/* tasks at once */
#define CAUSE_NESTED	16u		/* nested contexts on a CPU */
#define CAUSE_BLOCK	64u		/* entries of a history with one sum */

/* The state of a task. */
enum cause_run {
	RUN_UNKNOWN,
	RUN_ON,			/* on a CPU */
	RUN_WAITS,		/* runnable, waits for a CPU */
	RUN_SLEEPS,
	RUN_DISK,
	RUN_FAULT,		/* asleep in a page fault */
	RUN_DEAD,
};

/*
 * A change of a task: the time, shifted by PAST_SHIFT, and its new class. PAST_FAULT: a page fault
 * without a change of class.
 */
#define PAST_SHIFT	5
#define PAST_CLASS	0xfu
#define PAST_FAULT	0x10u
#define CAUSE_MAX_NS	(UINT64_MAX >> PAST_SHIFT)

/**
 * struct cause_moved - a task changed its CPU or waker: kept for details only
 * @at: as in a change of a task
 * @waker: RUNNABLE: the waker, 0: no task
 * @cpu: the CPU where it runs or waits
 */
struct cause_moved {
	uint64_t	at;
	uint64_t	waker;
	int32_t		cpu;
};

/* A task that had a CPU, and from when: kept for details only. */
struct cause_ran {
	uint64_t	ns;
	uint64_t	key;
};

#define CAUSE_RAN	512u

struct cause_open {
	uint64_t	 ns;
	struct cause_sum sum;
};

/**
 * struct cause_gil - a wait for the GIL (gil.c)
 * @waits: the thread waits
 * @depth: number of ranges that began during the wait
 * @lock: the lock
 * @holder: key of its holder, 0: none, or unknown
 * @tid: the holder's thread id in the program
 */
struct cause_gil {
	bool		waits;
	uint32_t	depth;
	uint64_t	lock;
	uint64_t	holder;
	uint32_t	tid;
};

/**
 * struct cause_task - a task
 * @sum: A(@since)
 * @base: A when counting began
 * @switches: number of switches away from a CPU since then
 * @since: when it entered @class
 * @told: segments were emitted up to here
 * @cpu: where it runs, waits, or ran last; -1: not known
 * @nr: system call, -1: none
 * @softirq: it was preempted in that softirq, + 1 (kernels of PREEMPT_RT)
 * @run: enum cause_run
 * @before: @run at the time of a loss, else RUN_UNKNOWN
 * @class: enum cause_class
 * @fault: it had a page fault in user mode, and has not returned to user mode since
 * @marked: it writes markers
 * @gil: its wait for the GIL
 * @watched: number of cause_watch() calls
 * @on_prev: link in the list of tasks on @cpu
 * @past: ring of changes, index modulo @room; @sums: A at the first of each block
 * @head: number of changes
 * @moved: ring of CPUs and wakers, index modulo @room_moved
 * @head_moved: number of entries so far
 * @open: sums at the begins of open ranges
 */
struct cause_task {
	uint64_t		key;
	struct cause_task	*next;
	struct cause_task	*on_next;
	struct cause_task	**on_prev;
	struct cause_sum	sum;
	struct cause_sum	base;
	uint64_t		switches;
	uint64_t		since;
	uint64_t		told;
	int32_t			cpu;
	int32_t			nr;
	uint8_t			softirq;
	uint8_t			run;
	uint8_t			before;
	uint8_t			class;
	bool			fault;
	bool			marked;
	struct cause_gil	gil;
	uint32_t		watched;
	uint64_t		*past;
	struct cause_sum	*sums;
	uint32_t		room;
	uint64_t		head;
	struct cause_moved	*moved;
	uint32_t		room_moved;
	uint64_t		head_moved;
	struct cause_open	*open;
	uint32_t		nr_open;
	uint32_t		room_open;
};

/**
 * struct cause_cpu - a CPU
 * @current: key of the running task
 * @known: @current is known
 * @blind: events were lost, and none was seen since
 * @left: key of the previous task: until an event of @current, the kernel may still record its id
 * @proven: when @current was last seen to run
 * @last: time of its last event
 * @nested: contexts on top of the task, outermost first
 * @deep: their number, including those that did not fit
 * @ran: ring of tasks that ran, index modulo CAUSE_RAN, NULL if details are not needed
 * @head_ran: number of entries so far
 * @tasks: tasks with a known state that are here, or were here last
 */
struct cause_cpu {
	uint64_t		current;
	bool			known;
	bool			blind;
	uint64_t		left;
	uint64_t		proven;
	uint64_t		last;
	struct cause_who	nested[CAUSE_NESTED];
	uint32_t		deep;
	struct cause_ran	*ran;
	uint64_t		head_ran;
	struct cause_task	*tasks;
};

struct cause {
	struct cause_cpu	*cpus[CAUSE_CPUS];
	struct cause_task	**buckets;
	uint32_t		nr_tasks;
	uint64_t		seed;
	uint64_t		now;
	uint64_t		lost;		/* end of the latest loss */
	uint32_t		nr_blind;	/* CPUs with @blind */
	bool			ended;
	size_t			moved_bytes;
	size_t			past_bytes;
	size_t			open_bytes;
	struct cause_stats	stats;
	void			(*tell)(void *data, const struct cause_segment *segment);
	void			*tell_data;
	struct cause_task	**watched;
	uint32_t		nr_watched;
	uint32_t		room_watched;
	struct cause_who	waker;		/* of the segment that is emitted */
	bool			partial;	/* its end was not seen: */
	uint64_t		last;		/* the task there then, or CAUSE_NOBODY_KNOWS */
};

/* machine.c: recomputes its class after a change of state. */
void cause_task_update(struct cause *cause, struct cause_task *task, uint64_t ns);

/* lost.c: the state of the task is not known from @last on. */
void cause_doubt(struct cause *cause, struct cause_task *task, uint64_t last, uint64_t ns);

/* task.c */
struct cause_task *cause_task_find(const struct cause *cause, uint64_t key);
/* Finds or adds a task; NULL: no room. */
struct cause_task *cause_task_get(struct cause *cause, uint64_t key);
void cause_tasks_free(struct cause *cause);
void cause_tasks_all(struct cause *cause,
		     void (*fn)(struct cause *cause, struct cause_task *task, uint64_t ns),
		     uint64_t ns);
/* The task is in @class from @ns on. */
void cause_task_change(struct cause *cause, struct cause_task *task, uint64_t ns, uint8_t class);
void cause_task_fault(struct cause *cause, struct cause_task *task, uint64_t ns);
/* After a loss: it was in @class all the time since then. */
void cause_task_infer(struct cause *cause, struct cause_task *task, uint8_t class);
/* Its assumed state since @from is not known. */
void cause_task_doubt(struct cause *cause, struct cause_task *task, uint64_t from, uint64_t ns);

/* cpu.c: finds a CPU, NULL: unknown; finds or adds a CPU, NULL: not possible. */
struct cause_cpu *cause_find_cpu(const struct cause *cause, int32_t cpu);
struct cause_cpu *cause_get_cpu(struct cause *cause, int32_t cpu);
uint64_t cause_clock(struct cause *cause, uint64_t ns);
/* The innermost context on top of the task, NULL: none. */
const struct cause_who *cause_top(const struct cause_cpu *cpu);
/* The softirq that interrupts its task, + 1; 0: none. */
uint32_t cause_softirq(const struct cause_cpu *cpu);
/* Moves the task to the list of @cpu; -1: out of the list, which keeps its last CPU. */
void cause_place(struct cause *cause, struct cause_task *task, int32_t cpu);
void cause_unlist(struct cause_task *task);

/* tell.c: emits segments up to @ns, before a change. */
void cause_tell(struct cause *cause, struct cause_task *task, uint64_t ns);
/*
 * Emits for the tasks that wait for @cpu which task they waited for so far; @key is now seen to run
 * there; @was: it also ran until now.
 */
void cause_tell_waiters(struct cause *cause, int32_t cpu, uint64_t ns, uint64_t key, bool was);
void cause_set_current(struct cause *cause, struct cause_cpu *cpu, uint64_t ns, uint64_t key);
/* The task is elsewhere from @ns on, with the class @class. */
void cause_task_moved(struct cause *cause, struct cause_task *task, uint64_t ns, uint8_t class,
		      uint64_t waker);

#endif /* XSPROF_CAUSE_LOCAL_H */
