// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device /dev/xsprof: its parameters and ioctls. ATTACH makes an open file a producer; LIST and
 * OPEN work on any.
 */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "call.h"
#include "xsprof.h"

struct workqueue_struct *xsp_wq;

/* ---- parameters ---------------------------------------------------------------------------- */

/* Changed limits on kept records take effect at once. */
static int set_uint_limit(const char *val, const struct kernel_param *kp)
{
	int err = param_set_uint(val, kp);

	if (!err && xsp_wq)
		xsp_retain_trim();
	return err;
}

static int set_ulong_limit(const char *val, const struct kernel_param *kp)
{
	int err = param_set_ulong(val, kp);

	if (!err && xsp_wq)
		xsp_retain_trim();
	return err;
}

static const struct kernel_param_ops uint_limit = {
	.set = set_uint_limit,
	.get = param_get_uint,
};

static const struct kernel_param_ops ulong_limit = {
	.set = set_ulong_limit,
	.get = param_get_ulong,
};

static unsigned int mode = 0666;
module_param(mode, uint, 0444);
MODULE_PARM_DESC(mode, "permissions of /dev/xsprof, at most 0777 (default 0666)");

bool xsp_always_on = true;
module_param_named(always_on, xsp_always_on, bool, 0644);
MODULE_PARM_DESC(always_on,
		 "N: what no recorder started is paused until it is read or traced (default Y)");

unsigned int xsp_retain_seconds = 600;
module_param_cb(retain_seconds, &uint_limit, &xsp_retain_seconds, 0644);
__MODULE_PARM_TYPE(retain_seconds, "uint");
MODULE_PARM_DESC(retain_seconds, "how long an ended process' rings are kept, in seconds (600)");

unsigned long xsp_retain_bytes = SZ_256M;
module_param_cb(retain_bytes, &ulong_limit, &xsp_retain_bytes, 0644);
__MODULE_PARM_TYPE(retain_bytes, "ulong");
MODULE_PARM_DESC(retain_bytes, "memory of all ended processes that are kept (256 MiB)");

unsigned long xsp_retain_uid_bytes = SZ_128M;
module_param_cb(retain_uid_bytes, &ulong_limit, &xsp_retain_uid_bytes, 0644);
__MODULE_PARM_TYPE(retain_uid_bytes, "ulong");
MODULE_PARM_DESC(retain_uid_bytes, "memory of one user's ended processes that are kept (128 MiB)");

unsigned long xsp_max_bytes;
module_param_named(max_bytes, xsp_max_bytes, ulong, 0644);
MODULE_PARM_DESC(max_bytes, "memory of all producers, 0: no limit (a quarter of the RAM)");

unsigned long xsp_uid_free_bytes = SZ_64M;
module_param_named(uid_free_bytes, xsp_uid_free_bytes, ulong, 0644);
MODULE_PARM_DESC(uid_free_bytes, "memory of one user that is not counted as locked (64 MiB)");

unsigned int xsp_uid_max_producers = 4096;
module_param_named(uid_max_producers, xsp_uid_max_producers, uint, 0644);
MODULE_PARM_DESC(uid_max_producers, "producers of one user, live and kept (4096)");

bool xsp_sched_comm;
module_param_named(sched_comm, xsp_sched_comm, bool, 0644);
MODULE_PARM_DESC(sched_comm, "Y: names of other users' threads in scheduler events (default N)");

/* ---- an open ------------------------------------------------------------------------------- */

/**
 * struct xsp_file - an open of the device
 * @p: the producer that it became, NULL before; set once
 * @attaching: held while it becomes one
 * @seen: attaches and ends already listed
 */
struct xsp_file {
	struct xsp_producer	*p;
	struct mutex		attaching;	/* two threads, one open */
	u64			seen;
};

/* Return: its producer, or NULL. */
static struct xsp_producer *producer_of(struct xsp_file *f)
{
	/* Pairs with the release in call_attach(): a producer that is seen is complete. */
	return smp_load_acquire(&f->p);
}

static int device_open(struct inode *inode, struct file *file)
{
	struct xsp_file *f = kzalloc(sizeof(*f), XSP_GFP);

	if (!f)
		return -ENOMEM;
	mutex_init(&f->attaching);
	f->seen = xsp_registry_events();
	file->private_data = f;
	return 0;
}

