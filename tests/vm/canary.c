// SPDX-License-Identifier: GPL-2.0-only
/*
 * canary: plants one bug per load, chosen by the parameter @bug, to show that a debug kernel
 * reports each class of bug. A clean log means something only on a kernel that reports all of
 * these. Never load it on a machine that has to keep running.
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
/* An index or a distance that is one too large; volatile hides it from the compiler. */
static volatile unsigned int beyond;

/* A plain word that two CPUs increment without a lock. */
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

/* Reads an RCU-protected pointer outside a read-side critical section. */
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
 * Drops the only pointers. A copy of some may remain by chance, in a saved register or on a stack
 * that the scan reads, but not of all of this many.
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

/* Takes two locks in one order, then in the other: no deadlock happens, but one could. */
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

/* Frees an object whose timer is pending, then stops the timer in memory that is still unused. */
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
 * Writes to the guard page behind an area. This oopses too, so it comes last. The area is large, so
 * that it does not lie where the boot left shadow memory mapped.
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

/* Disables interrupts for ever: without a watchdog the kernel reports nothing. */
static void bug_lockup(void)
{
	local_irq_disable();
	while (!READ_ONCE(beyond))
		cpu_relax();
}

/* Not a lockup: the CPU takes an interrupt now and then. */
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

/* Module text is read-only: write with this CPU's write protection off. */
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
 * The breakpoint handler: memory has no int3, except for the moment in which it runs again. The
 * delay makes that moment short compared with the time that lockup.sh takes to read the memory.
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
 * Runs again and again, with interrupts off, an int3 that is not in memory. This imitates QEMU's
 * fault (ghost.sh) in a kernel that takes such an int3 for a race and returns.
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

/* Stops the timers of all CPUs: the guest sleeps for ever, as with QEMU's fault. */
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
