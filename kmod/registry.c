// SPDX-License-Identifier: GPL-2.0-only
/*
 * All producers: numbers, permissions to read and change them, and iteration. Returns references,
 * and holds one to each listed producer; never touches their memory.
 */
#include <linux/capability.h>
#include <linux/pid_namespace.h>
#include <linux/timekeeping.h>
#include <linux/uidgid.h>

#include "xsprof.h"

#define LOOKS	64	/* producers examined in one hold of the lock */

/* Protects the table, the counts, and the list of retain.c. */
DEFINE_MUTEX(xsp_registry_lock);
DECLARE_WAIT_QUEUE_HEAD(xsp_registry_wait);

static DEFINE_XARRAY(producers);	/* by number; the entry holds a reference */
static u64 last_id;
static u64 nr_live;
static atomic64_t events;		/* number of attaches and ends */

static void wake_worker(struct work_struct *work);
static DECLARE_DELAYED_WORK(wake_work, wake_worker);

/* CLOCK_MONOTONIC before which waiters are not woken again, ns. */
static atomic64_t wake_next;

/*
 * No user is charged for the time of this worker, so it is limited to about a tenth of a CPU,
 * however many descriptors wait. The delay that results is at most a second.
 */
static void wake_worker(struct work_struct *work)
{
	u64 begin = ktime_get_ns(), end;

	wake_up_interruptible_all(&xsp_registry_wait);
	end = ktime_get_ns();
	atomic64_set(&wake_next, end + min_t(u64, 9 * (end - begin), NSEC_PER_SEC));
}

/*
 * Any user may poll on all of its descriptors: the caller, which attaches or ends, does not wake
 * them itself. A poll that begins meanwhile sees the count, or is in the queue before the work
 * runs: queueing work is a full barrier after the count, also if it was queued already.
 */
static void tell(void)
{
	s64 wait;

	atomic64_inc(&events);
	wait = atomic64_read(&wake_next) - ktime_get_ns();
	queue_delayed_work(xsp_wq, &wake_work, wait > 0 ? nsecs_to_jiffies(wait) : 0);
}

u64 xsp_registry_events(void)
{
	return atomic64_read(&events);
}

/* ---- coming and going ---------------------------------------------------------------------- */

static int add_locked(struct xsp_producer *p)
{
	struct xsp_account *a = p->payer.account;
	int err;

	if (a->producers >= READ_ONCE(xsp_uid_max_producers))
		return -EUSERS;
	/* The entry is allocated now, so that xsp_registry_publish() cannot fail. */
	err = xa_reserve(&producers, last_id + 1, GFP_KERNEL);
	if (err)
		return err;
	p->id = ++last_id;
	a->producers++;
	return 0;
}

/**
 * xsp_registry_add() - assign a number to a producer
 * @p: producer; it cannot be found yet
 *
 * Return: 0, -ENOMEM, -EUSERS: uid_max_producers, all of them live or being read.
 */
int xsp_registry_add(struct xsp_producer *p)
{
	int err;

	do {
		mutex_lock(&xsp_registry_lock);
		err = add_locked(p);
		mutex_unlock(&xsp_registry_lock);
	} while (err == -EUSERS && xsp_account_reclaim(p->payer.account, NULL));
	return err;
}

/* From here on it can be listed and opened. */
void xsp_registry_publish(struct xsp_producer *p)
{
	mutex_lock(&xsp_registry_lock);
	kref_get(&p->ref);
	xa_store(&producers, p->id, p, GFP_KERNEL);
	p->listed = true;
	WRITE_ONCE(nr_live, nr_live + 1);	/* xsp_registry_live() reads it without the lock */
	mutex_unlock(&xsp_registry_lock);
	tell();
}

/* Its process has ended or released it, and retain.c has been called. */
void xsp_registry_ended(void)
{
	mutex_lock(&xsp_registry_lock);
	WRITE_ONCE(nr_live, nr_live - 1);	/* the same */
	mutex_unlock(&xsp_registry_lock);
	tell();
}

/**
 * xsp_registry_erase() - remove it, so that it cannot be found any more
 * @p: producer
 *
 * Context: under xsp_registry_lock.
 * Return: true: the caller now has the registry's reference; false: it was erased before.
 */
bool xsp_registry_erase(struct xsp_producer *p)
{
	if (xa_load(&producers, p->id) != p)
		return false;
	xa_erase(&producers, p->id);
	return true;
}

/* Can it be found?  Under xsp_registry_lock. */
bool xsp_registry_has(const struct xsp_producer *p)
{
	return xa_load(&producers, p->id) == p;
}

/* The producer's memory is freed: remove its number. */
void xsp_registry_remove(struct xsp_producer *p)
{
	mutex_lock(&xsp_registry_lock);
	if (!p->listed)
		xa_release(&producers, p->id);
	p->payer.account->producers--;
	mutex_unlock(&xsp_registry_lock);
}

/* ---- looking ------------------------------------------------------------------------------- */

static bool has_its_ids(const struct xsp_producer *p)
{
	const struct cred *me = current_cred(), *it = p->cred;

	return uid_eq(me->uid, it->uid) && uid_eq(me->uid, it->euid) && uid_eq(me->uid, it->suid) &&
	       gid_eq(me->gid, it->gid) && gid_eq(me->gid, it->egid) && gid_eq(me->gid, it->sgid);
}

