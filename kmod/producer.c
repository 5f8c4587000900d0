// SPDX-License-Identifier: GPL-2.0-only
/*
 * One producer: attach, and the end of its process, which it outlives. process.c reports that the
 * process has ended or executes another program.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/nsproxy.h>
#include <linux/pid_namespace.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/user_namespace.h>
#include <linux/wait.h>

#include "layout.h"

void (*xsp_producer_on_end)(struct xsp_producer *p);

static DEFINE_MUTEX(trace_lock);	/* changes of what is traced */

static void forget_process(struct xsp_producer *p)
{
	put_cred(p->cred);
	put_user_ns(p->over);
	put_pid(p->pid);
	put_pid(p->parent);
}

static void free_producer(struct kref *ref)
{
	struct xsp_producer *p = container_of(ref, struct xsp_producer, ref);

	xsp_process_remove(p);
	xsp_sched_free(p);
	xsp_memory_free(p);
	xsp_payer_free(&p->payer);
	xsp_registry_remove(p);
	xsp_account_put(p->payer.account);
	forget_process(p);
	kfree_rcu(p, rcu);
}

void xsp_producer_put(struct xsp_producer *p)
{
	kref_put(&p->ref, free_producer);
}

/* ---- the end ------------------------------------------------------------------------------- */

/* Ends @p, if it attached before program @exec_id and its process left with @code. */
static void end_one(struct xsp_producer *p, u64 exec_id, int code)
{
	/* The process continues, or another program than the one that attached has ended. */
	if (code < 0 || p->exec_id + 1 != exec_id)
		xsp_producer_end(p, XSPROF_STATE_DETACHED, -1);
	else
		xsp_producer_end(p, code & 0x7f ? XSPROF_STATE_KILLED : XSPROF_STATE_EXITED, code);
}

/* Ends it, and all other producers of its process that must end. */
static void end_worker(struct work_struct *work)
{
	struct xsp_producer *p = container_of(work, struct xsp_producer, end_work), *next;
	u64 exec_id = p->end_exec_id;
	int code = p->exit_code;

	end_one(p, exec_id, code);
	while ((next = xsp_process_next(p->pid, exec_id))) {
		end_one(next, exec_id, code);
		xsp_producer_put(next);
		cond_resched();
	}
	xsp_producer_put(p);
}

/**
 * xsp_producer_end() - end a producer: nothing more will be written
 * @p: producer
 * @state: how it ended
 * @status: wait status, or -1
 *
 * The first end counts.
 */
void xsp_producer_end(struct xsp_producer *p, u32 state, int status)
{
	struct xsprof_ctl *ctl = p->ctl;

	mutex_lock(&p->lock);
	if (p->state != XSPROF_STATE_LIVE) {
		mutex_unlock(&p->lock);
		return;
	}
	xsp_process_remove(p);
	/* The kernel's own rings too: a reader that sees the end can see the last record. */
	xsp_sched_end(p);
	WRITE_ONCE(p->state, state);	/* the registry reads it without this lock */
	p->status = status;
	p->ended = ktime_get_ns();
	WRITE_ONCE(ctl->exit_ticks, xsp_producer_ticks(p));
	/*
	 * enabled stays: children that it left behind look at this page until their first
	 * marker makes them producers of their own.  A reader that sees the state sees all of
	 * the above.
	 */
	smp_store_release(&ctl->state, state);
	mutex_unlock(&p->lock);
	xsp_ctl_tell_traced(p);
	xsp_producer_on_end(p);
	xsp_registry_ended();
	atomic64_inc(&p->kicks);
	wake_up_interruptible_all(&p->wait);
}

/**
 * xsp_producer_let_go() - a file of the producer was released, with its last mapping
 * @p: producer; the file's reference to it is put
 *
 * For an exiting process the end follows, with its status. A process that continues has executed
 * another program, which process.c reports too, or does not need this producer any more.
 */
void xsp_producer_let_go(struct xsp_producer *p)
{
	struct task_struct *task;
	bool goes_on = false;

	if (!atomic_dec_and_test(&p->files))
		goto out;
	rcu_read_lock();
	task = pid_task(p->pid, PIDTYPE_TGID);
	/* Any thread: the first may have left.  One that ends is not counted when it closes. */
	if (task)
		goes_on = atomic_read(&task->signal->live) &&
			  !(READ_ONCE(task->signal->flags) & SIGNAL_GROUP_EXIT);
	rcu_read_unlock();
	if (goes_on)
		xsp_producer_end(p, XSPROF_STATE_DETACHED, -1);
out:
	xsp_producer_put(p);
}

/**
 * xsp_producer_rejoin() - open another file for a producer whose process lost its descriptor
 * @arg: the caller's argument; the values from attach are filled in again
 * @out: the producer, with a reference
 *
 * Return: 0; -EPROTONOSUPPORT; -EINVAL; -ESRCH: no live producer of the calling process.
 */
