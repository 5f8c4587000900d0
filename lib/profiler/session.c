// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The session: begin, join, toggle, end. Owns the running session and its configuration. One per
 * process at a time, as GPUs allow one profiler at a time.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xsprof/result.h>

#include "base/clock.h"
#include "forward/forward.h"
#include "process/life.h"
#include "profiler/members.h"
#include "profiler/metadata.h"
#include "profiler/op-mirror.h"
#include "profiler/op-time.h"
#include "profiler/result-library.h"
#include "profiler/session.h"
#include "ring/op-wanted.h"

static struct {
	pthread_mutex_t			lock;
	int				cancel;		/* state of the thread that has the lock */
	bool				running;
	uint32_t			number;		/* number of the latest session, never 0 */
	struct xsprof_profiler_config	config;
	struct xsprof_experimental	experimental;
	uint32_t			activities;
	uint32_t			scopes;
	bool				all_threads;
	bool				demand;		/* requested from outside */
	uint64_t			from;	/* ticks of xsprof_now() */
	uint64_t			steps_from;
	uint64_t			steps_to;
	struct xsp_recorder		*recorder;
	struct xsp_recorder_lost	lost;		/* of the latest result, if @demand */
	struct xsp_members		members;
	struct xsprof_sync		begun;
	struct xsp_metadata		metadata;
} s = { .lock = PTHREAD_MUTEX_INITIALIZER };

__thread enum xsp_session_caller xsp_session_caller
	__attribute__((tls_model("initial-exec")));

/* With the lock threads wait, and are not cancelled: the lock would stay theirs. */
static void lock_session(void)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_mutex_lock(&s.lock);
	s.cancel = state;
}

static void unlock_session(void)
{
	int state = s.cancel;

	pthread_mutex_unlock(&s.lock);
	pthread_setcancelstate(state, NULL);
}

/* ---- its threads ---------------------------------------------------------------------------- */

/* Are ops outside of the session recorded too? The result leaves them out. */
static bool is_shared(void)
{
	return s.recorder && !xsp_recorder_is_own();
}

int xsprof_enable_profiler_in_child_thread(void)
{
	int err, saved = errno;

	lock_session();
	err = !s.running ? -ENOENT : xsp_thread.session == s.number ? -EALREADY :
	      xsp_members_join(&s.members, !s.all_threads && is_shared());
	if (!err)
		xsp_thread.session = s.number;
	unlock_session();
	errno = saved;
	return err;
}

int xsprof_disable_profiler_in_child_thread(void)
{
	int err = -ENOENT;

	lock_session();
	if (s.running && xsp_thread.session == s.number)
		err = xsp_members_leave(&s.members, !s.all_threads && is_shared());
	unlock_session();
	xsp_thread.session = 0;
	return err;
}

bool xsprof_is_profiler_enabled_in_main_thread(void)
{
	return __atomic_load_n(&s.running, __ATOMIC_ACQUIRE);
}

enum xsprof_profiler_state xsprof_profiler_state(void)
{
	enum xsprof_profiler_state state = XSPROF_PROFILER_DISABLED;

	lock_session();
	if (s.running && (s.all_threads || xsp_thread.session == s.number))
		state = s.config.state;
	unlock_session();
	return state;
}

/* ---- begin ---------------------------------------------------------------------------------- */

/* Called with the lock held. */
static int begin(const struct xsprof_profiler_config *config,
		 const struct xsprof_experimental *experimental, uint32_t activities,
		 uint32_t scopes)
{
	const struct xsprof_device_stubs *stubs;
	uint32_t wanted;
	int err;

	xsp_metadata_drop(&s.metadata);
	err = xsp_op_time_find(config->state, &stubs);
	if (!err)
		err = xsp_members_begin(&s.members);
	/* Last: nothing after it can fail and leave a recorder behind. */
	if (!err && xsp_session_records(config->state))
		err = xsp_recorder_open(config, &s.recorder);
	if (err)
		return err;
	if (!++s.number)
		s.number = 1;
	s.config = *config;
	s.experimental = *experimental;
	s.config.experimental = &s.experimental;
	s.activities = activities;
	s.scopes = scopes ? scopes : XSPROF_OP_ALL;
	s.all_threads = experimental->all_threads ||
			config->state == XSPROF_PROFILER_KINETO_ONDEMAND;
	s.demand = xsp_session_caller == XSP_CALLER_LIBRARY;
	s.from = xsprof_now();
	s.steps_from = s.steps_to = 0;
	xsp_sync_read(&s.begun, xsp_kept.clock);
	xsp_thread.session = s.number;
	wanted = activities & XSPROF_ACTIVITY(CPU) ? s.scopes : 0;
	if (!s.all_threads)
		wanted |= XSP_OP_JOINED;
	if (xsp_session_mirror(config->state))
		wanted |= XSP_OP_MIRROR;
	if (stubs)
		wanted |= XSP_OP_DEVICE;
	xsp_op_time_begin(stubs, s.number);
	__atomic_store_n(&s.running, true, __ATOMIC_RELEASE);
	xsp_ops_session(s.number, wanted, xsp_session_flags(config),
			xsp_session_mirror(config->state));
	return 0;
}

