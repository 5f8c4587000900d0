// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Steps of a program, and the schedule that starts and ends sessions with them.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "process/life.h"
#include "profiler/schedule.h"
#include "profiler/session.h"

static struct {
	pthread_mutex_t			lock;
	bool				on;
	bool				in_session;
	uint64_t			step;		/* number of the program's step */
	uint64_t			first;		/* step at which the schedule began */
	struct xsprof_schedule		schedule;
	struct xsprof_profiler_config	config;
	struct xsprof_experimental	experimental;
	uint32_t			activities;
	uint32_t			scopes;
	void				(*ready)(void *data, struct xsprof_result *result);
	void				*data;
} c = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void (*at_step)(void);

void xsp_schedule_at_step(void (*step)(void))
{
	__atomic_store_n(&at_step, step, __ATOMIC_RELEASE);
}

enum xsprof_profiler_action xsprof_schedule_action(const struct xsprof_schedule *schedule,
						   uint64_t step)
{
	uint64_t cycle = (uint64_t)schedule->wait + schedule->warmup + schedule->active, at;

	if (step < schedule->skip_first || !schedule->active)
		return XSPROF_PROFILER_NONE;
	step -= schedule->skip_first;
	if (schedule->repeat && step / cycle >= schedule->repeat)
		return XSPROF_PROFILER_NONE;
	at = step % cycle;
	if (at < schedule->wait)
		return XSPROF_PROFILER_NONE;
	if (at < (uint64_t)schedule->wait + schedule->warmup)
		return XSPROF_PROFILER_WARMUP;
	return at == cycle - 1 ? XSPROF_PROFILER_RECORD_AND_SAVE : XSPROF_PROFILER_RECORD;
}

/* The functions below are called with the lock held. */

static int begin_session(void)
{
	int err = xsp_session_begin(&c.config, c.activities, c.scopes);

	c.in_session = !err;
	return err;
}

static int end_session(struct xsprof_result **result)
{
	if (!c.in_session)
		return 0;
	c.in_session = false;
	return xsp_session_end(result, NULL);
}

/*
 * Moves from one step's action to that of the next, the program's step number @step. @result: set
 * to a finished result.
 */
static int move(enum xsprof_profiler_action from, enum xsprof_profiler_action to, uint64_t step,
		struct xsprof_result **result)
{
	int err = 0, begun = 0;

	if (from == XSPROF_PROFILER_RECORD_AND_SAVE) {
		xsp_session_steps_to(step);
		err = end_session(result);
	} else if (to == XSPROF_PROFILER_NONE) {
		err = end_session(NULL);
	} else if (from == XSPROF_PROFILER_WARMUP && to != XSPROF_PROFILER_WARMUP && c.in_session) {
		xsp_session_restart(step);
	}
	if (to != XSPROF_PROFILER_NONE && !c.in_session) {
		begun = begin_session();
		if (!begun)
			xsp_session_restart(step);
	}
	return err ? err : begun;
}

static void mark_step(uint64_t step)
{
	static xsprof_name_t name;

	if (!xsprof_enabled())
		return;
	if (!__atomic_load_n(&name, __ATOMIC_RELAXED))
		__atomic_store_n(&name, xsprof_name("ProfilerStep"), __ATOMIC_RELAXED);
	xsprof_step(name, step);
}

int xsprof_schedule_profiler(const struct xsprof_profiler_config *config, uint32_t activities,
			     uint32_t scopes, const struct xsprof_schedule *schedule,
			     void (*ready)(void *data, struct xsprof_result *result), void *data)
{
	struct xsprof_result *none = NULL;
	int err = 0, saved = errno;

	if (!config || !schedule || !ready || schedule->size < sizeof(*schedule) ||
	    !schedule->active)
		return -EINVAL;
	pthread_mutex_lock(&c.lock);
	if (c.on || xsprof_is_profiler_enabled_in_main_thread())
		err = -EBUSY;
	if (!err)
		err = xsp_session_copy(config, &c.config, &c.experimental);
	if (!err) {
		c.activities = activities;
		c.scopes = scopes;
		c.schedule = *schedule;
		c.ready = ready;
		c.data = data;
		/* The step in progress does not belong to the schedule. */
		c.step += c.step != 0;
		c.first = c.step;
		c.in_session = false;
		err = move(XSPROF_PROFILER_NONE, xsprof_schedule_action(schedule, 0), c.step,
			   &none);
		__atomic_store_n(&c.on, !err, __ATOMIC_RELEASE);
	}
	if (!err)
		mark_step(c.step);
	pthread_mutex_unlock(&c.lock);
	errno = saved;
	return err;
}

int xsprof_profiler_step(void)
{
	struct xsprof_result *result = NULL;
	void (*ready)(void *data, struct xsprof_result *result) = NULL;
	void (*told)(void) = __atomic_load_n(&at_step, __ATOMIC_ACQUIRE);
	struct xsp_finish finish = { 0 };
	void *data = NULL;
	uint64_t step;
	int err = 0, ended, saved = errno;

	pthread_mutex_lock(&c.lock);
	step = ++c.step;
	if (c.on) {
		err = move(xsprof_schedule_action(&c.schedule, step - 1 - c.first),
			   xsprof_schedule_action(&c.schedule, step - c.first), step, &result);
		ready = c.ready;
		data = c.data;
		finish = (struct xsp_finish){ c.config.post_process, c.config.post_process_data };
	}
	pthread_mutex_unlock(&c.lock);
	/* A trace requested from outside may begin with this step, or end before it. */
	if (told)
		told();
	mark_step(step);
	/* Without the lock: the callbacks may end the schedule, or start another. */
	ended = xsp_session_finish(result, &finish);
	if (result)
		ready(data, result);
	err = err ? err : ended;
	errno = saved;
	return err;
}

bool xsp_schedule_runs(void)
{
	return __atomic_load_n(&c.on, __ATOMIC_ACQUIRE);
}

int xsp_schedule_end(void)
{
	int err;

	pthread_mutex_lock(&c.lock);
	err = c.on ? 0 : -ENOENT;
	__atomic_store_n(&c.on, false, __ATOMIC_RELEASE);
	c.in_session = false;
	pthread_mutex_unlock(&c.lock);
	return err;
}

/* In a forked child. */
static void forget(void)
{
	pthread_mutex_init(&c.lock, NULL);
	c.on = c.in_session = false;
}

/* A constructor: another thread may be making a step at any fork. */
__attribute__((constructor(102))) static void register_forget(void)
{
	static struct xsp_fork_hook hook = { .forget = forget };

	xsp_at_fork(&hook);
}
