// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a producer's scheduling records may reveal of a task: its process, id and name. A process
 * sees its own threads, and of others only those of its user: xsp_sched_who() decides.
 */
#include <linux/pid_namespace.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/string.h>
#include <linux/uidgid.h>

#include "sched.h"

/* The process and program of the task; none for a released process. */
struct xsp_sched_key xsp_sched_key_of(const struct task_struct *task)
{
	const struct pid *pid = task_tgid((struct task_struct *)task);

	/*
	 * A task changes the number itself when it executes a program, before its credentials.
	 * Who switches to it or from it has the lock of a run queue that it had after that.  Who
	 * wakes it or moves it has seen that it waits, and this keeps the next load behind that
	 * one; the task's own stores are in order, since between them it gave one lock back and
	 * took another, in execve() and on the way to sleep.
	 */
	smp_rmb();
	return (struct xsp_sched_key){ pid, READ_ONCE(task->self_exec_id) };
}

static bool is_thread_of(const struct xsp_sched *s, const struct task_struct *task)
{
	struct xsp_sched_key key = xsp_sched_key_of(task);

	return key.pid == s->key.pid && key.exec_id == s->key.exec_id;
}

/* "Own" as for readers: all ids of the other task are the producer's user and group. */
static bool same_owner(const struct xsp_sched *s, const struct task_struct *task)
{
	const struct cred *it = __task_cred(task);

	return uid_eq(it->uid, s->uid) && uid_eq(it->euid, s->uid) && uid_eq(it->suid, s->uid) &&
	       gid_eq(it->gid, s->gid) && gid_eq(it->egid, s->gid) && gid_eq(it->sgid, s->gid);
}

/*
 * A thread that was released has no number in a namespace, but runs on to its last switch; on
 * the way there it may be preempted, or wait for a lock, and move.  What it had then is kept of
 * the CPU while it runs there, and noted when it leaves it, by the number that stays with it.
 */
static u64 *released_of(struct xsp_sched *s, const struct task_struct *task)
{
	return &s->released[task->pid & (RELEASED - 1)];
}

/* Return: 0: it belongs to another. */
static u32 tid_in(u64 identity, const struct task_struct *task)
{
	return (u32)(identity >> 32) == (u32)task->pid ? (u32)identity : 0;
}

/* Return: 0: unknown. */
u32 xsp_sched_tid(struct xsp_sched *s, struct task_struct *task)
{
	u32 tid;

	if (!s->ns->level)
		return task->pid;
	tid = task_pid_nr_ns(task, s->ns);
	if (tid)
		return tid;
	/*
	 * It may be woken from another CPU while it is still on its way off its own.  Pairs with
	 * the release of put_out() in sched-hooks.c: who does not find it there any more sees what
	 * was noted.
	 */
	tid = tid_in(smp_load_acquire(&s->cpu[task_cpu(task)].running), task);
	return tid ? tid : tid_in(READ_ONCE(*released_of(s, task)), task);
}

void xsp_sched_note_released(struct xsp_sched *s, struct task_struct *task, u32 tid)
{
	if (tid && s->ns->level && !task_pid_nr_ns(task, s->ns))
		WRITE_ONCE(*released_of(s, task), IDENTITY(task, tid));
}

/*
 * Kernel threads bound to CPUs, kworkers among them, have the same names on all machines, which are
 * no secret. Others may be named after the process that they serve (kvm-pit/PID, vhost-PID); their
 * names are only for users who may see the whole machine.
 */
static bool may_know_name(const struct xsp_sched *s, const struct task_struct *kthread)
{
	/* data_race(): this flag never changes. */
	bool bound = data_race(kthread->flags & PF_NO_SETAFFINITY);

	return !s->ns->level || bound || READ_ONCE(xsp_sched_comm);
}

/**
 * xsp_sched_who() - fill in what a process may know of another task
 * @s: set of the process' producer
 * @task: the other task
 * @rec: its kind, its thread id and its name are filled in
 *
 * For tasks of the process' own user: thread id and name, if they are in the process' pid
 * namespace. For kernel threads: the name, unless it belongs to another namespace. For others: only
 * that there is a task, and the name if the administrator permits it (sched_comm).
 */
void xsp_sched_who(struct xsp_sched *s, struct task_struct *task, struct xsprof_rec_sched *rec)
{
	unsigned int flags;
	u32 tid = 0, kind;
	bool name = true;

	/* data_race(): the task may be preempted while it changes other flags. */
	flags = data_race(task->flags);
	if (flags & PF_IDLE) {
		kind = XSPROF_SCHED_IDLE;
		name = false;
	} else if (flags & PF_KTHREAD) {
		kind = XSPROF_SCHED_KERNEL;
		name = may_know_name(s, task);
	} else if (is_thread_of(s, task)) {
		/* Its name is with its own records. */
		kind = XSPROF_SCHED_THREAD;
		name = false;
		tid = xsp_sched_tid(s, task);
	} else {
		tid = task_pid_nr_ns(task, s->ns);
		kind = tid && same_owner(s, task) ? XSPROF_SCHED_PROCESS : XSPROF_SCHED_OTHER;
		if (kind == XSPROF_SCHED_OTHER) {
			tid = 0;
			name = READ_ONCE(xsp_sched_comm);
		}
	}
	rec->rec.aux |= kind;
	rec->rec.value = tid;
	/* The current name; a concurrent change may only mix the two. */
	if (name) {
		strscpy_pad(rec->comm, task->comm, sizeof(rec->comm));
		rec->rec.size++;
	}
}
