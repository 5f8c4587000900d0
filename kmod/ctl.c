// SPDX-License-Identifier: GPL-2.0-only
/*
 * A producer's control page: enabled categories, pause, traced kinds of markers. Only the kernel
 * writes it. Owns the set of traced kinds.
 */
#include <linux/math64.h>
#include <linux/pid_namespace.h>

#include "xsprof.h"

static u32 traced;		/* kinds of markers, one bit each */

/* In the unit and time namespace of field 22 of /proc/PID/stat, so that the two can be compared. */
u64 xsp_ctl_start_time(const struct xsp_producer *p, struct xsp_offset offset)
{
	return div_u64(p->started + offset.boot, NSEC_PER_SEC / USER_HZ);
}

/* Fills in the fields that never change, and the state. */
void xsp_ctl_fill(struct xsp_producer *p, const struct xsprof_attach *arg)
{
	struct xsprof_ctl *ctl = p->ctl;

	ctl->abi_major = XSPROF_ABI_MAJOR;
	ctl->abi_minor = XSPROF_ABI_MINOR;
	ctl->page_size = PAGE_SIZE;
	ctl->mode = p->mode;
	ctl->nr_rings = p->geo.nr_rings;
	ctl->nr_lock_rings = p->geo.rings - p->geo.nr_rings;
	ctl->nr_kernel_rings = p->geo.kernel_rings;
	ctl->kernel_off = (u64)p->geo.first_kernel << PAGE_SHIFT;
	ctl->kernel_size = arg->kernel_size;
	ctl->ring_size = arg->ring_size;
	ctl->ring_stride = (u64)p->geo.stride << PAGE_SHIFT;
	ctl->rings_off = (u64)p->geo.first_ring << PAGE_SHIFT;
	ctl->arena_off = (u64)p->geo.arena << PAGE_SHIFT;
	ctl->arena_size = arg->arena_size;
	ctl->total_size = arg->total_size;
	ctl->pid = pid_nr_ns(p->pid, ns_of_pid(p->pid));
	ctl->uid = from_kuid_munged(current_user_ns(), p->cred->uid);
	ctl->pid_ns = ns_of_pid(p->pid)->ns.inum;
	ctl->start_time = xsp_ctl_start_time(p, p->offset);
	ctl->ppid = pid_nr_ns(p->parent, ns_of_pid(p->pid));
	ctl->id = p->id;
	ctl->session = p->session;
	ctl->state = XSPROF_STATE_LIVE;
}

/* Under p->lock, or before @p can be found. */
void xsp_ctl_enable(struct xsp_producer *p, u64 wanted, u32 paused)
{
	struct xsprof_ctl *ctl = p->ctl;

	WRITE_ONCE(ctl->wanted, wanted);
	WRITE_ONCE(ctl->paused, paused);
	WRITE_ONCE(ctl->enabled, paused ? 0 : wanted);
	/* A task that sees the new generation sees the change. */
	smp_store_release(&ctl->generation, ctl->generation + 1);
}

/* Adds or removes traced kinds of markers. One caller at a time. */
void xsp_ctl_trace(u32 set, u32 clear)
{
	WRITE_ONCE(traced, (traced & ~clear) | set);
}

/*
 * Publishes the traced kinds to a producer. Reads the set under the lock: the last caller has the
 * latest set.
 */
void xsp_ctl_tell_traced(struct xsp_producer *p)
{
	struct xsprof_ctl *ctl = p->ctl;
	u32 types, paused;

	mutex_lock(&p->lock);
	/* An ended producer sends nothing. */
	types = p->state == XSPROF_STATE_LIVE ? READ_ONCE(traced) : 0;
	WRITE_ONCE(ctl->emit_types, types);
	WRITE_ONCE(ctl->emit, types ? U32_MAX : 0);
	paused = ctl->paused & ~XSPROF_PAUSED_RECORDER;
	if (!types)
		paused |= XSPROF_PAUSED_RECORDER;
	if (p->state == XSPROF_STATE_LIVE && p->idle && paused != ctl->paused) {
		xsp_ctl_enable(p, ctl->wanted, paused);
		xsp_sched_settle(p);
	}
	mutex_unlock(&p->lock);
}

/*
 * Another process changed the set of categories: publishes the time and the new set to the reader.
 * After the last category is disabled, no end of a range is written. Under p->lock.
 */
static void note_switch(struct xsp_producer *p)
{
	struct xsprof_ctl *ctl = p->ctl;
	u64 now = xsp_producer_ticks(p);

	if (!ctl->wanted) {
		WRITE_ONCE(ctl->quiet_ticks, now);
		/* A reader that sees the new count sees the time. */
		smp_store_release(&ctl->quiets, ctl->quiets + 1);
	}
	WRITE_ONCE(ctl->switched, ctl->wanted);
	WRITE_ONCE(ctl->switch_ticks, now);
	/* A reader that sees the new count sees both. */
	smp_store_release(&ctl->switches, ctl->switches + 1);
}

/**
 * xsp_ctl_control() - change what is enabled
 * @p: producer
 * @arg: the caller's argument; enabled is set
 * @may_pause: bits of pause and resume that this caller may change
 *
 * Return: 0; -EPERM: a bit that it may not change; -EINVAL: an unknown bit; -ESHUTDOWN: it has
 * ended.
 */
int xsp_ctl_control(struct xsp_producer *p, struct xsprof_control *arg, u32 may_pause)
{
	struct xsprof_ctl *ctl = p->ctl;
	u32 bits = arg->pause | arg->resume;
	bool was_paused;
	u64 before;
	int err = 0;

	if (arg->flags || bits & ~(XSPROF_PAUSED_PROGRAM | XSPROF_PAUSED_RECORDER))
		return -EINVAL;
	if (bits & ~may_pause)
		return -EPERM;
	mutex_lock(&p->lock);
	before = ctl->wanted;
	was_paused = ctl->paused;
	/* A reader has decided; tracing no longer does. */
	if (bits & XSPROF_PAUSED_RECORDER)
		p->idle = false;
	if (p->state != XSPROF_STATE_LIVE)
		err = -ESHUTDOWN;
	else if (arg->set || arg->clear || bits)
		xsp_ctl_enable(p, (ctl->wanted & ~arg->clear) | arg->set,
			       (ctl->paused & ~arg->resume) | arg->pause);
	/* The program itself records its own changes. */
	if (!err && before != ctl->wanted && !was_paused && !ctl->paused &&
	    !(may_pause & XSPROF_PAUSED_PROGRAM))
		note_switch(p);
	if (!err && arg->pause)
		xsp_sched_settle(p);
	arg->enabled = ctl->enabled;
	mutex_unlock(&p->lock);
	return err;
}

/* Converts ticks of the producer's counter to ns. */
u64 xsp_ctl_ns(const struct xsp_producer *p, u64 ticks)
{
	const struct xsprof_clock *c = &p->ctl->clock;
	u32 seq, mult, shift;

	do {
		seq = READ_ONCE(c->seq);
		smp_rmb();	/* pairs with store_clock() of sync.c */
		mult = READ_ONCE(c->mult);
		shift = READ_ONCE(c->shift);
		smp_rmb();	/* both before seq is read again */
	} while (seq & 1 || READ_ONCE(c->seq) != seq);
	return mul_u64_u32_shr(ticks, mult, shift);
}
