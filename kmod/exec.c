// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processes that execute another program: their producers end, whatever holds them.  Owns the hook
 * in execve(), and the table of live producers by process that it looks into.
 *
 * A process keeps its pid when it executes, and may get other rights by that: nothing that it
 * asked for before is to tell of it afterwards.  How many programs it has executed is known at
 * any time (task_struct.self_exec_id, changed before the new credentials are there), which is
 * what xsp_producer_is_mine() and sched.c compare; the hook comes a little later, once the new
 * program is in place, and ends the producer for those who read it.
 */
#include <linux/binfmts.h>
#include <linux/hash.h>
#include <linux/rculist.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include <trace/events/sched.h>

#include "xsprof.h"

#define BUCKET_BITS	8

static struct hlist_head buckets[1 << BUCKET_BITS];
static DEFINE_SPINLOCK(lock);		/* changes of the buckets */
static struct tracepoint *executes;

static struct hlist_head *bucket_of(const struct pid *pid)
{
	return &buckets[hash_ptr(pid, BUCKET_BITS)];
}

/* A producer that is about to be published: from now on an exec of its process ends it. */
void xsp_exec_add(struct xsp_producer *p)
{
	spin_lock(&lock);
	hlist_add_head_rcu(&p->exec_node, bucket_of(p->pid));
	spin_unlock(&lock);
}

/* It has ended, or goes; may be called more than once.  Looks under RCU may still find it. */
void xsp_exec_remove(struct xsp_producer *p)
{
	spin_lock(&lock);
	hlist_del_init_rcu(&p->exec_node);
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

	rcu_read_lock();
	hlist_for_each_entry_rcu(p, bucket_of(pid), exec_node) {
		if (p->pid == pid && p->exec_id < exec_id && xsp_producer_claim_end(p)) {
			found = p;
			break;
		}
	}
	rcu_read_unlock();
	return found;
}

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
	for_each_kernel_tracepoint(find_hook, NULL);
	if (!executes) {
		pr_err("xsprof: no tracepoint sched_process_exec: wants CONFIG_TRACEPOINTS=y\n");
		return -EOPNOTSUPP;
	}
	return tracepoint_probe_register(executes, on_exec, NULL);
}

void xsp_exec_exit(void)
{
	tracepoint_probe_unregister(executes, on_exec, NULL);
	/* No hook runs any more, and none is about to. */
	tracepoint_synchronize_unregister();
}