static int check(const struct xsprof_profiler_config *config, uint32_t activities,
		 struct xsprof_profiler_config *to, struct xsprof_experimental *experimental)
{
	int err = xsp_session_copy(config, to, experimental);

	if (!err && (!activities || activities >> XSPROF_ACTIVITIES))
		err = -EINVAL;
	return err;
}

int xsprof_prepare_profiler(const struct xsprof_profiler_config *config, uint32_t activities)
{
	struct xsprof_profiler_config to;
	struct xsprof_experimental experimental;
	int err = check(config, activities, &to, &experimental), saved = errno;

	if (err)
		return err;
	/* Done before taking the lock: becoming a producer takes the most time. */
	lock_session();
	err = s.running ? -EBUSY : xsp_session_records(to.state) ? xsp_recorder_prepare(&to) : 0;
	unlock_session();
	errno = saved;
	return err;
}

int xsp_session_begin(const struct xsprof_profiler_config *config, uint32_t activities,
		      uint32_t scopes)
{
	struct xsprof_profiler_config to;
	struct xsprof_experimental experimental;
	int err = check(config, activities, &to, &experimental);

	if (!err && scopes & ~XSPROF_OP_ALL)
		err = -EINVAL;
	if (err)
		return err;
	lock_session();
	err = s.running ? -EBUSY : begin(&to, &experimental, activities, scopes);
	unlock_session();
	return err;
}

/* Earlier records were warm-up; the rest of the current step does not belong to the result. */
void xsp_session_restart(uint64_t step)
{
	lock_session();
	s.from = xsprof_now();
	s.steps_from = step;
	unlock_session();
}

void xsp_session_steps_to(uint64_t step)
{
	lock_session();
	s.steps_to = step;
	unlock_session();
}

/*
 * May the caller end it? A session that the library began for an external request cannot be ended
 * by the program. Called with the lock held.
 */
static int check_mine(void)
{
	if (!s.running)
		return -ENOENT;
	return s.demand && xsp_session_caller == XSP_CALLER_PROGRAM ? -EBUSY : 0;
}

int xsprof_toggle_collection(bool on, uint32_t activities)
{
	int err;

	lock_session();
	err = check_mine();
	if (!err && (!activities || activities & XSPROF_ACTIVITY(CPU))) {
		err = xsp_members_toggle(&s.members, is_shared(), on);
		if (!err)
			xsp_ops_toggle(on);
	}
	unlock_session();
	return err;
}

/* ---- for kineto.c --------------------------------------------------------------------------- */

int xsp_session_metadata(const char *key, char *json, bool append)
{
	int err = -ENOENT;

	lock_session();
	if (s.running && append)
		err = xsp_metadata_append(&s.metadata, key, json);
	else if (s.running)
		err = xsp_metadata_set(&s.metadata, key, json);
	unlock_session();
	return err;
}

int xsp_session_begun(struct xsprof_sync *sync)
{
	int err;

	lock_session();
	err = !s.running ? -ENOENT : s.recorder ? 0 : -ENODATA;
	*sync = s.begun;
	unlock_session();
	return err;
}

void xsp_session_catch_up(void)
{
	lock_session();
	if (s.running && s.recorder)
		xsp_recorder_catch_up(s.recorder);
	unlock_session();
}

/* ---- end ------------------------------------------------------------------------------------ */

int xsp_session_finish(struct xsprof_result *result, const struct xsp_finish *finish)
{
	if (!result || !finish->each)
		return 0;
	return xsp_result_post_process(result, finish->each, finish->data);
}

