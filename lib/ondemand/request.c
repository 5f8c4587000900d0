// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The current request, from its text to the file. Owns its state; independent of where texts come
 * from; calls the client through client.c only.
 *
 *	IDLE -> PENDING -> WARMUP -> COLLECT -> PROCESS -> IDLE
 *	        PENDING -> SNAPSHOT ----------> PROCESS		(of memory)
 *
 * For requests by time, the library's thread changes the state, in xsp_request_run(). For requests
 * by iterations, the program's thread does, in xsp_request_step(), so that a trace begins and ends
 * between two iterations; the library's thread then does PROCESS only. Any error leads to IDLE.
 *
 * The lock is held during calls of the client, except those that write files: these are made in
 * PROCESS, which only the library's thread leaves.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "ondemand/bell.h"
#include "ondemand/client.h"
#include "ondemand/request.h"
#include "ondemand/trace-file.h"
#include "profiler/log.h"
#include "profiler/recorder.h"

/* The program may stop making steps: a request waits at most this long for one. */
#define STEPS_MS	XSP_KINETO_DAY_MS

struct xsp_request xsp_rq = { .lock = PTHREAD_MUTEX_INITIALIZER };

static int64_t iteration;	/* current iteration of the program; 0 before its first step */
static uint32_t by_steps;	/* a request waits for steps: tested by each step */

/* Called with the lock held, as all functions below unless stated otherwise. */
void xsp_request_enter(uint32_t state)
{
	xsp_rq.changes++;
	__atomic_store_n(&xsp_rq.state, state, __ATOMIC_RELAXED);
	/* Relaxed: a step that sees it late counts as before the request. */
	__atomic_store_n(&by_steps, xsp_rq.plan.by_iteration && state != IDLE && state != PROCESS,
			 __ATOMIC_RELAXED);
}

bool xsp_request_idle(void)
{
	return __atomic_load_n(&xsp_rq.state, __ATOMIC_RELAXED) == IDLE;
}

const struct xsp_kineto_config *xsp_request_config(void)
{
	return &xsp_rq.plan.config;
}

const char *xsp_request_file_name(void)
{
	return xsp_rq.file;
}

static void over(const char *what, int err)
{
	char room[80];

	xsp_rq.err = err < 0 ? err : -EIO;
	snprintf(xsp_rq.why, sizeof(xsp_rq.why), "%.300s: %s", what,
		 xsp_client_meaning(xsp_rq.err, room, sizeof(room)));
	xsp_log(XSP_LOG_ERROR, "on-demand: %s; the request is dropped", xsp_rq.why);
	xsp_request_enter(IDLE);
}

static int prepare(void)
{
	int err = xsp_client_prepare(&xsp_rq.plan.config);

	if (err)
		over("the trace could not be prepared", err);
	return err;
}

static void collect(void)
{
	int err = xsp_client_start();

	if (err) {
		over("the trace could not begin", err);
		return;
	}
	xsp_rq.until = xsp_clock_ms(CLOCK_MONOTONIC) + xsp_rq.plan.config.duration_ms;
	xsp_rq.last = xsp_rq.first + xsp_rq.plan.config.iterations;
	xsp_request_enter(COLLECT);
	xsp_log(XSP_LOG_STAGE, "on-demand: the trace begins");
}

void xsp_request_end_collect(void)
{
	int err = xsp_client_stop();

	if (err)
		over("the trace could not end", err);
	else
		xsp_request_enter(PROCESS);
}

static void snapshot(void)
{
	int err = xsp_client_start_memory();

	if (err) {
		over("memory could not be recorded", err);
		return;
	}
	xsp_rq.until = xsp_clock_ms(CLOCK_MONOTONIC) + xsp_rq.plan.config.snapshot_ms;
	xsp_request_enter(SNAPSHOT);
}

/* ---- what is asked for ---- */

static int take(const char *text, size_t len, uint32_t from, char *why)
{
	static struct xsp_request_plan plan;	/* used by one thread, too large for the stack */
	int err;

	if (xsp_rq.state != IDLE) {
		snprintf(why, XSP_DEMAND_WHY, "another trace is running, requested by %s; "
			 "it goes to %.300s", xsp_rq.plan.from == XSP_DEMAND_BY_CTL ?
			 "'xsprof ctl'" : "the daemon", xsp_rq.plan.path);
		return -EBUSY;
	}
	plan.from = from;
	err = xsp_request_read(&plan, text, len, __atomic_load_n(&iteration, __ATOMIC_RELAXED),
			       why);
	if (err)
		return err;
	xsp_rq.plan = plan;
	xsp_rq.begun = xsp_clock_ms(CLOCK_MONOTONIC);
	__atomic_store_n(&xsp_rq.owner, getpid(), __ATOMIC_RELAXED);
	xsp_rq.first = plan.config.start_iteration < 0 ? 0 : plan.config.start_iteration;
	if (!++xsp_rq.number)
		xsp_rq.number = 1;
	xsp_rq.err = 0;
	xsp_rq.why[0] = '\0';
	xsp_rq.lost = (struct xsp_demand_lost){ 0 };
	xsp_request_enter(PENDING);
	xsp_log(XSP_LOG_INFO, "on-demand: a trace is requested, id %s",
		*xsp_rq.plan.config.trace_id ? xsp_rq.plan.config.trace_id : "(none)");
	return 0;
}