static int device_release(struct inode *inode, struct file *file)
{
	struct xsp_file *f = file->private_data;

	if (f->p)
		xsp_producer_let_go(f->p);
	kfree(f);
	return 0;
}

static int device_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct xsp_producer *p = producer_of(file->private_data);

	return p ? xsp_memory_mmap(p, vma, true, xsp_producer_is_mine(p), false) : -ENODEV;
}

static __poll_t device_poll(struct file *file, poll_table *wait)
{
	struct xsp_file *f = file->private_data;

	poll_wait(file, &xsp_registry_wait, wait);
	return xsp_registry_events() == READ_ONCE(f->seen) ? 0 : EPOLLIN | EPOLLRDNORM;
}

/* ---- calls --------------------------------------------------------------------------------- */

static long attach(struct xsprof_attach *arg, struct xsp_producer **p)
{
	long err;

	if (arg->flags & XSPROF_ATTACH_REJOIN)
		return xsp_producer_rejoin(arg, p);
	err = xsp_producer_attach(arg, p);
	if (err)
		return err;
	xsp_sync_start(*p);
	xsp_producer_publish(*p);
	return 0;
}

static long call_attach(void *self, union xsp_argument *a)
{
	struct xsp_file *f = self;
	struct xsp_producer *p;
	long err = -EBUSY;

	mutex_lock(&f->attaching);
	if (!f->p)
		err = attach(&a->attach, &p);
	if (!err)
		smp_store_release(&f->p, p);	/* a task that sees it sees it complete */
	mutex_unlock(&f->attaching);
	return err;
}

static long call_populate(void *self, union xsp_argument *a)
{
	struct xsp_producer *p = producer_of(self);

	if (!p)
		return -ENODEV;
	if (a->populate.flags)
		return -EINVAL;
	/* The process that attached is charged: others may not allocate its memory. */
	if (!xsp_producer_is_mine(p))
		return -EPERM;
	return xsp_memory_populate(p, a->populate.offset, a->populate.bytes);
}

static long call_control(void *self, union xsp_argument *a)
{
	struct xsp_producer *p = producer_of(self);

	if (!p)
		return -ENODEV;
	if (!xsp_producer_is_mine(p))
		return -EPERM;
	return xsp_ctl_control(p, &a->control, XSPROF_PAUSED_PROGRAM);
}

static long call_kick(void *self, union xsp_argument *a)
{
	struct xsp_producer *p = producer_of(self);

	if (!p)
		return -ENODEV;
	if (a->value & ~(unsigned long)XSPROF_KICK_FLUSH)
		return -EINVAL;
	if (!xsp_producer_is_mine(p))
		return -EPERM;
	return xsp_producer_kick(p, a->value & XSPROF_KICK_FLUSH);
}

static long call_emit(void *self, union xsp_argument *a)
{
	struct xsp_producer *p = producer_of(self);

	if (!p)
		return -ENODEV;
	if (!xsp_producer_is_mine(p))
		return -EPERM;
	return xsp_emit(p, &a->emit);
}

