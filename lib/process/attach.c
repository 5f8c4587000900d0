// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The process' producer: when it attaches, and to what.  Owns the state; the memory comes from a
 * backend, the path of a marker is ring/.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <xsprof/collector.h>

#include "base/clock.h"
#include "base/own.h"
#include "process/backend.h"
#include "process/join.h"
#include "process/life.h"
#include "process/local.h"
#include "ring/op-wanted.h"

static uint32_t attaching_tid;	/* who attaches; a lock */
static int failed_by;		/* why that failed for good, an errno; 0: it did not */

/* The control page, read-only, over the page that markers test. */
static int map_ctl_page(void)
{
	size_t page = sysconf(_SC_PAGESIZE);

	/* A linker that moved the symbol with a copy relocation keeps its alignment; check. */
	if ((uintptr_t)&xsprof_ctl_page % page || page > sizeof(xsprof_ctl_page))
		return -ENOTSUP;
	if (mmap(&xsprof_ctl_page, page, PROT_READ, MAP_SHARED | MAP_FIXED, xsp_kept.fd, 0) ==
	    MAP_FAILED)
		return -errno;
	return 0;
}

/*
 * Nobody to record for, and nobody will be: the child of a fork still has its parent's page,
 * whose bits would send every marker the long way to find that out again.
 */
static void map_dormant_page(void)
{
	size_t page = sysconf(_SC_PAGESIZE);

	if (!xsprof_enabled() || (uintptr_t)&xsprof_ctl_page % page ||
	    page > sizeof(xsprof_ctl_page))
		return;
	/* Where even this fails the markers stay slow, and right. */
	(void)mmap(&xsprof_ctl_page, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		   -1, 0);
}

/*
 * A recorder lives that cannot have us: markers count what it loses.  The child of a fork still
 * has its parent's page; the page of a program that never attached is in its own memory.
 */
static void count_losses(void)
{
	if (xsprof_enabled() || xsp_producers || xsp_names_lock(false) < 0)
		return;
	__atomic_store_n(&xsprof_ctl_page.ctl.enabled, xsp_categories_wanted(), __ATOMIC_RELAXED);
	xsp_names_unlock();
}

/* Of xsp_recording_live(): the session cannot be opened, and not for want of means. */
static bool out_of_reach(int err)
{
	return err && err != -ENOTCONN && err != -EMFILE && err != -ENFILE && err != -ENOMEM;
}

#define LOSSES_ASK	65536u	/* records */

/* Another marker is lost; is there still a recorder that loses it?  Asked now and then. */
static XSP_COLD void lose(void)
{
	static uint32_t lost;
	int err;

	if (__atomic_add_fetch(&lost, 1, __ATOMIC_RELAXED) % LOSSES_ASK || !xsp_config.session)
		return;
	err = xsp_recording_live(xsp_config.session);
	if (out_of_reach(err))
		err = xsp_recording_complain(xsp_config.session, 0);
	if (err == -ENOTCONN)
		map_dormant_page();
}

static const char *reason(int err)
{
	switch (err) {
	case -ENOSPC:
		return xsp_config.recording ?
		       "no space left on tmpfs for its rings: a smaller XSPROF_BUFFER_SIZE (4M), "
		       "or more room there" :
		       "no space left on tmpfs for its rings: a smaller --buffer-size, or more "
		       "room there";
	case -ENOMEM:
		return xsp_config.recording ?
		       "no memory or address space for its rings: a smaller XSPROF_BUFFER_SIZE "
		       "(4M), or a larger limit (ulimit -v)" :
		       "no memory or address space for its rings: a smaller --buffer-size";
	case -EFBIG:
		return "its file size limit (ulimit -f) is below its rings' size";
	case -EMFILE:
	case -ENFILE:
		return "no file descriptor left (ulimit -n)";
	default:
		return "its rings could not be made";
	}
}

/*
 * No session that could be joined.  The device needs only the name of one whose recorder lives
 * and cannot be reached; without a recorder it keeps the latest records.
 */
static int latest_to_device(struct xsp_want *want, bool lost)
{
	const char *session = want->cfg->session;

	want->session = lost && !xsp_recording_complain(session, 0) ? session : NULL;
	if (!want->session && !want->cfg->has_mode)
		want->mode = XSPROF_MODE_OVERWRITE;
	return xsp_device_attach(want);
}

/*
 * Return: 0; -ENOTCONN nobody records; -EHOSTUNREACH a recorder does that we cannot reach; else
 * why neither it nor the device has us.
 */
