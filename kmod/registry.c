// SPDX-License-Identifier: GPL-2.0-only
/*
 * All producers: numbers, who may read which, and how long those that have ended are kept.
 * Owns the references that keep an ended producer; never touches its memory.
 */
#include <linux/capability.h>
#include <linux/module.h>
#include <linux/pid_namespace.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/uidgid.h>

#include "xsprof.h"

/* The table, the list of ended producers, users and the counts. */
DEFINE_MUTEX(xsp_registry_lock);
DECLARE_WAIT_QUEUE_HEAD(xsp_registry_wait);

static DEFINE_XARRAY(producers);	/* by number; the entry holds a reference */
static LIST_HEAD(ended);		/* those kept, oldest first */
static LIST_HEAD(uids);
static u64 last_id;
static u64 nr_live;
static u64 nr_kept;
static u64 kept_bytes;
static u64 nr_dropped;
static u64 dropped_bytes;
static atomic64_t events;		/* arrivals and ends */

static void trim_worker(struct work_struct *work);
static DECLARE_DELAYED_WORK(trim_work, trim_worker);

static void tell(void)
{
	atomic64_inc(&events);
	wake_up_interruptible_all(&xsp_registry_wait);
}

u64 xsp_registry_events(void)
{
	return atomic64_read(&events);
}

/* ---- users --------------------------------------------------------------------------------- */

static struct xsp_uid *find_uid_locked(kuid_t uid)
{
	struct xsp_uid *u;

	list_for_each_entry(u, &uids, node)
		if (uid_eq(u->uid, uid))
			return u;
	u = kzalloc(sizeof(*u), GFP_KERNEL);
	if (!u)
		return NULL;
	u->uid = uid;
	list_add(&u->node, &uids);
	return u;
}

static void free_uid_locked(struct xsp_uid *u)
{
	list_del(&u->node);
	kfree(u);
}

/* ---- coming and going ---------------------------------------------------------------------- */

static int add_locked(struct xsp_producer *p)
{
	struct xsp_uid *u = find_uid_locked(p->cred->uid);
	int err;

	p->uid = u;
	if (!u)
		return -ENOMEM;
	if (u->refs >= READ_ONCE(xsp_uid_max_producers))
		return -EUSERS;
	/* The place is made now, so that xsp_registry_publish() cannot fail. */
	err = xa_reserve(&producers, last_id + 1, GFP_KERNEL);
	if (err)
		return err;
	p->id = ++last_id;
	u->refs++;
	return 0;
}

/**
 * xsp_registry_add() - give a producer its number and its user's account
 * @p: producer; nobody can find it yet
 *
 * Return: 0, -ENOMEM, -EUSERS: uid_max_producers, all of them live or being read.
 */
int xsp_registry_add(struct xsp_producer *p)
{
	int err;

	do {
		mutex_lock(&xsp_registry_lock);
		err = add_locked(p);
		/* A user is known as long as there is a producer of his. */
		if (err && p->uid && !p->uid->refs)
			free_uid_locked(p->uid);
		mutex_unlock(&xsp_registry_lock);
	} while (err == -EUSERS && xsp_registry_make_room(p->uid));
	return err;
}

/* From here on it can be listed and opened. */
void xsp_registry_publish(struct xsp_producer *p)
{
	mutex_lock(&xsp_registry_lock);
	xa_store(&producers, p->id, xsp_producer_get(p), GFP_KERNEL);
	p->listed = true;
	nr_live++;
	mutex_unlock(&xsp_registry_lock);
	tell();
}

/* The end of the producer's memory: its number and its user's account go. */
void xsp_registry_remove(struct xsp_producer *p)
{
	mutex_lock(&xsp_registry_lock);
	if (!p->listed)
		xa_release(&producers, p->id);
	if (!--p->uid->refs)
		free_uid_locked(p->uid);
	mutex_unlock(&xsp_registry_lock);
}

/*
 * Takes an ended producer out of the list.  Return: the reference that the registry had, to be
 * put without the lock; NULL when it is out already.
 */
