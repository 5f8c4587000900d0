// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processes with live producers: when one ends or executes another program, its producers end,
 * whatever holds them. Owns the hook in execve(), the wait for a process' end, and the table of
 * processes that both use. A process has one entry there, however many producers it has: an
 * execve() of another process walks none of them, and the end of this one queues one work item,
 * since it is reported with interrupts off and mostly under tasklist_lock.
 *
 * A process' end is seen at its struct pid, which wakes the waiters of a pidfd when the last
 * thread has ended and the status is known.  The process can store nothing from then on.  The
 * release of the file would not do: a forked child inherits the descriptor.
 *
 * A process keeps its pid when it executes a program, and may gain privileges by that: recording
 * requested before must not reveal anything of it afterwards. The number of executed programs is
 * always available (task_struct.self_exec_id, changed before the new credentials are set), and
 * compared by xsp_producer_is_mine() and sched.c; the hook comes a little later, when the new
 * program is in place, and ends the producer for its readers.
 */
#include <linux/binfmts.h>
#include <linux/rculist.h>
#include <linux/rhashtable.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/wait.h>

#include <trace/events/sched.h>

#include "xsprof.h"

/**
 * struct xsp_process - a process with live producers
 * @node: of the table
 * @pid: the process; each of its producers has a reference
 * @producers: by process_node; changed under the lock, read under RCU
 * @exit_wait: on @pid: calls when the process ends
 * @rcu: frees it after an RCU grace period
 */
struct xsp_process {
	struct rhash_head	node;
	struct pid		*pid;
	struct hlist_head	producers;
	wait_queue_entry_t	exit_wait;
	struct rcu_head		rcu;
};

static const struct rhashtable_params params = {
	.key_len		= sizeof(struct pid *),
	.key_offset		= offsetof(struct xsp_process, pid),
	.head_offset		= offsetof(struct xsp_process, node),
	.automatic_shrinking	= true,
};

static struct rhashtable processes;	/* seeded: no user can choose the bucket of a process */
static DEFINE_SPINLOCK(lock);		/* changes of the table and of its entries */
static struct tracepoint *executes;

/* Under RCU. Return: a producer that attached before program @exec_id, claimed; NULL: no more. */
static struct xsp_producer *claim_one(const struct xsp_process *e, u64 exec_id)
{
	struct xsp_producer *p;

	hlist_for_each_entry_rcu(p, &e->producers, process_node)
		if (p->exec_id < exec_id && xsp_producer_claim_end(p))
			return p;
	return NULL;
}

/* ---- the end of a process ------------------------------------------------------------------- */

/* As wait() reports it to the parent. */
static int exit_code_of(const struct task_struct *task)
{
	return task->signal->flags & SIGNAL_GROUP_EXIT ? task->signal->group_exit_code :
							 task->exit_code;
}

/*
 * Called under the lock of the pid's wait queue, and mostly under tasklist_lock: nothing here may
 * sleep or take a lock of ours, and one producer is queued for all.  Also called when one thread
 * of many ends.
 */
static int on_exit(wait_queue_entry_t *wait, unsigned int mode, int flags, void *key)
{
	struct xsp_process *e = container_of(wait, struct xsp_process, exit_wait);
	struct xsp_producer *p = NULL;
	struct task_struct *task;
	u64 exec_id;

	rcu_read_lock();
	task = pid_task(e->pid, PIDTYPE_TGID);
	if (task && READ_ONCE(task->exit_state) && thread_group_empty(task)) {
		/* It executes no more programs: an exec id that is never reached. */
		exec_id = task->self_exec_id + 1;
		p = claim_one(e, exec_id);
		if (p)
			xsp_producer_queue_end(p, exec_id, exit_code_of(task));
	}
	rcu_read_unlock();
	return 0;
}

/* ---- the table ------------------------------------------------------------------------------ */

/* Under the lock, or under RCU.  Return: the entry, or NULL. */
static struct xsp_process *entry_of(const struct pid *pid)
{
	return rhashtable_lookup_fast(&processes, &pid, params);
}

