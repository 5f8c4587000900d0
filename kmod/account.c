// SPDX-License-Identifier: GPL-2.0-only
/*
 * Charges and limits memory. Each page is charged three times: to the memory cgroup of the process
 * that attached (by the page allocator), to the module's own limits, and, beyond the free allowance
 * of every account, to the user's locked memory, as perf does. The limits and rights are those of
 * that process at attach; those of a reader for which the kernel allocates do not count. This file
 * allocates only the accounts.
 *
 * An account belongs to a user. The creator of a user namespace pays for all users in it, whatever
 * their ids outside: subordinate ids give no further allowance. A namespace created by root, as for
 * containers, has its own account.
 */
#include <linux/capability.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>
#include <linux/slab.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>

#include "xsprof.h"

bool (*xsp_account_reclaim)(struct xsp_account *account, const struct mem_cgroup *memcg);

static DEFINE_MUTEX(lock);	/* the list, and the counts of references; innermost of mutexes */
static LIST_HEAD(accounts);
static atomic_long_t total;	/* pages of all */

/* ---- accounts ------------------------------------------------------------------------------ */

static struct xsp_account *find_locked(const struct user_namespace *ns, kuid_t uid)
{
	struct xsp_account *a;

	list_for_each_entry(a, &accounts, node)
		if (a->ns == ns && uid_eq(a->uid, uid))
			return a;
	return NULL;
}

/*
 * Finds the outermost user namespace around @ns, and sets @uid to its creator. Return: the
 * namespace, if root created it: it is the account. NULL: the user @uid is.
 */
static struct user_namespace *account_of(struct user_namespace *ns, kuid_t *uid)
{
	struct user_namespace *outermost = NULL;

	for (; ns != &init_user_ns; ns = ns->parent) {
		outermost = ns;
		*uid = ns->owner;
	}
	return outermost && uid_eq(*uid, GLOBAL_ROOT_UID) ? outermost : NULL;
}

/**
 * xsp_account_get() - find or create the account for these credentials
 * @cred: credentials
 *
 * Return: the account, with a reference, or NULL: no memory.
 */
struct xsp_account *xsp_account_get(const struct cred *cred)
{
	kuid_t uid = cred->uid;
	struct user_namespace *ns = account_of(cred->user_ns, &uid);
	struct xsp_account *a;

	mutex_lock(&lock);
	a = find_locked(ns, uid);
	if (!a) {
		a = kzalloc(sizeof(*a), GFP_KERNEL);
		if (!a)
			goto out;
		a->ns = ns ? get_user_ns(ns) : NULL;
		a->uid = uid;
		INIT_LIST_HEAD(&a->ended);
		list_add(&a->node, &accounts);
	}
	a->refs++;
out:
	mutex_unlock(&lock);
	return a;
}

void xsp_account_put(struct xsp_account *a)
{
	bool last;

	mutex_lock(&lock);
	last = !--a->refs;
	if (last)
		list_del(&a->node);
	mutex_unlock(&lock);
	if (!last)
		return;
	if (a->ns)
		put_user_ns(a->ns);
	kfree(a);
}

/* ---- who pays ------------------------------------------------------------------------------ */

/**
 * xsp_payer_init() - the calling process pays from now on
 * @who: filled in
 * @account: the account; its reference is the caller's
 */
void xsp_payer_init(struct xsp_payer *who, struct xsp_account *account)
{
	who->account = account;
	who->user = current_user();
	/* Without audit: most callers lack the capability, and are denied nothing. */
	who->limit = ns_capable_noaudit(&init_user_ns, CAP_IPC_LOCK) ?
		     LONG_MAX : rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	who->memcg = get_mem_cgroup_from_mm(current->mm);
}

/* Returns all of its pages, when none can be added any more. */
void xsp_payer_free(struct xsp_payer *who)
{
	long pages = atomic_long_xchg(&who->pages, 0);

	atomic_long_sub(atomic_long_xchg(&who->locked, 0), &who->user->locked_vm);
	atomic_long_sub(pages, &who->account->pages);
	atomic_long_sub(pages, &total);
	mem_cgroup_put(who->memcg);
}

