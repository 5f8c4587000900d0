// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Opens and closes a drain, and runs its steps: finds producers, reads them, stores the clocks, and
 * computes how long to sleep until the next step. producer.c reads a producer; finish.c lets go of
 * one.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/proc.h"
#include "drain/local.h"

#define MS		1000000u
#define SECOND		1000000000u

/* Full chunks of all rings together: the memory that a decoder needs to merge them. */
#define CHUNKS_BYTES	(16u << 20)
#define CHUNK_MIN	(16u << 10)
/* Limit of one pass over all rings: signals are handled after it. */
#define PASS_SLOTS	(8u << 20)

/* Target of the pace: between two passes a ring must gain no more than this part of its size. */
#define FILL_AIM	256u		/* of 1024 */
#define SLEEP_MAX	(50 * MS)
/* Slots per second to expect of a burst while we sleep, and after little; ops of PyTorch. */
#define BURST		40000000u
#define FIRST_BURST	4000000u
/* Slots per second, and in one pass, that are no more than silence: samples, changes of a lock. */
#define FEW		100000u
#define FEW_AT_ONCE	64u
#define CLOCK_GAP	(5 * MS)
/* The lag of a live viewer. */
#define PEEK_GAP	(100 * MS)
#define IDLE_NS		(200 * MS)
/* A reader that follows the file shows events up to two seconds before its last sync point. */
#define LAST_TICKS_NS	(4ull * SECOND)
/* A longer gap between our sync points is filled with those of the kernel. */
#define CLOCK_GAP_MAX	(3ull * SECOND)

/* Opens all wake-up sources except the device and those of producers. */
static void open_wakers(struct xsp_drain *d)
{
	int fd = d->st.dirfd;

	d->epoll = xsp_store_fd(&d->st, epoll_create1(EPOLL_CLOEXEC));
	d->inotify = fd < 0 ? -1 : xsp_store_fd(&d->st, xsp_drain_watch(fd));
	/* The owner waits on a single descriptor: use it only if inotify is part of it. */
	if (d->inotify < 0 || !xsp_drain_wake_on(d, d->inotify, &d->inotify))
		return;
	xsp_fd_close(d->epoll);
	d->epoll = -1;
}