/* Under the lock. Return: the entry of @pid: @new if there was none; NULL: no memory. */
static struct xsp_process *get_entry(struct pid *pid, struct xsp_process *new)
{
	struct xsp_process *e = entry_of(pid);

	if (e)
		return e;
	new->pid = pid;
	/* The table's own -EBUSY and -E2BIG: it could not grow in time. */
	if (rhashtable_insert_fast(&processes, &new->node, params))
		return NULL;
	init_waitqueue_func_entry(&new->exit_wait, on_exit);
	add_wait_queue(&pid->wait_pidfd, &new->exit_wait);
	return new;
}

/**
 * xsp_process_add() - end the producer when its process ends or executes a program
 * @p: producer of the calling process, which can do neither before the call is over
 *
 * Return: 0, -ENOMEM.
 */
int xsp_process_add(struct xsp_producer *p)
{
	struct xsp_process *new = kzalloc(sizeof(*new), XSP_GFP), *e;

	if (!new)
		return -ENOMEM;
	spin_lock(&lock);
	e = get_entry(p->pid, new);
	if (e)
		hlist_add_head_rcu(&p->process_node, &e->producers);
	spin_unlock(&lock);
	if (e != new)
		kfree(new);
	return e ? 0 : -ENOMEM;
}

/**
 * xsp_process_remove() - remove a producer that has ended or is freed
 * @p: producer
 *
 * May be called more than once, also concurrently. RCU readers may still find it. If it was the
 * last one of its process, on_exit() is not called from here on: removal waits for a running call,
 * which holds the lock of the pid's queue.
 */
void xsp_process_remove(struct xsp_producer *p)
{
	struct xsp_process *e;

	spin_lock(&lock);
	if (!hlist_unhashed(&p->process_node)) {
		hlist_del_init_rcu(&p->process_node);
		e = entry_of(p->pid);
		if (hlist_empty(&e->producers)) {
			remove_wait_queue(&e->pid->wait_pidfd, &e->exit_wait);
			rhashtable_remove_fast(&processes, &e->node, params);
			kfree_rcu(e, rcu);
		}
	}
	spin_unlock(&lock);
}

/**
 * xsp_process_next() - find a producer of a process that must end
 * @pid: the process
 * @exec_id: number of a program that it executes: those that attached before end
 *
 * Context: any.
 * Return: a producer that the caller must end, with a reference; NULL: no more.
 */
struct xsp_producer *xsp_process_next(struct pid *pid, u64 exec_id)
{
	struct xsp_producer *p = NULL;
	struct xsp_process *e;

	rcu_read_lock();
	e = entry_of(pid);
	if (e)
		p = claim_one(e, exec_id);
	rcu_read_unlock();
	return p;
}

/* ---- the hook in execve() -------------------------------------------------------------------- */

/* A process may have thousands, too many for this context: queue one work item for all. */
static void on_exec(void *data, struct task_struct *task, pid_t old_pid,
		    struct linux_binprm *bprm)
{
	u64 exec_id = task->self_exec_id;
	struct xsp_producer *p = xsp_process_next(task_tgid(task), exec_id);

	if (p)
		xsp_producer_queue_end(p, exec_id, -1);
}

/* It is not exported: find it by name. */
static void find_hook(struct tracepoint *tp, void *data)
{
	/*
	 * A name does not guarantee the arguments: if they differ in a kernel, this does not
	 * compile.
	 */
	check_trace_callback_type_sched_process_exec(on_exec);
	if (!strcmp(tp->name, "sched_process_exec"))
		executes = tp;
}

int xsp_process_init(void)
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

/* Stops watching for execs. The table stays: ending producers are removed from it. */
void xsp_process_unhook(void)
{
	tracepoint_probe_unregister(executes, on_exec, NULL);
	/* No hook runs any more, and none is about to. */
	tracepoint_synchronize_unregister();
}

/* No producer is left. */
void xsp_process_exit(void)
{
	rhashtable_destroy(&processes);
}