static struct xsp_producer *forget_locked(struct xsp_producer *p)
{
	if (xa_load(&producers, p->id) != p)
		return NULL;
	xa_erase(&producers, p->id);
	if (!list_empty(&p->node)) {
		list_del_init(&p->node);
		nr_kept--;
		kept_bytes -= p->kept;
		p->uid->kept -= p->kept;
	}
	return p;
}

/* One that never opened a ring has nothing to say; another may have been read for good. */
static bool worth_keeping(const struct xsp_producer *p)
{
	return !READ_ONCE(p->unwanted) &&
	       !bitmap_empty((const unsigned long *)p->ctl->ready,
			     p->geo.rings + p->geo.kernel_rings);
}

/* The process of @p has ended, or has let go of it: keep it for whoever asks, within limits. */
void xsp_registry_ended(struct xsp_producer *p)
{
	struct xsp_producer *gone = NULL;

	mutex_lock(&xsp_registry_lock);
	nr_live--;
	if (xa_load(&producers, p->id) != p) {
		/* A reader saw the end, and dropped it, before we came here. */
	} else if (worth_keeping(p)) {
		p->kept = (u64)atomic_long_read(&p->nr_pages) << PAGE_SHIFT;
		list_add_tail(&p->node, &ended);
		nr_kept++;
		kept_bytes += p->kept;
		p->uid->kept += p->kept;
	} else {
		gone = forget_locked(p);
	}
	mutex_unlock(&xsp_registry_lock);
	tell();
	if (gone)
		xsp_producer_put(gone);
	mod_delayed_work(xsp_wq, &trim_work, 0);
}

/**
 * xsp_registry_drop() - an ended producer need not be kept any longer
 * @p: producer
 *
 * Return: 0; -EBUSY: it has not ended.
 */
int xsp_registry_drop(struct xsp_producer *p)
{
	struct xsp_producer *gone;
	bool live;

	mutex_lock(&p->lock);
	live = p->state == XSPROF_STATE_LIVE;
	mutex_unlock(&p->lock);
	if (live)
		return -EBUSY;
	mutex_lock(&xsp_registry_lock);
	gone = forget_locked(p);
	mutex_unlock(&xsp_registry_lock);
	if (gone)
		xsp_producer_put(gone);
	return 0;
}

/* ---- keeping ------------------------------------------------------------------------------- */

/* It may have ended after the caller looked at the clock: that is 0, and not an eternity. */
static u64 age_of(const struct xsp_producer *p, u64 now)
{
	return now > p->ended ? now - p->ended : 0;
}

static bool too_much(const struct xsp_producer *p, u64 now)
{
	u64 keep = (u64)READ_ONCE(xsp_retain_seconds) * NSEC_PER_SEC;

	return age_of(p, now) >= keep || kept_bytes > READ_ONCE(xsp_retain_bytes) ||
	       p->uid->kept > READ_ONCE(xsp_retain_uid_bytes);
}

/* Oldest first; one user's excess does not cost another's. */
static struct xsp_producer *next_to_drop(u64 now)
{
	struct xsp_producer *p;

	list_for_each_entry(p, &ended, node)
		if (too_much(p, now))
			return p;
	return NULL;
}

/* Its memory is wanted for something else; the caller puts the reference. */
static void drop_locked(struct xsp_producer *p)
{
	nr_dropped++;
	dropped_bytes += p->kept;
	forget_locked(p);
}

/* Drops what is beyond the limits, and comes back when the next one is too old. */
static void trim_worker(struct work_struct *work)
{
	struct xsp_producer *p;
	u64 now = ktime_get_ns(), age, keep;

	for (;;) {
		mutex_lock(&xsp_registry_lock);
		p = next_to_drop(now);
		if (!p)
			break;
		drop_locked(p);
		mutex_unlock(&xsp_registry_lock);
		xsp_producer_put(p);
		cond_resched();
	}
	p = list_first_entry_or_null(&ended, struct xsp_producer, node);
	if (p) {
		keep = (u64)READ_ONCE(xsp_retain_seconds) * NSEC_PER_SEC;
		age = age_of(p, now);
		/* Not all at once for a limit of years. */
		queue_delayed_work(xsp_wq, &trim_work, 1 +
				   nsecs_to_jiffies(min_t(u64, keep - age, 3600 * NSEC_PER_SEC)));
	}
	mutex_unlock(&xsp_registry_lock);
}

