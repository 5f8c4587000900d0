// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processes that execute another program: their producers end, whatever holds them.  Owns the hook
 * in execve(), and the table of processes with live producers that it looks into.  A process has
 * one entry there, however many producers it is: an execve() of another process walks none of them.
 *
 * A process keeps its pid when it executes, and may get other rights by that: nothing that it
 * asked for before is to tell of it afterwards.  How many programs it has executed is known at
 * any time (task_struct.self_exec_id, changed before the new credentials are there), which is
 * what xsp_producer_is_mine() and sched.c compare; the hook comes a little later, once the new
 * program is in place, and ends the producer for those who read it.
 */
#include <linux/binfmts.h>
#include <linux/rculist.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include <trace/events/sched.h>

#include "xsprof.h"

/**
 * struct xsp_exec - a process with live producers
 * @node: of the table
 * @pid: the process; each of its producers has a reference
 * @producers: by exec_node; changed under the lock, read under RCU
 * @rcu: frees it when no look under RCU can hold it
 */
struct xsp_exec {
	struct rhash_head	node;
	const struct pid	*pid;
	struct hlist_head	producers;
	struct rcu_head		rcu;
};

static const struct rhashtable_params params = {
	.key_len		= sizeof(const struct pid *),
	.key_offset		= offsetof(struct xsp_exec, pid),
	.head_offset		= offsetof(struct xsp_exec, node),
	.automatic_shrinking	= true,
};

static struct rhashtable processes;	/* seeded: no user can choose the bucket of a process */
static DEFINE_SPINLOCK(lock);		/* changes of the table and of its entries */
static struct tracepoint *executes;

/* ---- the table ------------------------------------------------------------------------------ */

/* Under the lock, or under RCU.  Return: the entry, or NULL. */
static struct xsp_exec *entry_of(const struct pid *pid)
{
	return rhashtable_lookup_fast(&processes, &pid, params);
}

/* Under the lock.  Return: the entry of @pid: @new where there was none; NULL: no memory. */
static struct xsp_exec *get_entry(const struct pid *pid, struct xsp_exec *new)
{
	struct xsp_exec *e = entry_of(pid);

	if (e)
		return e;
	new->pid = pid;
	/* The table's own -EBUSY and -E2BIG: it could not grow in time. */
	return rhashtable_insert_fast(&processes, &new->node, params) ? NULL : new;
}

/**
 * xsp_exec_add() - from now on an exec of the producer's process ends it
 * @p: producer of the calling process, which cannot execute before the call is over
 *
 * Return: 0, -ENOMEM.
 */
int xsp_exec_add(struct xsp_producer *p)
{
	struct xsp_exec *new = kzalloc(sizeof(*new), XSP_GFP), *e;

	if (!new)
		return -ENOMEM;
	spin_lock(&lock);
	e = get_entry(p->pid, new);
	if (e)
		hlist_add_head_rcu(&p->exec_node, &e->producers);
	spin_unlock(&lock);
	if (e != new)
		kfree(new);
	return e ? 0 : -ENOMEM;
}

/* It has ended, or goes; may be called more than once.  Looks under RCU may still find it. */
void xsp_exec_remove(struct xsp_producer *p)
{
	struct xsp_exec *e;

	spin_lock(&lock);
	if (!hlist_unhashed(&p->exec_node)) {
		hlist_del_init_rcu(&p->exec_node);
		e = entry_of(p->pid);
		if (hlist_empty(&e->producers)) {
			rhashtable_remove_fast(&processes, &e->node, params);
			kfree_rcu(e, rcu);
		}
	}
	spin_unlock(&lock);
}

/**
 * xsp_exec_next() - a producer whose process has executed a program since
 * @pid: the process
 * @exec_id: number of what it executes now, or has since; what it executed before had lower ones
 *
 * Context: any.
 * Return: one that is to end, which is the caller's to do, with a reference; NULL: no more.
 */
struct xsp_producer *xsp_exec_next(const struct pid *pid, u64 exec_id)
{
	struct xsp_producer *p, *found = NULL;
	struct xsp_exec *e;

	rcu_read_lock();
	e = entry_of(pid);
	if (!e)
		goto out;
	hlist_for_each_entry_rcu(p, &e->producers, exec_node) {
		if (p->exec_id < exec_id && xsp_producer_claim_end(p)) {
			found = p;
			break;
		}
	}
out:
	rcu_read_unlock();
	return found;
}

/* ---- the hook ------------------------------------------------------------------------------- */

/* A process may have thousands, and this is no place for so many: that one's end ends them all. */
static void on_exec(void *data, struct task_struct *task, pid_t old_pid,
		    struct linux_binprm *bprm)
{
	struct xsp_producer *p = xsp_exec_next(task_tgid(task), task->self_exec_id);

	if (p)
		xsp_producer_queue_end(p, -1);
}

/* It is not exported: it is found by name. */
static void find_hook(struct tracepoint *tp, void *data)
{
	/* What a name does not promise: with another kernel's arguments this does not compile. */
	check_trace_callback_type_sched_process_exec(on_exec);
	if (!strcmp(tp->name, "sched_process_exec"))
		executes = tp;
}

int xsp_exec_init(void)
{
	int err;

	for_each_kernel_tracepoint(find_hook, NULL);
	if (!executes) {
		pr_err("xsprof: no tracepoint sched_process_exec: wants CONFIG_TRACEPOINTS=y\n");
		return -EOPNOTSUPP;
	}
	err = rhashtable_init(&processes, &params);
	if (err)
		return err;
	err = tracepoint_probe_register(executes, on_exec, NULL);
	if (err)
		rhashtable_destroy(&processes);
	return err;
}

/* Execs are seen no longer.  The table stays: producers that end go out of it. */
void xsp_exec_unhook(void)
{
	tracepoint_probe_unregister(executes, on_exec, NULL);
	/* No hook runs any more, and none is about to. */
	tracepoint_synchronize_unregister();
}

/* No producer is left. */
void xsp_exec_exit(void)
{
	rhashtable_destroy(&processes);
}
