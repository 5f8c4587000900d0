/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A producer's scheduling records: shared by the files sched*.c.
 */
#ifndef XSP_SCHED_H
#define XSP_SCHED_H

#include <linux/rhashtable-types.h>

#include "kernel-ring.h"

/**
 * struct xsp_sched_cpu - per-CPU state
 * @ring: the ring
 * @running: the producer's task that runs there: IDENTITY(), 0: none; only that CPU writes it, with
 *	interrupts off
 */
struct xsp_sched_cpu {
	struct xsp_kernel_ring	ring;
	u64			running;
};

/*
 * A task's id in the initial pid namespace, and its thread id. One word, so that a concurrent
 * reader gets both of the same task.
 */
#define IDENTITY(task, tid)	((u64)(task)->pid << 32 | (tid))

/*
 * A power of two. Many released threads may wait for a CPU if many end at once; two of them collide
 * if their ids differ by a multiple of this.
 */
#define RELEASED	1024

/**
 * struct xsp_sched_key - a process and the program that it executes
 * @pid: the process; the set holds a reference
 * @exec_id: number of programs executed at attach: later programs, which may have other privileges,
 *	are not recorded
 */
struct xsp_sched_key {
	const struct pid	*pid;
	u64			exec_id;
};

/**
 * struct xsp_sched - a producer whose threads are recorded
 * @node: in the table of all, read by hooks under RCU
 * @free: frees it when no hook can use it
 * @key: process of the threads
 * @ns: the pid namespace of thread ids in its records
 * @uid: its user
 * @gid: its group
 * @on: it is recorded now; under xsp_producer.lock
 * @listed: hooks can find it; under xsp_producer.lock
 * @nr: CPUs
 * @released: released threads that still run: IDENTITY() with their id in @ns, by the lowest bits
 *	of the id in the initial namespace. NULL if ids are the same in both
 * @charged: pages of this struct, @released and @data
 * @data: addresses of the data's pages, of all rings
 * @cpu: one per CPU
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
