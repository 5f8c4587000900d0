/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the time of tasks went: a machine that is fed with what the kernel's scheduler did, in the
 * order of time, and knows of every task and every nanosecond which one thing it was for.  It
 * never reads a trace by itself (kernel.c does) and never prints.
 *
 * For every task there is a sum A(t) of the time before t by class, whose classes add up to t; what
 * a range was is A(end) - A(begin), and adds up to the range.  Memory is bounded: what is not
 * remembered any more is CAUSE_UNKNOWN.
 */
#ifndef XSPROF_CAUSE_H
#define XSPROF_CAUSE_H

#include <stdbool.h>
#include <stdint.h>

#include <xsprof/trace.h>

/**
 * enum cause_class - what a nanosecond of a task was for
 * @CAUSE_CPU: it ran, and none of the following
 * @CAUSE_SYSCALL: it ran, inside a system call
 * @CAUSE_FAULT: it slept inside a page fault
 * @CAUSE_IRQ: it was current, and an interrupt ran
 * @CAUSE_SOFTIRQ: it was current, and a softirq ran
 * @CAUSE_RUNNABLE: it wanted to run
 * @CAUSE_BLOCKED: it slept, interruptible, or was stopped
 * @CAUSE_IO: it slept, uninterruptible
 * @CAUSE_GIL: it slept, and waited for Python's lock
 * @CAUSE_UNKNOWN: nobody knows: before its first event, after a loss, after its end
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
	CAUSE_FAULTS = CAUSE_CLASSES,	/* in sums: how many page faults */
	CAUSE_SUMS
};

/* What a task is in when it leaves a CPU. */
enum cause_state {
	CAUSE_STATE_RUN,	/* it wants to go on */
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
	CAUSE_IN_NOTHING,	/* not known, or nobody */
};

/**
 * struct cause_who - who did it
 * @tid: the task's key, 0 for the idle one
 * @context: on top of it; enum cause_context
 * @vec: number of the interrupt or softirq, -1 where it is not known
 * @name: of the interrupt
 */
struct cause_who {
	uint64_t	tid;
	uint32_t	context;
	int32_t		vec;
	char		name[28];
};

/* Why @who may be incomplete; bits. */
enum cause_others {
	CAUSE_OTHERS_AFTER	= 1,	/* @who was there first, and was not seen to leave */
	CAUSE_OTHERS_BEFORE	= 2,	/* @who was there last, and was not seen to come */
};

/**
 * struct cause_segment - a stretch of a watched task in one class
 * @key: the task
 * @from: begin
 * @to: end
 * @class: enum cause_class
 * @cpu: where it ran or waited, else where it ran before; -1 not known
 * @nr: number of the system call it was in, -1 for none
 * @partial: RUNNABLE: what others may have had the CPU besides @who, by enum cause_others
 * @who: RUNNABLE: who had the CPU; BLOCKED, IO, FAULT: who woke it; GIL: who had that lock; IRQ,
 *	SOFTIRQ: which
 * @holder: GIL: the number by which the program knows the thread of @who
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
 * struct cause_did - what a task did most in a stretch of time
 * @class: enum cause_class; all that is on a CPU is CAUSE_CPU
 * @ns: how long it did
 * @who: the key of who had the CPU (RUNNABLE), or woke it (BLOCKED, IO, FAULT), for most of that;
 *	0 no task
 * @who_ns: for how much
 * @from: begin of the longest piece with that one
 * @to: end
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

/* By more than that the clocks of markers and of the kernel are never apart. */
#define CAUSE_CLOCKS_NS		20000u

struct cause;

int cause_new(struct cause **cause);
void cause_free(struct cause *cause);

/*
 * Tasks are known by a key: a thread id of the kernel, or something above 32 bits for threads
 * whose id there is not known.  Times never go back: an earlier one counts as the last.
 */
void cause_switch(struct cause *cause, int32_t cpu, uint64_t ns, uint64_t prev,
		  enum cause_state state, uint64_t next);
/* The two halves of it, where only one is known; of @next it may be CAUSE_NOBODY_KNOWS. */
void cause_leave(struct cause *cause, int32_t cpu, uint64_t ns, uint64_t prev,
		 enum cause_state state, uint64_t next);
void cause_enter(struct cause *cause, int32_t cpu, uint64_t ns, uint64_t next);
/* @target: the CPU to run on, -1 not known. */
void cause_wakeup(struct cause *cause, uint64_t ns, uint64_t key, int32_t target,
		  const struct cause_who *who);