/**
 * xsp_registry_make_room() - drop the oldest ended producer for the sake of a living one
 * @uid: of this user, NULL for any
 *
 * Return: true when its memory was freed: one that somebody reads is left alone.
 */
bool xsp_registry_make_room(const struct xsp_uid *uid)
{
	struct xsp_producer *p;

	mutex_lock(&xsp_registry_lock);
	list_for_each_entry(p, &ended, node) {
		/* References come from here, under the lock, or from one that is there. */
		if ((uid && p->uid != uid) || kref_read(&p->ref) > 1)
			continue;
		drop_locked(p);
		mutex_unlock(&xsp_registry_lock);
		xsp_producer_put(p);
		return true;
	}
	mutex_unlock(&xsp_registry_lock);
	return false;
}

/* A limit was changed. */
void xsp_registry_trim(void)
{
	mod_delayed_work(xsp_wq, &trim_work, 0);
}

/* ---- looking ------------------------------------------------------------------------------- */

static bool has_its_ids(const struct xsp_producer *p)
{
	const struct cred *me = current_cred(), *it = p->cred;

	return uid_eq(me->uid, it->uid) && uid_eq(me->uid, it->euid) && uid_eq(me->uid, it->suid) &&
	       gid_eq(me->gid, it->gid) && gid_eq(me->gid, it->egid) && gid_eq(me->gid, it->sgid);
}

/* Its rights are the caller's as well, and count in the same namespace. */
static bool has_its_rights(const struct xsp_producer *p)
{
	const struct cred *me = current_cred(), *it = p->cred;

	return me->user_ns == it->user_ns && cap_issubset(it->cap_permitted, me->cap_permitted);
}

/*
 * "Own" as ptrace has it (PTRACE_MODE_READ_REALCREDS), with what the process was at attach: it may
 * have ended.  Besides, the caller must be able to name it: its pid namespace has it.  A process is
 * its own as long as it has the ids.  No security module is asked: that is not for modules to do.
 */
static bool is_own(const struct xsp_producer *p)
{
	if (!has_its_ids(p))
		return false;
	if (xsp_producer_is_mine(p))
		return true;
	return p->dumpable && has_its_rights(p) && pid_nr_ns(p->pid, task_active_pid_ns(current));
}

/* Rights over the user namespace of the producer, or over @over where it was not dumpable. */
static bool capable_over(const struct xsp_producer *p, int cap)
{
	return ns_capable(p->dumpable ? p->cred->user_ns : p->over, cap);
}

/**
 * xsp_registry_may_read() - may the caller read this producer?
 * @p: producer
 *
 * Your own processes, or CAP_PERFMON for all that it holds for.  perf_event_paranoid has no say: it
 * is about what unprivileged users may learn of the kernel and of the hardware, and there is
 * neither in here, only what a program of theirs wrote.
 */
bool xsp_registry_may_read(const struct xsp_producer *p)
{
	return is_own(p) || capable_over(p, CAP_PERFMON) || capable_over(p, CAP_SYS_ADMIN);
}

/**
 * xsp_registry_may_write() - may the caller change what this producer records?
 * @p: producer, which the caller may read
 *
 * CAP_PERFMON is to observe: it neither takes records from others nor stops their recording.
 */
bool xsp_registry_may_write(const struct xsp_producer *p)
{
	return is_own(p) || capable_over(p, CAP_SYS_ADMIN);
}

/* The first producer with a number above @after that the caller may read, or NULL. */
struct xsp_producer *xsp_registry_next(u64 after)
{
	struct xsp_producer *p;
	unsigned long id;