int xsp_drain_open(int dirfd, struct xsp_cap *cap, const struct xsp_drain_ops *ops, void *data,
		   uint32_t first, struct xsp_drain **out)
{
	struct xsp_drain *d;

	d = calloc(1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	d->st.buf = malloc(XSP_CAP_RAW_MAX);
	if (!d->st.buf) {
		free(d);
		return -ENOMEM;
	}
	d->st.cap = cap;
	d->st.chunk_slots = XSP_CAP_RAW_MAX >> XSPROF_SLOT_SHIFT;
	d->st.pid_ns = xsp_proc_pid_ns();
	d->st.ops = ops;
	d->st.keep = ops && ops->resume;
	d->st.data = data;
	d->st.dirfd = dirfd;
	d->next_number = first;
	d->scan = true;
	d->folder = -1;
	snprintf(d->aside, sizeof(d->aside), "r.%016llx", (unsigned long long)xsp_hash_seed(d));
	d->sleep = XSP_SLEEP_MIN;
	d->device = -1;
	d->notices.fd = -1;
	d->notices.conn = -1;
	open_wakers(d);
	d->st.kinds = 1u << xsp_clock_kind();
	xsp_drain_clocks(d, d->st.kinds);
	xsp_drain_store_clocks(d);
	d->tick_at = xsp_now() + SECOND;
	d->clock_gap = CLOCK_GAP;
	d->idle_since = xsp_now();
	*out = d;
	return 0;
}

int xsp_drain_add_notices(struct xsp_drain *d, const char *session)
{
	int err = xsp_notices_open(&d->notices, session);

	/* On failure a notice waits for the next step. */
	if (!err)
		xsp_drain_wake_on(d, d->notices.fd, &d->notices);
	return err;
}

void xsp_drain_close(struct xsp_drain *d)
{
	struct xsp_producer *p;

	while ((p = d->live)) {
		d->live = p->next;
		xsp_producer_free(p);
	}
	xsp_notices_close(&d->notices);
	xsp_fd_close(d->inotify);
	xsp_fd_close(d->folder);
	xsp_fd_close(d->device);
	xsp_fd_close(d->epoll);
	xsp_ended_free(&d->ended);
	xsp_files_free(&d->files);
	xsp_refused_free(&d->refused);
	xsp_messages_free(&d->messages);
	free(d->st.buf);
	free(d);
}

int xsp_drain_fd(const struct xsp_drain *d)
{
	return d->epoll >= 0 ? d->epoll : d->inotify;
}

void xsp_drain_look(struct xsp_drain *d)
{
	d->look = true;
}

const struct xsp_producer *xsp_drain_producers(const struct xsp_drain *d)
{
	return d->live;
}

/* ---- pace ---------------------------------------------------------------------------------- */

static void size_chunks(struct xsp_drain *d)
{
	uint32_t bytes = CHUNKS_BYTES / (d->ready ? d->ready : 1);

	if (bytes > XSP_CAP_RAW_MAX)
		bytes = XSP_CAP_RAW_MAX;
	if (bytes < CHUNK_MIN)
		bytes = CHUNK_MIN;
	/* Whole blocks, so that a split chunk ends with a record. */
	bytes -= bytes % XSPROF_BLOCK_SIZE;
	d->st.chunk_slots = bytes >> XSPROF_SLOT_SHIFT;
}

/* The time in which half of the smallest ring fills at that rate. */
static uint64_t nap(const struct xsp_pass *pass, uint64_t rate, uint64_t most)
{
	uint64_t ns;

	if (pass->min_slots / 2 > most * rate / SECOND)
		return most;
	ns = pass->min_slots / 2 * SECOND / rate;
	return ns < XSP_SLEEP_MIN ? XSP_SLEEP_MIN : ns;
}

static bool is_busy(const struct xsp_pass *pass, uint64_t elapsed)
{
	return pass->new_slots > FEW_AT_ONCE && pass->new_slots * SECOND / FEW > elapsed;
}

static uint64_t pace(struct xsp_drain *d, const struct xsp_pass *pass)
{
	uint64_t elapsed = d->last_pass ? pass->now - d->last_pass : XSP_SLEEP_MIN;
	uint64_t most, next;

	d->last_pass = pass->now;
	if (pass->new_slots || !d->idle_since)
		d->idle_since = pass->now;
	if (is_busy(pass, elapsed) || !d->busy_at)
		d->busy_at = pass->now;
	if (!d->nr_live)
		return d->sleep = SLEEP_MAX;
	if (pass->now - d->busy_at < IDLE_NS)
		most = nap(pass, BURST, 10 * MS);
	else
		most = nap(pass, FIRST_BURST, SLEEP_MAX);
	next = 2 * d->sleep + XSP_SLEEP_MIN;
	if (pass->fill) {
		uint64_t bound = elapsed * FILL_AIM / pass->fill;

		if (bound < next)
			next = bound;
	}
	if (next > most)
		next = most;
	/* Shorter sleeps cost more than they save. */
	if (next < XSP_SLEEP_MIN / 4)
		next = 0;
	return d->sleep = next;
}

/*
 * The conversion's error can be bounded with three points or more: the first points come quickly,
 * then one per second. Without a producer there is nothing to convert.
 */
static void tick_clocks(struct xsp_drain *d, uint64_t now)
{
	if ((!d->live && !d->clocks) || now < d->clock_at || d->filter.peek)
		return;
	if (now - d->last_mono > CLOCK_GAP_MAX)
		xsp_drain_kernel_clocks(d, d->last_mono + SECOND, now - SECOND);
	xsp_drain_clocks(d, d->st.kinds);
	/* So that a recording killed within its first second has enough points. */
	if (d->clock_gap < SECOND)
		xsp_drain_store_clocks(d);
	d->clock_at = now + d->clock_gap;
	d->clock_gap *= 2;
	if (d->clock_gap > SECOND)
		d->clock_gap = SECOND;
}

static void tick(struct xsp_drain *d, uint64_t now)
{
	struct xsp_producer *p;

	if (now < d->tick_at)
		return;
	d->tick_at = now + SECOND;
	if (!d->filter.peek)
		xsp_drain_store_clocks(d);
	for (p = d->live; p; p = p->next) {
		uint64_t slots = 0;
		uint32_t k;

		xsp_producer_threads(&d->st, p, true);
		for (k = 0; k < p->rf.rings; k++)
			slots += p->rings[k].seen;
		slots += xsp_producer_lost(p);
		if (slots != p->ledger_slots)
			xsp_producer_ledger(&d->st, p);
		p->ledger_slots = slots;
	}
}

/*
 * For a live viewer: a sync point, then everything published before it. Without new records nothing
 * waits for one.
 */
static bool peek_clocks(struct xsp_drain *d, uint64_t now)
{
	if (!d->filter.peek || (!d->nr_syncs && (now < d->clock_at ||
						 now - d->idle_since > 5 * PEEK_GAP)))
		return false;
	xsp_drain_clocks(d, d->st.kinds);
	d->clock_at = now + PEEK_GAP;
	return true;
}

void xsp_drain_set_clocks(struct xsp_drain *d)
{
	d->clocks = true;
}

void xsp_drain_set_peek(struct xsp_drain *d)
{
	d->filter.peek = true;
}

/* Has nothing come for so long that we can sleep, because everything would wake us? */
static bool asleep(struct xsp_drain *d, uint64_t now)
{
	if (d->clocks || (now - d->idle_since < LAST_TICKS_NS && d->live))
		return false;
	if (!xsp_drain_all_quiet(d))
		return false;
	xsp_drain_store_clocks(d);
	return true;
}

uint64_t xsp_drain_step(struct xsp_drain *d)
{
	struct xsp_pass pass = { .now = xsp_now(), .min_slots = UINT64_MAX };
	struct xsp_producer *p;
	uint64_t sleep;

	xsp_drain_wake_check(d);
	xsp_drain_listen(d);
	if (pass.now >= d->scan_at) {
		d->scan_at = pass.now + SECOND;
		d->scan = true;
		d->round++;
		d->list_all = true;
	}
	xsp_drain_find(d);
	xsp_drain_list(d);
	xsp_drain_hear(d, false);
	pass.all = peek_clocks(d, pass.now);
	pass.most = PASS_SLOTS / (d->ready ? d->ready : 1);
	if (pass.most < d->st.chunk_slots)
		pass.most = d->st.chunk_slots;
	for (p = d->live; p; p = p->next) {
		if (p->quiet)
			pass.ready += p->ready;
		else
			xsp_producer_pass(&d->st, p, &pass);
	}
	d->ready = pass.ready;
	size_chunks(d);
	if (pass.all)
		xsp_drain_store_clocks(d);
	/* Reading the rings may have used up the time for files of other users. */
	d->st.foreign_until = xsp_now() + XSP_FOREIGN_NS;
	xsp_drain_look_after(d, pass.now);
	tick_clocks(d, pass.now);
	tick(d, pass.now);
	sleep = pace(d, &pass);
	/* The rest of the folder is left to the next step. */
	if ((d->scan || d->folder >= 0) && sleep > XSP_SLEEP_MIN)
		sleep = XSP_SLEEP_MIN;
	return asleep(d, pass.now) ? UINT64_MAX : sleep;
}

void xsp_drain_flush(struct xsp_drain *d)
{
	struct xsp_pass pass = {
		.now = xsp_now(),
		.all = true,
		.most = UINT64_MAX,
		.min_slots = UINT64_MAX,
	};
	struct xsp_producer *p;

	for (p = d->live; p; p = p->next) {
		xsp_producer_pass(&d->st, p, &pass);
		xsp_producer_threads(&d->st, p, true);
		xsp_producer_ledger(&d->st, p);
	}
	/* After the records: the last sync point must not be before the last record. */
	xsp_drain_clocks(d, d->st.kinds);
	xsp_drain_store_clocks(d);
}