static int choose(struct xsp_want *want)
{
	const struct xsp_config *cfg = want->cfg;
	bool device = cfg->backend == XSP_CHOICE_AUTO || cfg->backend == XSP_CHOICE_DEVICE;
	int err = cfg->session ? xsp_recording_live(cfg->session) : -ENOTCONN;
	bool lost = out_of_reach(err);

	if (!err && !device)
		return xsp_shm_attach(want);
	if (!err) {
		want->session = cfg->session;
		err = xsp_device_attach(want);
		if (err && cfg->backend == XSP_CHOICE_AUTO)
			return xsp_shm_attach(want);
		if (err)
			xsp_recording_note(cfg->session, xsp_device_reason(err));
		return err ? -ENOTCONN : 0;
	}
	if (err != -ENOTCONN && !lost)
		return err;
	/* No recorder.  Without a device, or if the program records itself next, stay detached. */
	if (device && (!cfg->record || cfg->recording) && !latest_to_device(want, lost))
		return 0;
	if (!lost || xsp_recording_complain(cfg->session, err))
		return -ENOTCONN;
	return -EHOSTUNREACH;
}

static int attach(void)
{
	bool mono = !strcmp(xsp_config.clock, "mono");
	struct xsp_want want = { .cfg = &xsp_config, .mode = xsp_config.mode, .mono = mono };
	int err;

	xsp_fork_arm();
	/*
	 * Without a counter to read inside a sequence, time would go back in its ring: the
	 * lock rings then, where the clock is read under the lock.  Which counter there is, is
	 * the backend's to say.
	 */
	want.rseq = xsp_rseq_usable(&xsp_kept.rs) && !mono;
	want.lock_rings = xsp_config.lock_rings;
	if (!want.lock_rings)
		want.lock_rings = want.rseq && xsp_clock_kind() != XSPROF_CLOCK_MONO_RAW ? 1 : 4;
	/* A handler over our own lock on the names: the next marker will attach. */
	err = xsp_names_lock(false);
	if (err < 0)
		return err;
	want.wanted = xsp_categories_wanted();
	err = choose(&want);
	if (err < 0)
		goto out;
	__atomic_store_n(&xsp_producers, xsp_producers + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&xsp_stacks_missed, 0, __ATOMIC_RELAXED);
	xsp_names_publish();
	xsp_facts_add();
	xsp_set.key = (uint64_t)xsp_producers << 32;
	xsp_set.nr = xsp_set.nr_rings;
	err = map_ctl_page();
	if (err < 0) {
		xsp_kept.backend->let_go(true);
		xsp_layout_clear();
	}
out:
	xsp_names_unlock();
	return err;
}

static void prefault(void)
{
	for (uint32_t k = 0; k < xsp_set.nr_rings + xsp_set.nl; k++)
		while (!xsp_ring_make_room(k, xsp_set.size)) {
			if (__atomic_load_n(&xsp_ring(k)->grown, __ATOMIC_RELAXED) != UINT64_MAX)
				continue;
			/* It has its memory; a look at each page puts it into the page table. */
			for (uint64_t s = 0; s < xsp_set.size; s += XSPROF_BLOCK_SLOTS)
				(void)*(volatile __u8 *)&xsp_ring_slot(xsp_ring(k), s)->type;
			break;
		}
}

/**
 * xsp_attach() - make the process a producer, if somebody records
 *
 * Signal-safe, so that a forked child can attach at its first marker.  Other threads wait for
 * the one that attaches; a signal handler over it does not.
 *
 * Return: 0 attached; -ENOTCONN nobody records; -EAGAIN not now; else why it failed for good.
 */
