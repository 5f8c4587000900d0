/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A producer's scheduling records, as the files sched*.c see them.
 */
#ifndef XSP_SCHED_H
#define XSP_SCHED_H

#include <linux/rhashtable-types.h>

#include "kernel-ring.h"

/**
 * struct xsp_sched_cpu - what there is a CPU
 * @ring: the ring
 * @running: the producer's task that runs there: IDENTITY(), 0 for none; that CPU alone writes
 *	it, with interrupts off
 */
struct xsp_sched_cpu {
	struct xsp_kernel_ring	ring;
	u64			running;
};

/*
 * A task by the number that the whole machine knows it by, and its thread id.  One word: whoever
 * reads it while it changes has both of one task.
 */
#define IDENTITY(task, tid)	((u64)(task)->pid << 32 | (tid))

/*
 * A power of two.  Threads that were released wait for a CPU together where many end at once; two
 * of them meet in one place when they were made so many apart.
 */
#define RELEASED	1024

/**
 * struct xsp_sched_key - a process and the program that it executes
 * @pid: the process; a reference is held as long as the set is there
 * @exec_id: how many programs it had executed at attach: what it executes later is not looked at,
 *	which may have other rights
 */
struct xsp_sched_key {
	const struct pid	*pid;
	u64			exec_id;
};

/**
 * struct xsp_sched - a producer whose threads are looked at
 * @node: of the table of all, which hooks look into under RCU
 * @free: frees it when no hook can hold it
 * @key: whose threads
 * @ns: the namespace that its records' thread ids are counted in
 * @uid: its user
 * @gid: its group
 * @on: it is recorded now; under xsp_producer.lock
 * @listed: hooks can find it; under xsp_producer.lock
 * @nr: CPUs
 * @released: threads that were released and run on: IDENTITY() with what they had in @ns, by the
 *	lowest bits of the machine's number.  NULL where all have one number
 * @charged: pages of what stands here and behind @released and @data
 * @data: addresses of the data's pages, of all rings
 * @cpu: one a CPU
 */
struct xsp_sched {
	struct rhash_head	node;
	struct rcu_work		free;
	struct xsp_sched_key	key;
	struct pid_namespace	*ns;
	kuid_t			uid;
	kgid_t			gid;
	bool			on;
	bool			listed;
	u32			nr;
	u64			*released;
	long			charged;
	void			**data;
	struct xsp_sched_cpu	cpu[];
};

/* ---- sched-who.c: with interrupts off ---- */
u32 xsp_sched_tid(struct xsp_sched *s, struct task_struct *task);
void xsp_sched_note_released(struct xsp_sched *s, struct task_struct *task, u32 tid);
void xsp_sched_who(struct xsp_sched *s, struct task_struct *task, struct xsprof_rec_sched *rec);
struct xsp_sched_key xsp_sched_key_of(const struct task_struct *task);

/* ---- sched-hooks.c ---- */
int xsp_sched_table_init(void);
bool xsp_sched_table_has(const struct xsp_sched_key *key);
int xsp_sched_table_add(struct xsp_sched *s);
void xsp_sched_table_remove(struct xsp_sched *s);
int xsp_sched_use_hooks(void);
void xsp_sched_leave_hooks(void);
void xsp_sched_hooks_exit(void);

#endif /* XSP_SCHED_H */
