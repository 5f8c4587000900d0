// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ended producers: keeps them for a time, and frees them if memory is needed. Owns their list,
 * under xsp_registry_lock. Producers report their ends through a pointer that is set here, and
 * accounts request memory through another.
 *
 * An account's excess never affects others: only its own kept producers are freed for it, at once.
 */
#include <linux/module.h>
#include <linux/timekeeping.h>

#include "xsprof.h"

#define LOOKS	64	/* producers with readers examined in one hold of the lock */

static LIST_HEAD(ended);		/* those kept, oldest first */
static u64 nr_kept;
static u64 kept_bytes;
static u64 nr_dropped;
static u64 dropped_bytes;

static void trim_worker(struct work_struct *work);
static DECLARE_DELAYED_WORK(trim_work, trim_worker);

/* ---- the list: under xsp_registry_lock ------------------------------------------------------ */

/* Is it in the list? A dropped one may be in a local list, which is not under the lock. */
static bool is_kept(const struct xsp_producer *p)
{
	return xsp_registry_has(p) && !list_empty(&p->node);
}

static void count(struct xsp_producer *p, s64 bytes)
{
	p->kept += bytes;
	kept_bytes += bytes;
	p->payer.account->kept += bytes;
}

/*
 * Drops it: it is no longer kept or found. Return: true: the caller must put the registry's
 * reference, without the lock; false: it was dropped before.
 */
static bool forget(struct xsp_producer *p)
{
	if (!xsp_registry_erase(p))
		return false;
	if (!list_empty(&p->node)) {
		list_del_init(&p->node);
		list_del(&p->account_node);
		nr_kept--;
		count(p, -(s64)p->kept);
	}
	return true;
}

/* Drops it to reuse its memory; the caller puts the reference. */
static void drop(struct xsp_producer *p)
{
	nr_dropped++;
	dropped_bytes += p->kept;
	forget(p);
}

static u64 bytes_of(const struct xsp_producer *p)
{
	return (u64)atomic_long_read(&p->payer.pages) << PAGE_SHIFT;
}

/* One without a ring has no records; another may have been read completely. */
static bool worth_keeping(const struct xsp_producer *p)
{
	return !READ_ONCE(p->unwanted) &&
	       !bitmap_empty((const unsigned long *)p->ctl->ready,
			     p->geo.rings + p->geo.kernel_rings);
}

/* ---- what is too old ----------------------------------------------------------------------- */

/* It may have ended after the caller read the clock: then the age is 0, not a huge number. */
static u64 age_of(const struct xsp_producer *p, u64 now)
{
	return now > p->ended ? now - p->ended : 0;
}

/*
 * Schedules the next check for the time when the oldest is too old; an earlier scheduled one stays.
 * Under xsp_registry_lock, so that nothing older is missed.
 */
static void plan_look(u64 now)
{
	u64 keep = (u64)READ_ONCE(xsp_retain_seconds) * NSEC_PER_SEC, age;
	const struct xsp_producer *oldest;

	oldest = list_first_entry_or_null(&ended, struct xsp_producer, node);
	if (!oldest)
		return;
	age = min(age_of(oldest, now), keep);
	/* Bounded, for limits of years. */
	queue_delayed_work(xsp_wq, &trim_work, 1 +
			   nsecs_to_jiffies(min_t(u64, keep - age, 3600 * NSEC_PER_SEC)));
}

/* ---- coming and going ---------------------------------------------------------------------- */

/* Does the account exceed its own limit, or its last addition the limit of all? */
static bool beyond(const struct xsp_account *account)
{
	return account->kept > READ_ONCE(xsp_retain_uid_bytes) ||
	       kept_bytes > READ_ONCE(xsp_retain_bytes);
}

/*
 * More is kept of @account: moves its oldest beyond the limit to the list @gone. The last of these
 * may be the one just added: the caller has a reference.
 *
 * All in one hold of the lock.  If the lock were released in between, the sum would exceed the
 * limit for the next caller: an end of another account, which would drop its own records, or
 * trim_worker().
 */