XSP_COLD int xsp_attach(void)
{
	uint32_t tid, state, owner = 0;
	unsigned int turns = 0;
	int err;

	if (xsp_config.backend == XSP_CHOICE_NONE ||
	    (xsp_config.backend == XSP_CHOICE_TMPFS && !xsp_config.session))
		return -ENOTCONN;
	if (__atomic_load_n(&xsp_set.state, __ATOMIC_RELAXED) == XSP_FAILED) {
		lose();
		return -ENOTCONN;
	}
	tid = (uint32_t)syscall(SYS_gettid);
	if (xsp_fork_check() < 0 || xsp_shares_memory())
		return -EAGAIN;
	/* The lock is its owner's thread id: a handler over it knows at every instruction. */
	while (!__atomic_compare_exchange_n(&attaching_tid, &owner, tid, false, __ATOMIC_ACQUIRE,
					    __ATOMIC_RELAXED)) {
		if (owner == tid)
			return -EAGAIN;
		xsp_wait_turn(&attaching_tid, owner, &turns);
		owner = 0;
	}
	state = __atomic_load_n(&xsp_set.state, __ATOMIC_ACQUIRE);
	if (state != XSP_DETACHED) {
		__atomic_store_n(&attaching_tid, 0, __ATOMIC_RELEASE);
		return state == XSP_ATTACHED ? 0 : -ENOTCONN;
	}
	err = attach();
	if (!err)
		state = XSP_ATTACHED;
	else
		state = err == -EBUSY ? XSP_DETACHED : XSP_FAILED;
	if (state == XSP_FAILED && err == -ENOTCONN)
		map_dormant_page();
	else if (state == XSP_FAILED)
		count_losses();
	/* Release: whoever sees ATTACHED sees all of xsp_set. */
	__atomic_store_n(&xsp_set.state, state, __ATOMIC_RELEASE);
	/* From here on handlers count in the producer; what they lost until now is added to it. */
	if (!err)
		__atomic_add_fetch(&xsp_set.arena->late, xsp_take_late(), __ATOMIC_RELAXED);
	__atomic_store_n(&attaching_tid, 0, __ATOMIC_RELEASE);
	/* Where it failed for another reason, ops are counted as lost, as markers are. */
	if (!err || err == -ENOTCONN)
		xsp_ops_attached();
	if (!err && xsp_config.prefault)
		prefault();
	if (err && err != -EBUSY && err != -ENOTCONN && err != -EHOSTUNREACH &&
	    xsp_config.session) {
		__atomic_store_n(&failed_by, err, __ATOMIC_RELAXED);
		xsp_recording_note(xsp_config.session, reason(err));
	}
	return err == -EBUSY ? -EAGAIN : err;
}

const char *xsp_attach_refusal(void)
{
	int err = __atomic_load_n(&failed_by, __ATOMIC_RELAXED);

	return err ? reason(err) : NULL;
}

/* In the child of a fork: these were its parent's. */
void xsp_producer_forget(void)
{
	failed_by = 0;
	(void)xsp_take_late();
	attaching_tid = 0;
	xsp_config.recording = false;
}

/* The process goes on without its producer; the names' lock is held. */
static void detach(void)
{
	__atomic_store_n(&xsp_set.state, XSP_DETACHED, __ATOMIC_RELEASE);
	xsp_rings_close();
	xsp_kept.backend->goodbye();
	xsp_kept.backend->let_go(true);
	xsp_layout_clear();
	xsp_thread_forget();
	xsp_ops_attached();
}

/* ---- a recorder that comes to a process that runs ------------------------------------------- */

/* What was asked for before it came. */
static struct {
	char		path[PATH_MAX];
	const char	*session;
	uint64_t	arena_size;
	uint32_t	backend;
	bool		on;
} joined;

static bool lock_attaching(void)
{
	uint32_t tid = (uint32_t)syscall(SYS_gettid), owner = 0;
	unsigned int turns = 0;

	while (!__atomic_compare_exchange_n(&attaching_tid, &owner, tid, false, __ATOMIC_ACQUIRE,
					    __ATOMIC_RELAXED)) {
		if (owner == tid)
			return false;
		xsp_wait_turn(&attaching_tid, owner, &turns);
		owner = 0;
	}
	return true;
}

/*
 * No producer any more. Its memory stays where it is, and so does what leads to it: a marker that
 * has begun in another thread may still write there.
 */
static void retire(void)
{
	if (!xsp_attached() || xsp_kept.backend->kind != XSPROF_BACKEND_TMPFS)
		return;
	(void)xsp_kept.backend->control(0, 0, XSPROF_PAUSED_RECORDER, 0);
	if (xsp_names_lock(true) < 0)
		return;
	__atomic_store_n(&xsp_set.state, XSP_FAILED, __ATOMIC_RELEASE);
	xsp_rings_close();
	xsp_kept.backend->goodbye();
	xsp_shm_retire();
	xsp_names_unlock();
	xsp_ops_attached();
}

/* @only_joined: unless somebody else has given up the recorder's rings meanwhile. */
static void give_up(bool only_joined)
{
	if (!lock_attaching())
		return;
	if (joined.on || !only_joined)
		retire();
	if (joined.on) {
		xsp_config.session = joined.session;
		xsp_config.arena_size = joined.arena_size;
		xsp_config.backend = joined.backend;
		joined.on = false;
	}
	__atomic_store_n(&attaching_tid, 0, __ATOMIC_RELEASE);
}

void xsp_producer_retire(void)
{
	give_up(false);
}

static const struct xsp_join_hook *join_hook;

void xsp_at_join(const struct xsp_join_hook *hook)
{
	__atomic_store_n(&join_hook, hook, __ATOMIC_RELEASE);
}

