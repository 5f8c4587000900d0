// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The producer of a process that profiles itself: without a recorder the process becomes a producer
 * on tmpfs that overwrites its oldest records, until a recorder comes or the program ends, and is
 * paused between sessions.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own-fd.h"
#include "base/proc.h"
#include "process/backend.h"
#include "process/join.h"
#include "process/life.h"
#include "profiler/own-producer.h"
#include "read/leftover.h"
#include "read/recording.h"
#include "ring/op-wanted.h"

/* Room for stacks and names of code, which plain markers do not need. */
#define ARENA_STACKS	(16ull << 20)

/*
 * The producer that is there because of sessions alone.  It changes under the lock: a session's
 * thread makes one as well, where a recorder ends.
 */
static struct {
	pthread_mutex_t		lock;
	struct xsp_recording	session;
	struct xsp_config	before;	/* what was asked for until then */
	bool			ours;
} own = { .lock = PTHREAD_MUTEX_INITIALIZER, .session = { .dirfd = -1, .lockfd = -1 } };

static void set_ours(bool ours)
{
	__atomic_store_n(&own.ours, ours, __ATOMIC_RELAXED);
	xsp_ops_producer(ours);
}

bool xsp_own_producer_needed(void)
{
	int err;

	if (own.ours || xsp_kept.backend->kind != XSPROF_BACKEND_TMPFS || !xsp_config.session)
		return false;
	err = xsp_recording_live(xsp_config.session);
	return err == -ENOTCONN || err == -ENOENT;
}

/* What make_producer() has asked for is asked for no more. */
static void ask_as_before(void)
{
	xsp_config.session = own.before.session;
	xsp_config.backend = own.before.backend;
	xsp_config.mode = own.before.mode;
	xsp_config.has_mode = own.before.has_mode;
	xsp_config.ring_size = own.before.ring_size;
	xsp_config.arena_size = own.before.arena_size;
}

static int make_producer(const struct xsprof_profiler_config *config)
{
	char facts[256], boot[64] = "";
	const char *object;
	int err;

	if (xsp_config.backend == XSP_CHOICE_NONE)
		return -EPERM;
	xsp_producer_retire();
	xsp_leftover_free(false);
	xsp_proc_line("/proc/sys/kernel/random/boot_id", boot, sizeof(boot));
	snprintf(facts, sizeof(facts), "pid %d\nboot %s\ncommand " XSP_PROFILED "\n",
		 (int)getpid(), boot);
	err = xsp_recording_create(&own.session, facts, false, &object);
	if (err)
		return err;
	err = xsp_recording_keep_open(&own.session);
	if (err) {
		xsp_recording_remove(&own.session);
		xsp_recording_close(&own.session);
		return err;
	}
	set_ours(true);
	own.before = xsp_config;
	xsp_config.session = own.session.path;
	xsp_config.backend = XSP_CHOICE_TMPFS;
	xsp_config.mode = XSPROF_MODE_OVERWRITE;
	xsp_config.has_mode = true;
	if (config->buffer_size)
		xsp_config.ring_size = config->buffer_size;
	if (config->with_stack && xsp_config.arena_size < ARENA_STACKS)
		xsp_config.arena_size = ARENA_STACKS;
	__atomic_store_n(&xsp_set.state, XSP_DETACHED, __ATOMIC_RELEASE);
	err = xsp_attach_now();
	if (!err)
		return 0;
	xsp_recording_remove(&own.session);
	xsp_recording_close(&own.session);
	set_ours(false);
	ask_as_before();
	return err;
}

int xsp_own_producer_find(const struct xsprof_profiler_config *config)
{
	int err = 0;

	pthread_mutex_lock(&own.lock);
	if (!xsp_attached() || xsp_own_producer_needed())
		err = make_producer(config) ?: 1;
	pthread_mutex_unlock(&own.lock);
	return err;
}

void xsp_own_producer_yield(void)
{
	pthread_mutex_lock(&own.lock);
	if (own.ours) {
		/* Before: only of a file without a name is the memory given back. */
		xsp_recording_remove(&own.session);
		xsp_producer_retire();
		xsp_recording_close(&own.session);
		set_ours(false);
		ask_as_before();
	}
	pthread_mutex_unlock(&own.lock);
}

/* The lock is held. */
static int pause_locked(bool on)
{
	bool is = own.ours && __atomic_load_n(&xsp_set.ctl->paused, __ATOMIC_SEQ_CST) &
			      XSPROF_PAUSED_RECORDER;
	int err;

	if (!own.ours || is == on)
		return 0;
	/* Ends of open ranges will not be seen: the next session must not see them as open. */
	if (!on)
		xsp_control_paused(false);
	err = xsp_kept.backend->control(0, 0, on ? XSPROF_PAUSED_RECORDER : 0,
					on ? 0 : XSPROF_PAUSED_RECORDER);
	if (on && !err) {
		xsp_control_paused(true);
		/*
		 * If the program is killed while saving, the data is in this recording
		 * (leftover.c).
		 */
		if (xsp_fd_ours(own.session.lockfd))
			xsp_recording_touch(&own.session);
	}
	return err;
}

int xsp_own_producer_pause(bool on)
{
	int err;

	pthread_mutex_lock(&own.lock);
	err = pause_locked(on);
	pthread_mutex_unlock(&own.lock);
	return err;
}

void xsp_own_producer_saved(void)
{
	const struct timespec long_ago[2] = { { 0 } };

	if (own.ours && xsp_fd_ours(own.session.lockfd))
		/* On failure the rest is kept as long as a save may take. */
		(void)futimens(own.session.lockfd, long_ago);
}

bool xsp_own_producer_exists(void)
{
	/* While a session runs its thread may be about to make one. */
	return __atomic_load_n(&own.ours, __ATOMIC_RELAXED);
}

int xsp_own_producer_prepare(const struct xsprof_profiler_config *config)
{
	int err = xsp_own_producer_find(config);

	return err < 0 ? err : xsp_own_producer_pause(true);
}

void xsp_own_producer_forget(void)
{
	pthread_mutex_init(&own.lock, NULL);
	/* The memory is not freed: its thread does not exist here, nor do the descriptors. */
	if (own.ours) {
		own.session.dirfd = -1;
		own.session.lockfd = -1;
		set_ours(false);
		/* A child has no session and no recorder: without a directory it stays detached. */
		xsp_config.session = NULL;
		xsp_config.backend = XSP_CHOICE_TMPFS;
	}
}

void xsp_own_producer_exit(void)
{
	if (own.ours)
		xsp_recording_remove(&own.session);
}
