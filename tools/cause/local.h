/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of cause.h share: machine.c changes the state of tasks, gil.c what it knows of
 * Python's lock, lost.c takes back what is not known any more, detail.c answers who asks why,
 * task.c has tasks, their sums and their past, tell.c what is kept and told of them for that, cpu.c
 * the CPUs.  Each calls those after it; gil.c alone calls machine.c.
 */
#ifndef XSPROF_CAUSE_LOCAL_H
#define XSPROF_CAUSE_LOCAL_H

#include "cause/cause.h"

#define CAUSE_CPUS	8192u
#define CAUSE_TASKS	32768u		/* tasks at once */
#define CAUSE_NESTED	16u		/* contexts on top of each other on a CPU */
#define CAUSE_BLOCK	64u		/* entries of a past with one sum */

/* Where the machine has a task. */
enum cause_run {
	RUN_UNKNOWN,
	RUN_ON,			/* on a CPU */
	RUN_WAITS,		/* for a CPU */
	RUN_SLEEPS,
	RUN_DISK,
	RUN_FAULT,		/* asleep in a page fault */
	RUN_DEAD,
};

/*
 * A change of a task: when, shifted by PAST_SHIFT, and the class from then on.  PAST_FAULT: a page
 * fault, and the class is as before.
 */
#define PAST_SHIFT	5
#define PAST_CLASS	0xfu
#define PAST_FAULT	0x10u
#define CAUSE_MAX_NS	(UINT64_MAX >> PAST_SHIFT)

/**
 * struct cause_moved - a task came to another place: kept only for details
 * @at: as above
 * @waker: RUNNABLE: who woke it, 0 for no task
 * @cpu: where it runs or waits
 */
struct cause_moved {
	uint64_t	at;
	uint64_t	waker;
	int32_t		cpu;
};

/* Who had a CPU, and since when: kept only for details. */
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
 * struct cause_gil - a wait for Python's lock (gil.c)
 * @waits: it is under way
 * @depth: ranges that began in it
 * @lock: which one
 * @holder: the key of who has it, 0: nobody, as far as is known
 * @tid: the number by which the program knows that thread
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
 * @switches: how often it left a CPU since then
 * @since: when it came into @class
 * @told: up to when its segments were told
 * @cpu: where it runs, waits, or ran; -1 not known
 * @nr: system call, -1 none
 * @softirq: it was preempted in that softirq, + 1 (kernels of PREEMPT_RT)
 * @run: enum cause_run
 * @before: what that was when something was lost, else RUN_UNKNOWN
 * @class: enum cause_class
 * @fault: it had a page fault in user mode, and was not seen in user mode since
 * @marked: it writes markers
 * @gil: what it waits for
 * @watched: how often
 * @on_prev: in the list of what is known on @cpu
 * @past: ring of changes, index modulo @room; @sums: A at the first of each block
 * @head: changes so far
 * @moved: ring of where it was, index modulo @room_moved
 * @head_moved: so far
 * @open: sums of the ranges under way
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
 * @current: key of who runs
 * @known: it is known who does
 * @blind: something was lost, and nothing heard since
 * @left: key of who was last seen to leave: until @current is heard of, the kernel may still speak
 *	in its name
 * @proven: when @current was last seen to run
 * @last: when it was last heard of
 * @nested: what runs on top of the task, outermost first
 * @deep: how many, also those that found no room
 * @ran: ring of who ran, index modulo CAUSE_RAN, NULL where nobody asks
 * @head_ran: so far
 * @tasks: tasks whose state is known, and that are or were here last
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
	uint64_t		lost;		/* when the latest loss was over */
	uint32_t		nr_blind;	/* CPUs */
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
	struct cause_who	waker;		/* of the segment that is told */
	bool			partial;	/* its end came as a surprise: */
	uint64_t		last;		/* who had the CPU then, or CAUSE_NOBODY_KNOWS */
};

/* machine.c: what it is in may be of another class. */
void cause_task_update(struct cause *cause, struct cause_task *task, uint64_t ns);

/* lost.c: what is known of the task, from @last on, is not. */
void cause_doubt(struct cause *cause, struct cause_task *task, uint64_t last, uint64_t ns);

/* task.c */
struct cause_task *cause_task_find(const struct cause *cause, uint64_t key);
/* Made where it is new; NULL: there is no room. */
struct cause_task *cause_task_get(struct cause *cause, uint64_t key);
void cause_tasks_free(struct cause *cause);
void cause_tasks_all(struct cause *cause,
		     void (*fn)(struct cause *cause, struct cause_task *task, uint64_t ns),
		     uint64_t ns);
/* In @class from @ns on. */
void cause_task_change(struct cause *cause, struct cause_task *task, uint64_t ns, uint8_t class);
void cause_task_fault(struct cause *cause, struct cause_task *task, uint64_t ns);
/* After a loss: it turns out to have been in @class all the time since. */
void cause_task_infer(struct cause *cause, struct cause_task *task, uint8_t class);
/* What it was believed to be in since @from is not known. */
void cause_task_doubt(struct cause *cause, struct cause_task *task, uint64_t from, uint64_t ns);

/* cpu.c: NULL where nothing is known of it; and made where it is new, NULL: it cannot be. */
struct cause_cpu *cause_find_cpu(const struct cause *cause, int32_t cpu);
struct cause_cpu *cause_get_cpu(struct cause *cause, int32_t cpu);
uint64_t cause_clock(struct cause *cause, uint64_t ns);
/* What runs on top of the task there, NULL for nothing. */
const struct cause_who *cause_top(const struct cause_cpu *cpu);
/* The softirq that its task is in, + 1; 0 for none. */
uint32_t cause_softirq(const struct cause_cpu *cpu);
/* Into and out of the list of what is known there; @cpu -1 is where it was last. */
void cause_place(struct cause *cause, struct cause_task *task, int32_t cpu);
void cause_unlist(struct cause_task *task);

/* tell.c: segments up to @ns, before a change. */
void cause_tell(struct cause *cause, struct cause_task *task, uint64_t ns);
/*
 * Those who wait for @cpu are told whom they waited for so far; @key is seen to be there now, and
 * @was: had it until now.
 */
void cause_tell_waiters(struct cause *cause, int32_t cpu, uint64_t ns, uint64_t key, bool was);
void cause_set_current(struct cause *cause, struct cause_cpu *cpu, uint64_t ns, uint64_t key);
/* In another place from @ns on; @class stands for it. */
void cause_task_moved(struct cause *cause, struct cause_task *task, uint64_t ns, uint8_t class,
		      uint64_t waker);

#endif /* XSPROF_CAUSE_LOCAL_H */