void cause_migrate(struct cause *cause, uint64_t ns, uint64_t key, int32_t target);
void cause_irq_enter(struct cause *cause, int32_t cpu, uint64_t ns, const struct cause_who *who);
/* @vec -1: whichever. */
void cause_irq_leave(struct cause *cause, int32_t cpu, uint64_t ns, enum cause_context context,
		     int32_t vec);
/* @nr -1: the end of one. */
void cause_syscall(struct cause *cause, int32_t cpu, uint64_t ns, uint64_t key, int32_t nr);
/* The task has a page fault in user mode. */
void cause_fault(struct cause *cause, int32_t cpu, uint64_t ns, uint64_t key);
/* The task was seen to run on @cpu. */
void cause_runs(struct cause *cause, int32_t cpu, uint64_t ns, uint64_t key);
/* Something was lost on @cpu after the last that was seen there, and until cause_hear() of it. */
void cause_lost(struct cause *cause, int32_t cpu, uint64_t ns);
/* The thread was in user mode, on @cpu where that is known (else -1), and wrote a record. */
void cause_marker(struct cause *cause, int32_t cpu, uint64_t ns, uint64_t key);
/* Before any event on @cpu: what was lost there was lost before it. */
void cause_hear(struct cause *cause, int32_t cpu, uint64_t ns);
/* After any event on @cpu: nothing was lost before it. */
void cause_seen(struct cause *cause, int32_t cpu, uint64_t ns);

/*
 * Nothing is known of any task from @from on, for good: what came later is not told to the machine.
 * To be called again as time goes on, @ns being now.
 */
void cause_end(struct cause *cause, uint64_t from, uint64_t ns);

/* The context that @cpu is in, as far as entries of interrupts were given. */
void cause_context(const struct cause *cause, int32_t cpu, struct cause_who *who);

/* ---- ranges --------------------------------------------------------------------------------- */

/* A range of the thread begins now: its sum is kept until cause_range() asks. */
void cause_begin(struct cause *cause, uint64_t ns, uint64_t key);
/* Those that began before @ns, which is now, begin then: only what comes is asked for. */
void cause_clip(struct cause *cause, uint64_t ns);
/*
 * Where the time of a range of a thread went: its classes add up to @end - @begin.  @kept: it
 * began by cause_begin().
 */
void cause_range(struct cause *cause, uint64_t key, uint64_t begin, uint64_t end, bool kept,
		 struct cause_sum *sum);

/* ---- tasks ---------------------------------------------------------------------------------- */

/* cause_each() counts from @ns on. */
void cause_count_from(struct cause *cause, uint64_t ns);
/*
 * Calls @fn for every task that is remembered: where its time went up to @ns, and how often it left
 * a CPU.
 */
void cause_each(const struct cause *cause, uint64_t ns,
		void (*fn)(void *data, uint64_t key, const struct cause_sum *sum,
			   uint64_t switches),
		void *data);

/* ---- details -------------------------------------------------------------------------------- */

/* Calls @tell with every segment of tasks that are watched.  To be called before all others. */
void cause_hook(struct cause *cause, void (*tell)(void *data, const struct cause_segment *segment),
		void *data);
/* Watches: counted.  false: there is no room for it. */
bool cause_watch(struct cause *cause, uint64_t key);
void cause_unwatch(struct cause *cause, uint64_t key);
/* Tells what is known up to @ns, as if it ended there. */
void cause_flush(struct cause *cause, uint64_t key, uint64_t ns);
/* What the task did between, as far as is remembered.  false: nothing is. */
bool cause_did(struct cause *cause, uint64_t key, uint64_t from, uint64_t to,
	       struct cause_did *did);

/**
 * struct cause_stats - what it was fed with
 * @switches: switches
 * @wakeups: wake-ups
 * @irqs: entries of interrupts
 * @softirqs: of softirqs
 * @syscalls: of system calls
 * @faults: page faults
 * @lost: losses
 * @forgotten: ranges whose begin was not remembered any more
 * @refused: tasks that found no room, counted every time
 * @missed: switches from another task than the one that had come last there: at least so many
 *	were not recorded
 * @after: so long, in ns, it went on after the end of all knowledge
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
/* Any event of the trace, in order. */
void cause_reader_event(struct cause_reader *reader, const struct xsprof_event *ev);
/* When what the tracer tells ends; UINT64_MAX: not before the capture does. */
uint64_t cause_reader_until(const struct cause_reader *reader);
/* Before anything is asked of a time until @ns, which no event was later than. */
void cause_reader_end(struct cause_reader *reader, uint64_t ns);
/* The key of a producer's thread. */
uint64_t cause_reader_key(struct cause_reader *reader, uint32_t producer, uint32_t tid);

#endif /* XSPROF_CAUSE_H */
