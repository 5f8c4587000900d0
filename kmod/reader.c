// SPDX-License-Identifier: GPL-2.0-only
/*
 * Descriptors that read one producer: permissions, mapping, poll, and the consumer that moves the
 * tails.
 *
 * A reader is woken by the producer's kicks and its end. The looks of look_worker() find records
 * without a kick: they compare a sum of heads with the previous one, so that an idle producer wakes
 * no reader. Looks run in kernel workers, outside of any cgroup, so their rate is limited per
 * account: many readers of an account are woken a little later. Readers take turns, each
 * proportional to its number of rings. A turn is taken when a look is queued and returned when that
 * is cancelled: neither asking again nor another descriptor brings one sooner.
 */
#include <linux/anon_inodes.h>
#include <linux/capability.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "call.h"
#include "xsprof.h"

#define WATCH_MIN_NS	NSEC_PER_MSEC
#define WATCH_MAX_NS	(3600ull * NSEC_PER_SEC)

/* Average interval between an account's looks at rings. */
#define LOOK_NS		(10 * NSEC_PER_USEC)

/**
 * struct xsp_reader - an open reader
 * @p: the producer that it reads
 * @account: its opener's, which pays for looks; NULL for one with rights over the machine
 * @writes: it may pause, drop and control recording; a right of its opener
 * @consumer: it moves the tails
 * @seen: kicks acknowledged
 * @lock: changes of @period
 * @period: a moved head wakes the reader after this time, ns; 0: never
 * @heads: sum of the heads at the last look
 * @look: the next look
 */
struct xsp_reader {
	struct xsp_producer	*p;
	struct xsp_account	*account;
	bool			writes;
	bool			consumer;
	u64			seen;
	struct mutex		lock;		/* as the comment above says */
	u64			period;
	u64			heads;
	struct delayed_work	look;
};

/* ---- watching ------------------------------------------------------------------------------ */

static long rings_of(const struct xsp_producer *p)
{
	return p->geo.rings + p->geo.kernel_rings;
}

static u64 turn_ns(const struct xsp_reader *r)
{
	return rings_of(r->p) * LOOK_NS;
}

/* Takes a turn after all taken turns of the account. Return: ns until its end, 0: no limit. */
static u64 take_turn(struct xsp_reader *r)
{
	s64 now = ktime_get_ns(), end, was;

	if (!r->account)
		return 0;
	was = atomic64_read(&r->account->turns);
	do {
		end = max(was, now) + turn_ns(r);
	} while (!atomic64_try_cmpxchg(&r->account->turns, &was, end));
	return end - now;
}

static void give_turn_back(struct xsp_reader *r)
{
	if (r->account)
		atomic64_sub(turn_ns(r), &r->account->turns);
}

/* Queues a look after the requested period, or at this reader's turn. */
static void queue_look(struct xsp_reader *r)
{
	u64 wait = max(take_turn(r), r->period);

	/* Do not queue: unwatch() waits for the look that requests another. */
	if (!queue_delayed_work(xsp_wq, &r->look, max(nsecs_to_jiffies(wait), 1ul)))
		give_turn_back(r);
}

static void look_worker(struct work_struct *work)
{
	struct xsp_reader *r = container_of(to_delayed_work(work), struct xsp_reader, look);
	u64 heads;

	/* Its end was reported; nothing is left to see. Unordered: one more look does no harm. */
	if (READ_ONCE(r->p->state) != XSPROF_STATE_LIVE)
		return;
	heads = xsp_memory_heads(r->p);
	if (heads != r->heads) {
		r->heads = heads;
		xsp_producer_kick(r->p, false);
	}
	queue_look(r);
}

/* Under r->lock, or the last. No look runs when this returns. */
static void unwatch(struct xsp_reader *r)
{
	if (cancel_delayed_work_sync(&r->look))
		give_turn_back(r);
	r->period = 0;
}

