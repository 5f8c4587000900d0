/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How threads of Python programs shared their lock, the GIL: handovers.c reads, handovers-print.c
 * prints.
 */
#ifndef XSPROF_REPORT_HANDOVERS_H
#define XSPROF_REPORT_HANDOVERS_H

#include "cause/gil-record.h"
#include "report/local.h"

#define HANDOVER_NONE	UINT32_MAX	/* no thread, or it is not known which */
#define HANDOVER_PARTS	8u

/* A part of a wait: how long one thread had the lock in it. */
struct handover_part {
	uint32_t	holder;
	uint64_t	ns;
};

/**
 * struct handover_thread - a thread, and one lock
 * @producer: its process
 * @pid: the same, as the user knows it
 * @tid: its id
 * @lock: of handovers.locks
 * @waits: times that it waited
 * @waited: ns of these
 * @longest_wait: of these
 * @holds: times that it had the lock while others waited
 * @held: ns of these
 * @longest_hold: of these
 * @waiting: it waits now; what follows is of that
 * @listed: it is in its lock's list of those
 * @next: there, HANDOVER_NONE at the end
 * @prev: the same
 * @since: from when on @holder has had the lock
 * @holder: thread or HANDOVER_NONE
 * @from: the last one that was known to have it
 * @nr: parts that are over
 * @parts: these, each of another holder; of too many all later ones are of HANDOVER_NONE
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
 * struct handover_pair - one thread that waited, and one that had the lock meanwhile
 * @holder: a thread, or HANDOVER_NONE
 * @waiter: a thread
 * @count: times that the lock went from the one to the other
 * @waited: ns that the waiter waited while the holder had it
 * @longest: the most of one wait
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
 * @number: 0: that of the process; else that of an interpreter of its own
 * @first: of the threads that wait
 * @nr: how many
 */
struct handover_lock {
	uint32_t	number;
	uint32_t	first;
	uint32_t	nr;
};

/**
 * struct handovers - what was found
 * @report: the report that it is part of
 * @names: what names mean
 * @threads: rows
 * @nr_threads: how many
 * @pairs: rows
 * @nr_pairs: how many
 * @locks: locks
 * @nr_locks: how many
 * @thread_at: places + 1 by lock and thread
 * @pair_at: the same by holder and waiter
 * @lock_at: the same by process and number
 * @waits_at: the same of threads that wait, by process and thread
 * @waited: ns of all waits
 * @waits: their number
 * @open: of these, those that had no end
 * @doubtful: waits in no row: records were lost inside them
 * @left_out: records in no row: there are too many threads or locks
 */
struct handovers {
	struct report		*report;
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
};

/* Reads the trace, and prints. Return: the exit status. */
int handovers_run(struct report *report);
/* Return: 0, -ENOMEM. */
int handovers_print(const struct handovers *h);
int handovers_print_json(const struct handovers *h);

#endif /* XSPROF_REPORT_HANDOVERS_H */
