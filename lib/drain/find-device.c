// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Finds the device's producers for a drain and takes up the selected ones. Reads no ring.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "drain/local.h"

/* Longest delay until the device reports new slots. */
#define WATCH_NS	100000000u

int xsp_drain_add_device(struct xsp_drain *d, int fd, const struct xsp_device_filter *filter)
{
	int err;

	d->filter = *filter;
	d->filter.ended = &d->ended;
	d->device = xsp_store_fd(&d->st, fd);
	d->began = xsp_now();
	d->list_all = true;
	err = d->device < 0 ? d->device : xsp_drain_wake_on(d, d->device, &d->device);
	if (!err)
		return 0;
	xsp_fd_close(d->device);
	d->device = -1;
	return err;
}

/* ---- who has come -------------------------------------------------------------------------- */

static bool known(const struct xsp_drain *d, uint64_t id)
{
	const struct xsp_producer *p;

	for (p = d->live; p; p = p->next)
		if (p->id == id)
			return true;
	return false;
}

/* Records from before our first sync point: use the kernel's sync points of that time. */
static void early_clocks(struct xsp_drain *d, const struct xsp_producer *p)
{
	if (d->early || p->info.attached >= d->first_mono)
		return;
	d->early = true;
	xsp_drain_kernel_clocks(d, 0, d->first_mono - 1);
}

static const char *why_not(int err)
{
	switch (err) {
	case -ENOTTY:
		return "the xsprof module is too old for them";
	case -EBUSY:
		return "they are in another producer of the process";
	default:
		return strerror(-err);
	}
}

/* Processes told to do so requested scheduler events at attach; request them for others now. */
static void begin_sched(struct xsp_drain *d, struct xsp_producer *p)
{
	int before;

	if (!d->filter.sched || d->filter.peek || p->info.state != XSPROF_STATE_LIVE)
		return;
	before = xsp_device_sched(&p->rf, true);
	p->sched = !before;
	/* One that ended meanwhile needs none. */
	if (before < 0 && before != -ESHUTDOWN)
		xsp_store_note(&d->st, "%s: no scheduler events: %s", p->name, why_not(before));
}

/* A time namespace shifts this clock, and a capture has one conversion per clock. */
static void look_at_clock(struct xsp_drain *d, const struct xsp_producer *p)
{
	const struct xsprof_ctl *ctl = &p->rf.ctl;
	int64_t off = (int64_t)(ctl->attach.mono - p->info.attached);

	if (off && ctl->clock.kind == XSPROF_CLOCK_MONO_RAW)
		xsp_store_note(&d->st, "%s: in another time namespace: its times are shifted by %"
			       PRId64 " s", p->name, off / 1000000000);
}

static int take_up(struct xsp_drain *d, const struct xsprof_info *info)
{
	struct xsp_producer *p;
	int err = -EUSERS;

	if (d->next_number < XSPROF_CAP_MAX_PRODUCERS)
		err = xsp_producer_open_device(&d->st, d->device, info->id, !d->filter.peek,
					       &d->next_number, &p);
	if (err)
		return err;
	/* Producers that we only peek at are polled. */
	if (!d->filter.peek)
		err = xsp_device_watch(&p->rf, xsp_ring_slots(&p->rf, 0) / 4, WATCH_NS);
	if (!err)
		err = xsp_drain_wake_on(d, p->rf.fd, p);
	if (!err && d->filter.go_on && p->info.state == XSPROF_STATE_LIVE &&
	    __atomic_load_n(&xsp_ring_ctl(&p->rf)->paused, __ATOMIC_RELAXED) &
	    XSPROF_PAUSED_RECORDER)
		p->resumed = !xsp_device_pause(&p->rf, false);
	if (!err)
		begin_sched(d, p);
	/* Its chunk is written already: poll a producer that cannot wake us. */
	if (err)
		xsp_store_note(&d->st, "%s: cannot be waited for: %s", p->name, strerror(-err));
	look_at_clock(d, p);
	d->on_device++;
	xsp_drain_join(d, p);
	early_clocks(d, p);
	return 0;
}

static int look_at(void *data, const struct xsprof_info *info)
{
	struct xsp_drain *d = data;
	char name[64];
	int err;

	if (info->id > d->last_id)
		d->last_id = info->id;
	if (!xsp_device_wants(&d->filter, info, d->began) || known(d, info->id))
		return 0;
	err = take_up(d, info);
	/* It was dropped by another reader or by a limit. */
	if (!err || err == -ENOENT)
		return 0;
	snprintf(name, sizeof(name), "process %u (%.15s)", info->pid, info->comm);
	xsp_drain_refuse(d, &d->shares.own, name,
			 &(struct xsp_refusal){ .key = info->id, .err = err },
			 xsp_device_ring_strerror(err));
	return 0;
}

void xsp_drain_list(struct xsp_drain *d)
{
	uint64_t after = d->list_all ? 0 : d->last_id;
	int err;

	if (d->device < 0 || !(d->list || d->list_all))
		return;
	d->list = false;
	d->list_all = false;
	err = xsp_device_each(d->device, after, look_at, d);
	if (err)
		xsp_drain_refuse(d, &d->shares.own, XSPROF_DEVICE_PATH,
				 &(struct xsp_refusal){ .key = UINT64_MAX, .err = err },
				 strerror(-err));
}