	if (after >= ULONG_MAX)
		return NULL;
	mutex_lock(&xsp_registry_lock);
	xa_for_each_start(&producers, id, p, after + 1) {
		if (!xsp_registry_may_read(p))
			continue;
		xsp_producer_get(p);
		mutex_unlock(&xsp_registry_lock);
		return p;
	}
	mutex_unlock(&xsp_registry_lock);
	return NULL;
}

/* The first whose process lives with a number above @after, whoever may read it, or NULL. */
struct xsp_producer *xsp_registry_next_live(u64 after)
{
	struct xsp_producer *p;
	unsigned long id;

	mutex_lock(&xsp_registry_lock);
	xa_for_each_start(&producers, id, p, after + 1) {
		if (READ_ONCE(p->state) != XSPROF_STATE_LIVE)
			continue;
		xsp_producer_get(p);
		mutex_unlock(&xsp_registry_lock);
		return p;
	}
	mutex_unlock(&xsp_registry_lock);
	return NULL;
}

/* The caller's own, by number, or NULL; also when its user ids have changed since. */
struct xsp_producer *xsp_registry_mine(u64 id)
{
	struct xsp_producer *p;

	mutex_lock(&xsp_registry_lock);
	p = xa_load(&producers, id);
	if (p && xsp_producer_is_mine(p) && READ_ONCE(p->state) == XSPROF_STATE_LIVE)
		xsp_producer_get(p);
	else
		p = NULL;
	mutex_unlock(&xsp_registry_lock);
	return p;
}

/* One that the caller may read, by number, or NULL: what may not be read is not there. */
struct xsp_producer *xsp_registry_find(u64 id)
{
	struct xsp_producer *p = NULL;

	if (!id)
		return NULL;
	mutex_lock(&xsp_registry_lock);
	p = xa_load(&producers, id);
	if (p && xsp_registry_may_read(p))
		xsp_producer_get(p);
	else
		p = NULL;
	mutex_unlock(&xsp_registry_lock);
	return p;
}

/* Calls @fn for every producer whose process lives, under the registry's lock. */
void xsp_registry_for_live(void (*fn)(struct xsp_producer *p, const void *data),
			   const void *data)
{
	struct xsp_producer *p;
	unsigned long id;

	mutex_lock(&xsp_registry_lock);
	xa_for_each(&producers, id, p)
		if (READ_ONCE(p->state) == XSPROF_STATE_LIVE)
			fn(p, data);
	mutex_unlock(&xsp_registry_lock);
}

u64 xsp_registry_live(void)
{
	return READ_ONCE(nr_live);
}

void xsp_registry_counters(struct xsp_counters *c)
{
	mutex_lock(&xsp_registry_lock);
	c->live = nr_live;
	c->kept = nr_kept;
	c->kept_bytes = kept_bytes;
	c->dropped = nr_dropped;
	c->dropped_bytes = dropped_bytes;
	mutex_unlock(&xsp_registry_lock);
}

/* The first with a number above @after, with a reference, or NULL. */
static struct xsp_producer *next_any(u64 after)
{
	struct xsp_producer *p;
	unsigned long id = after;

	mutex_lock(&xsp_registry_lock);
	p = xa_find_after(&producers, &id, ULONG_MAX, XA_PRESENT);
	if (p)
		xsp_producer_get(p);
	mutex_unlock(&xsp_registry_lock);
	return p;
}

/* The module goes: no file is open, so nobody else has a reference but queued ends. */
void xsp_registry_exit(void)
{
	struct xsp_producer *p;
	unsigned long id;
	u64 last = 0;

	cancel_delayed_work_sync(&trim_work);
	/* First nobody can queue another end, then those queued are waited for; they free some. */
	while ((p = next_any(last))) {
		last = p->id;
		xsp_producer_forget_process(p);
		xsp_producer_put(p);
	}
	flush_workqueue(xsp_wq);
	cancel_delayed_work_sync(&trim_work);
	xa_for_each(&producers, id, p) {
		mutex_lock(&xsp_registry_lock);
		forget_locked(p);
		mutex_unlock(&xsp_registry_lock);
		xsp_producer_put(p);
	}
	xa_destroy(&producers);
}
