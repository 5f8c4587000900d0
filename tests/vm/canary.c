// SPDX-License-Identifier: GPL-2.0-only
/*
 * canary: one planted bug per loading, chosen by the parameter @bug, so that a debug kernel
 * shows that it sees each class of mistake. A log without complaints is worth something only
 * where all of these have been seen. Never load it on a machine that is to live on.
 */
#include <linux/debugobjects.h>
#include <linux/delay.h>
#include <linux/irqflags.h>
#include <linux/kdebug.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/timer.h>
#include <linux/vmalloc.h>
#include <asm/apic.h>

#define OBJECT_SIZE	72

static char *bug = "none";
module_param(bug, charp, 0444);
MODULE_PARM_DESC(bug, "which mistake to make: the names in the table at the end");

struct canary {
	struct list_head node;
	struct timer_list timer;
	char bytes[OBJECT_SIZE];
};

static int __rcu *watched;
static DEFINE_MUTEX(first);
static DEFINE_MUTEX(second);
static DEFINE_SPINLOCK(atomic);
/* What the compiler must not know: an index or a distance one too large. */
static volatile unsigned int beyond;

/* A plain word that two CPUs count in, without a lock. */
static unsigned long raced;

static int race_thread(void *arg)
{
	while (!kthread_should_stop()) {
		raced++;
		cond_resched();
	}
	return 0;
}

static void bug_race(void)
{
	struct task_struct *threads[2];
	int i;

	for (i = 0; i < 2; i++) {
		threads[i] = kthread_create(race_thread, NULL, "canary/%d", i);
		if (IS_ERR(threads[i]))
			break;
		kthread_bind(threads[i], i % num_online_cpus());
		wake_up_process(threads[i]);
	}
	msleep(4000);
	while (i--)
		kthread_stop(threads[i]);
}

/* A pointer that RCU protects, read by nobody's leave. */
static void bug_rcu(void)
{
	if (rcu_dereference(watched))
		pr_info("canary: there is something\n");
}

static void bug_sleep(void)
{
	spin_lock(&atomic);
	might_sleep();
	spin_unlock(&atomic);
}

/*
 * The only pointer goes away. Of some a copy may stay behind by chance, in a register that was
 * saved or on a stack that the scan reads: of so many it does not of all.
 */
static noinline void bug_leak(void)
{
	unsigned int i;
	char *lost;

	for (i = 0; i < 64; i++) {
		lost = kmalloc(1500, GFP_KERNEL);
		if (lost)
			memset(lost, 0x5c, 16);
		OPTIMIZER_HIDE_VAR(lost);
	}
}

/* First one order, then the other: no deadlock, and the promise of one. */
static void bug_lockdep(void)
{
	mutex_lock(&first);
	mutex_lock(&second);
	mutex_unlock(&second);
	mutex_unlock(&first);

	mutex_lock(&second);
	mutex_lock(&first);
	mutex_unlock(&first);
	mutex_unlock(&second);
}

static void bug_refcount(void)
{
	refcount_t count = REFCOUNT_INIT(1);

	if (refcount_dec_and_test(&count))
		refcount_inc(&count);
}

static void nothing(struct timer_list *timer)
{
}

/* Freed with its timer running; which then is stopped in what is free, where nobody else is yet. */
static void bug_object(void)
{
	struct canary *object = kzalloc(sizeof(*object), GFP_KERNEL);

	if (!object)
		return;
	timer_setup(&object->timer, nothing, 0);
	mod_timer(&object->timer, jiffies + 3600 * HZ);
	kfree(object);
}

static void bug_bounds(void)
{
	static int table[4];

	table[beyond & 7]++;
	pr_info("canary: %d\n", table[0]);
}

static void bug_shift(void)
{
	pr_info("canary: %d\n", 1 << beyond);
}

static void bug_overrun(void)
{
	char *object = kmalloc(OBJECT_SIZE, GFP_KERNEL);

	if (!object)
		return;
	object[beyond] = 1;
	kfree(object);
}

static void bug_freed(void)
{
	char *object = kmalloc(OBJECT_SIZE, GFP_KERNEL);

	if (!object)
		return;
	kfree(object);
	OPTIMIZER_HIDE_VAR(object);
	object[beyond] = 1;
}

