// SPDX-License-Identifier: GPL-2.0-only
/*
 * The counter that timestamps count, and its sync points: all clocks at one instant, at every
 * attach, every second while a producer lives, before and after a suspend.  Nothing here is on
 * anybody's path; conversion is the decoder's.
 *
 * A producer's counter is chosen at attach and stays, since time in a ring must not change its
 * meaning.  What may change is whether it can be trusted: then the generation is raised and
 * later producers get CLOCK_MONOTONIC_RAW.
 */
#include <linux/clocksource.h>
#include <linux/math64.h>
#include <linux/slab.h>
#include <linux/suspend.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#ifdef CONFIG_X86
#include <asm/cpufeature.h>
#include <asm/tsc.h>
#endif

#include "trace.h"
#include "xsprof.h"

#define NR_SYNCS	512	/* the time between two of them doubles when so many are reached */
#define TRIES		8
#define TICK_NS		NSEC_PER_SEC

static DEFINE_MUTEX(lock);
static struct xsprof_sync *syncs;	/* oldest first */
static unsigned int nr_syncs;
static bool last_kept;			/* the last one is not to be replaced */
static u64 gap_ns = TICK_NS;		/* between two of them */
static u32 generation;
static u32 counter_kind;		/* what this machine's sync points count */
static bool trusted;			/* and whether new producers may count it too */
static struct xsprof_clock conversion;

static void tick(struct work_struct *work);
static DECLARE_DELAYED_WORK(tick_work, tick);

/* ---- the counter --------------------------------------------------------------------------- */

#if defined(CONFIG_X86)

#define COUNTER_KIND	XSPROF_CLOCK_TSC

static u64 counter(void)
{
	return rdtsc_ordered();
}

static u64 counter_freq(void)
{
	return (u64)tsc_khz * 1000;
}

static bool counter_marked_unstable(void)
{
	return check_tsc_unstable();
}

/* The processor says that it runs at one rate through all power states. */
static bool counter_invariant(void)
{
	return boot_cpu_has(X86_FEATURE_CONSTANT_TSC) && boot_cpu_has(X86_FEATURE_NONSTOP_TSC);
}

#elif defined(CONFIG_ARM64)

#define COUNTER_KIND	XSPROF_CLOCK_CNTVCT

static u64 counter(void)
{
	u64 ticks;

	isb();
	ticks = read_sysreg(cntvct_el0);
	isb();
	return ticks;
}

static u64 counter_freq(void)
{
	return read_sysreg(cntfrq_el0);
}

static bool counter_marked_unstable(void)
{
	return false;
}

static bool counter_invariant(void)
{
	return true;
}

#else

#define COUNTER_KIND	XSPROF_CLOCK_MONO_RAW

static u64 counter(void)
{
	return ktime_get_raw_ns();
}

static u64 counter_freq(void)
{
	return NSEC_PER_SEC;
}

static bool counter_marked_unstable(void)
{
	return true;
}

static bool counter_invariant(void)
{
	return false;
}

#endif

u64 xsp_clock_ticks(u32 kind)
{
	return kind == COUNTER_KIND ? counter() : ktime_get_raw_ns();
}

/* The same in any context; without a counter it may go back a little. */
u64 xsp_clock_ticks_fast(u32 kind)
{
	return kind == XSPROF_CLOCK_MONO_RAW ? ktime_get_raw_fast_ns() : counter();
}

/*
 * Does the kernel's own time run on it?  Virtual machines often hide that the counter is
 * invariant and use it all the same.  What the clocksource read lies between two reads of ours
 * if it is this counter, and does not for long if it is another.
 */
static bool counter_is_clocksource(void)
{
	u64 before, cycles, after;
	int i;

	for (i = 0; i < TRIES; i++) {
		before = counter();
		cycles = xsp_clocksource_cycles();
		after = counter();
		if (cycles < before || cycles > after)
			return false;
	}
	return true;
}

static bool counter_can_be_trusted(void)
{
	return !counter_marked_unstable() && (counter_invariant() || counter_is_clocksource());
}

/* What new producers count: the counter may have been found wanting since. */
u32 xsp_clock_kind(void)
{
	if (!READ_ONCE(trusted) || counter_marked_unstable())
		return XSPROF_CLOCK_MONO_RAW;
	return counter_kind;
}

/* ---- sync points --------------------------------------------------------------------------- */

