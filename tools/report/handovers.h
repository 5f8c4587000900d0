/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How threads of Python programs shared the GIL: handovers.c reads, handovers-print.c prints.
 */
#ifndef XSPROF_REPORT_HANDOVERS_H
#define XSPROF_REPORT_HANDOVERS_H

#include "cause/gil-record.h"
#include "report/local.h"

#define HANDOVER_NONE	UINT32_MAX	/* no thread, or an unknown one */
#define HANDOVER_PARTS	64u

/* A part of a wait: how long one thread held the lock in it. */
struct handover_part {
	uint32_t	holder;
	uint64_t	ns;
};

/**
 * struct handover_thread - a thread with respect to one lock
 * @producer: its process
 * @pid: its process id
 * @tid: its thread id
 * @lock: index in handovers.locks
 * @waits: number of waits
 * @waited: ns of all waits
 * @longest_wait: ns
 * @holds: times that it held the lock and others waited
 * @held: ns of these in which at least one other thread waited
 * @longest_hold: the most of these in one hold
 * @waiting: it waits now; the fields below are about this wait
 * @listed: it is in the list of waiting threads of the lock
 * @next: in that list, HANDOVER_NONE at the end
 * @prev: in that list
 * @since: begin of the current @holder's hold
 * @holder: thread or HANDOVER_NONE
 * @from: the last known holder
 * @nr: number of complete parts
 * @parts: one for each holder; beyond the limit all are of HANDOVER_NONE
 */
struct handover_thread {
	uint32_t		producer;
	uint32_t		pid;
	uint32_t		tid;
	uint32_t		lock;
	uint64_t		waits;
	uint64_t		waited;
	uint64_t		longest_wait;
	uint64_t		holds;
	uint64_t		held;
	uint64_t		longest_hold;
	bool			waiting;
	bool			listed;
	uint32_t		next;
	uint32_t		prev;
	uint64_t		since;
	uint32_t		holder;
	uint32_t		from;
	uint32_t		nr;
	struct handover_part	parts[HANDOVER_PARTS];
};

/**
 * struct handover_pair - a waiting thread, and one that held the lock meanwhile
 * @holder: a thread, or HANDOVER_NONE
 * @waiter: a thread
 * @count: times that the lock went from @holder to @waiter
 * @waited: ns that @waiter waited while @holder held it
 * @longest: the most in one wait
 */
struct handover_pair {
	uint32_t	holder;
	uint32_t	waiter;
	uint64_t	count;
	uint64_t	waited;
	uint64_t	longest;
};

/**
 * struct handover_lock - a lock
 * @number: 0: the lock of the process; else that of an interpreter with its own lock
 * @first: first thread in the list of waiting threads
 * @nr: length of that list
 * @waiting: number of waiting threads, listed or not
 * @holder: thread or HANDOVER_NONE; the fields below are about its hold
 * @wanted: a thread has waited in it
 * @since: @held is complete up to here
 * @held: ns in which at least one thread waited
 */
struct handover_lock {
	uint32_t	number;
	uint32_t	first;
	uint32_t	nr;
	uint32_t	waiting;
	uint32_t	holder;
	bool		wanted;
	uint64_t	since;
	uint64_t	held;
};

/**
 * struct handovers - the result
 * @report: the report that it is part of
 * @pairer: pairs begins and ends of waits
 * @names: which names are of the lock
 * @threads: rows
 * @nr_threads: how many
 * @pairs: rows
 * @nr_pairs: how many
 * @locks: locks
 * @nr_locks: how many
 * @thread_at: index + 1 in @threads, by lock and thread
 * @pair_at: index + 1 in @pairs, by holder and waiter
 * @lock_at: index + 1 in @locks, by process and number
 * @waits_at: index + 1 in @threads, by process and thread, of threads that wait
 * @waited: ns of all waits
 * @waits: number of waits
 * @open: of these, those without an end
 * @doubtful: waits in no row, as records were lost inside them
 * @left_out: records in no row, as there are too many threads or locks
 * @processes: of several processes
 * @untaken: this record ends a wait, and the thread has not got the lock
 */
struct handovers {
	struct report		*report;
	struct xsprof_pairer	*pairer;
	struct gil_names	names;
	struct handover_thread	*threads;
	uint32_t		nr_threads;
	struct handover_pair	*pairs;
	uint32_t		nr_pairs;
	struct handover_lock	*locks;
	uint32_t		nr_locks;
	struct xsp_map		thread_at;
	struct xsp_map		pair_at;
	struct xsp_map		lock_at;
	struct xsp_map		waits_at;
	uint64_t		waited;
	uint64_t		waits;
	uint64_t		open;
	uint64_t		doubtful;
	uint64_t		left_out;
	bool			processes;
	bool			untaken;
};

/* Reads the trace, and prints. Return: the exit status. */
int handovers_run(struct report *report);
/* Return: 0, -ENOMEM. */
int handovers_print(struct handovers *h);
int handovers_print_json(const struct handovers *h);

#endif /* XSPROF_REPORT_HANDOVERS_H */