static int make_result(int fd, uint64_t to, struct xsprof_result **result)
{
	struct xsprof_result_options opts = {
		.size = sizeof(opts),
		.pid = (uint32_t)getpid(), .tids = s.members.tids,
		.nr_tids = s.all_threads ? 0 : s.members.nr_tids,
		.activities = s.activities, .scopes = s.scopes, .config = &s.config,
		.keys = (const char *const *)s.metadata.keys,
		.values = (const char *const *)s.metadata.values, .nr_metadata = s.metadata.nr,
		.steps_from = s.steps_from, .absences = s.members.absences,
		.nr_absences = s.members.nr_absences, .steps_to = s.steps_to,
		.from_ticks = s.from, .to_ticks = to,
	};
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return xsp_result_open(path, &opts, result);
}

/* Called with the lock held. */
static int end(struct xsprof_result **result)
{
	int fd = -1, err = 0, opened = 0;
	uint64_t to;

	xsp_ops_session(0, 0, 0, 0);
	/* Wait for the devices: the remaining times belong to the session. */
	xsp_op_time_end();
	to = xsprof_now();
	__atomic_store_n(&s.running, false, __ATOMIC_RELEASE);
	if (s.recorder) {
		err = xsp_recorder_close(s.recorder, &fd, s.demand ? &s.lost : NULL);
		s.recorder = NULL;
	}
	if (fd >= 0 && result)
		opened = make_result(fd, to, result);
	if (fd >= 0)
		close(fd);
	return opened ? opened : err;
}

int xsp_session_end(struct xsprof_result **result, struct xsp_finish *finish)
{
	int err;

	if (result)
		*result = NULL;
	lock_session();
	err = check_mine();
	if (!err && finish)
		*finish = (struct xsp_finish){ s.config.post_process, s.config.post_process_data };
	if (!err)
		err = end(result);
	unlock_session();
	return err;
}

int xsp_session_so_far(struct xsprof_result **result)
{
	int err = -ENOENT, fd = -1;

	*result = NULL;
	lock_session();
	if (s.running)
		err = s.recorder ? xsp_recorder_copy(s.recorder, &fd, s.demand ? &s.lost : NULL) :
				   -ENODATA;
	if (!err)
		err = make_result(fd, xsprof_now(), result);
	unlock_session();
	if (fd >= 0)
		close(fd);
	return err;
}

void xsp_session_lost(struct xsp_recorder_lost *lost)
{
	lock_session();
	*lost = s.lost;
	unlock_session();
}

/* ---- fork and exit -------------------------------------------------------------------------- */

static void forget_parent(void)
{
	/* Another thread may have been changing the lists: leak them. */
	if (pthread_mutex_trylock(&s.lock)) {
		s.members = (struct xsp_members){ 0 };
		s.metadata = (struct xsp_metadata){ 0 };
	}
	pthread_mutex_init(&s.lock, NULL);
	xsp_recorder_forget();
	s.recorder = NULL;
	s.running = false;
	xsp_thread.session = 0;
	xsp_session_caller = XSP_CALLER_PROGRAM;
	xsp_op_time_forget();
	xsp_ops_child();
}

static void end_session_at_exit(void)
{
	xsp_op_time_quit();
	s.demand = false;
	if (s.running)
		(void)xsp_session_end(NULL, NULL);
	xsp_recorder_exit();
}

/* ---- a recorder that comes to a process that runs, and leaves ------------------------------- */

static int recorder_comes(void)
{
	lock_session();
	if (s.running) {
		unlock_session();
		return -EINPROGRESS;
	}
	xsp_recorder_yield();
	return 0;
}

/* No session began meanwhile, on rings that were about to go. */
static void recorder_came(void)
{
	unlock_session();
}

static bool recorder_leaves(void)
{
	lock_session();
	if (!s.running || !s.recorder)
		return false;
	xsp_recorder_leaves(s.recorder);
	return true;
}

static void recorder_left(void)
{
	if (s.running && s.recorder)
		xsp_recorder_left(s.recorder);
	unlock_session();
}

/* A constructor: another thread may hold its locks at any fork. */
__attribute__((constructor(102))) static void register_moments(void)
{
	static struct xsp_fork_hook hook = { .forget = forget_parent };
	static const struct xsp_join_hook join = {
		.comes = recorder_comes, .came = recorder_came, .leaves = recorder_leaves,
		.left = recorder_left,
	};

	xsp_at_fork(&hook);
	xsp_at_join(&join);
	xsp_at_exit(end_session_at_exit);
}
