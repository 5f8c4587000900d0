// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sync points of the counter: all clocks at one instant, at every attach, every second while a
 * producer lives, before and after a suspend. Owns their list, and the clock in producers' control
 * pages. None of this is on a hot path; the decoder converts times.
 *
 * The generation is raised if the counter becomes unstable or the clocks jump.
 */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/suspend.h>
#include <linux/time_namespace.h>
#include <linux/uaccess.h>

#include "trace.h"
#include "xsprof.h"

#define NR_SYNCS	512	/* the interval doubles when this many are reached */
#define TRIES		8
#define TICK_NS		NSEC_PER_SEC
#define RATE_MIN_NS	(NSEC_PER_SEC / 10)	/* minimum time over which a rate is measured */
#define RATE_MAX_NS	(60ull * NSEC_PER_SEC)	/* maximum: beyond it, overflows */
#define RATE_SLACK	10			/* bits: 1/1024 of it may be the two readings' */

/**
 * struct xsp_conversion - conversions of ticks to time, for producers of either kind
 * @counter: for the machine's counter
 * @raw: for nanoseconds, for producers that use these although there is a counter
 */
struct xsp_conversion {
	struct xsprof_clock	counter;
	struct xsprof_clock	raw;
};

static DEFINE_MUTEX(update_lock);	/* a page has one writer: of the newest sync point */
static DEFINE_MUTEX(lock);		/* nests inside it; protects the following */
static struct xsprof_sync *syncs;	/* oldest first */
static unsigned int nr_syncs;
static bool last_kept;			/* the last one is not to be replaced */
static u64 gap_ns = TICK_NS;		/* between two of them */
static u32 generation;
static struct xsprof_clock conversion;
static struct xsprof_sync rate_from;	/* begin of the rate measurement; ticks 0: none */

static void tick(struct work_struct *work);
static DECLARE_DELAYED_WORK(tick_work, tick);

/* ---- sync points --------------------------------------------------------------------------- */

