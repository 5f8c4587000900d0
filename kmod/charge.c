// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who pays for a producer's pages.  Each is charged three times: to the memory cgroup of the
 * process (by the page allocator), to the module's own limits, and, beyond what every user has
 * free, to the user's locked memory, as perf does it.  Nothing is allocated here.
 */
#include <linux/capability.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>

#include "xsprof.h"

static atomic_long_t total;	/* pages of all producers */

static bool over(unsigned long pages, unsigned long bytes)
{
	return bytes && pages > bytes >> PAGE_SHIFT;
}

static int charge(struct xsp_producer *p)
{
	struct user_struct *user = p->cred->user;
	unsigned long pages;

	if (over(atomic_long_inc_return(&total), READ_ONCE(xsp_max_bytes))) {
		atomic_long_dec(&total);
		return -ENOMEM;
	}
	pages = atomic_long_inc_return(&p->uid->pages);
	atomic_long_inc(&p->nr_pages);
	if (pages <= READ_ONCE(xsp_uid_free_bytes) >> PAGE_SHIFT)
		return 0;
	/* The same account that perf and io_uring use: together they stay below the limit. */
	pages = atomic_long_inc_return(&user->locked_vm);
	atomic_long_inc(&p->locked);
	if (pages <= rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT || capable(CAP_IPC_LOCK))
		return 0;
	atomic_long_dec(&p->locked);
	atomic_long_dec(&user->locked_vm);
	atomic_long_dec(&p->nr_pages);
	atomic_long_dec(&p->uid->pages);
	atomic_long_dec(&total);
	return -EPERM;
}

/**
 * xsp_charge_page() - charge one page, about to be allocated by the producer's own process
 * @p: producer
 *
 * What is kept of ended processes makes room for those that live.
 *
 * Return: 0; -ENOMEM: the module's limit (max_bytes); -EPERM: the user's free allowance
 * (uid_free_bytes) is used up and RLIMIT_MEMLOCK too.
 */
int xsp_charge_page(struct xsp_producer *p)
{
	int err;

	do {
		err = charge(p);
	} while (err && xsp_registry_make_room(err == -ENOMEM ? NULL : p->uid));
	return err;
}

/**
 * xsp_charge_undo() - the page that was charged could not be had
 * @p: producer
 *
 * Pages are alike: whichever account has one of this producer gives it back.
 */
void xsp_charge_undo(struct xsp_producer *p)
{
	if (atomic_long_add_unless(&p->locked, -1, 0))
		atomic_long_dec(&p->cred->user->locked_vm);
	atomic_long_dec(&p->nr_pages);
	atomic_long_dec(&p->uid->pages);
	atomic_long_dec(&total);
}

/* All of its pages, once nobody can add one. */
void xsp_charge_free(struct xsp_producer *p)
{
	long pages = atomic_long_xchg(&p->nr_pages, 0);

	atomic_long_sub(atomic_long_xchg(&p->locked, 0), &p->cred->user->locked_vm);
	atomic_long_sub(pages, &p->uid->pages);
	atomic_long_sub(pages, &total);
}

u64 xsp_charge_total(void)
{
	return (u64)atomic_long_read(&total) << PAGE_SHIFT;
}