/*
 * Into the guard page behind it: an oops as well, so the last of all.  Large, so that it does
 * not lie where the boot had something mapped whose shadow stayed behind.
 */
static void bug_vmalloc(void)
{
	char *area = vmalloc(SZ_1M);

	if (!area)
		return;
	OPTIMIZER_HIDE_VAR(area);
	area[SZ_1M + beyond] = 1;
	vfree(area);
}

/* Interrupts off for ever: without a watchdog the kernel says nothing about it. */
static void bug_lockup(void)
{
	local_irq_disable();
	while (!READ_ONCE(beyond))
		cpu_relax();
}

/* No lockup: the CPU takes an interrupt now and then. */
static void bug_busy(void)
{
	unsigned int i;

	for (i = 0; i < 400; i++) {
		local_irq_disable();
		mdelay(20);
		local_irq_enable();
		udelay(100);
	}
}

/* The instruction that bug_ghost() patches. */
static noinline void patched(void)
{
	asm volatile("canary_patched: nop");
}

extern u8 canary_patched[];

/* Module text is read-only: write with the write protection of this CPU off. */
static void patch(u8 opcode)
{
	unsigned long cr0, off;

	asm volatile("mov %%cr0, %0" : "=r" (cr0));
	off = cr0 & ~X86_CR0_WP;
	asm volatile("mov %0, %%cr0" : : "r" (off) : "memory");
	WRITE_ONCE(canary_patched[0], opcode);
	asm volatile("mov %0, %%cr0" : : "r" (cr0) : "memory");
}

/*
 * What the breakpoint finds: no int3 in memory, except for the moment in which it is run again.
 * The delay makes that moment short against the time in which lockup.sh can read the memory.
 */
static int patched_again(struct notifier_block *block, unsigned long reason, void *data)
{
	struct die_args *args = data;

	if (reason != DIE_INT3 || args->regs->ip != (unsigned long)canary_patched + 1)
		return NOTIFY_DONE;
	patch(0x90);
	udelay(500);
	patch(0xcc);
	args->regs->ip--;
	return NOTIFY_STOP;
}

/*
 * A CPU that runs an int3 again and again which is not in memory, with interrupts off. It looks
 * as QEMU's fault does (ghost.sh) in a kernel that takes such an int3 for a race and returns.
 */
static void bug_ghost(void)
{
	static struct notifier_block block = { .notifier_call = patched_again };

	register_die_notifier(&block);
	local_irq_disable();
	patch(0xcc);
	patched();
}

static void mask_timer(void *unused)
{
	apic_write(APIC_LVTT, APIC_LVT_MASKED);
}

/* The timer of no CPU fires again: the guest sleeps for ever, as QEMU's fault has it do. */
static void bug_asleep(void)
{
	on_each_cpu(mask_timer, NULL, 1);
	msleep(1000);
}

static const struct {
	const char	*name;
	void		(*make)(void);
	unsigned int	beyond;
} bugs[] = {
	{ "race",	bug_race },
	{ "rcu",	bug_rcu },
	{ "sleep",	bug_sleep },
	{ "leak",	bug_leak },
	{ "lockdep",	bug_lockdep },
	{ "refcount",	bug_refcount },
	{ "object",	bug_object },
	{ "bounds",	bug_bounds, 5 },
	{ "shift",	bug_shift, 40 },
	{ "overrun",	bug_overrun, OBJECT_SIZE + 1 },
	{ "freed",	bug_freed, 3 },
	{ "vmalloc",	bug_vmalloc, 8 },
	{ "lockup",	bug_lockup },
	{ "busy",	bug_busy },
	{ "ghost",	bug_ghost },
	{ "asleep",	bug_asleep },
};

static int __init canary_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bugs); i++) {
		if (strcmp(bugs[i].name, bug))
			continue;
		beyond = bugs[i].beyond;
		bugs[i].make();
		return 0;
	}
	pr_err("canary: %s: no such bug\n", bug);
	return -EINVAL;
}

static void __exit canary_exit(void)
{
}

module_init(canary_init);
module_exit(canary_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Planted bugs that show whether a debug kernel sees them");
