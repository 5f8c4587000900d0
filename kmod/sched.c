// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the scheduler does with the threads of a producer: they come to a CPU, leave it, are
 * woken, move.  Owns the hooks in the scheduler's tracepoints, and who is asked for there; never
 * the rings' memory, which is the producer's.
 *
 * A process learns of its own threads, and of others only what is its user's: who() decides.
 *
 * The hooks are there while any producer wants them.  They run with interrupts off, and mostly
 * under the scheduler's locks, for every task of the machine: for one that is no producer's they
 * cost a look into an empty bucket.
 */
#include <linux/hash.h>
#include <linux/pid_namespace.h>
#include <linux/rculist.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/uidgid.h>

#include <trace/events/sched.h>

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
 * struct xsp_sched - a producer whose threads are looked at
 * @node: of its bucket; hooks walk it under RCU
 * @free: frees it when no hook can hold it
 * @tgid: its process, as task_struct has it
 * @pid: its process; a tgid may be another's one day
 * @exec_id: what that executed at attach; what it executes later is not looked at
 * @ns: the namespace that its records' thread ids are counted in
 * @uid: its user
 * @gid: its group
 * @on: it is recorded now; under xsp_producer.lock
 * @hashed: hooks can find it; under xsp_producer.lock
 * @nr: CPUs
 * @released: threads that were released and run on: IDENTITY() with what they had in @ns, by the
 *	lowest bits of the machine's number.  NULL where all have one number
 * @data: addresses of the data's pages, of all rings
 * @cpu: one a CPU
 */
struct xsp_sched {
	struct hlist_node	node;
	struct rcu_work		free;
	pid_t			tgid;
	struct pid		*pid;
	u64			exec_id;
	struct pid_namespace	*ns;
	kuid_t			uid;
	kgid_t			gid;
	bool			on;
	bool			hashed;
	u32			nr;
	u64			*released;
	void			**data;
	struct xsp_sched_cpu	cpu[];
};

#define BUCKET_BITS	8

static struct hlist_head buckets[1 << BUCKET_BITS];
static DEFINE_SPINLOCK(buckets_lock);	/* changes of the buckets */

static DEFINE_MUTEX(hooks_lock);	/* changes of the hooks */
static atomic_t users;			/* producers that want them; more under the lock alone */
static bool hooked;			/* under the lock */

static void unhook_worker(struct work_struct *work);
static DECLARE_DELAYED_WORK(unhook_work, unhook_worker);

/* ---- who ----------------------------------------------------------------------------------- */

static struct hlist_head *bucket_of(pid_t tgid)
{
	return &buckets[hash_32(tgid, BUCKET_BITS)];
}

static bool is_thread_of(const struct xsp_sched *s, const struct task_struct *task)
{
	/* Of a process whose last thread has been released there is no pid any more. */
	if (s->tgid != task->tgid || task_tgid((struct task_struct *)task) != s->pid)
		return false;
	/*
	 * Never of what it executes later, which may have other rights.  A task changes the number
	 * itself, before its credentials.  Who switches to it or from it has the lock of a run
	 * queue that it had after that.  Who wakes it or moves it has seen that it waits, and this
	 * keeps the next load behind that one; the task's own stores are in order, since between
	 * them it gave one lock back and took another, in execve() and on the way to sleep.
	 */
	smp_rmb();
	return READ_ONCE(task->self_exec_id) == s->exec_id;
}

/* Under RCU.  Two producers may be of one process: @s is the one before, or NULL. */
static struct xsp_sched *next_of(const struct task_struct *task, struct xsp_sched *s)
{
	struct hlist_node *node;

	node = s ? rcu_dereference_raw(hlist_next_rcu(&s->node)) :
		   rcu_dereference_raw(hlist_first_rcu(bucket_of(task->tgid)));
	for (; node; node = rcu_dereference_raw(hlist_next_rcu(node))) {
		s = hlist_entry(node, struct xsp_sched, node);
		if (is_thread_of(s, task))
			return s;
	}
	return NULL;
}