static void read_once(struct xsprof_sync *s)
{
	u64 before, after;
	unsigned long flags;

	local_irq_save(flags);
	before = xsp_clock_ticks(s->kind);
	s->mono = ktime_get_ns();
	s->mono_raw = ktime_get_raw_ns();
	s->boot = ktime_get_boottime_ns();
	s->real = ktime_get_real_ns();
	after = xsp_clock_ticks(s->kind);
	local_irq_restore(flags);
	s->ticks = before + (after - before) / 2;
	s->window = min_t(u64, after - before, U32_MAX);
}

/* The narrowest of a few. */
static void read_sync(struct xsprof_sync *sync, u32 kind)
{
	struct xsprof_sync try = { .kind = kind };
	int i;

	for (i = 0; i < TRIES; i++) {
		read_once(&try);
		if (!i || try.window < sync->window)
			*sync = try;
	}
}

/* Every other one goes, but the first and the last: the whole time stays covered, evenly. */
static void thin_out(void)
{
	unsigned int from, to = 1;

	for (from = 2; from < nr_syncs; from += 2)
		syncs[to++] = syncs[from];
	if (!(nr_syncs & 1))
		syncs[to++] = syncs[nr_syncs - 1];
	nr_syncs = to;
	gap_ns *= 2;
}

/*
 * A last point that is nearer than the gap to the one before it is replaced by the next, unless
 * it is one to keep, or the next is far away: what ends a time of activity stays.  So many
 * attaches at once cost no density.
 */
static void add_sync(const struct xsprof_sync *s, bool keep)
{
	struct xsprof_sync *last = nr_syncs ? &syncs[nr_syncs - 1] : NULL;

	if (nr_syncs > 1 && !last_kept && last->mono - last[-1].mono < gap_ns &&
	    s->mono - last->mono < gap_ns + TICK_NS) {
		*last = *s;
	} else {
		if (nr_syncs == NR_SYNCS)
			thin_out();
		syncs[nr_syncs++] = *s;
	}
	last_kept = keep;
}

/* The rate between two points, else the one the kernel measured. */
static void set_rate(struct xsprof_clock *c, u64 ticks, u64 ns)
{
	/* A slow counter's tick is many ns: they must fit the 32 bits of mult. */
	c->shift = c->freq < 8 * 1000 * 1000 ? 12 : 24;
	if (ticks && ns && ns < 60 * NSEC_PER_SEC && ticks >> 40 == 0)
		c->mult = div64_u64((ns << c->shift) + ticks / 2, ticks);
	else if (!c->mult)
		c->mult = div64_u64(((u64)NSEC_PER_SEC << c->shift) + c->freq / 2, c->freq);
}

static void convert_from(const struct xsprof_sync *s)
{
	if (conversion.base_ticks && s->ticks > conversion.base_ticks)
		set_rate(&conversion, s->ticks - conversion.base_ticks,
			 s->mono - conversion.base_ns);
	else
		set_rate(&conversion, 0, 0);
	conversion.base_ticks = s->ticks;
	conversion.base_ns = s->mono;
}

static void take_sync(bool keep, struct xsprof_clock *now)
{
	struct xsprof_sync s;

	mutex_lock(&lock);
	if (counter_kind == COUNTER_KIND && trusted && counter_marked_unstable()) {
		WRITE_ONCE(trusted, false);
		generation++;
	}
	read_sync(&s, counter_kind);
	add_sync(&s, keep);
	convert_from(&s);
	*now = conversion;
	mutex_unlock(&lock);
	trace_xsp_clock_sync(&s);
}

/* Readers of the page copy it between two equal, even values of seq. */
static void store_clock(struct xsprof_clock *to, const struct xsprof_clock *from)
{
	u32 seq = to->seq;

	WRITE_ONCE(to->seq, seq + 1);
	smp_wmb();	/* odd before anything changes */
	to->mult = from->mult;
	to->shift = from->shift;
	to->base_ticks = from->base_ticks;
	to->base_ns = from->base_ns;
	to->freq = from->freq;
	smp_wmb();	/* changed before it is even */
	WRITE_ONCE(to->seq, seq + 2);
}

/* For a producer that counts nanoseconds: the same points, in its unit. */
static void convert_raw(struct xsprof_clock *c)
{
	u64 mono, raw;
	unsigned long flags;

	local_irq_save(flags);
	mono = ktime_get_ns();
	raw = ktime_get_raw_ns();
	local_irq_restore(flags);
	*c = (struct xsprof_clock){
		.mult = 1 << 24, .shift = 24, .base_ticks = raw, .base_ns = mono,
		.freq = NSEC_PER_SEC,
	};
}

