// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Lets go of a producer that has ended, and of all at the end of the recording. Leaves no slot
 * unread that could be read.
 */
#include <errno.h>
#include <unistd.h>

#include "drain/local.h"

#define CHECK_NS	100000000u
/* Time limit at the end for files of other users. */
#define FOREIGN_LAST_NS	300000000u

/*
 * The kernel keeps an ended producer until it is told that it is no longer needed, and likewise one
 * that was switched off and read; one that lives and was paused before we came is paused again.
 */
static void leave_device(struct xsp_drain *d, struct xsp_producer *p)
{
	bool ended = p->info.state != XSPROF_STATE_LIVE;

	if (p->rf.peek)
		return;
	if (!ended && p->goes_on) {
		if (p->resumed)
			xsp_device_pause(&p->rf, true);
	} else if (!d->st.keep || !d->st.error) {
		xsp_device_drop(&p->rf, !ended);
	}
}

static void unlink_producer(struct xsp_drain *d, struct xsp_producer *p)
{
	struct xsp_producer **at;
	uint64_t skipped, bad;

	for (at = &d->live; *at != p; at = &(*at)->next)
		;
	*at = p->next;
	d->nr_live--;
	xsp_files_remove(&d->files, p);
	/* A forked child that shares the descriptor would continue to report to us. */
	xsp_drain_wake_off(d, p->pidfd);
	if (p->rf.device)
		xsp_drain_wake_off(d, p->rf.fd);
	d->gone_lost += xsp_producer_lost(p);
	d->gone_late += xsp_producer_late(p);
	xsp_producer_lost_slots(p, &skipped, &bad);
	d->gone_skipped += skipped;
	d->gone_bad += bad;
	if (xsp_producer_refused(p))
		d->gone_no_room = xsp_producer_refused(p);
	xsp_drain_note_ended(d, p);
	if (p->rf.device)
		leave_device(d, p);
	else if (!p->rf.peek && (!d->st.keep || !d->st.error))
		unlinkat(d->st.dirfd, p->name, 0);
	xsp_producer_free(p);
}

static void note_death(struct xsp_drain *d, const struct xsp_producer *p,
		       const struct xsprof_cap_exit *exit)
{
	d->vanished += exit->how == XSPROF_HOW_VANISHED;
	if (exit->how != XSPROF_HOW_KILLED)
		return;
	if (d->killed < XSP_DEATHS)
		d->deaths[d->killed] = (struct xsp_death){ p->pid, exit->status };
	d->killed++;
}

/* Is @a an earlier producer of the same process? A file of another user may claim it falsely. */
static bool is_earlier(const struct xsp_producer *a, const struct xsp_producer *b)
{
	const struct xsprof_ctl *ca = &a->rf.ctl, *cb = &b->rf.ctl;

	return !a->rf.device && !b->rf.device && a->owner == b->owner && ca->pid == cb->pid &&
	       ca->start_time == cb->start_time && ca->pid_ns == cb->pid_ns &&
	       ca->clock.kind == cb->clock.kind && ca->seq < cb->seq;
}

static bool said_goodbye(const struct xsp_producer *p)
{
	return __atomic_load_n(&xsp_ring_ctl(&p->rf)->state, __ATOMIC_ACQUIRE) ==
	       XSPROF_STATE_EXITED;
}

static void note_successor(struct xsp_producer *p, const struct xsp_producer *by)
{
	uint64_t ticks = by->rf.ctl.attach.ticks;
	uint64_t *at = said_goodbye(by) ? &p->replaced : &p->followed;

	if (!*at || ticks < *at)
		*at = ticks;
}

static void replace(const struct xsp_producer *p, struct xsprof_cap_exit *exit)
{
	exit->how = XSPROF_HOW_EXEC;
	exit->status = 0;
	if (exit->ticks > p->replaced)
		exit->ticks = p->replaced;
	if (exit->lived > exit->ticks)
		exit->lived = exit->ticks;
}

/*
 * If a process ended before its last program was seen, its exit status belongs to that program. If
 * one program has two copies of the library, both run their exit handlers: a producer without a
 * goodbye, followed by one with it, belonged to a program that was replaced by exec. If neither
 * said goodbye, the earlier one may be of the same program and have ended with it, or of an earlier
 * program: if it was not seen alive after the later one came, how it ended is unknown, and it did
 * not necessarily live as long as its process.
 */
static void find_successor(const struct xsp_drain *d, struct xsp_producer *p,
			   struct xsprof_cap_exit *exit)
{
	const struct xsp_producer *other;

	if (exit->how == XSPROF_HOW_EXEC || exit->how == XSPROF_HOW_RUNNING || said_goodbye(p))
		return;
	for (other = d->live; other; other = other->next)
		if (is_earlier(p, other))
			note_successor(p, other);
	if (p->replaced) {
		replace(p, exit);
	} else if (p->followed > p->lived) {
		exit->how = XSPROF_HOW_VANISHED;
		exit->status = 0;
		exit->lived = p->lived;
		p->process_lived = 0;
	}
}

