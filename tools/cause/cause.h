/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the time of tasks went: a state machine that takes the events of the kernel's scheduler in
 * the order of time, and assigns every nanosecond of every task to one class. It does not read a
 * trace (kernel.c does) and prints nothing.
 *
 * For every task there is a sum A(t) of the time before t by class, whose classes add up to t; the
 * time of a range is A(end) - A(begin), and adds up to the range. Memory is bounded: time that is
 * not remembered any more is CAUSE_UNKNOWN.
 */
#ifndef XSPROF_CAUSE_H
#define XSPROF_CAUSE_H

#include <stdbool.h>
#include <stdint.h>

#include <xsprof/trace.h>

/**
 * enum cause_class - class of a nanosecond of a task
 * @CAUSE_CPU: it ran, in none of the following
 * @CAUSE_SYSCALL: it ran, inside a system call
 * @CAUSE_FAULT: it slept inside a page fault
 * @CAUSE_IRQ: it was the current task, and an interrupt handler ran
 * @CAUSE_SOFTIRQ: it was the current task, and a softirq ran
 * @CAUSE_RUNNABLE: it was runnable, and not running
 * @CAUSE_BLOCKED: it slept in an interruptible state, or was stopped
 * @CAUSE_IO: it slept in an uninterruptible state
 * @CAUSE_GIL: it slept, waiting for the GIL
 * @CAUSE_UNKNOWN: not known: before its first event, after a loss, after its end
 */
enum cause_class {
	CAUSE_CPU,
	CAUSE_SYSCALL,
	CAUSE_FAULT,
	CAUSE_IRQ,
	CAUSE_SOFTIRQ,
	CAUSE_RUNNABLE,
	CAUSE_BLOCKED,
	CAUSE_IO,
	CAUSE_GIL,
	CAUSE_UNKNOWN,
	CAUSE_CLASSES,
	CAUSE_FAULTS = CAUSE_CLASSES,	/* in sums: number of page faults */
	CAUSE_SUMS
};

/* The state in which a task leaves a CPU. */
enum cause_state {
	CAUSE_STATE_RUN,	/* runnable */
	CAUSE_STATE_SLEEP,
	CAUSE_STATE_DISK,
	CAUSE_STATE_DEAD,
};

struct cause_sum {
	uint64_t	v[CAUSE_SUMS];
};

enum cause_context {
	CAUSE_IN_TASK,
	CAUSE_IN_IRQ,
	CAUSE_IN_SOFTIRQ,
	CAUSE_IN_NOTHING,	/* unknown, or no task */
};

/**
 * struct cause_who - a task, or an interrupt or softirq on top of it
 * @tid: the task's key, 0 for the idle one
 * @context: enum cause_context
 * @vec: number of the interrupt or softirq, -1: not known
 * @name: name of the interrupt
 */
struct cause_who {
	uint64_t	tid;
	uint32_t	context;
	int32_t		vec;
	char		name[28];
};

/* Why @who may be incomplete; bits. */
enum cause_others {
	CAUSE_OTHERS_AFTER	= 1,	/* @who was first; its switch away was not seen */
	CAUSE_OTHERS_BEFORE	= 2,	/* @who was last; its switch to was not seen */
};

/**
 * struct cause_segment - a stretch of a watched task's time in one class
 * @key: the task
 * @from: begin
 * @to: end
 * @class: enum cause_class
 * @cpu: where it ran or waited, else where it ran before; -1: not known
 * @nr: number of its system call, -1: none
 * @partial: RUNNABLE: other tasks may have had the CPU besides @who; enum cause_others
 * @who: RUNNABLE: the task that had the CPU; BLOCKED, IO, FAULT: the waker; GIL: the lock's holder;
 *	IRQ, SOFTIRQ: the interrupt
 * @holder: GIL: thread id of @who in the program
 */
struct cause_segment {
	uint64_t	key;
	uint64_t	from;
	uint64_t	to;
	uint32_t	class;
	int32_t		cpu;
	int32_t		nr;
	uint32_t	partial;
	struct cause_who who;
	uint32_t	holder;
};

/**
 * struct cause_did - the most frequent class of a task in a stretch of time
 * @class: enum cause_class; all classes on a CPU count as CAUSE_CPU
 * @ns: time in that class
 * @who: key of the task that had the CPU (RUNNABLE), or of the waker (BLOCKED, IO, FAULT), for most
 *	of @ns; 0: no task
 * @who_ns: time with @who
 * @from: begin of the longest piece with @who
 * @to: its end
 */
struct cause_did {
	uint64_t	who;
	uint32_t	class;
	uint64_t	ns;
	uint64_t	who_ns;
	uint64_t	from;
	uint64_t	to;
};

#define CAUSE_NOBODY_KNOWS	UINT64_MAX

/* The most by which the clocks of markers and of the kernel differ. */
#define CAUSE_CLOCKS_NS		20000u

struct cause;

int cause_new(struct cause **cause);
void cause_free(struct cause *cause);

/*
 * Tasks have a key: a thread id of the kernel, or a value above 32 bits for threads with an unknown
 * kernel id. Time must not go back: an earlier time counts as the last one.
 */
void cause_switch(struct cause *cause, int32_t cpu, uint64_t ns, uint64_t prev,
		  enum cause_state state, uint64_t next);
/* The two halves of a switch, if only one is known; @next may be CAUSE_NOBODY_KNOWS. */
void cause_leave(struct cause *cause, int32_t cpu, uint64_t ns, uint64_t prev,
		 enum cause_state state, uint64_t next);