static void read_once(struct xsprof_sync *s)
{
	u64 before, after;
	unsigned long flags;

	local_irq_save(flags);
	before = xsp_counter_ticks(s->kind);
	s->mono = ktime_get_ns();
	s->mono_raw = ktime_get_raw_ns();
	s->boot = ktime_get_boottime_ns();
	s->real = ktime_get_real_ns();
	after = xsp_counter_ticks(s->kind);
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

/* Drops every other point except the first and the last: the whole time stays evenly covered. */
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
 * A last point closer to its predecessor than the interval is replaced by the next, unless it must
 * be kept, or the next is far away: the last point of a period of activity stays. So many attaches
 * in a short time do not thin out the list.
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

/* The kernel's rate, until this module has measured one. */
static void set_nominal_rate(struct xsprof_clock *c)
{
	/* A slow counter's tick is many ns: they must fit the 32 bits of mult. */
	c->shift = c->freq < 8 * 1000 * 1000 ? 12 : 24;
	c->mult = div64_u64(((u64)NSEC_PER_SEC << c->shift) + c->freq / 2, c->freq);
}

/*
 * Measures the rate since @rate_from. Sync points may be as close as attaches of processes: between
 * close points the error of their readings dominates. So only a point that is far enough away gives
 * a rate, and becomes the begin of the next measurement.
 */
static void measure_rate(struct xsprof_clock *c, const struct xsprof_sync *s)
{
	u64 ns = s->mono - rate_from.mono, ticks = s->ticks - rate_from.ticks;

	if (rate_from.ticks && s->ticks > rate_from.ticks && ns < RATE_MAX_NS && !(ticks >> 40)) {
		if (ns < RATE_MIN_NS || (u64)s->window + rate_from.window > ticks >> RATE_SLACK)
			return;
		c->mult = div64_u64((ns << c->shift) + ticks / 2, ticks);
	}
	rate_from = *s;
}

static void convert_from(const struct xsprof_sync *s)
{
	if (!conversion.mult)
		set_nominal_rate(&conversion);
	measure_rate(&conversion, s);
	conversion.base_ticks = s->ticks;
	conversion.base_ns = s->mono;
}

/* For producers that use nanoseconds: in their unit, the narrowest of a few readings. */
static void convert_raw(struct xsprof_clock *c)
{
	u64 before, mono, after, best = U64_MAX;
	unsigned long flags;
	int i;

	*c = (struct xsprof_clock){ .mult = 1 << 24, .shift = 24, .freq = NSEC_PER_SEC };
	for (i = 0; i < TRIES; i++) {
		local_irq_save(flags);
		before = ktime_get_raw_ns();
		mono = ktime_get_ns();
		after = ktime_get_raw_ns();
		local_irq_restore(flags);
		if (after - before >= best)
			continue;
		best = after - before;
		c->base_ticks = before + best / 2;
		c->base_ns = mono;
	}
}

static void take_sync(bool keep, struct xsp_conversion *now)
{
	struct xsprof_sync s;

	mutex_lock(&lock);
	if (xsp_counter_lost_trust())
		generation++;
	read_sync(&s, xsp_counter_machine_kind());
	add_sync(&s, keep);
	convert_from(&s);
	now->counter = conversion;
	mutex_unlock(&lock);
	convert_raw(&now->raw);
	trace_xsp_clock_sync(&s);
}

/*
 * Readers of the page copy it between two equal, even values of seq, and spin while it is odd: the
 * program, and xsp_ctl_ns() in a call of its.  One of them may have a real-time priority and come
 * to this CPU: it must not find the writer preempted in between.  Stores alone stand here, which
 * PREEMPT_RT permits; no interrupt handler reads the page.
 */
static void store_clock(struct xsprof_clock *to, const struct xsprof_clock *from)
{
	u32 seq = to->seq;

	preempt_disable();
	WRITE_ONCE(to->seq, seq + 1);
	smp_wmb();	/* odd before anything changes */
	to->mult = from->mult;
	to->shift = from->shift;
	to->base_ticks = from->base_ticks;
	to->base_ns = from->base_ns;
	to->freq = from->freq;
	smp_wmb();	/* changed before it is even */
	WRITE_ONCE(to->seq, seq + 2);
	preempt_enable();
}

/* A producer's page has the clocks of the producer's time namespace. */
static void update(struct xsp_producer *p, const struct xsp_conversion *to)
{
	struct xsprof_clock now;

	now = p->clock == xsp_counter_machine_kind() ? to->counter : to->raw;
	now.base_ticks += xsp_producer_ticks_offset(p);
	now.base_ns += p->offset.mono;
	store_clock(&p->ctl->clock, &now);
}

/*
 * Takes a sync point, and updates all pages from it. There may be thousands of producers: other
 * tasks of this CPU run in between. One that attaches meanwhile takes its own sync point.
 */
static void update_all(bool keep)
{
	struct xsp_conversion now;
	struct xsp_producer *p;
	u64 id = 0;

	mutex_lock(&update_lock);
	take_sync(keep, &now);
	while ((p = xsp_registry_next_live(id))) {
		id = p->id;
		update(p, &now);
		xsp_producer_put(p);
		cond_resched();
	}
	mutex_unlock(&update_lock);
}

static void tick(struct work_struct *work)
{
	update_all(false);
	/* With nobody left there is nothing to convert, and an idle machine is left alone. */
	if (xsp_registry_live())
		queue_delayed_work(xsp_wq, &tick_work, HZ);
}

/* To the clocks of a time namespace; the counter too, where it is one of them. */
static void shift_sync(struct xsprof_sync *s, struct xsp_offset offset)
{
	s->mono += offset.mono;
	s->mono_raw += offset.mono;
	s->boot += offset.boot;
	if (s->kind == XSPROF_CLOCK_MONO_RAW)
		s->ticks += offset.mono;
}

/* A producer attaches: takes its first sync point, and starts the periodic ones. */
void xsp_sync_start(struct xsp_producer *p)
{
	struct xsprof_sync *attach = &p->ctl->attach;
	struct xsp_conversion now;

	take_sync(false, &now);
	read_sync(attach, p->clock);
	p->attached = attach->mono;
	shift_sync(attach, p->offset);
	p->ctl->clock.kind = p->clock;
	update(p, &now);
	queue_delayed_work(xsp_wq, &tick_work, HZ);
}

/* In the caller's time namespace.  Return: of so many; what was before its clocks began is not. */
static unsigned int shift_syncs(struct xsprof_sync *s, unsigned int nr)
{
	struct xsp_offset offset = xsp_offset_here();
	unsigned int i, to = 0;

	for (i = 0; i < nr; i++) {
		shift_sync(&s[i], offset);
		if ((s64)s[i].mono > 0 && (s64)s[i].mono_raw > 0 && (s64)s[i].boot > 0)
			s[to++] = s[i];
	}
	return to;
}

/**
 * xsp_sync_copy() - copy the sync points so far to a caller
 * @arg: the caller's argument; count and generation are set
 *
 * Return: 0, -EINVAL, -ENOMEM, -EFAULT.
 */
int xsp_sync_copy(struct xsprof_syncs *arg)
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
	/* If not all fit: the newest. */
	n = min(arg->count, nr_syncs);
	skip = nr_syncs - n;
	memcpy(copy, syncs + skip, n * sizeof(*copy));
	arg->generation = generation;
	mutex_unlock(&lock);
	n = shift_syncs(copy, n);
	if (copy_to_user(u64_to_user_ptr(arg->syncs), copy, n * sizeof(*copy)))
		err = -EFAULT;
	kvfree(copy);
	arg->count = n;
	return err;
}

/* ---- suspend ------------------------------------------------------------------------------- */

static int on_suspend(struct notifier_block *nb, unsigned long action, void *unused)
{
	struct xsp_conversion now;

	switch (action) {
	case PM_SUSPEND_PREPARE:
	case PM_HIBERNATION_PREPARE:
		take_sync(true, &now);
		break;
	case PM_POST_SUSPEND:
	case PM_POST_HIBERNATION:
		mutex_lock(&lock);
		generation++;
		rate_from.ticks = 0;	/* no rate across the gap */
		mutex_unlock(&lock);
		update_all(true);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block suspend_notifier = {
	.notifier_call = on_suspend,
};

int xsp_sync_init(void)
{
	int err;

	syncs = kvcalloc(NR_SYNCS, sizeof(*syncs), GFP_KERNEL | __GFP_NOWARN);
	if (!syncs)
		return -ENOMEM;
	conversion.freq = xsp_counter_freq();
	err = register_pm_notifier(&suspend_notifier);
	if (err)
		kvfree(syncs);
	return err;
}

void xsp_sync_exit(void)
{
	unregister_pm_notifier(&suspend_notifier);
	cancel_delayed_work_sync(&tick_work);
	kvfree(syncs);
}