/**
 * xsp_payer_begin() - charge allocations from here on to its memory cgroup
 * @who: payer
 *
 * Return: the argument for xsp_payer_end().
 */
struct mem_cgroup *xsp_payer_begin(const struct xsp_payer *who)
{
	return set_active_memcg(who->memcg);
}

void xsp_payer_end(struct mem_cgroup *before)
{
	set_active_memcg(before);
}

static bool over(unsigned long pages, unsigned long bytes)
{
	return bytes && pages > bytes >> PAGE_SHIFT;
}

static void give_back(struct xsp_payer *who, long pages, long locked)
{
	atomic_long_sub(locked, &who->user->locked_vm);
	atomic_long_sub(locked, &who->locked);
	atomic_long_sub(pages, &who->pages);
	atomic_long_sub(pages, &who->account->pages);
	atomic_long_sub(pages, &total);
}

static int charge(struct xsp_payer *who, long pages)
{
	long all, beyond, locked, users = 0;

	all = atomic_long_add_return(pages, &total);
	atomic_long_add(pages, &who->pages);
	beyond = atomic_long_add_return(pages, &who->account->pages) -
		 (long)(READ_ONCE(xsp_uid_free_bytes) >> PAGE_SHIFT);
	locked = clamp(beyond, 0L, pages);
	if (locked) {
		/* The same count as perf's and io_uring's: together they stay below the limit. */
		users = atomic_long_add_return(locked, &who->user->locked_vm);
		atomic_long_add(locked, &who->locked);
	}
	if (over(all, READ_ONCE(xsp_max_bytes))) {
		give_back(who, pages, locked);
		return -ENOMEM;
	}
	/* Subordinate users have their own counts: so the account's limit is checked as well. */
	if (locked && max(users, beyond) > who->limit) {
		give_back(who, pages, locked);
		return -EPERM;
	}
	return 0;
}

/**
 * xsp_payer_charge() - charge pages that are about to be allocated
 * @who: who pays
 * @pages: how many
 *
 * If the limit is reached, kept records of the account's ended processes are freed for live ones;
 * those of other accounts are not.
 *
 * Return: 0; -ENOMEM: the module's limit (max_bytes); -EPERM: the account's free allowance
 * (uid_free_bytes) is used up and RLIMIT_MEMLOCK too.
 */
int xsp_payer_charge(struct xsp_payer *who, long pages)
{
	int err;

	do {
		err = charge(who, pages);
	} while (err && xsp_account_reclaim(who->account, NULL));
	return err;
}

/**
 * xsp_payer_make_room() - free memory after a failed allocation
 * @who: who pays
 *
 * The memory cgroup may be full, and contain kept records of the account's ended processes. Those
 * in other cgroups are not freed: that would not help.
 *
 * Return: some was freed: the allocation may succeed now.
 */
bool xsp_payer_make_room(struct xsp_payer *who)
{
	/* A killed task does not need it any more. */
	return !fatal_signal_pending(current) && xsp_account_reclaim(who->account, who->memcg);
}

/**
 * xsp_payer_undo() - uncharge pages that were not allocated, or were freed
 * @who: who paid
 * @pages: how many
 *
 * Pages are interchangeable: locked memory is uncharged first.
 */
void xsp_payer_undo(struct xsp_payer *who, long pages)
{
	long locked = atomic_long_read(&who->locked), back;

	do {
		back = min(locked, pages);
	} while (!atomic_long_try_cmpxchg(&who->locked, &locked, locked - back));
	atomic_long_sub(back, &who->user->locked_vm);
	give_back(who, pages, 0);
}

u64 xsp_account_total(void)
{
	return (u64)atomic_long_read(&total) << PAGE_SHIFT;
}