void cause_enter(struct cause *cause, int32_t cpu, uint64_t ns, uint64_t next);
/* @target: the CPU to run on, -1: not known. */
void cause_wakeup(struct cause *cause, uint64_t ns, uint64_t key, int32_t target,
		  const struct cause_who *who);
void cause_migrate(struct cause *cause, uint64_t ns, uint64_t key, int32_t target);
void cause_irq_enter(struct cause *cause, int32_t cpu, uint64_t ns, const struct cause_who *who);
/* @vec -1: any. */
void cause_irq_leave(struct cause *cause, int32_t cpu, uint64_t ns, enum cause_context context,
		     int32_t vec);
/* @nr -1: the end of a system call. */
void cause_syscall(struct cause *cause, int32_t cpu, uint64_t ns, uint64_t key, int32_t nr);
/* The task has a page fault in user mode. */
void cause_fault(struct cause *cause, int32_t cpu, uint64_t ns, uint64_t key);
/* The task was seen to run on @cpu. */
void cause_runs(struct cause *cause, int32_t cpu, uint64_t ns, uint64_t key);
/* Events were lost on @cpu between the last event seen there and the next cause_hear(). */
void cause_lost(struct cause *cause, int32_t cpu, uint64_t ns);
/* The thread was in user mode, on @cpu or (-1) an unknown CPU, and wrote a record. */
void cause_marker(struct cause *cause, int32_t cpu, uint64_t ns, uint64_t key);
/* To be called before any event on @cpu: ends a loss. */
void cause_hear(struct cause *cause, int32_t cpu, uint64_t ns);
/* To be called after any event on @cpu: nothing was lost before it. */
void cause_seen(struct cause *cause, int32_t cpu, uint64_t ns);

/*
 * The state of all tasks is unknown from @from on: later events are not passed to the machine. To
 * be called again as time goes on, with the current time @ns.
 */
void cause_end(struct cause *cause, uint64_t from, uint64_t ns);

/* The current context of @cpu, as far as entries of interrupts were recorded. */
void cause_context(const struct cause *cause, int32_t cpu, struct cause_who *who);

/* ---- ranges --------------------------------------------------------------------------------- */

/* A range of the thread begins: its sum is kept until cause_range() is called. */
void cause_begin(struct cause *cause, uint64_t ns, uint64_t key);
/* Open ranges count from @ns, the current time, on. */
void cause_clip(struct cause *cause, uint64_t ns);
/*
 * Time of a range of a thread by class: the classes add up to @end - @begin. @kept: cause_begin()
 * was called for it.
 */
void cause_range(struct cause *cause, uint64_t key, uint64_t begin, uint64_t end, bool kept,
		 struct cause_sum *sum);

/* ---- tasks ---------------------------------------------------------------------------------- */

/* cause_each() counts from @ns on. */
void cause_count_from(struct cause *cause, uint64_t ns);
/*
 * Calls @fn for every known task, with its time by class up to @ns and its number of switches away
 * from a CPU.
 */
void cause_each(const struct cause *cause, uint64_t ns,
		void (*fn)(void *data, uint64_t key, const struct cause_sum *sum,
			   uint64_t switches),
		void *data);

/* ---- details -------------------------------------------------------------------------------- */

/* Calls @tell with every segment of watched tasks. To be called before all other functions. */
void cause_hook(struct cause *cause, void (*tell)(void *data, const struct cause_segment *segment),
		void *data);
/* Watches a task; calls are counted. Return: false: too many tasks. */
bool cause_watch(struct cause *cause, uint64_t key);
void cause_unwatch(struct cause *cause, uint64_t key);
/* Emits the current segment up to @ns, as if it ended there. */
void cause_flush(struct cause *cause, uint64_t key, uint64_t ns);
/* What the task did between @from and @to. Return: false: not remembered. */
bool cause_did(struct cause *cause, uint64_t key, uint64_t from, uint64_t to,
	       struct cause_did *did);

/**
 * struct cause_stats - the events so far
 * @switches: switches
 * @wakeups: wake-ups
 * @irqs: entries of interrupts
 * @softirqs: entries of softirqs
 * @syscalls: entries of system calls
 * @faults: page faults
 * @lost: losses
 * @forgotten: ranges whose begin was not remembered any more
 * @refused: tasks that did not fit, each time
 * @missed: switches away from another task than the CPU's last known one: at least so many switches
 *	were not recorded
 * @after: ns that passed after cause_end()
 */
struct cause_stats {
	uint64_t	switches;
	uint64_t	wakeups;
	uint64_t	irqs;
	uint64_t	softirqs;
	uint64_t	syscalls;
	uint64_t	faults;
	uint64_t	lost;
	uint64_t	forgotten;
	uint64_t	refused;
	uint64_t	missed;
	uint64_t	after;
};

const struct cause_stats *cause_get_stats(const struct cause *cause);

/* ---- kernel.c: from the events of a trace ---------------------------------------------------- */

struct cause_reader;

int cause_reader_new(struct xsprof_trace *trace, struct cause *cause, struct cause_reader **out);
void cause_reader_free(struct cause_reader *reader);
/* To be called for any event of the trace, in order. */
void cause_reader_event(struct cause_reader *reader, const struct xsprof_event *ev);
/* The time at which the tracer's events end; UINT64_MAX: at the capture's end. */
uint64_t cause_reader_until(const struct cause_reader *reader);
/* To be called before times up to @ns are queried, if no event is later than @ns. */
void cause_reader_end(struct cause_reader *reader, uint64_t ns);
/* The key of a producer's thread. */
uint64_t cause_reader_key(struct cause_reader *reader, uint32_t producer, uint32_t tid);

#endif /* XSPROF_CAUSE_H */