static void update(struct xsp_producer *p, const void *data)
{
	const struct xsprof_clock *now = data;
	struct xsprof_clock raw;

	if (p->clock != counter_kind) {
		convert_raw(&raw);
		now = &raw;
	}
	store_clock(&p->ctl->clock, now);
}

static void tick(struct work_struct *work)
{
	struct xsprof_clock now;

	take_sync(false, &now);
	xsp_registry_for_live(update, &now);
	/* With nobody left there is nothing to convert, and an idle machine is left alone. */
	if (xsp_registry_live())
		queue_delayed_work(xsp_wq, &tick_work, HZ);
}

/* How long so many ticks of the producer's counter are. */
u64 xsp_clock_ns(const struct xsp_producer *p, u64 ticks)
{
	const struct xsprof_clock *c = &p->ctl->clock;
	u32 seq, mult, shift;

	do {
		seq = READ_ONCE(c->seq);
		smp_rmb();	/* pairs with store_clock() */
		mult = READ_ONCE(c->mult);
		shift = READ_ONCE(c->shift);
		smp_rmb();	/* both of them before the second look */
	} while (seq & 1 || READ_ONCE(c->seq) != seq);
	return mul_u64_u32_shr(ticks, mult, shift);
}

/* A producer attaches: its own first sync point, and the clock ticks from now on. */
void xsp_clock_start(struct xsp_producer *p)
{
	struct xsprof_clock now;

	take_sync(false, &now);
	read_sync(&p->ctl->attach, p->clock);
	p->ctl->clock.kind = p->clock;
	update(p, &now);
	queue_delayed_work(xsp_wq, &tick_work, HZ);
}

/**
 * xsp_clock_copy() - the sync points so far, for a caller
 * @arg: as the caller gave it; count and generation are set
 *
 * Return: 0, -EINVAL, -ENOMEM, -EFAULT.
 */
int xsp_clock_copy(struct xsprof_syncs *arg)
{
	struct xsprof_sync *copy;
	unsigned int n, skip;
	int err = 0;

	if (arg->flags)
		return -EINVAL;
	copy = kvmalloc_array(NR_SYNCS, sizeof(*copy), XSP_GFP);
	if (!copy)
		return -ENOMEM;
	mutex_lock(&lock);
	/* Where there is no room for all: the newest. */
	n = min(arg->count, nr_syncs);
	skip = nr_syncs - n;
	memcpy(copy, syncs + skip, n * sizeof(*copy));
	arg->generation = generation;
	mutex_unlock(&lock);
	if (copy_to_user(u64_to_user_ptr(arg->syncs), copy, n * sizeof(*copy)))
		err = -EFAULT;
	kvfree(copy);
	arg->count = n;
	return err;
}

/* ---- suspend ------------------------------------------------------------------------------- */

static int on_suspend(struct notifier_block *nb, unsigned long action, void *unused)
{
	struct xsprof_clock now;

	switch (action) {
	case PM_SUSPEND_PREPARE:
	case PM_HIBERNATION_PREPARE:
		take_sync(true, &now);
		break;
	case PM_POST_SUSPEND:
	case PM_POST_HIBERNATION:
		mutex_lock(&lock);
		generation++;
		conversion.base_ticks = 0;	/* no rate across the gap */
		mutex_unlock(&lock);
		take_sync(true, &now);
		xsp_registry_for_live(update, &now);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block suspend_notifier = {
	.notifier_call = on_suspend,
};

int xsp_clock_init(void)
{
	int err;

	syncs = vzalloc(array_size(NR_SYNCS, sizeof(*syncs)));
	if (!syncs)
		return -ENOMEM;
	trusted = counter_can_be_trusted();
	counter_kind = trusted ? COUNTER_KIND : XSPROF_CLOCK_MONO_RAW;
	conversion.freq = trusted ? counter_freq() : NSEC_PER_SEC;
	err = register_pm_notifier(&suspend_notifier);
	if (err)
		vfree(syncs);
	return err;
}

void xsp_clock_exit(void)
{
	unregister_pm_notifier(&suspend_notifier);
	cancel_delayed_work_sync(&tick_work);
	vfree(syncs);
}