/**
 * xsp_request_take() - accept a request
 * @text: as received; not terminated
 * @len: its length
 * @from: enum xsp_demand_from
 * @why: reason of a refusal, XSP_DEMAND_WHY bytes
 *
 * Return: 0: accepted; -EBUSY: another request, or a session of the program; else the reason of the
 * refusal.
 */
int xsp_request_take(const char *text, size_t len, uint32_t from, char *why)
{
	int err;

	why[0] = '\0';
	pthread_mutex_lock(&xsp_rq.lock);
	err = take(text, len, from, why);
	pthread_mutex_unlock(&xsp_rq.lock);
	if (err)
		xsp_log(err == -EBUSY ? XSP_LOG_WARNING : XSP_LOG_ERROR,
			"on-demand: %s; the request is dropped", why);
	return err;
}

int xsp_request_cancel(void)
{
	uint32_t was = xsp_rq.state;

	if (was == IDLE || was == PROCESS)
		return -ENOENT;
	/* The recording is discarded, even if stopping it fails. */
	if (was == COLLECT && !xsp_client_stop())
		xsp_client_save(NULL);
	if (was == SNAPSHOT)
		xsp_client_stop_memory();
	xsp_rq.err = -ECANCELED;
	snprintf(xsp_rq.why, sizeof(xsp_rq.why), "the request was cancelled");
	xsp_request_enter(IDLE);
	xsp_log(XSP_LOG_WARNING, "on-demand: the request is cancelled");
	return 0;
}

/* ---- by time: the library's thread ---- */

/* Does what is due. Return: true if more is due at once. */
static bool move_on(int64_t *wait)
{
	int64_t real = xsp_clock_ms(CLOCK_REALTIME), mono = xsp_clock_ms(CLOCK_MONOTONIC), left;
	uint32_t was = xsp_rq.state;

	*wait = INT64_MAX;
	if (xsp_rq.plan.by_iteration) {
		/* The program stopped making steps: do not let other requests wait for it. */
		left = xsp_rq.begun + STEPS_MS - mono;
		if (left <= 0)
			xsp_request_cancel();
		else if (was != IDLE && was != PROCESS)
			*wait = left;
		return false;
	}
	switch (was) {
	case PENDING:
		left = xsp_rq.plan.start - xsp_rq.plan.config.warmup_ms - real;
		if (left <= 0 && !prepare())
			xsp_request_enter(WARMUP);
		break;
	case WARMUP:
		left = xsp_rq.plan.start - real;
		if (left <= 0 && xsp_rq.plan.config.snapshot)
			snapshot();
		else if (left <= 0)
			collect();
		break;
	case COLLECT:
		left = xsp_rq.until - mono;
		if (left <= 0)
			xsp_request_end_collect();
		break;
	case SNAPSHOT:
		left = xsp_rq.until - mono;
		if (left <= 0)
			xsp_request_enter(PROCESS);
		break;
	default:
		return false;
	}
	if (left > 0)
		*wait = left;
	return xsp_rq.state != was;
}

/*
 * Called without the lock, in PROCESS: other threads see only this state.
 *
 * Return: 0, or why there is no file.
 */
static int save(struct xsp_trace_file *f)
{
	int err = xsp_trace_file_open(f, xsp_rq.plan.config.file, xsp_rq.plan.pid), stopped;

	xsp_rq.file = xsp_rq.plan.path;
	if (!err) {
		err = xsp_rq.plan.config.snapshot ? xsp_client_export_memory(f->path) :
						    xsp_client_save(f->path);
		if (err)
			xsp_trace_file_drop(f);
		else
			err = xsp_trace_file_keep(f);
	} else if (!xsp_rq.plan.config.snapshot) {
		/* Free the recording: there will be no file. */
		xsp_client_save(NULL);
	}
	if (xsp_rq.plan.config.snapshot) {
		stopped = xsp_client_stop_memory();
		err = err ? err : stopped;
	}
	return err;
}

/* Called with the lock, which is released meanwhile. */
static void process(void)
{
	struct xsp_trace_file f;
	int err;

	pthread_mutex_unlock(&xsp_rq.lock);
	err = save(&f);
	pthread_mutex_lock(&xsp_rq.lock);
	if (err) {
		over(xsp_rq.plan.path, err);
		return;
	}
	xsp_recorder_saved();
	xsp_client_lost(&xsp_rq.lost);
	xsp_request_enter(IDLE);
	xsp_log(XSP_LOG_STAGE, "on-demand: the trace is saved as %s", xsp_rq.plan.path);
}

/**
 * xsp_request_run() - do what is due; called by the library's thread only
 *
 * Return: ms until the next action.
 */
