// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The process' producer: when it attaches, forks, pauses and ends.  Owns xsp_set and the state;
 * the memory comes from a backend, the marker path is elsewhere.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"
#include "trace/ring-clock.h"

struct xsp_set xsp_set __attribute__((aligned(64)));
struct xsprof_ring_writer xsp_closed_ring __attribute__((aligned(64)));
union xsprof_ctl_page xsprof_ctl_page;
uint32_t xsp_state;
uint32_t xsp_resumed;

static uint32_t attaching_tid;	/* who attaches; a lock */
static uint64_t late;		/* records lost with no producer to count them */
static bool self_recording;

void xsp_count_late(void)
{
	if (xsp_attached())
		__atomic_add_fetch(&xsp_set.arena->late, 1, __ATOMIC_RELAXED);
	else
		__atomic_add_fetch(&late, 1, __ATOMIC_RELAXED);
}

/* The word that markers test, from what is wanted and who paused. */
static void update_enabled(void)
{
	struct xsprof_ctl *ctl = xsp_set.ctl;
	uint64_t wanted;
	uint32_t paused;

	/* The recorder, or another thread, may change them at any time: look again after. */
	do {
		paused = __atomic_load_n(&ctl->paused, __ATOMIC_SEQ_CST);
		wanted = __atomic_load_n(&ctl->wanted, __ATOMIC_SEQ_CST);
		__atomic_store_n(&ctl->enabled, paused ? 0 : wanted, __ATOMIC_SEQ_CST);
	} while (paused != __atomic_load_n(&ctl->paused, __ATOMIC_SEQ_CST) ||
		 wanted != __atomic_load_n(&ctl->wanted, __ATOMIC_SEQ_CST));
	__atomic_add_fetch(&ctl->generation, 1, __ATOMIC_RELEASE);
}