static long call_list(void *self, union xsp_argument *a)
{
	struct xsprof_list *arg = &a->list;
	struct xsp_file *f = self;
	u32 room = arg->count;
	u64 at = arg->infos;

	if (arg->flags || (room && arg->info_size < sizeof(__u64)) || arg->info_size > PAGE_SIZE)
		return -EINVAL;
	arg->events = xsp_registry_events();
	WRITE_ONCE(f->seen, arg->events);
	/* Before the producers are read: a later change is another event. */
	smp_mb();
	for (arg->count = 0; arg->count < room; arg->count++, at += arg->info_size) {
		struct xsp_producer *p = xsp_registry_next(arg->after);
		size_t n = min_t(size_t, arg->info_size, sizeof(struct xsprof_info));
		struct xsprof_info info;

		if (!p)
			break;
		xsp_producer_info(p, &info);
		xsp_producer_put(p);
		arg->after = info.id;
		if (copy_to_user(u64_to_user_ptr(at), &info, n) ||
		    clear_user(u64_to_user_ptr(at + n), arg->info_size - n))
			return -EFAULT;
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return 0;
}

static long call_open(void *self, union xsp_argument *a)
{
	return xsp_reader_open(&a->open);
}

static long call_syncs(void *self, union xsp_argument *a)
{
	return xsp_sync_copy(&a->syncs);
}

static long call_sched(void *self, union xsp_argument *a)
{
	struct xsp_producer *p = producer_of(self);

	if (!p)
		return -ENODEV;
	if (!xsp_producer_is_mine(p))
		return -EPERM;
	return xsp_retain_counted(p, xsp_sched_control(p, &a->sched));
}

static const struct xsp_command commands[] = {
	{ XSPROF_IOC_ATTACH, sizeof(struct xsprof_attach), call_attach },
	{ XSPROF_IOC_KICK, 0, call_kick },
	{ XSPROF_IOC_LIST, sizeof(struct xsprof_list), call_list },
	{ XSPROF_IOC_OPEN, sizeof(struct xsprof_open), call_open },
	{ XSPROF_IOC_POPULATE, sizeof(struct xsprof_populate), call_populate },
	{ XSPROF_IOC_CONTROL, sizeof(struct xsprof_control), call_control },
	{ XSPROF_IOC_SYNCS, sizeof(struct xsprof_syncs), call_syncs },
	{ XSPROF_IOC_EMIT, sizeof(struct xsprof_emit), call_emit },
	{ XSPROF_IOC_SCHED, sizeof(struct xsprof_sched), call_sched },
};

static long device_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	return xsp_call(commands, ARRAY_SIZE(commands), file->private_data, cmd, arg);
}

static const struct file_operations device_fops = {
	.owner		= THIS_MODULE,
	.open		= device_open,
	.release	= device_release,
	.unlocked_ioctl	= device_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
	.mmap		= device_mmap,
	.poll		= device_poll,
	.llseek		= noop_llseek,
};

static struct miscdevice device = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "xsprof",
	.fops	= &device_fops,
	.groups	= xsp_sysfs_groups,
};

/* ---- the module ---------------------------------------------------------------------------- */

/*
 * The parameters exist before the queue and after it, and may be written meanwhile: writers, such
 * as set_uint_limit(), hold the lock of parameters.
 */
static int make_queue(void)
{
	/* Unbound: none of the work belongs to the CPU of the process that ends or attaches. */
	struct workqueue_struct *wq = alloc_workqueue("xsprof", WQ_UNBOUND, 0);

	if (!wq)
		return -ENOMEM;
	kernel_param_lock(THIS_MODULE);
	xsp_wq = wq;
	if (!xsp_max_bytes)
		xsp_max_bytes = totalram_pages() / 4 << PAGE_SHIFT;
	kernel_param_unlock(THIS_MODULE);
	return 0;
}

static void destroy_queue(void)
{
	struct workqueue_struct *wq = xsp_wq;

	kernel_param_lock(THIS_MODULE);
	xsp_wq = NULL;
	kernel_param_unlock(THIS_MODULE);
	destroy_workqueue(wq);
}

static int __init xsprof_init(void)
{
	int err;

	if (mode & ~0777u) {
		pr_err("xsprof: mode=%#o: permissions are at most 0777\n", mode);
		return -EINVAL;
	}
	xsp_counter_init();
	xsp_retain_init();
	err = make_queue();
	if (err)
		return err;
	xsp_emit_init();
	err = xsp_sched_init();
	if (err)
		goto err_wq;
	err = xsp_sync_init();
	if (err)
		goto err_sched;
	err = xsp_process_init();
	if (err)
		goto err_sync;
	device.mode = mode;
	err = misc_register(&device);
	if (err)
		goto err_process;
	return 0;

err_process:
	xsp_process_unhook();
	xsp_process_exit();
err_sync:
	xsp_sync_exit();
err_sched:
	xsp_sched_exit();
err_wq:
	destroy_queue();
	return err;
}

/* No file is open and nothing is mapped: each of these would hold the module. */
static void __exit xsprof_exit(void)
{
	misc_deregister(&device);
	/* Before waiting for queued ends, so that nothing queues another. */
	xsp_process_unhook();
	xsp_sync_exit();
	xsp_retain_exit();
	xsp_registry_exit();
	xsp_process_exit();
	xsp_sched_exit();
	destroy_queue();
}

module_init(xsprof_init);
module_exit(xsprof_exit);

MODULE_DESCRIPTION("Event rings of programs, owned by the kernel: they outlive the process");
MODULE_AUTHOR("The xsprof authors");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1.0");