int64_t xsp_request_run(void)
{
	int64_t wait;

	pthread_mutex_lock(&xsp_rq.lock);
	while (move_on(&wait) || xsp_rq.state == PROCESS)
		if (xsp_rq.state == PROCESS)
			process();
	pthread_mutex_unlock(&xsp_rq.lock);
	return wait;
}

/* ---- by iterations: the program's thread ---- */

/* Has the iteration come at which warm-up begins? */
static bool reached(int64_t at)
{
	int64_t warmup = xsp_rq.plan.config.warmup_iterations, up = xsp_rq.plan.config.roundup;

	if (at > xsp_rq.first - warmup) {
		/*
		 * The requested iteration is past: start as early as possible, at a round number.
		 */
		xsp_rq.first = at + warmup;
		if (up > 0 && xsp_rq.first % up)
			xsp_rq.first += up - xsp_rq.first % up;
	}
	return at >= xsp_rq.first - warmup;
}

static void step(int64_t at)
{
	if (xsp_rq.state == PENDING && reached(at) && !prepare())
		xsp_request_enter(WARMUP);
	/* The end first: if iterations are skipped it must not begin and end at the same one. */
	if (xsp_rq.state == COLLECT && at >= xsp_rq.last)
		xsp_request_end_collect();
	else if (xsp_rq.state == WARMUP && at >= xsp_rq.first)
		collect();
}

/**
 * xsp_request_step() - the program's next iteration begins
 *
 * The first iteration begun by a step is number 1, as in "ProfilerStep#1". Without a request by
 * iterations this costs a count and a test.
 */
void xsp_request_step(void)
{
	int64_t at = __atomic_add_fetch(&iteration, 1, __ATOMIC_RELAXED);
	uint32_t changes;
	int err;

	if (likely(!__atomic_load_n(&by_steps, __ATOMIC_RELAXED)))
		return;
	err = errno;
	/*
	 * Steps made by a client itself are only counted. And the child of a raw clone() has a copy
	 * of the request, whose lock its parent's thread may have held.
	 */
	if (xsp_client_calls_us() || __atomic_load_n(&xsp_rq.owner, __ATOMIC_RELAXED) != getpid())
		goto out;
	pthread_mutex_lock(&xsp_rq.lock);
	changes = xsp_rq.changes;
	/* While a snapshot is being written, the end is postponed to a later step. */
	if (xsp_rq.plan.by_iteration && !xsp_rq.writing)
		step(at);
	changes -= xsp_rq.changes;
	pthread_mutex_unlock(&xsp_rq.lock);
	/* The library's thread saves, and answers the requester. */
	if (changes)
		xsp_ondemand_wake();
out:
	errno = err;
}

/* ---- the client, and the end ---- */

int xsprof_ondemand_cancel(void)
{
	int err = errno, ret = -EDEADLK;

	if (!xsp_client_calls_us()) {
		pthread_mutex_lock(&xsp_rq.lock);
		/* Done by its thread after writing the snapshot. */
		ret = xsp_rq.writing ? 0 : xsp_request_cancel();
		xsp_rq.cancelled |= xsp_rq.writing;
		pthread_mutex_unlock(&xsp_rq.lock);
	}
	/* The library's thread answers the requester. */
	if (!ret)
		xsp_ondemand_wake();
	errno = err;
	return ret;
}

/**
 * xsp_request_end() - the program ends; called by the library's thread
 *
 * The library's own client saves its records. Any other client may be partly destroyed by now.
 */
void xsp_request_end(void)
{
	pthread_mutex_lock(&xsp_rq.lock);
	if (xsp_client_is_custom() && xsp_rq.state != IDLE) {
		xsp_rq.err = -ECANCELED;
		strcpy(xsp_rq.why, "the program ended before the trace did");
		xsp_request_enter(IDLE);
	}
	if (xsp_rq.state == COLLECT)
		xsp_request_end_collect();
	else if (xsp_rq.state == SNAPSHOT)
		xsp_request_enter(PROCESS);
	else
		xsp_request_cancel();
	if (xsp_rq.state == PROCESS)
		process();
	pthread_mutex_unlock(&xsp_rq.lock);
}

/* In a forked child: there is no request, and the lock is free. */
void xsp_request_forget(void)
{
	pthread_mutex_init(&xsp_rq.lock, NULL);
	xsp_rq.plan.by_iteration = false;
	xsp_rq.writing = false;
	xsp_rq.number = 0;
	xsp_client_forget();
	xsp_request_enter(IDLE);
}

int xsprof_register_client(const struct xsprof_client *client)
{
	int err = errno, ret = client ? xsp_client_check(client) : 0;

	if (!ret && xsp_client_calls_us())
		ret = -EBUSY;
	if (ret)
		return ret;
	pthread_mutex_lock(&xsp_rq.lock);
	if (xsp_rq.state == IDLE)
		xsp_client_set(client);
	else
		ret = -EBUSY;
	pthread_mutex_unlock(&xsp_rq.lock);
	errno = err;
	return ret;
}
