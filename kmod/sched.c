// SPDX-License-Identifier: GPL-2.0-only
/*
 * A producer's scheduling records: its rings by CPU, and enabling and disabling them. The rings'
 * memory belongs to the producer. sched-hooks.c writes the records.
 */
#include <linux/pid_namespace.h>
#include <linux/slab.h>

#include "sched.h"

static void free_parts(struct xsp_sched *s)
{
	kvfree(s->released);
	kvfree(s->data);
	kvfree(s);
}

static void free_worker(struct work_struct *work)
{
	struct xsp_sched *s = container_of(to_rcu_work(work), struct xsp_sched, free);

	put_pid((struct pid *)s->key.pid);
	free_parts(s);
}

static void free_sched(struct xsp_sched *s)
{
	INIT_RCU_WORK(&s->free, free_worker);
	queue_rcu_work(xsp_wq, &s->free);
}

/* Memory outside of the producer's pages is charged by the page, before it is allocated. */
static struct xsp_sched *alloc_sched(struct xsp_producer *p)
{
	u32 nr = p->geo.kernel_rings;
	bool many_numbers = ns_of_pid(p->pid)->level;
	size_t data, bytes;
	struct xsp_sched *s;
	long pages;
	int err;

	data = array3_size(nr, p->geo.kernel_pages, sizeof(*s->data));
	bytes = size_add(struct_size(s, cpu, nr),
			 size_add(data, many_numbers ? RELEASED * sizeof(*s->released) : 0));
	if (bytes == SIZE_MAX)
		return ERR_PTR(-ENOMEM);
	pages = DIV_ROUND_UP(bytes, PAGE_SIZE);
	err = xsp_payer_charge(&p->payer, pages);
	if (err)
		return ERR_PTR(err);
	s = kvzalloc(struct_size(s, cpu, nr), XSP_GFP);
	if (!s)
		goto err_undo;
	s->data = kvzalloc(data, XSP_GFP);
	if (many_numbers)
		s->released = kvcalloc(RELEASED, sizeof(*s->released), XSP_GFP);
	if (!s->data || (many_numbers && !s->released))
		goto err_free;
	s->charged = pages;
	return s;

err_free:
	free_parts(s);
err_undo:
	xsp_payer_undo(&p->payer, pages);
	return ERR_PTR(-ENOMEM);
}

/* The memory cgroup may be full of kept records: they are freed first. */
static struct xsp_sched *alloc_sched_with_room(struct xsp_producer *p)
{
	struct xsp_sched *s;

	do {
		s = alloc_sched(p);
	} while (s == ERR_PTR(-ENOMEM) && xsp_payer_make_room(&p->payer));
	return s;
}

/* It was never published. */
static void discard(struct xsp_producer *p, struct xsp_sched *s)
{
	xsp_payer_undo(&p->payer, s->charged);
	free_sched(s);
}

/* Allocates its rings with all their memory, closed. Return: 0 or -errno. */
static struct xsp_sched *make_sched(struct xsp_producer *p)
{
	struct xsp_sched *s = alloc_sched_with_room(p);
	u32 cpu;
	int err = 0;

	if (IS_ERR(s))
		return s;
	s->nr = p->geo.kernel_rings;
	s->key = (struct xsp_sched_key){ get_pid(p->pid), p->exec_id };
	s->ns = ns_of_pid(p->pid);
	s->uid = p->cred->uid;
	s->gid = p->cred->gid;
	for (cpu = 0; cpu < s->nr && !err; cpu++)
		if (cpu_possible(cpu))
			err = xsp_kernel_ring_init(&s->cpu[cpu].ring, p, cpu,
						   s->data + cpu * p->geo.kernel_pages);
	if (!err)
		return s;
	discard(p, s);
	return ERR_PTR(err);
}

static void open_rings(struct xsp_sched *s, bool open)
{
	u32 cpu;

	for_each_possible_cpu(cpu)
		xsp_kernel_ring_open(&s->cpu[cpu].ring, open);
}