static void end_producer(struct xsp_drain *d, struct xsp_producer *p,
			 struct xsprof_cap_exit *exit)
{
	struct xsp_producer *other;
	struct xsp_pass pass = {
		.now = xsp_now(),
		.all = true,
		.most = UINT64_MAX,
		.min_slots = UINT64_MAX,
	};
	static const char *const how[] = {
		"ended", "exited", "was killed", "runs another program", "vanished",
		"still runs",
	};

	/* A program that records itself said goodbye but still runs: no one reads it after this. */
	if (p->pid == getpid() && !p->rf.peek)
		xsp_ring_switch_off(&p->rf);
	xsp_producer_pass(&d->st, p, &pass);
	if (d->st.keep && d->st.error) {
		/* It was not read completely: a later attempt writes its LEDGER and EXIT. */
		unlink_producer(d, p);
		return;
	}
	find_successor(d, p, exit);
	xsp_producer_bound_end(p, exit);
	xsp_producer_exit(&d->st, p, exit);
	note_death(d, p, exit);
	xsp_store_say(&d->st, "%s: process %d %s", p->name, (int)p->pid, how[exit->how]);
	/* Few have an earlier one: avoid walking the list for each of many that end at once. */
	other = p->rf.ctl.seq ? d->live : NULL;
	for (; other; other = other->next)
		if (is_earlier(other, p))
			note_successor(other, p);
	unlink_producer(d, p);
}

void xsp_drain_look_after(struct xsp_drain *d, uint64_t now)
{
	struct xsp_producer *p, *next;
	struct xsprof_cap_exit exit;

	for (p = d->live; p; p = next) {
		next = p->next;
		/* For producers of the device the kernel reports the end. */
		if (!p->rf.device && !p->told && !p->look && !d->look && now < p->check_at)
			continue;
		/* Checked first in the next step. */
		if (p->foreign && !p->told && xsp_now() > d->st.foreign_until)
			continue;
		p->look = false;
		if (p->rf.device && now >= p->check_at)
			xsp_producer_note_ran(p, xsp_ticks(p->rf.ctl.clock.kind));
		if (!p->rf.device || now >= p->check_at)
			p->check_at = now + CHECK_NS;
		if (!xsp_producer_ended(&d->st, p, &exit))
			continue;
		end_producer(d, p, &exit);
	}
	d->look = false;
}

static void finish_live(struct xsp_drain *d)
{
	struct xsp_producer *p;

	for (p = d->live; p; p = p->next) {
		p->goes_on = p->rf.peek || (p->rf.device && d->filter.go_on);
		if (!p->rf.mem.broken && !p->goes_on)
			p->goes_on = xsp_ring_switch_off(&p->rf) > 0;
		else if (p->sched)
			xsp_device_sched(&p->rf, false);
	}
	/* A marker that saw its bit enabled publishes within a moment. */
	if (d->live)
		usleep(2000);
	while ((p = d->live)) {
		struct xsprof_cap_exit exit = {
			.how = XSPROF_HOW_RUNNING,
			.ticks = xsp_ticks(p->rf.ctl.clock.kind),
		};

		exit.lived = exit.ticks;
		end_producer(d, p, &exit);
	}
}

int xsp_drain_finish(struct xsp_drain *d, uint32_t why)
{
	struct xsprof_cap_end end = { .why = why };
	struct xsp_drain_stats stats;

	xsp_drain_wake_check(d);
	xsp_drain_find_last(d);
	xsp_drain_hear(d, true);
	d->list_all = true;
	xsp_drain_list(d);
	d->look = true;
	d->st.foreign_until = xsp_now() + FOREIGN_LAST_NS;
	xsp_drain_listen(d);
	xsp_drain_look_after(d, xsp_now());
	finish_live(d);
	xsp_drain_clocks(d, d->st.kinds);
	xsp_drain_store_clocks(d);
	if (d->st.keep && d->st.error) {
		/* A later attempt stores the rest: an END chunk would claim that there is none. */
		xsp_room_release(&d->st.cap->room, d->st.cap->fd, d->st.cap->size);
		return d->st.error;
	}
	if (d->st.ops && d->st.ops->last)
		d->st.ops->last(d->st.data, d->st.elsewhere_slots);
	xsp_drain_get_stats(d, &stats);
	if (d->st.error) {
		end.why = 3;
		xsp_cap_retry(d->st.cap);
	}
	end.ticks = xsp_ticks(xsp_clock_kind());
	end.slots = stats.slots;
	end.lost_records = stats.lost_records;
	end.lost_slots = stats.lost_slots;
	end.producers = stats.producers;
	xsp_cap_end(d->st.cap, &end);
	if (!d->st.error && d->st.cap->error)
		d->st.error = d->st.cap->error;
	return d->st.error;
}