/* "Own" as for readers: all ids of the other are the producer's user's and group's. */
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

/* Return: 0: it is of another. */
static u32 tid_in(u64 identity, const struct task_struct *task)
{
	return (u32)(identity >> 32) == (u32)task->pid ? (u32)identity : 0;
}

/* Return: 0: nobody knows any more. */
static u32 tid_of(struct xsp_sched *s, struct task_struct *task)
{
	u32 tid;

	if (!s->ns->level)
		return task->pid;
	tid = task_pid_nr_ns(task, s->ns);
	if (tid)
		return tid;
	/*
	 * It may be woken from another CPU while it is still on its way off its own.  Pairs with
	 * the release of put_out(): who does not find it there any more sees what was noted.
	 */
	tid = tid_in(smp_load_acquire(&s->cpu[task_cpu(task)].running), task);
	return tid ? tid : tid_in(READ_ONCE(*released_of(s, task)), task);
}

static void note_released(struct xsp_sched *s, struct task_struct *task, u32 tid)
{
	if (tid && s->ns->level && !task_pid_nr_ns(task, s->ns))
		WRITE_ONCE(*released_of(s, task), IDENTITY(task, tid));
}

/**
 * who() - what a process may know of another task
 * @s: the process' producer
 * @task: the other one
 * @rec: its kind, its thread id and its name are filled in
 *
 * A thread id and a name of the process' own user, as far as the process' pid namespace has it.
 * Names of the kernel's threads, which are no user's secret.  Of anybody else that there is
 * somebody, and the name where the administrator says so (sched_comm).
 */