/* The control page, read-only, over the page that markers test. */
static int map_ctl_page(void)
{
	size_t page = sysconf(_SC_PAGESIZE);

	/* A linker that moved the symbol with a copy relocation keeps its alignment; check. */
	if ((uintptr_t)&xsprof_ctl_page % page || page > sizeof(xsprof_ctl_page))
		return -ENOTSUP;
	if (mmap(&xsprof_ctl_page, page, PROT_READ, MAP_SHARED | MAP_FIXED, xsp_set.fd, 0) ==
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

static uint32_t clock_kind(void)
{
	return strcmp(xsp_config.clock, "mono") ? xsp_clock_kind() : XSPROF_CLOCK_MONO_RAW;
}

static const char *reason(int err)
{
	switch (err) {
	case -ENOSPC:
		return "no space left on tmpfs for its rings: a smaller --buffer-size, or more "
		       "room there";
	case -ENOMEM:
		return "no memory or address space for its rings: a smaller --buffer-size";
	case -EFBIG:
		return "its file size limit (ulimit -f) is below its rings' size";
	case -EMFILE:
	case -ENFILE:
		return "no file descriptor left (ulimit -n)";
	default:
		return "its rings could not be made";
	}
}

static int attach(void)
{
	uint32_t clock = clock_kind();
	int64_t rs;
	/*
	 * Without a counter to read inside a sequence, time would go back in its ring: the
	 * lock rings then, where the clock is read under the lock.
	 */
	bool rseq = xsp_rseq_usable(&rs) && clock != XSPROF_CLOCK_MONO_RAW;
	int err;

	/* A handler over our own lock on the names: the next marker will attach. */
	err = xsp_names_lock(false);
	if (err < 0)
		return err;
	err = xsp_shm_attach(&xsp_config, clock, rseq);
	if (err < 0)
		goto out;
	xsp_set.rs = rs;
	xsp_names_publish();
	xsp_facts_add();
	xsp_set.ctl->wanted = xsp_categories_wanted();
	xsp_set.nr = xsp_set.nr_rings;
	/*
	 * Before the page is mapped: other threads of a forked child look at it already, and a
	 * marker that finds it empty would be left out and not be counted.
	 */
	update_enabled();
	err = map_ctl_page();
	if (err < 0) {
		xsp_set.nr = 0;
		xsp_shm_detach();
	}
out:
	xsp_names_unlock();
	return err;
}

static void prefault(void)
{
	for (uint32_t k = 0; k < xsp_set.nr_rings + xsp_set.nl; k++)
		while (!xsp_ring_make_room(k, xsp_set.size)) {
			if (__atomic_load_n(&xsp_ring(k)->grown, __ATOMIC_RELAXED) == UINT64_MAX)
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
	uint32_t tid = (uint32_t)syscall(SYS_gettid), state, owner = 0;
	int err;

	if (!xsp_config.session)
		return -ENOTCONN;
	/* The lock is its owner's thread id: a handler over it knows at every instruction. */
	while (!__atomic_compare_exchange_n(&attaching_tid, &owner, tid, false, __ATOMIC_ACQUIRE,
					    __ATOMIC_RELAXED)) {
		if (owner == tid)
			return -EAGAIN;
		sched_yield();
		owner = 0;
	}
	state = __atomic_load_n(&xsp_state, __ATOMIC_ACQUIRE);
	if (state != XSP_DETACHED) {
		__atomic_store_n(&attaching_tid, 0, __ATOMIC_RELEASE);
		return state == XSP_ATTACHED ? 0 : -ENOTCONN;
	}
	err = attach();
	if (!err)
		state = XSP_ATTACHED;
	else
		state = err == -EBUSY ? XSP_DETACHED : XSP_FAILED;
	if (state == XSP_FAILED)
		map_dormant_page();
	/* Release: whoever sees ATTACHED sees all of xsp_set. */
	__atomic_store_n(&xsp_state, state, __ATOMIC_RELEASE);
	/* From here on handlers count in the producer; what they lost until now is added to it. */
	if (!err)
		__atomic_add_fetch(&xsp_set.arena->late,
				   __atomic_exchange_n(&late, 0, __ATOMIC_RELAXED),
				   __ATOMIC_RELAXED);
	__atomic_store_n(&attaching_tid, 0, __ATOMIC_RELEASE);
	if (!err && xsp_config.prefault)
		prefault();
	if (err && err != -EBUSY && err != -ENOTCONN && err != -EACCES)
		xsp_shm_note(xsp_config.session, reason(err));
	return err == -EBUSY ? -EAGAIN : err;
}

/* ---- fork ---- */

static bool fork_locked;	/* written by the holder of the lock alone */

static void before_fork(void)
{
	/* Waits for another thread's entry; a handler over our own lock forks without it. */
	fork_locked = !xsp_names_lock(true);
}

static void after_fork_parent(void)
{
	if (fork_locked)
		xsp_names_unlock();
}

/*
 * The child is a process of its own: its own producer, at its first marker.  Until then the
 * parent's control page stays mapped, so that the child's markers know that somebody records.
 */
static void after_fork_child(void)
{
	xsp_names_reset_lock();
	xsp_set.nr = 0;
	xsp_thread_forget();
	xsp_shm_detach();
	late = 0;
	attaching_tid = 0;
	self_recording = false;
	if (xsp_state != XSP_FAILED)
		xsp_state = XSP_DETACHED;
}

/* ---- life ---- */

/* Early among constructors: markers of other libraries' constructors are to be seen. */
__attribute__((constructor(101))) static void library_init(void)
{
	int err = errno;

	xsp_config_read();
	pthread_atfork(before_fork, after_fork_parent, after_fork_child);
	if (xsp_config.session)
		xsp_attach();
	if (!xsp_attached() && xsp_config.record && !xsp_self_record_start(xsp_config.record)) {
		self_recording = true;
		xsp_config_read();	/* the session's directory is in the environment now */
		xsp_state = XSP_DETACHED;
		xsp_attach();
	}
	errno = err;
}

/* Late among destructors; markers still go in, and are still read, after it. */
__attribute__((destructor(101))) static void library_exit(void)
{
	int err = errno;

	if (xsp_attached()) {
		xsp_set.ctl->exit_ticks = xsp_ticks(xsp_set.clock);
		__atomic_store_n(&xsp_set.ctl->state, XSPROF_STATE_EXITED, __ATOMIC_RELEASE);
	}
	if (self_recording)
		xsp_self_record_stop();
	errno = err;
}

int xsprof_init(const struct xsprof_options *opts)
{
	static char categories[4096];	/* categories are looked up in it for as long as we live */
	static const char zeros[256];
	struct xsprof_options o = { 0 };
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
		for (unsigned int i = 0; i < XSPROF_READY_WORDS; i++)
			if (xsp_set.ctl->ready[i]) {
				xsp_names_unlock();
				return -EALREADY;
			}
		xsp_names_unlock();
		xsp_set.ctl->state = XSPROF_STATE_EXITED;
		after_fork_child();
	}
	if (o.ring_size)
		xsp_config.ring_size = o.ring_size;
	if (o.arena_size)
		xsp_config.arena_size = o.arena_size;
	if (o.mode)
		xsp_config.mode = o.mode - 1;
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
		xsp_set.ctl->wanted = xsp_categories_wanted();
		xsp_names_unlock();
		update_enabled();
	}
	if (o.flags & XSPROF_INIT_PREFAULT)
		prefault();
	return 0;
}

/* ---- enable, pause ---- */

/* Tell the decoder where in time the set of categories changed. */
static void control_record(uint32_t op, uint64_t enabled)
{
	uint64_t payload[2] = { (uint64_t)op << 32, enabled };

	xsp_put_slow(xsp_hdr(xsp_thread_enter(), XSPROF_REC_CONTROL, 1), payload, 1, 0);
}

/* A category has come to be; the registry's lock is held. */
void xsp_category_known(uint32_t category, bool on)
{
	if (!on || !xsp_set.ctl)
		return;
	__atomic_or_fetch(&xsp_set.ctl->wanted, 1ull << category, __ATOMIC_SEQ_CST);
	if (xsp_attached())
		update_enabled();
}

int xsprof_category_enable(int category, int on)
{
	uint64_t bit = 1ull << (category & 63);

	if (category < 0 || category >= (int)XSPROF_MAX_CATEGORIES)
		return -EINVAL;
	if (!xsp_attached())
		return -ENOTCONN;
	if (on)
		__atomic_or_fetch(&xsp_set.ctl->wanted, bit, __ATOMIC_SEQ_CST);
	else
		__atomic_and_fetch(&xsp_set.ctl->wanted, ~bit, __ATOMIC_SEQ_CST);
	update_enabled();
	control_record(XSPROF_CONTROL_ENABLE, xsprof_enabled());
	return 0;
}

int xsprof_pause(void)
{
	if (!xsp_attached())
		return -ENOTCONN;
	if (__atomic_fetch_or(&xsp_set.ctl->paused, XSPROF_PAUSED_PROGRAM, __ATOMIC_SEQ_CST) &
	    XSPROF_PAUSED_PROGRAM)
		return 0;
	update_enabled();
	control_record(XSPROF_CONTROL_PAUSE, 0);
	return 0;
}

int xsprof_resume(void)
{
	if (!xsp_attached())
		return -ENOTCONN;
	if (!(__atomic_load_n(&xsp_set.ctl->paused, __ATOMIC_SEQ_CST) & XSPROF_PAUSED_PROGRAM))
		return 0;
	/* Before the markers go on: what was open is closed by the pause, not by this. */
	if (!(xsp_set.ctl->paused & XSPROF_PAUSED_RECORDER))
		control_record(XSPROF_CONTROL_RESUME, xsp_set.ctl->wanted);
	__atomic_add_fetch(&xsp_resumed, 1, __ATOMIC_RELAXED);
	__atomic_and_fetch(&xsp_set.ctl->paused, ~XSPROF_PAUSED_PROGRAM, __ATOMIC_SEQ_CST);
	update_enabled();
	return 0;
}

/* ---- account ---- */

static bool ring_ready(uint32_t k)
{
	return __atomic_load_n(&xsp_set.ctl->ready[k / 64], __ATOMIC_ACQUIRE) >> (k % 64) & 1;
}

int xsprof_flush(int timeout_ms)
{
	uint64_t end = xsp_clock_ns(CLOCK_MONOTONIC) + (uint64_t)timeout_ms * 1000000;
	const struct timespec pause = { .tv_nsec = 200000 };
	int err = errno;

	if (!xsp_attached())
		return -ENOTCONN;
	/* A recorder lets a ring with little in it wait for more; not this one. */
	__atomic_add_fetch(&xsp_set.ctl->flush, 1, __ATOMIC_RELEASE);
	for (uint32_t k = 0; k < xsp_set.nr_rings + xsp_set.nl; k++) {
		uint64_t head;

		if (!ring_ready(k))
			continue;
		head = __atomic_load_n(&xsp_ring(k)->head, __ATOMIC_ACQUIRE);
		/* tail is the reader's word; a lie makes us return early or late, no more */
		while ((int64_t)(head - __atomic_load_n(xsp_ring_tail(xsp_ring(k)),
							__ATOMIC_ACQUIRE)) > 0) {
			if (timeout_ms >= 0 && xsp_clock_ns(CLOCK_MONOTONIC) >= end) {
				errno = err;
				return -ETIMEDOUT;
			}
			nanosleep(&pause, NULL);
		}
	}
	errno = err;
	return 0;
}

int xsprof_get_stats(struct xsprof_stats *stats)
{
	struct xsprof_stats s = { .size = sizeof(s) };
	size_t size;

	if (!stats || stats->size < sizeof(size_t))
		return -EINVAL;
	size = stats->size;
	if (xsp_attached()) {
		struct xsprof_ctl *ctl = xsp_set.ctl;

		s.attached = 1;
		s.clock = xsp_set.clock;
		s.lost = xsp_set.arena->nomem + xsp_set.arena->late;
		s.names_missed = xsp_set.arena->missed;
		s.memory = ctl->arena_off + xsp_set.arena->used;
		for (uint32_t k = 0; k < xsp_set.nr_rings + xsp_set.nl; k++) {
			struct xsprof_ring_writer *w = xsp_ring(k);
			uint64_t head, grown;

			if (!ring_ready(k))
				continue;
			head = __atomic_load_n(&w->head, __ATOMIC_RELAXED);
			grown = __atomic_load_n(&w->grown, __ATOMIC_RELAXED);
			s.slots += head;
			if (k >= xsp_set.nr_rings)
				s.lock_slots += head;
			s.lost += __atomic_load_n(&w->drops, __ATOMIC_RELAXED) +
				  __atomic_load_n(&w->busy, __ATOMIC_RELAXED);
			s.memory += xsp_set.data_off + ((grown < xsp_set.size ? grown :
					xsp_set.size) << XSPROF_SLOT_SHIFT);
		}
	}
	if (size > sizeof(s)) {
		memset((char *)stats + sizeof(s), 0, size - sizeof(s));
		size = sizeof(s);
	}
	memcpy((char *)stats + sizeof(size_t), (char *)&s + sizeof(size_t),
	       size - sizeof(size_t));
	return 0;
}
