// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hooks in the scheduler's tracepoints, and the records that they write: a thread is switched to or
 * away, is woken, migrates. Owns the table of producers that requested them.
 *
 * The hooks are registered while any producer wants them. They run with interrupts off, and mostly
 * under the scheduler's locks, for every task of the machine: for a task of no producer they cost
 * one table lookup, for others one record at most.
 */
#include <linux/rhashtable.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include <trace/events/sched.h>

#include "sched.h"

static struct rhashtable sets;		/* by key; users cannot choose their bucket */

static DEFINE_MUTEX(hooks_lock);	/* changes of the hooks */
static atomic_t users;			/* producers that want them; raised under the lock */
static bool hooked;			/* under the lock */

static void unhook_worker(struct work_struct *work);
static DECLARE_DELAYED_WORK(unhook_work, unhook_worker);

/* ---- the table ------------------------------------------------------------------------------ */

static const struct rhashtable_params params = {
	.key_len		= sizeof(struct xsp_sched_key),
	.key_offset		= offsetof(struct xsp_sched, key),
	.head_offset		= offsetof(struct xsp_sched, node),
	.automatic_shrinking	= true,
};

/* The set of the task's process, or NULL. Under RCU; takes no lock. */
static struct xsp_sched *set_of(const struct task_struct *task)
{
	struct xsp_sched_key key = xsp_sched_key_of(task);

	return rhashtable_lookup(&sets, &key, params);
}

/* Does the process have one? */
bool xsp_sched_table_has(const struct xsp_sched_key *key)
{
	bool has;

	rcu_read_lock();
	has = rhashtable_lookup(&sets, key, params);
	rcu_read_unlock();
	return has;
}

/* Adds it. Return: 0; -EBUSY: the process has one; -ENOMEM. */
int xsp_sched_table_add(struct xsp_sched *s)
{
	int err = rhashtable_lookup_insert_fast(&sets, &s->node, params);

	if (err == -EEXIST)
		return -EBUSY;
	/* The table's own -EBUSY and -E2BIG: it could not grow in time. */
	return err ? -ENOMEM : 0;
}

void xsp_sched_table_remove(struct xsp_sched *s)
{
	rhashtable_remove_fast(&sets, &s->node, params);
}

int xsp_sched_table_init(void)
{
	return rhashtable_init(&sets, &params);
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

/* No record without a thread id: it could belong to any thread. */
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
	struct xsprof_rec_sched rec = record(xsp_sched_tid(s, task), XSPROF_REC_SCHED_OUT);
	char letter = preempt ? 'R' :
		      task_index_to_char(__task_state_index(state, task->exit_state));

	rec.rec.aux = letter << XSPROF_SCHED_STATE_SHIFT | (preempt ? XSPROF_SCHED_PREEMPTED : 0);
	xsp_sched_who(s, next, &rec);
	xsp_sched_note_released(s, task, rec.rec.tid);
	/* Pairs with the acquire of xsp_sched_tid(): the noted id is visible before this. */
	smp_store_release(&c->running, 0);
	put(c, &rec);
}

static void put_in(struct xsp_sched *s, struct task_struct *task)
{
	struct xsp_sched_cpu *c = this_cpu(s);
	struct xsprof_rec_sched rec = record(xsp_sched_tid(s, task), XSPROF_REC_SCHED_IN);

	/*
	 * No barrier: a task that wakes it after its id was released has synchronized with its
	 * sleep through a lock that it took after this.
	 */
	WRITE_ONCE(c->running, IDENTITY(task, rec.rec.tid));
	put(c, &rec);
}

static void put_wake(struct xsp_sched *s, struct task_struct *task, u32 flags)
{
	struct xsp_sched_cpu *c = this_cpu(s);
	struct xsprof_rec_sched rec = record(xsp_sched_tid(s, task), XSPROF_REC_SCHED_WAKE);

	rec.rec.aux = flags;
	/* An interrupted task is unrelated to the wake-up. */
	if (in_task())
		xsp_sched_who(s, current, &rec);
	else
		rec.rec.aux |= XSPROF_SCHED_IRQ;
	put(c, &rec);
}

static void put_migrate(struct xsp_sched *s, struct task_struct *task, u32 to)
{
	struct xsp_sched_cpu *c = this_cpu(s);
	struct xsprof_rec_sched rec = record(xsp_sched_tid(s, task), XSPROF_REC_SCHED_MIGRATE);

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
	s = set_of(prev);
	if (s)
		put_out(s, prev, next, preempt, prev_state);
	s = set_of(next);
	if (s)
		put_in(s, next);
	local_irq_restore(flags);
	rcu_read_unlock();
}

/* Calls @put if events of @task are recorded. Inline, so that this is a direct call. */
static __always_inline void put_of(struct task_struct *task, u32 arg,
				   void (*put)(struct xsp_sched *s, struct task_struct *task,
					       u32 arg))
{
	struct xsp_sched *s;
	unsigned long flags;

	rcu_read_lock();
	local_irq_save(flags);
	s = set_of(task);
	if (s)
		put(s, task, arg);
	local_irq_restore(flags);
	rcu_read_unlock();
}

static void on_waking(void *data, struct task_struct *task)
{
	put_of(task, 0, put_wake);
}

static void on_wakeup_new(void *data, struct task_struct *task)
{
	put_of(task, XSPROF_SCHED_NEW, put_wake);
}

static void on_migrate(void *data, struct task_struct *task, int cpu)
{
	put_of(task, cpu, put_migrate);
}

/* Most of these tracepoints are not exported: find them by name. */
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

	/*
	 * A name does not guarantee the arguments: if they differ in a kernel, this does not
	 * compile.
	 */
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

/* Adds a user. Return: 0, or the error of registering the hooks. */
int xsp_sched_use_hooks(void)
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

/* Removes a user. Delayed: patching code is expensive, and the next process may come soon. */
void xsp_sched_leave_hooks(void)
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

/* No producer is left. */
void xsp_sched_hooks_exit(void)
{
	cancel_delayed_work_sync(&unhook_work);
	unhook_worker(NULL);
	/* No hook runs any more, and none is about to. */
	tracepoint_synchronize_unregister();
	rhashtable_destroy(&sets);
}