static int join(const char *session, uint64_t arena_size)
{
	int err;

	if (!lock_attaching())
		return -EAGAIN;
	if (xsp_attached() && (xsp_kept.backend->kind != XSPROF_BACKEND_TMPFS ||
			       !xsp_config.session || !xsp_recording_live(xsp_config.session))) {
		__atomic_store_n(&attaching_tid, 0, __ATOMIC_RELEASE);
		return -EBUSY;
	}
	retire();
	if (!joined.on) {
		joined.session = xsp_config.session;
		joined.arena_size = xsp_config.arena_size;
		joined.backend = xsp_config.backend;
		joined.on = true;
	}
	xsp_config.session = strcpy(joined.path, session);
	xsp_config.backend = XSP_CHOICE_TMPFS;
	if (arena_size)
		xsp_config.arena_size = arena_size;
	__atomic_store_n(&xsp_set.state, XSP_DETACHED, __ATOMIC_RELEASE);
	__atomic_store_n(&attaching_tid, 0, __ATOMIC_RELEASE);
	err = xsp_attach();
	if (err)
		give_up(true);
	return err;
}

int xsprof_join(const char *session, uint64_t arena_size)
{
	const struct xsp_join_hook *hook = __atomic_load_n(&join_hook, __ATOMIC_ACQUIRE);
	int err = xsp_fork_check();

	if (err < 0)
		return err;
	if (!session || *session != '/' || strlen(session) >= sizeof(joined.path) ||
	    (arena_size && (arena_size < XSP_ARENA_MIN || arena_size > XSP_ARENA_MAX)))
		return -EINVAL;
	if (xsp_config.backend == XSP_CHOICE_NONE)
		return -EPERM;
	err = hook ? hook->comes() : 0;
	if (err)
		return err;
	err = join(session, arena_size);
	if (hook)
		hook->came();
	return err;
}

void xsprof_leave(void)
{
	const struct xsp_join_hook *hook = __atomic_load_n(&join_hook, __ATOMIC_ACQUIRE);

	if (!joined.on || xsp_fork_check() < 0)
		return;
	if (hook)
		hook->leaves();
	give_up(true);
	if (hook)
		hook->left();
}

int xsprof_init(const struct xsprof_options *opts)
{
	static char categories[4096];	/* categories are looked up in it for as long as we live */
	static const char zeros[256];
	struct xsprof_options o = { 0 };
	uint64_t wanted;
	int err;

	if (opts) {
		if (opts->size < sizeof(size_t) || opts->size > sizeof(zeros))
			return -EINVAL;
		if (opts->size > sizeof(o) &&
		    memcmp((const char *)opts + sizeof(o), zeros, opts->size - sizeof(o)))
			return -E2BIG;
		memcpy(&o, opts, opts->size < sizeof(o) ? opts->size : sizeof(o));
	}
	if (o.categories && strlen(o.categories) >= sizeof(categories))
		return -EINVAL;
	if (o.flags & ~XSPROF_INIT_PREFAULT || o.mode > XSPROF_MODE_OVERWRITE + 1 ||
	    o.ring_size > XSP_RING_MAX ||
	    (o.arena_size && (o.arena_size < XSP_ARENA_MIN || o.arena_size > XSP_ARENA_MAX)))
		return -EINVAL;
	if (xsp_attached() && (o.ring_size || o.arena_size || o.mode)) {
		if (xsp_names_lock(true) < 0)
			return -EBUSY;
		/* Sizes can change as long as no ring has been used: the file is made anew. */
		for (uint32_t k = 0; k < xsp_set.nr_rings + xsp_set.nl; k++)
			if (xsp_ring_is_open(k)) {
				xsp_names_unlock();
				return -EALREADY;
			}
		detach();
		xsp_names_unlock();
	}
	if (o.ring_size)
		xsp_config.ring_size = o.ring_size;
	if (o.arena_size)
		xsp_config.arena_size = o.arena_size;
	if (o.mode) {
		xsp_config.mode = o.mode - 1;
		xsp_config.has_mode = true;
	}
	if (o.categories)
		xsp_config.categories = strcpy(categories, o.categories);
	if (o.flags & XSPROF_INIT_PREFAULT)
		xsp_config.prefault = true;
	err = xsp_attach();
	if (err)
		return err;
	if (o.categories) {
		if (xsp_names_lock(true) < 0)
			return -EBUSY;
		wanted = xsp_categories_wanted();
		xsp_names_unlock();
		err = xsp_kept.backend->control(wanted, ~wanted, 0, 0);
		if (err)
			return err;
	}
	if (o.flags & XSPROF_INIT_PREFAULT)
		prefault();
	return 0;
}