int xsp_producer_rejoin(struct xsprof_attach *arg, struct xsp_producer **out)
{
	const struct xsprof_ctl *ctl;
	struct xsp_producer *p;

	if (arg->abi_major != XSPROF_ABI_MAJOR)
		return -EPROTONOSUPPORT;
	if (arg->flags != XSPROF_ATTACH_REJOIN || arg->reserved)
		return -EINVAL;
	p = xsp_registry_mine(arg->id);
	if (!p)
		return -ESRCH;
	/* Mappings hold the first file: the count is 0 only if it is about to end. */
	if (!atomic_inc_not_zero(&p->files)) {
		xsp_producer_put(p);
		return -ESRCH;
	}
	ctl = p->ctl;
	arg->mode = p->mode;
	arg->nr_rings = p->geo.nr_rings;
	arg->nr_lock_rings = p->geo.rings - p->geo.nr_rings;
	arg->ring_size = ctl->ring_size;
	arg->arena_size = ctl->arena_size;
	arg->kernel_size = ctl->kernel_size;
	arg->total_size = ctl->total_size;
	arg->session = p->session;
	arg->wanted = READ_ONCE(ctl->wanted);
	*out = p;
	return 0;
}

/* ---- readers ------------------------------------------------------------------------------- */

/**
 * xsp_producer_kick() - wake the producer's reader
 * @p: producer
 * @flush: the producer wants all records read
 *
 * Return: is there a consumer?
 */
bool xsp_producer_kick(struct xsp_producer *p, bool flush)
{
	if (flush) {
		mutex_lock(&p->lock);
		/*
		 * A reader that sees it reads heads after it, and so all records before the kick.
		 */
		smp_store_release(&p->ctl->flush, p->ctl->flush + 1);
		mutex_unlock(&p->lock);
	}
	atomic64_inc(&p->kicks);
	wake_up_interruptible_all(&p->wait);
	return READ_ONCE(p->consumer);
}

/**
 * xsp_producer_trace() - change the traced kinds of markers
 * @set: kinds to add, one bit each
 * @clear: kinds to remove; applied first
 *
 * A producer that attaches meanwhile reads the set after it can be found here, and so sees this
 * change or is updated by it.
 */
void xsp_producer_trace(u32 set, u32 clear)
{
	struct xsp_producer *p;
	u64 id = 0;

	mutex_lock(&trace_lock);
	xsp_ctl_trace(set, clear);
	while ((p = xsp_registry_next_live(id))) {
		id = p->id;
		xsp_ctl_tell_traced(p);
		xsp_producer_put(p);
		cond_resched();
	}
	mutex_unlock(&trace_lock);
}

/* CLOCK_MONOTONIC of the caller's time namespace; earlier times become its beginning. */
static u64 in_namespace(u64 ns, struct xsp_offset offset)
{
	return max_t(s64, ns + offset.mono, 1);
}

/* Describes it in terms of the caller's namespaces. Must not fault. */
void xsp_producer_info(struct xsp_producer *p, struct xsprof_info *info)
{
	struct pid_namespace *ns = task_active_pid_ns(current);
	struct xsp_offset offset = xsp_offset_here();

	memset(info, 0, sizeof(*info));
	info->id = p->id;
	info->session = p->session;
	info->pid = pid_nr_ns(p->pid, ns);
	info->own_pid = pid_nr_ns(p->pid, ns_of_pid(p->pid));
	info->pid_ns = p->ctl->pid_ns;
	info->uid = from_kuid_munged(current_user_ns(), p->cred->uid);
	info->ppid = pid_nr_ns(p->parent, ns);
	info->mode = p->mode;
	info->clock = p->clock;
	info->start_time = xsp_ctl_start_time(p, offset);
	info->attached = in_namespace(p->attached, offset);
	info->bytes = (u64)atomic_long_read(&p->payer.pages) << PAGE_SHIFT;
	info->total_size = (u64)p->geo.pages << PAGE_SHIFT;
	memcpy(info->comm, p->comm, sizeof(info->comm));
	memcpy(info->exe, p->exe, sizeof(info->exe));
	mutex_lock(&p->lock);
	info->state = p->state;
	info->status = p->status;
	info->ended = p->ended ? in_namespace(p->ended, offset) : 0;
	if (p->consumer)
		info->flags |= XSPROF_INFO_CONSUMED;
	mutex_unlock(&p->lock);
}

/* ---- attach -------------------------------------------------------------------------------- */

static void note_program(struct xsp_producer *p)
{
	struct file *exe = current->mm ? xsp_exe_file(current->mm) : NULL;
	char *buf, *path;

	get_task_comm(p->comm, current->group_leader);
	if (!exe)
		return;
	buf = kmalloc(PATH_MAX, GFP_KERNEL);
	if (buf) {
		path = file_path(exe, buf, PATH_MAX);
		if (!IS_ERR(path))
			strscpy(p->exe, path, sizeof(p->exe));
		kfree(buf);
	}
	fput(exe);
}