static void shed(const struct xsp_account *account, struct list_head *gone)
{
	struct xsp_producer *p, *next;

	list_for_each_entry_safe(p, next, &account->ended, account_node) {
		if (!beyond(account))
			return;
		drop(p);
		list_add_tail(&p->node, gone);
	}
}

/* Frees their memory, without the lock. */
static void put_all(struct list_head *gone)
{
	struct xsp_producer *p, *next;

	list_for_each_entry_safe(p, next, gone, node) {
		/* A reader may still have it; the node is not used any more, see is_kept(). */
		list_del_init(&p->node);
		xsp_producer_put(p);
		cond_resched();
	}
}

/* The process of @p has ended or released it: keep it for later readers, within limits. */
static void on_end(struct xsp_producer *p)
{
	bool unread = false;
	LIST_HEAD(gone);

	mutex_lock(&xsp_registry_lock);
	if (!xsp_registry_has(p)) {
		/* A reader saw the end and dropped it before this. */
	} else if (worth_keeping(p)) {
		list_add_tail(&p->node, &ended);
		list_add_tail(&p->account_node, &p->payer.account->ended);
		nr_kept++;
		count(p, bytes_of(p));
		shed(p->payer.account, &gone);
		plan_look(ktime_get_ns());
	} else {
		unread = forget(p);
	}
	mutex_unlock(&xsp_registry_lock);
	if (unread)
		xsp_producer_put(p);
	put_all(&gone);
}

/* Has the process ended? If not, its end counts everything allocated so far. */
static bool has_ended(struct xsp_producer *p)
{
	bool live;

	/* The end takes the lock too: it happened before, or will count everything. */
	mutex_lock(&p->lock);
	live = p->state == XSPROF_STATE_LIVE;
	mutex_unlock(&p->lock);
	return !live;
}

/**
 * xsp_retain_counted() - count memory that changed after a producer's end
 * @p: producer
 * @err: result of the call that allocated; even if it is 0, the producer may have ended since
 *
 * Does nothing for a live producer: any process may call this as often as it wants.
 *
 * Return: @err.
 */
int xsp_retain_counted(struct xsp_producer *p, int err)
{
	LIST_HEAD(gone);

	if (!has_ended(p))
		return err;
	mutex_lock(&xsp_registry_lock);
	if (is_kept(p) && bytes_of(p) != p->kept) {
		count(p, bytes_of(p) - p->kept);
		shed(p->payer.account, &gone);
	}
	mutex_unlock(&xsp_registry_lock);
	put_all(&gone);
	return err;
}

/**
 * xsp_retain_drop() - drop an ended producer
 * @p: producer
 *
 * Return: 0; -EBUSY: it has not ended.
 */
int xsp_retain_drop(struct xsp_producer *p)
{
	bool gone;

	if (!has_ended(p))
		return -EBUSY;
	mutex_lock(&xsp_registry_lock);
	gone = forget(p);
	mutex_unlock(&xsp_registry_lock);
	if (gone)
		xsp_producer_put(p);
	return 0;
}

/* ---- room ---------------------------------------------------------------------------------- */

/* Too old; or beyond a limit that was lowered: additions are counted at once, see shed(). */
static bool too_much(const struct xsp_producer *p, u64 now)
{
	u64 keep = (u64)READ_ONCE(xsp_retain_seconds) * NSEC_PER_SEC;

	return age_of(p, now) >= keep || kept_bytes > READ_ONCE(xsp_retain_bytes) ||
	       p->payer.account->kept > READ_ONCE(xsp_retain_uid_bytes);
}

/* Oldest first; an account's excess does not affect others. */
static struct xsp_producer *next_to_drop(u64 now)
{
	struct xsp_producer *p;

	list_for_each_entry(p, &ended, node)
		if (too_much(p, now))
			return p;
	return NULL;
}

