// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Attaches the process as a producer: when, and to which recorder. Owns the state; the memory comes
 * from a backend; the path of a marker is in ring/.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/own.h"
#include "process/backend.h"
#include "process/join.h"
#include "process/local.h"
#include "ring/op-wanted.h"

static uint32_t attaching_tid;	/* thread id of the attaching thread; a lock */
static int failed_by;		/* errno of a permanent failure; 0: none */

/* Maps the control page, read-only, over the page that markers test. */
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
 * No recorder, and none will come: a forked child still has its parent's page, whose bits would
 * send every marker into the slow path to find that out again.
 */
void xsp_map_dormant_page(void)
{
	size_t page = sysconf(_SC_PAGESIZE);

	if (!xsprof_enabled() || (uintptr_t)&xsprof_ctl_page % page ||
	    page > sizeof(xsprof_ctl_page))
		return;
	/* If this fails too, markers stay slow but correct. */
	(void)mmap(&xsprof_ctl_page, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		   -1, 0);
}

/*
 * A recorder lives but cannot record us: enables markers, which then count their losses. A forked
 * child still has its parent's page; a program that never attached has its page in its own memory.
 */
static void count_losses(void)
{
	if (xsprof_enabled() || xsp_producers || xsp_names_lock(false) < 0)
		return;
	__atomic_store_n(&xsprof_ctl_page.ctl.enabled, xsp_categories_wanted(), __ATOMIC_RELAXED);
	xsp_names_unlock();
}

/*
 * For errors of xsp_recording_live(): the session cannot be reached, and not for lack of resources.
 */
static bool out_of_reach(int err)
{
	return err && err != -ENOTCONN && err != -EMFILE && err != -ENFILE && err != -ENOMEM;
}

#define LOSSES_ASK	65536u	/* records */

/* A marker is lost. Checks now and then whether there still is a recorder that misses it. */
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
		xsp_map_dormant_page();
}

static const char *reason(int err)
{
	switch (err) {
	case -ENOSPC:
		return xsp_config.recording ?
		       "no space left on tmpfs for its rings: use a smaller XSPROF_BUFFER_SIZE "
		       "(4M), or free space there" :
		       "no space left on tmpfs for its rings: use a smaller --buffer-size, or free "
		       "space there";
	case -ENOMEM:
		return xsp_config.recording ?
		       "no memory or address space for its rings: use a smaller XSPROF_BUFFER_SIZE "
		       "(4M), or a larger limit (ulimit -v)" :
		       "no memory or address space for its rings: use a smaller --buffer-size";
	case -EFBIG:
		return "its file size limit (ulimit -f) is below its rings' size";
	case -EMFILE:
	case -ENFILE:
		return "no file descriptor left (ulimit -n)";
	default:
		return "its rings could not be created";
	}
}

/*
 * No session can be joined. The device only needs the name of a session whose recorder lives but
 * cannot be reached; without a recorder it keeps the latest records.
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
 * Return: 0; -ENOTCONN no recorder; -EHOSTUNREACH a recorder that cannot be reached; else why
 * neither it nor the device can be used.
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
	 * Without a counter that can be read inside a sequence, time could go back in its ring: use
	 * lock rings, where the clock is read under the lock. The backend decides which counter
	 * there is.
	 */
	want.rseq = xsp_rseq_usable(&xsp_kept.rs) && !mono;
	want.lock_rings = xsp_config.lock_rings;
	if (!want.lock_rings)
		want.lock_rings = want.rseq && xsp_clock_kind() != XSPROF_CLOCK_MONO_RAW ? 1 : 4;
	/* A signal handler over our own lock on the names: the next marker attaches. */
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

XSP_COLD void xsp_prefault(void)
{
	for (uint32_t k = 0; k < xsp_set.nr_rings + xsp_set.nl; k++)
		while (!xsp_ring_make_room(k, xsp_set.size)) {
			if (__atomic_load_n(&xsp_ring(k)->grown, __ATOMIC_RELAXED) != UINT64_MAX)
				continue;
			/* The memory is allocated; reading each page maps it. */
			for (uint64_t s = 0; s < xsp_set.size; s += XSPROF_BLOCK_SLOTS)
				(void)*(volatile __u8 *)&xsp_ring_slot(xsp_ring(k), s)->type;
			break;
		}
}

/* Return: false in a signal handler that interrupted the owner. */
XSP_COLD bool xsp_attach_lock(void)
{
	uint32_t tid = (uint32_t)syscall(SYS_gettid), owner = 0;
	unsigned int turns = 0;

	/*
	 * The lock is its owner's thread id, so that a handler can always tell whether it
	 * interrupted the owner.
	 */
	while (!__atomic_compare_exchange_n(&attaching_tid, &owner, tid, false, __ATOMIC_ACQUIRE,
					    __ATOMIC_RELAXED)) {
		if (owner == tid)
			return false;
		xsp_wait_turn(&attaching_tid, owner, &turns);
		owner = 0;
	}
	return true;
}

XSP_COLD void xsp_attach_unlock(void)
{
	__atomic_store_n(&attaching_tid, 0, __ATOMIC_RELEASE);
}

/**
 * xsp_attach() - make the process a producer, if there is a recorder
 *
 * Signal-safe, so that a forked child can attach at its first marker. Other threads wait for the
 * attaching thread; a signal handler over it does not.
 *
 * Return: 0 attached; -ENOTCONN no recorder; -EAGAIN not now; else why it failed permanently.
 */
XSP_COLD int xsp_attach(void)
{
	uint32_t state;
	int err;

	if (xsp_config.backend == XSP_CHOICE_NONE ||
	    (xsp_config.backend == XSP_CHOICE_TMPFS && !xsp_config.session))
		return -ENOTCONN;
	if (__atomic_load_n(&xsp_set.state, __ATOMIC_RELAXED) == XSP_FAILED) {
		lose();
		return -ENOTCONN;
	}
	if (__atomic_load_n(&xsp_set.state, __ATOMIC_RELAXED) == XSP_MOVES)
		return -EAGAIN;
	if (xsp_fork_check() < 0 || xsp_shares_memory())
		return -EAGAIN;
	if (!xsp_attach_lock())
		return -EAGAIN;
	state = __atomic_load_n(&xsp_set.state, __ATOMIC_ACQUIRE);
	if (state != XSP_DETACHED) {
		xsp_attach_unlock();
		return state == XSP_ATTACHED ? 0 : -ENOTCONN;
	}
	err = attach();
	if (!err)
		state = XSP_ATTACHED;
	else
		state = err == -EBUSY ? XSP_DETACHED : XSP_FAILED;
	if (state == XSP_FAILED && err == -ENOTCONN)
		xsp_map_dormant_page();
	else if (state == XSP_FAILED)
		count_losses();
	/* Release: a thread that sees ATTACHED also sees all of xsp_set. */
	__atomic_store_n(&xsp_set.state, state, __ATOMIC_RELEASE);
	/* From here on handlers count losses in the producer; add those counted before. */
	if (!err)
		__atomic_add_fetch(&xsp_set.arena->late, xsp_take_late(), __ATOMIC_RELAXED);
	xsp_attach_unlock();
	/* After any other failure ops are counted as lost, like markers. */
	if (!err || err == -ENOTCONN)
		xsp_ops_attached();
	if (!err && xsp_config.prefault)
		xsp_prefault();
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

/* In a forked child: forgets the parent's state. */
void xsp_producer_forget(void)
{
	failed_by = 0;
	(void)xsp_take_late();
	attaching_tid = 0;
	xsp_config.recording = false;
}