static void note_process(struct xsp_producer *p)
{
	p->cred = get_current_cred();
	p->dumpable = xsp_dumpable(&p->over);
	p->pid = get_pid(task_tgid(current));
	p->exec_id = current->self_exec_id;
	rcu_read_lock();
	p->parent = get_pid(task_tgid(rcu_dereference(current->real_parent)));
	rcu_read_unlock();
	p->started = current->group_leader->start_boottime;
	p->offset = xsp_offset_here();
	note_program(p);
}

static int check_attach(const struct xsprof_attach *arg)
{
	if (arg->abi_major != XSPROF_ABI_MAJOR)
		return -EPROTONOSUPPORT;
	if (arg->flags & ~(XSPROF_ATTACH_MONO | XSPROF_ATTACH_NO_RSEQ))
		return -EINVAL;
	if (arg->mode > XSPROF_MODE_OVERWRITE || arg->reserved)
		return -EINVAL;
	return 0;
}

/* Allocates the control page and the first page of the arena. */
static int first_pages(struct xsp_producer *p)
{
	struct page *page = xsp_memory_page(p, 0);

	if (IS_ERR(page))
		return PTR_ERR(page);
	p->ctl = page_address(page);
	return PTR_ERR_OR_ZERO(xsp_memory_page(p, p->geo.arena));
}

/* No process yet, and no memory. */
static struct xsp_producer *new_producer(struct xsprof_attach *arg)
{
	struct xsp_producer *p = kzalloc(sizeof(*p), XSP_GFP);
	u32 nr_rings;
	int err;

	if (!p)
		return ERR_PTR(-ENOMEM);
	p->clock = arg->flags & XSPROF_ATTACH_MONO ? XSPROF_CLOCK_MONO_RAW : xsp_counter_kind();
	/* A clock that needs a call cannot be read inside a restartable sequence. */
	nr_rings = arg->flags & XSPROF_ATTACH_NO_RSEQ || p->clock == XSPROF_CLOCK_MONO_RAW ?
		   0 : nr_cpu_ids;
	err = xsp_layout_make(&p->geo, arg, nr_rings);
	if (err) {
		kfree(p);
		return ERR_PTR(err);
	}
	kref_init(&p->ref);
	atomic_set(&p->files, 1);
	mutex_init(&p->lock);
	init_waitqueue_head(&p->wait);
	xa_init_flags(&p->pages, XA_FLAGS_ACCOUNT);
	INIT_LIST_HEAD(&p->node);
	INIT_LIST_HEAD(&p->account_node);
	INIT_WORK(&p->end_work, end_worker);
	INIT_HLIST_NODE(&p->process_node);
	p->state = XSPROF_STATE_LIVE;
	p->status = -1;
	p->mode = arg->mode;
	p->session = arg->session;
	return p;
}

/**
 * xsp_producer_attach() - make the calling process a producer, which cannot be found yet
 * @arg: the caller's argument; the results are filled in
 * @out: the producer, with a reference, to be published once its clock is set
 *
 * Return: 0; -EPROTONOSUPPORT: another ABI; -EINVAL, -EFBIG: invalid sizes; -EUSERS: too many
 * producers of this account; -ENOMEM, -EPERM: no memory, or over a limit.
 */
int xsp_producer_attach(struct xsprof_attach *arg, struct xsp_producer **out)
{
	struct xsp_account *account;
	struct xsp_producer *p;
	int err;

	err = check_attach(arg);
	if (err)
		return err;
	p = new_producer(arg);
	if (IS_ERR(p))
		return PTR_ERR(p);
	account = xsp_account_get(current_cred());
	if (!account) {
		kfree(p);
		return -ENOMEM;
	}
	xsp_payer_init(&p->payer, account);
	note_process(p);
	/* Assigns its number; it cannot be looked up before it is published. */
	err = xsp_registry_add(p);
	if (err)
		goto err_process;
	err = first_pages(p);
	if (!err)
		err = xsp_process_add(p);
	if (err) {
		xsp_producer_put(p);
		return err;
	}
	xsp_ctl_fill(p, arg);
	/* A module parameter: root may write it meanwhile. */
	p->idle = !READ_ONCE(xsp_always_on) && !p->session;
	xsp_ctl_enable(p, arg->wanted, p->idle ? XSPROF_PAUSED_RECORDER : 0);
	arg->id = p->id;
	*out = p;
	return 0;

err_process:
	xsp_payer_free(&p->payer);
	xsp_account_put(account);
	forget_process(p);
	kfree(p);
	return err;
}

/* From here on it can be found. */
void xsp_producer_publish(struct xsp_producer *p)
{
	/* Stored last: the page is valid from then on. */
	smp_store_release(&p->ctl->magic, XSPROF_MAGIC);
	xsp_registry_publish(p);
	/* Tracepoints enabled from here on find it; check those enabled before. */
	xsp_ctl_tell_traced(p);
}