/* Publishes it to hooks, and its rings to readers. Under p->lock. */
static int publish(struct xsp_producer *p, struct xsp_sched *s)
{
	u32 cpu;
	int err;

	/* One per process: a process must not choose the cost of every switch. */
	err = xsp_sched_table_add(s);
	if (err)
		return err;
	/* begin() reads it without the lock, to avoid work: set once, and dereferenced under it. */
	WRITE_ONCE(p->sched, s);
	s->listed = true;
	for_each_possible_cpu(cpu)
		xsp_memory_ready(p, p->geo.rings + cpu);
	return 0;
}

static void switch_off(struct xsp_sched *s)
{
	if (!s->on)
		return;
	s->on = false;
	open_rings(s, false);
	xsp_sched_leave_hooks();
}

/* Under p->lock. If this returns 0, the producer owns the caller's use of the hooks. */
static int switch_on(struct xsp_producer *p, struct xsp_sched *s)
{
	u32 cpu;
	int err = 0;

	if (p->state != XSPROF_STATE_LIVE)
		return -ESHUTDOWN;
	if (p->sched && p->sched->on)
		return -EALREADY;
	if (!p->sched)
		err = publish(p, s);
	if (err)
		return err;
	s = p->sched;
	/* Stale data: nothing was updated while there was no hook. */
	for_each_possible_cpu(cpu)
		WRITE_ONCE(s->cpu[cpu].running, 0);
	s->on = true;
	open_rings(s, true);
	return 0;
}

/* Does another producer have the process' records? */
static bool is_another(struct xsp_producer *p)
{
	struct xsp_sched_key key = { p->pid, p->exec_id };
	bool another;

	/* Checked under the lock: two threads may begin at once. */
	mutex_lock(&p->lock);
	another = !p->sched && xsp_sched_table_has(&key);
	mutex_unlock(&p->lock);
	return another;
}

static int begin(struct xsp_producer *p)
{
	struct xsp_sched *s = NULL;
	struct mem_cgroup *before;
	int err;

	if (!p->geo.kernel_rings)
		return -EOPNOTSUPP;
	if (!READ_ONCE(p->sched)) {
		/* Before it takes memory, which stays. */
		if (is_another(p))
			return -EBUSY;
		before = xsp_payer_begin(&p->payer);
		s = make_sched(p);
		xsp_payer_end(before);
		if (IS_ERR(s))
			return PTR_ERR(s);
	}
	/* Not under p->lock: it patches the kernel's code. */
	err = xsp_sched_use_hooks();
	if (!err) {
		mutex_lock(&p->lock);
		err = switch_on(p, s);
		if (p->sched == s)
			s = NULL;
		mutex_unlock(&p->lock);
		if (err)
			xsp_sched_leave_hooks();
	}
	/* Another thread was faster, or it ended. */
	if (s)
		discard(p, s);
	return err == -EALREADY ? 0 : err;
}

/**
 * xsp_sched_control() - start or stop recording a producer's threads
 * @p: producer
 * @arg: the caller's argument; before is set
 *
 * Return: 0; -EINVAL; -ESHUTDOWN: it has ended; -EBUSY: another producer of the process is
 * recorded; -EOPNOTSUPP: not on this machine; -EINTR; -ENOMEM, -EPERM: no memory for its rings.
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

/* The producer was paused: nothing is written when this returns. Under p->lock. */
void xsp_sched_settle(struct xsp_producer *p)
{
	if (p->sched)
		open_rings(p->sched, p->sched->on);
}

/* Its process has ended or released it: nothing more is written. Under p->lock, or the last. */
void xsp_sched_end(struct xsp_producer *p)
{
	struct xsp_sched *s = p->sched;

	if (!s || !s->listed)
		return;
	s->listed = false;
	xsp_sched_table_remove(s);
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

int xsp_sched_init(void)
{
	return xsp_sched_table_init();
}

/* No producer is left. */
void xsp_sched_exit(void)
{
	xsp_sched_hooks_exit();
	/* Pending frees are then in the queue, and executed with it. */
	rcu_barrier();
}