/* Drops producers beyond the limits, and runs again when the next one is too old. */
static void trim_worker(struct work_struct *work)
{
	struct xsp_producer *p;
	u64 now = ktime_get_ns();

	for (;;) {
		mutex_lock(&xsp_registry_lock);
		p = next_to_drop(now);
		if (!p)
			break;
		drop(p);
		mutex_unlock(&xsp_registry_lock);
		xsp_producer_put(p);
		cond_resched();
	}
	plan_look(now);
	mutex_unlock(&xsp_registry_lock);
}

/* A limit was changed. */
void xsp_retain_trim(void)
{
	mod_delayed_work(xsp_wq, &trim_work, 0);
}

/* References are taken under xsp_registry_lock, or from an existing one. */
static bool may_go(const struct xsp_producer *p, const struct mem_cgroup *memcg)
{
	return kref_read(&p->ref) == 1 && (!memcg || p->payer.memcg == memcg);
}

/*
 * The account's next producer after @last, from the oldest if that is NULL: one that may be
 * dropped, or the last one to examine in this hold of xsp_registry_lock. NULL: no more.
 */
static struct xsp_producer *look_on(const struct xsp_account *account, struct xsp_producer *last,
				    const struct mem_cgroup *memcg)
{
	struct xsp_producer *p = list_prepare_entry(last, &account->ended, account_node);
	unsigned int looks = 0;

	list_for_each_entry_continue(p, &account->ended, account_node)
		if (may_go(p, memcg) || ++looks == LOOKS)
			return p;
	return NULL;
}

/*
 * Drops the account's oldest ended producer to make room for a live one; with @memcg, the oldest in
 * that memory cgroup. Producers with readers are skipped. There may be thousands of them, and any
 * user may cause this again and again: the lock is released in between. Return: memory was freed.
 */
static bool reclaim(struct xsp_account *account, const struct mem_cgroup *memcg)
{
	struct xsp_producer *p, *last = NULL;
	bool freed;

	do {
		mutex_lock(&xsp_registry_lock);
		/* @last was dropped meanwhile: that freed memory too. */
		freed = last && !is_kept(last);
		p = freed ? NULL : look_on(account, last, memcg);
		if (p && may_go(p, memcg)) {
			drop(p);
			freed = true;
		} else if (p) {
			xsp_producer_get(p);
		}
		mutex_unlock(&xsp_registry_lock);
		if (last)
			xsp_producer_put(last);
		last = p;
		cond_resched();
	} while (p && !freed);
	if (p)
		xsp_producer_put(p);
	return freed;
}

/* ---- the module ---------------------------------------------------------------------------- */

/* Fills in the kept ones; live producers are counted elsewhere. */
void xsp_retain_counters(struct xsp_counters *c)
{
	mutex_lock(&xsp_registry_lock);
	c->live = xsp_registry_live();
	c->kept = nr_kept;
	c->kept_bytes = kept_bytes;
	c->dropped = nr_dropped;
	c->dropped_bytes = dropped_bytes;
	mutex_unlock(&xsp_registry_lock);
}

void xsp_retain_init(void)
{
	xsp_account_reclaim = reclaim;
	xsp_producer_on_end = on_end;
}

/* The module is unloaded: no file is open, so only queued ends have references. */
void xsp_retain_exit(void)
{
	struct xsp_producer *p;
	u64 last = 0;
	bool gone;

	cancel_delayed_work_sync(&trim_work);
	/* First prevent new ends, then wait for queued ones; they free some. */
	while ((p = xsp_registry_next_any(last))) {
		last = p->id;
		xsp_process_remove(p);
		xsp_producer_put(p);
	}
	flush_workqueue(xsp_wq);
	cancel_delayed_work_sync(&trim_work);
	while ((p = xsp_registry_next_any(0))) {
		mutex_lock(&xsp_registry_lock);
		gone = forget(p);
		mutex_unlock(&xsp_registry_lock);
		if (gone)
			xsp_producer_put(p);
		xsp_producer_put(p);
	}
}
