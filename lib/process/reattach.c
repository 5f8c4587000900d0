// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Attaches the process on the program's own request, or again: xsprof_init() with sizes of its own,
 * xsprof_join() with the session of a recorder that came later. Owns the configuration from before
 * xsprof_join(); attach.c makes the producer.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include <xsprof/collector.h>

#include "process/backend.h"
#include "process/join.h"
#include "process/life.h"
#include "process/local.h"
#include "ring/op-wanted.h"

/* ---- a recorder that came later ------------------------------------------------------------- */

/* The configuration before xsprof_join(). */
static struct {
	char		path[PATH_MAX];
	const char	*session;
	uint64_t	arena_size;
	uint32_t	backend;
	bool		on;
} joined;

/*
 * The producer ends. Its memory stays mapped, and so do the pointers to it: a marker that has begun
 * in another thread may still write there. @moves: a profile goes on with other rings: markers stay
 * on and count as lost until then, and what it has not read yet of these is kept.
 */
static void retire(bool moves)
{
	if (!xsp_attached() || xsp_kept.backend->kind != XSPROF_BACKEND_TMPFS)
		return;
	if (!moves)
		(void)xsp_kept.backend->control(0, 0, XSPROF_PAUSED_RECORDER, 0);
	if (xsp_names_lock(true) < 0)
		return;
	__atomic_store_n(&xsp_set.state, moves ? XSP_MOVES : XSP_FAILED, __ATOMIC_RELEASE);
	xsp_rings_close();
	xsp_kept.backend->goodbye();
	xsp_shm_retire(moves);
	xsp_names_unlock();
	if (!moves)
		xsp_ops_attached();
}

/* Gives the recorder's rings up. @only_joined: unless they have been given up meanwhile. */
static void give_up(bool only_joined, bool moves)
{
	if (!xsp_attach_lock())
		return;
	if (joined.on || !only_joined)
		retire(moves);
	if (joined.on) {
		xsp_config.session = joined.session;
		xsp_config.arena_size = joined.arena_size;
		xsp_config.backend = joined.backend;
		joined.on = false;
	}
	xsp_attach_unlock();
}

void xsp_producer_retire(bool moves)
{
	give_up(false, moves);
}

void xsp_producer_stay(void)
{
	xsp_map_dormant_page();
	__atomic_store_n(&xsp_set.state, XSP_FAILED, __ATOMIC_RELEASE);
	xsp_ops_attached();
}

static const struct xsp_join_hook *join_hook;

void xsp_at_join(const struct xsp_join_hook *hook)
{
	__atomic_store_n(&join_hook, hook, __ATOMIC_RELEASE);
}

/*
 * A fork holds the names' lock, for milliseconds in a large process, and xsp_attach() does not wait
 * so long. This waits without a lock: the thread that forks may emit a marker that attaches.
 */
#define TRIES	1000

static int attach(void)
{
	int err = xsp_attach();

	for (int i = 0; i < TRIES && err == -EAGAIN && !xsp_names_lock(true); i++) {
		xsp_names_unlock();
		err = xsp_attach();
	}
	return err;
}

static int join(const char *session, uint64_t arena_size)
{
	int err;

	if (!xsp_attach_lock())
		return -EAGAIN;
	if (xsp_attached() && (xsp_kept.backend->kind != XSPROF_BACKEND_TMPFS ||
			       !xsp_config.session || !xsp_recording_live(xsp_config.session))) {
		xsp_attach_unlock();
		return -EBUSY;
	}
	retire(false);
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
	xsp_attach_unlock();
	err = attach();
	if (err)
		give_up(true, false);
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

	bool moves = false;

	if (!joined.on || xsp_fork_check() < 0)
		return;
	if (hook)
		moves = hook->leaves();
	give_up(true, moves);
	if (hook)
		hook->left();
}

/* ---- options of the program ----------------------------------------------------------------- */

/* The process continues without its producer; called with the names' lock held. */
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

int xsprof_init(const struct xsprof_options *opts)
{
	static char categories[4096];	/* kept for good: categories are looked up in it */
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
		/* Sizes can change until a ring has been used: recreate the file. */
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
		xsp_prefault();
	return 0;
}