static int watch(struct xsp_reader *r, const struct xsprof_watch *arg)
{
	struct xsp_producer *p = r->p;

	if (arg->flags)
		return -EINVAL;
	if (arg->period && (arg->period < WATCH_MIN_NS || arg->period > WATCH_MAX_NS))
		return -EINVAL;
	if (!r->consumer)
		return -EPERM;
	/* Under the lock: two threads may call this for one reader. */
	mutex_lock(&r->lock);
	unwatch(r);
	mutex_lock(&p->lock);
	WRITE_ONCE(p->ctl->watermark, arg->slots);
	mutex_unlock(&p->lock);
	if (arg->period) {
		r->period = arg->period;
		r->heads = 0;
		queue_look(r);
	}
	mutex_unlock(&r->lock);
	return 0;
}

/* ---- calls --------------------------------------------------------------------------------- */

static long call_control(void *self, union xsp_argument *a)
{
	struct xsp_reader *r = self;

	if (!r->writes)
		return -EPERM;
	return xsp_ctl_control(r->p, &a->control, r->consumer ? XSPROF_PAUSED_RECORDER : 0);
}

static long call_watch(void *self, union xsp_argument *a)
{
	return watch(self, &a->watch);
}

static long call_events(void *self, union xsp_argument *a)
{
	struct xsp_reader *r = self;

	if (a->events.flags)
		return -EINVAL;
	a->events.kicks = atomic64_read(&r->p->kicks);
	WRITE_ONCE(r->seen, a->events.kicks);
	/* Before the producer is checked: anything later is another kick. */
	smp_mb();
	xsp_producer_info(r->p, &a->events.info);
	return 0;
}

static long call_syncs(void *self, union xsp_argument *a)
{
	return xsp_sync_copy(&a->syncs);
}

static long call_drop(void *self, union xsp_argument *a)
{
	struct xsp_reader *r = self;

	if (!r->writes)
		return -EPERM;
	if (!a->value)
		return xsp_retain_drop(r->p);
	if (a->value != XSPROF_DROP_AT_END)
		return -EINVAL;
	if (!r->consumer)
		return -EPERM;
	WRITE_ONCE(r->p->unwanted, true);
	/* If it has ended meanwhile, wake now; if it lives, its end does it. */
	xsp_retain_drop(r->p);
	return 0;
}

static long call_sched(void *self, union xsp_argument *a)
{
	struct xsp_reader *r = self;

	if (!r->writes)
		return -EPERM;
	return xsp_retain_counted(r->p, xsp_sched_control(r->p, &a->sched));
}

static const struct xsp_command commands[] = {
	{ XSPROF_IOC_CONTROL, sizeof(struct xsprof_control), call_control },
	{ XSPROF_IOC_WATCH, sizeof(struct xsprof_watch), call_watch },
	{ XSPROF_IOC_EVENTS, sizeof(struct xsprof_events), call_events },
	{ XSPROF_IOC_SYNCS, sizeof(struct xsprof_syncs), call_syncs },
	{ XSPROF_IOC_DROP, 0, call_drop },
	{ XSPROF_IOC_SCHED, sizeof(struct xsprof_sched), call_sched },
};

/* ---- the descriptor ------------------------------------------------------------------------ */

static long reader_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	return xsp_call(commands, ARRAY_SIZE(commands), file->private_data, cmd, arg);
}

static ssize_t reader_read(struct kiocb *iocb, struct iov_iter *to)
{
	struct xsp_reader *r = iocb->ki_filp->private_data;

	return xsp_memory_read(r->p, iocb, to);
}

static int reader_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct xsp_reader *r = file->private_data;

	return xsp_memory_mmap(r->p, vma, false, false, r->consumer);
}

static __poll_t reader_poll(struct file *file, poll_table *wait)
{
	struct xsp_reader *r = file->private_data;
	__poll_t events = 0;

	poll_wait(file, &r->p->wait, wait);
	if (atomic64_read(&r->p->kicks) != READ_ONCE(r->seen))
		events |= EPOLLIN | EPOLLRDNORM;
	/*
	 * Its end changes this before the wake-up: a task that sees it live is already in the
	 * queue.
	 */
	if (READ_ONCE(r->p->state) != XSPROF_STATE_LIVE)
		events |= EPOLLHUP;
	return events;
}