/* The caller has all its capabilities, in the same namespace. */
static bool has_its_rights(const struct xsp_producer *p)
{
	const struct cred *me = current_cred(), *it = p->cred;

	return me->user_ns == it->user_ns && cap_issubset(it->cap_permitted, me->cap_permitted);
}

/*
 * "Own" as for ptrace (PTRACE_MODE_READ_REALCREDS), with the credentials of the process at attach:
 * it may have ended. Besides, the caller must be able to name it: it must be in its pid namespace.
 * A process owns itself as long as it has the ids. Security modules are not consulted: the function
 * is not exported.
 */
static bool is_own(const struct xsp_producer *p)
{
	if (!has_its_ids(p))
		return false;
	if (xsp_producer_is_mine(p))
		return true;
	return p->dumpable && has_its_rights(p) && pid_nr_ns(p->pid, task_active_pid_ns(current));
}

/* Capabilities over the user namespace of the producer, or over @over if it was not dumpable. */
static bool capable_over(const struct xsp_producer *p, int cap)
{
	return ns_capable(p->dumpable ? p->cred->user_ns : p->over, cap);
}

/*
 * The same without audit: nothing is denied to a caller without the capability. LIST skips
 * producers, perhaps thousands, that the caller did not name; and a caller that may only read did
 * not request to write.
 */
static bool capable_over_quietly(const struct xsp_producer *p, int cap)
{
	return ns_capable_noaudit(p->dumpable ? p->cred->user_ns : p->over, cap);
}

/*
 * May the caller read this producer? Yes for its own processes, or with CAP_PERFMON in the
 * applicable namespace. perf_event_paranoid does not apply: it restricts what unprivileged users
 * may learn about the kernel and the hardware, and rings have only data written by the user's own
 * programs.
 */
static bool may_read(const struct xsp_producer *p)
{
	return is_own(p) || capable_over(p, CAP_PERFMON) || capable_over(p, CAP_SYS_ADMIN);
}

static bool may_list(const struct xsp_producer *p)
{
	return is_own(p) || capable_over_quietly(p, CAP_PERFMON) ||
	       capable_over_quietly(p, CAP_SYS_ADMIN);
}

/**
 * xsp_registry_may_write() - may the caller change what this producer records?
 * @p: producer, which the caller may read
 *
 * CAP_PERFMON permits observing: not consuming records of others, or stopping their recording.
 */
bool xsp_registry_may_write(const struct xsp_producer *p)
{
	return is_own(p) || capable_over_quietly(p, CAP_SYS_ADMIN);
}

/*
 * The first @wanted producer with a number above @after, with a reference, or NULL. There may be
 * thousands of others, and any user may ask: the lock is released in between.
 */
static struct xsp_producer *next(u64 after, bool (*wanted)(const struct xsp_producer *p))
{
	unsigned long id = after;
	unsigned int looks = 0;
	struct xsp_producer *p;

	mutex_lock(&xsp_registry_lock);
	while ((p = xa_find_after(&producers, &id, ULONG_MAX, XA_PRESENT)) && !wanted(p)) {
		if (++looks % LOOKS)
			continue;
		mutex_unlock(&xsp_registry_lock);
		cond_resched();
		mutex_lock(&xsp_registry_lock);
	}
	if (p)
		xsp_producer_get(p);
	mutex_unlock(&xsp_registry_lock);
	return p;
}

static bool is_live(const struct xsp_producer *p)
{
	return READ_ONCE(p->state) == XSPROF_STATE_LIVE;
}

static bool is_any(const struct xsp_producer *p)
{
	return true;
}

/* The first with a number above @after that the caller may read. */
struct xsp_producer *xsp_registry_next(u64 after)
{
	return next(after, may_list);
}

/* The first whose process lives, without a permission check. */
struct xsp_producer *xsp_registry_next_live(u64 after)
{
	return next(after, is_live);
}

/* The first. */
struct xsp_producer *xsp_registry_next_any(u64 after)
{
	return next(after, is_any);
}

/* The caller's own producer by number, or NULL; also if its user ids have changed since. */
struct xsp_producer *xsp_registry_mine(u64 id)
{
	struct xsp_producer *p;

	mutex_lock(&xsp_registry_lock);
	p = xa_load(&producers, id);
	if (p && xsp_producer_is_mine(p) && is_live(p))
		xsp_producer_get(p);
	else
		p = NULL;
	mutex_unlock(&xsp_registry_lock);
	return p;
}

/* A producer that the caller may read, by number, or NULL: unreadable ones do not exist for it. */
struct xsp_producer *xsp_registry_find(u64 id)
{
	struct xsp_producer *p = NULL;

	if (!id)
		return NULL;
	mutex_lock(&xsp_registry_lock);
	p = xa_load(&producers, id);
	if (p && may_read(p))
		xsp_producer_get(p);
	else
		p = NULL;
	mutex_unlock(&xsp_registry_lock);
	return p;
}

u64 xsp_registry_live(void)
{
	return READ_ONCE(nr_live);
}

/* No producer is left. */
void xsp_registry_exit(void)
{
	cancel_delayed_work_sync(&wake_work);
	xa_destroy(&producers);
}