static void who(struct xsp_sched *s, struct task_struct *task, struct xsprof_rec_sched *rec)
{
	u32 tid = 0, kind;
	bool name = true;

	if (is_idle_task(task)) {
		kind = XSPROF_SCHED_IDLE;
		name = false;
	} else if (task->flags & PF_KTHREAD) {
		kind = XSPROF_SCHED_KERNEL;
	} else if (is_thread_of(s, task)) {
		/* Its name is where its own records are. */
		kind = XSPROF_SCHED_THREAD;
		name = false;
		tid = tid_of(s, task);
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
	/* The name as it is now; a change meanwhile mixes the two, and no more. */
	if (name) {
		strscpy_pad(rec->comm, task->comm, sizeof(rec->comm));
		rec->rec.size++;
	}
}

/* ---- records: with interrupts off, under RCU ------------------------------------------------ */

static struct xsprof_rec_sched record(u32 tid, u32 type)
{
	return (struct xsprof_rec_sched){
		.rec = {
			.tid = tid, .type = type, .size = 1 | XSPROF_RECF_CPU << 4,
			.cpu = raw_smp_processor_id(),
		},
	};
}

static struct xsp_sched_cpu *this_cpu(struct xsp_sched *s)
{
	return &s->cpu[raw_smp_processor_id()];
}

/* Of no thread is no record: it would be anybody's. */
static void put(struct xsp_sched_cpu *c, struct xsprof_rec_sched *rec)
{
	if (rec->rec.tid)
		xsp_kernel_ring_put(&c->ring, &rec->rec, rec->rec.size & 0x0f);
	else
		xsp_kernel_ring_drop(&c->ring);
}

static void put_out(struct xsp_sched *s, struct task_struct *task, struct task_struct *next,
		    bool preempt, unsigned int state)
{
	struct xsp_sched_cpu *c = this_cpu(s);
	struct xsprof_rec_sched rec = record(tid_of(s, task), XSPROF_REC_SCHED_OUT);
	char letter = preempt ? 'R' :
		      task_index_to_char(__task_state_index(state, task->exit_state));

	rec.rec.aux = letter << XSPROF_SCHED_STATE_SHIFT | (preempt ? XSPROF_SCHED_PREEMPTED : 0);
	who(s, next, &rec);
	note_released(s, task, rec.rec.tid);
	/* Pairs with the acquire of tid_of(): what was noted is seen before this. */
	smp_store_release(&c->running, 0);
	put(c, &rec);
}

static void put_in(struct xsp_sched *s, struct task_struct *task)
{
	struct xsp_sched_cpu *c = this_cpu(s);
	struct xsprof_rec_sched rec = record(tid_of(s, task), XSPROF_REC_SCHED_IN);

	/*
	 * No barrier: who wakes it when it has no number any more knows that it waits by a lock
	 * that it took after this, and that the waker takes as well.
	 */
	WRITE_ONCE(c->running, IDENTITY(task, rec.rec.tid));
	put(c, &rec);
}

static void put_wake(struct xsp_sched *s, struct task_struct *task, u32 flags)
{
	struct xsp_sched_cpu *c = this_cpu(s);
	struct xsprof_rec_sched rec = record(tid_of(s, task), XSPROF_REC_SCHED_WAKE);

	rec.rec.aux = flags;
	/* Whatever an interrupt comes upon has nothing to do with it. */
	if (in_task())
		who(s, current, &rec);
	else
		rec.rec.aux |= XSPROF_SCHED_IRQ;
	put(c, &rec);
}

static void put_migrate(struct xsp_sched *s, struct task_struct *task, u32 to)
{
	struct xsp_sched_cpu *c = this_cpu(s);
	struct xsprof_rec_sched rec = record(tid_of(s, task), XSPROF_REC_SCHED_MIGRATE);

	rec.rec.value = (u64)to << 32 | task_cpu(task);
	put(c, &rec);
}

/* ---- hooks --------------------------------------------------------------------------------- */

static void on_switch(void *data, bool preempt, struct task_struct *prev,
		      struct task_struct *next, unsigned int prev_state)
{
	struct xsp_sched *s;
	unsigned long flags;

	rcu_read_lock();
	local_irq_save(flags);
	for (s = next_of(prev, NULL); s; s = next_of(prev, s))
		put_out(s, prev, next, preempt, prev_state);
	for (s = next_of(next, NULL); s; s = next_of(next, s))
		put_in(s, next);
	local_irq_restore(flags);
	rcu_read_unlock();
}

static void wake(struct task_struct *task, u32 kind)
{
	struct xsp_sched *s;
	unsigned long flags;

	rcu_read_lock();
	local_irq_save(flags);
	for (s = next_of(task, NULL); s; s = next_of(task, s))
		put_wake(s, task, kind);
	local_irq_restore(flags);
	rcu_read_unlock();
}

static void on_waking(void *data, struct task_struct *task)
{
	wake(task, 0);
}

static void on_wakeup_new(void *data, struct task_struct *task)
{
	wake(task, XSPROF_SCHED_NEW);
}

static void on_migrate(void *data, struct task_struct *task, int cpu)
{
	struct xsp_sched *s;
	unsigned long flags;

	rcu_read_lock();
	local_irq_save(flags);
	for (s = next_of(task, NULL); s; s = next_of(task, s))
		put_migrate(s, task, cpu);
	local_irq_restore(flags);
	rcu_read_unlock();
}

/* Most of these tracepoints are not exported: they are found by name. */
static struct hook {
	const char		*name;
	void			*probe;
	struct tracepoint	*tp;
} hooks[] = {
	{ "sched_switch", on_switch },
	{ "sched_waking", on_waking },
	{ "sched_wakeup_new", on_wakeup_new },
	{ "sched_migrate_task", on_migrate },
};

static void find_hook(struct tracepoint *tp, void *data)
{
	int i;

	/* What a name does not promise: with another kernel's arguments this does not compile. */
	check_trace_callback_type_sched_switch(on_switch);
	check_trace_callback_type_sched_waking(on_waking);
	check_trace_callback_type_sched_wakeup_new(on_wakeup_new);
	check_trace_callback_type_sched_migrate_task(on_migrate);
	for (i = 0; i < ARRAY_SIZE(hooks); i++)
		if (!strcmp(tp->name, hooks[i].name))
			hooks[i].tp = tp;
}

static void remove_hooks(int nr)
{
	while (nr--)
		tracepoint_probe_unregister(hooks[nr].tp, hooks[nr].probe, NULL);
}

static int put_hooks(void)
{
	int i, err;

	for_each_kernel_tracepoint(find_hook, NULL);
	for (i = 0; i < ARRAY_SIZE(hooks); i++) {
		err = hooks[i].tp ?
		      tracepoint_probe_register(hooks[i].tp, hooks[i].probe, NULL) : -EOPNOTSUPP;
		if (err) {
			remove_hooks(i);
			return err;
		}
	}
	return 0;
}

/* One user more.  Return: 0, or why there can be no hooks. */
static int use_hooks(void)
{
	int err = 0;

	mutex_lock(&hooks_lock);
	if (!hooked)
		err = put_hooks();
	if (!err) {
		hooked = true;
		atomic_inc(&users);
	}
	mutex_unlock(&hooks_lock);
	return err;
}

/* One less.  Patching code is dear, and the next process may come soon: not at once. */
static void leave_hooks(void)
{
	if (atomic_dec_and_test(&users))
		queue_delayed_work(xsp_wq, &unhook_work, HZ);
}

static void unhook_worker(struct work_struct *work)
{
	mutex_lock(&hooks_lock);
	if (hooked && !atomic_read(&users)) {
		remove_hooks(ARRAY_SIZE(hooks));
		hooked = false;
	}
	mutex_unlock(&hooks_lock);
}

/* ---- a producer ---------------------------------------------------------------------------- */

static void free_worker(struct work_struct *work)
{
	struct xsp_sched *s = container_of(to_rcu_work(work), struct xsp_sched, free);

	put_pid(s->pid);
	kvfree(s->released);
	kvfree(s->data);
	kvfree(s);
}

static void free_sched(struct xsp_sched *s)
{
	INIT_RCU_WORK(&s->free, free_worker);
	queue_rcu_work(xsp_wq, &s->free);
}

/* Its rings with all their memory, closed.  Return: an error where that cannot be had. */
static struct xsp_sched *make_sched(struct xsp_producer *p)
{
	u32 nr = p->geo.kernel_rings, cpu;
	struct xsp_sched *s;
	int err = 0;

	s = kvzalloc(struct_size(s, cpu, nr), XSP_GFP);
	if (!s)
		return ERR_PTR(-ENOMEM);
	s->ns = ns_of_pid(p->pid);
	s->data = kvcalloc(nr, array_size(p->geo.kernel_pages, sizeof(*s->data)), XSP_GFP);
	if (s->ns->level)
		s->released = kvcalloc(RELEASED, sizeof(*s->released), XSP_GFP);
	if (!s->data || (s->ns->level && !s->released))
		err = -ENOMEM;
	for (cpu = 0; cpu < nr && !err; cpu++)
		if (cpu_possible(cpu))
			err = xsp_kernel_ring_init(&s->cpu[cpu].ring, p, cpu,
						   s->data + cpu * p->geo.kernel_pages);
	if (err) {
		kvfree(s->released);
		kvfree(s->data);
		kvfree(s);
		return ERR_PTR(err);
	}
	s->nr = nr;
	s->pid = get_pid(p->pid);
	s->tgid = pid_nr(p->pid);
	s->exec_id = p->exec_id;
	s->uid = p->cred->uid;
	s->gid = p->cred->gid;
	return s;
}

static void open_rings(struct xsp_sched *s, bool open)
{
	u32 cpu;

	for_each_possible_cpu(cpu)
		xsp_kernel_ring_open(&s->cpu[cpu].ring, open);
}

/* Hooks find it from now on, and readers its rings.  Under p->lock. */
static void publish(struct xsp_producer *p, struct xsp_sched *s)
{
	u32 cpu;

	p->sched = s;
	s->hashed = true;
	for_each_possible_cpu(cpu)
		xsp_memory_ready(p, p->geo.rings + cpu);
	spin_lock(&buckets_lock);
	hlist_add_head_rcu(&s->node, bucket_of(s->tgid));
	spin_unlock(&buckets_lock);
}

static void switch_off(struct xsp_sched *s)
{
	if (!s->on)
		return;
	s->on = false;
	open_rings(s, false);
	leave_hooks();
}

/* Under p->lock.  The caller's use of the hooks is the producer's where this returns 0. */
static int switch_on(struct xsp_producer *p, struct xsp_sched *s)
{
	u32 cpu;

	if (p->state != XSPROF_STATE_LIVE)
		return -ESHUTDOWN;
	if (p->sched && p->sched->on)
		return -EALREADY;
	if (!p->sched)
		publish(p, s);
	s = p->sched;
	/* Of before: nothing was told of while there was no hook. */
	for_each_possible_cpu(cpu)
		WRITE_ONCE(s->cpu[cpu].running, 0);
	s->on = true;
	open_rings(s, true);
	return 0;
}

static int begin(struct xsp_producer *p)
{
	struct xsp_sched *s = NULL;
	int err;

	if (!p->geo.kernel_rings)
		return -EOPNOTSUPP;
	if (!READ_ONCE(p->sched)) {
		s = make_sched(p);
		if (IS_ERR(s))
			return PTR_ERR(s);
	}
	/* Not under p->lock: it patches the kernel's code. */
	err = use_hooks();
	if (!err) {
		mutex_lock(&p->lock);
		err = switch_on(p, s);
		if (p->sched == s)
			s = NULL;
		mutex_unlock(&p->lock);
		if (err)
			leave_hooks();
	}
	/* Somebody else was quicker, or it ended. */
	if (s)
		free_sched(s);
	return err == -EALREADY ? 0 : err;
}

/**
 * xsp_sched_control() - begin or end to record a producer's threads
 * @p: producer
 * @arg: as the caller gave it; before is set
 *
 * Return: 0; -EINVAL; -ESHUTDOWN: it has ended; -EOPNOTSUPP: not on this machine; -EINTR;
 * -ENOMEM, -EPERM: no memory for its rings.
 */
int xsp_sched_control(struct xsp_producer *p, struct xsprof_sched *arg)
{
	int err = 0;

	if (arg->flags & ~XSPROF_SCHED_ON || arg->reserved)
		return -EINVAL;
	mutex_lock(&p->lock);
	arg->before = p->sched && p->sched->on ? XSPROF_SCHED_ON : 0;
	if (p->state != XSPROF_STATE_LIVE)
		err = -ESHUTDOWN;
	else if (!arg->flags && p->sched)
		switch_off(p->sched);
	mutex_unlock(&p->lock);
	return err || !arg->flags ? err : begin(p);
}

/* The producer has been paused: nothing is written any more when this returns.  Under p->lock. */
void xsp_sched_settle(struct xsp_producer *p)
{
	if (p->sched)
		open_rings(p->sched, p->sched->on);
}

/* Its process has ended, or let go of it: nothing more is written.  Under p->lock, or the last. */
void xsp_sched_end(struct xsp_producer *p)
{
	struct xsp_sched *s = p->sched;

	if (!s || !s->hashed)
		return;
	s->hashed = false;
	spin_lock(&buckets_lock);
	hlist_del_rcu(&s->node);
	spin_unlock(&buckets_lock);
	switch_off(s);
}

/* Before its memory goes. */
void xsp_sched_free(struct xsp_producer *p)
{
	if (!p->sched)
		return;
	xsp_sched_end(p);
	free_sched(p->sched);
}

/* No producer is left. */
void xsp_sched_exit(void)
{
	cancel_delayed_work_sync(&unhook_work);
	unhook_worker(NULL);
	/* No hook runs any more, and none is about to. */
	tracepoint_synchronize_unregister();
	/* Then what was to be freed is in the queue, and goes with that. */
	rcu_barrier();
}