static void free_reader(struct xsp_reader *r)
{
	if (r->account)
		xsp_account_put(r->account);
	kfree(r);
}

static int reader_release(struct inode *inode, struct file *file)
{
	struct xsp_reader *r = file->private_data;
	struct xsp_producer *p = r->p;

	unwatch(r);
	mutex_lock(&p->lock);
	if (p->consumer == r) {
		WRITE_ONCE(p->consumer, NULL);
		WRITE_ONCE(p->ctl->watermark, 0);
	}
	mutex_unlock(&p->lock);
	xsp_producer_put(p);
	free_reader(r);
	return 0;
}

static const struct file_operations reader_fops = {
	.owner		= THIS_MODULE,
	.release	= reader_release,
	.unlocked_ioctl	= reader_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
	.read_iter	= reader_read,
	.mmap		= reader_mmap,
	.poll		= reader_poll,
	.llseek		= noop_llseek,
};

/*
 * Changed under the lock. xsp_producer_kick() only tests without it whether there is a consumer:
 * hence WRITE_ONCE(), without ordering.
 */
static int claim(struct xsp_reader *r)
{
	int err = 0;

	mutex_lock(&r->p->lock);
	if (r->p->consumer)
		err = -EBUSY;
	else
		WRITE_ONCE(r->p->consumer, r);
	mutex_unlock(&r->p->lock);
	return err;
}

static int install(struct xsp_reader *r)
{
	struct file *file;
	int fd;

	fd = get_unused_fd_flags(O_CLOEXEC);
	if (fd < 0)
		return fd;
	file = anon_inode_getfile("[xsprof]", &reader_fops, r, O_RDWR);
	if (IS_ERR(file)) {
		put_unused_fd(fd);
		return PTR_ERR(file);
	}
	/*
	 * A file position would make no sense: pread() only. A read waits for nothing but its
	 * buffer; io_uring would wait for poll() before it.
	 */
	file->f_mode |= FMODE_PREAD | FMODE_NOWAIT;
	fd_install(fd, file);
	return fd;
}

/* No process yet. */
static struct xsp_reader *new_reader(void)
{
	struct xsp_reader *r = kzalloc(sizeof(*r), XSP_GFP);

	if (!r)
		return NULL;
	mutex_init(&r->lock);
	INIT_DELAYED_WORK(&r->look, look_worker);
	/* Without audit: a caller without the capability is denied nothing. */
	if (ns_capable_noaudit(&init_user_ns, CAP_SYS_ADMIN))
		return r;
	r->account = xsp_account_get(current_cred());
	if (r->account)
		return r;
	kfree(r);
	return NULL;
}

/**
 * xsp_reader_open() - open a descriptor that reads one producer
 * @arg: the caller's argument
 *
 * Return: the descriptor; -EINVAL; -ENOENT: no such producer, or not readable by the caller;
 * -EPERM: it may read, but not consume; -EBUSY: there is another consumer; -ENOMEM, -EMFILE.
 */
int xsp_reader_open(const struct xsprof_open *arg)
{
	struct xsp_reader *r;
	int ret;

	if (arg->flags & ~XSPROF_OPEN_CONSUME)
		return -EINVAL;
	r = new_reader();
	if (!r)
		return -ENOMEM;
	r->p = xsp_registry_find(arg->id);
	ret = -ENOENT;
	if (!r->p)
		goto err_free;
	/* The first poll() finds it ready: earlier records can be read. */
	r->seen = atomic64_read(&r->p->kicks) - 1;
	r->writes = xsp_registry_may_write(r->p);
	r->consumer = arg->flags & XSPROF_OPEN_CONSUME;
	ret = -EPERM;
	if (r->consumer && !r->writes)
		goto err_put;
	ret = r->consumer ? claim(r) : 0;
	if (ret)
		goto err_put;
	ret = install(r);
	if (ret >= 0)
		return ret;
	if (r->consumer) {
		mutex_lock(&r->p->lock);
		WRITE_ONCE(r->p->consumer, NULL);
		mutex_unlock(&r->p->lock);
	}
err_put:
	xsp_producer_put(r->p);
err_free:
	free_reader(r);
	return ret;
}
