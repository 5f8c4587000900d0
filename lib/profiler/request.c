// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The request that is under way: from its text to the file.  Owns its state; knows nothing
 * of where texts come from, and of who records only what client.c does for it.
 *
 *	IDLE -> PENDING -> WARMUP -> COLLECT -> PROCESS -> IDLE
 *	        PENDING -> SNAPSHOT ----------> PROCESS		(of memory)
 *
 * By time the library's thread moves it on, in xsp_request_run().  By iterations the program's
 * own does, in xsp_ondemand_step(), so that a trace begins and ends between two iterations; what
 * is left for the library's thread then is PROCESS.  Anything that goes wrong leads to IDLE.
 *
 * The lock is held over calls of the client, but for those that write files: these are made in
 * PROCESS, which only the library's thread leaves.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "profiler/kineto-env.h"
#include "profiler/log.h"
#include "profiler/ondemand.h"
#include "profiler/trace-file.h"

enum state {
	IDLE = 0,
	PENDING,	/* it is to begin, and has not */
	WARMUP,		/* the client is prepared */
	COLLECT,
	SNAPSHOT,
	PROCESS,
};

#define DEFAULT_FILE	"libkineto_activities.json"
#define FOR_EVER_MS	XSP_KINETO_DAY_MS

static struct {
	pthread_mutex_t		lock;
	uint32_t		state;	/* read without the lock by xsp_request_idle() */
	bool			by_iteration;
	pid_t			owner;	/* process that took the request */
	int64_t			start;	/* ms since 1970 */
	int64_t			until;	/* ms of CLOCK_MONOTONIC: of COLLECT or SNAPSHOT */
	int64_t			begun;	/* the same: when it was taken */
	int64_t			first;	/* iteration that is the first to be recorded */
	int64_t			last;	/* the first that is not any more */
	struct xsp_kineto_config config;
} rq = { .lock = PTHREAD_MUTEX_INITIALIZER };

static int64_t iteration;	/* that the program is in; 0 before its first step */
static uint32_t by_steps;	/* a request waits for steps: what each step looks at */

static int64_t clock_ms(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000ll + ts.tv_nsec / 1000000;
}

/* Called with the lock held, like all that follows unless it is said. */
static void enter(uint32_t state)
{
	__atomic_store_n(&rq.state, state, __ATOMIC_RELAXED);
	/* Relaxed: a step that sees it late is one that came before the request. */
	__atomic_store_n(&by_steps, rq.by_iteration && state != IDLE && state != PROCESS,
			 __ATOMIC_RELAXED);
}

bool xsp_request_idle(void)
{
	return __atomic_load_n(&rq.state, __ATOMIC_RELAXED) == IDLE;
}

const struct xsp_kineto_config *xsp_request_config(void)
{
	return &rq.config;
}

static void over(const char *what, int err)
{
	char why[80];

	xsp_log(XSP_LOG_ERROR, "on-demand: %s: %s; the request is dropped", what,
		strerror_r(err < 0 ? -err : EIO, why, sizeof(why)));
	enter(IDLE);
}

static int prepare(void)
{
	int err = xsp_client_prepare(&rq.config);

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
	rq.until = clock_ms(CLOCK_MONOTONIC) + rq.config.duration_ms;
	rq.last = rq.first + rq.config.iterations;
	enter(COLLECT);
	xsp_log(XSP_LOG_STAGE, "on-demand: the trace begins");
}

static void end_collect(void)
{
	int err = xsp_client_stop();

	if (err)
		over("the trace could not end", err);
	else
		enter(PROCESS);
}

static void snapshot(void)
{
	int err = xsp_client_start_memory();

	if (err) {
		over("memory could not be recorded", err);
		return;
	}
	rq.until = clock_ms(CLOCK_MONOTONIC) + rq.config.snapshot_ms;
	enter(SNAPSHOT);
}

/* ---- what is asked for ---- */

static const char *refusal(int64_t now)
{
	const struct xsp_kineto_config *c = &rq.config;
	int64_t at = __atomic_load_n(&iteration, __ATOMIC_RELAXED);
	int err;

	if (!c->asked)
		return "the text asks for no trace";
	if (!c->enabled)
		return "ACTIVITIES_ENABLED is false";
	if (c->snapshot && !xsp_client_has_memory())
		return "PROFILE_MEMORY: there is nobody who records memory";
	if (rq.by_iteration)
		return !at ? "the program makes no steps: ask for a time" : NULL;
	if (!(c->snapshot ? c->snapshot_ms : c->duration_ms))
		return "it would take no time";
	if (c->duration_ms > FOR_EVER_MS || c->snapshot_ms > FOR_EVER_MS ||
	    c->warmup_ms > FOR_EVER_MS)
		return "it would take more than a day";
	err = xsp_kineto_config_start(c, now, &rq.start);
	if (err == -ETIME)
		return "PROFILE_START_TIME is more than 10 s ago";
	return err ? "PROFILE_START_TIME is more than a day ahead" : NULL;
}

/* Where no file is named: one in the folder where traces may be. */
static int default_file(void)
{
	int n;

	if (*rq.config.file)
		return 0;
	if (!xsp_kineto_env.trace_dir)
		return -ENOMEM;
	n = snprintf(rq.config.file, sizeof(rq.config.file), "%s/" DEFAULT_FILE,
		     xsp_kineto_env.trace_dir);
	return n < 0 || (size_t)n >= sizeof(rq.config.file) ? -ENAMETOOLONG : 0;
}

static int take(const char *text, size_t len)
{
	struct xsp_kineto_error error;
	const char *why;
	char reason[80];
	int err;

	if (rq.state != IDLE) {
		xsp_log(XSP_LOG_WARNING, "on-demand: another request is under way; this one is "
			"dropped: ask again later");
		return -EBUSY;
	}
	err = xsp_kineto_config_base(&rq.config, &error);
	if (err)
		xsp_log(XSP_LOG_WARNING, "KINETO_CONFIG: line %u: %s; the file is passed by",
			error.line, error.what);
	err = xsp_kineto_config_parse(&rq.config, text, len, &error);
	if (err) {
		xsp_log(XSP_LOG_ERROR, "on-demand: line %u of the request: %s; it is dropped",
			error.line, error.what);
		return err;
	}
	if (rq.config.unknown)
		xsp_log(XSP_LOG_WARNING, "on-demand: %u keys or activity types of the request are "
			"not known here", rq.config.unknown);
	rq.by_iteration = xsp_kineto_config_by_iteration(&rq.config);
	why = refusal(clock_ms(CLOCK_REALTIME));
	if (why) {
		xsp_log(XSP_LOG_ERROR, "on-demand: %s; the request is dropped", why);
		return -EINVAL;
	}
	err = default_file();
	if (!err)
		err = xsp_trace_file_check(rq.config.file, getpid());
	if (err) {
		xsp_log(XSP_LOG_ERROR, "on-demand: %s: %s; traces may be under "
			"KINETO_ONDEMAND_TRACE_DIR (/tmp/) alone; the request is dropped",
			rq.config.file, strerror_r(-err, reason, sizeof(reason)));
		return err;
	}
	rq.begun = clock_ms(CLOCK_MONOTONIC);
	__atomic_store_n(&rq.owner, getpid(), __ATOMIC_RELAXED);
	rq.first = rq.config.start_iteration < 0 ? 0 : rq.config.start_iteration;
	enter(PENDING);
	xsp_log(XSP_LOG_INFO, "on-demand: a trace is asked for, id %s",
		*rq.config.trace_id ? rq.config.trace_id : "(none)");
	return 0;
}

/**
 * xsp_request_take() - a text has come
 * @text: as the daemon sent it; not terminated
 * @len: its bytes
 *
 * Return: 0: it is under way; -EBUSY: another is; else why it is refused.
 */
int xsp_request_take(const char *text, size_t len)
{
	int err;

	pthread_mutex_lock(&rq.lock);
	err = take(text, len);
	pthread_mutex_unlock(&rq.lock);
	return err;
}

static int cancel(void)
{
	uint32_t was = rq.state;

	if (was == IDLE || was == PROCESS)
		return -ENOENT;
	/* What it records is thrown away, whatever it says to that. */
	if (was == COLLECT && !xsp_client_stop())
		xsp_client_save(NULL);
	if (was == SNAPSHOT)
		xsp_client_stop_memory();
	enter(IDLE);
	xsp_log(XSP_LOG_WARNING, "on-demand: the request is cancelled");
	return 0;
}

/* ---- by time: the library's thread ---- */

/* What is due.  Return: does something more follow at once? */
static bool move_on(int64_t *wait)
{
	int64_t real = clock_ms(CLOCK_REALTIME), mono = clock_ms(CLOCK_MONOTONIC), left;
	uint32_t was = rq.state;

	*wait = FOR_EVER_MS;
	if (rq.by_iteration) {
		/* The program has stopped to make steps: others shall not wait for it. */
		left = rq.begun + FOR_EVER_MS - mono;
		if (left <= 0)
			cancel();
		else if (was != IDLE && was != PROCESS)
			*wait = left;
		return false;
	}
	switch (was) {
	case PENDING:
		left = rq.start - rq.config.warmup_ms - real;
		if (left <= 0 && !prepare())
			enter(WARMUP);
		break;
	case WARMUP:
		left = rq.start - real;
		if (left <= 0 && rq.config.snapshot)
			snapshot();
		else if (left <= 0)
			collect();
		break;
	case COLLECT:
		left = rq.until - mono;
		if (left <= 0)
			end_collect();
		break;
	case SNAPSHOT:
		left = rq.until - mono;
		if (left <= 0)
			enter(PROCESS);
		break;
	default:
		return false;
	}
	if (left > 0)
		*wait = left;
	return rq.state != was;
}

/*
 * Without the lock, in PROCESS: who else is there sees that it is busy and nothing of it.
 *
 * Return: 0, or why there is no file.
 */
static int save(struct xsp_trace_file *f)
{
	int err = xsp_trace_file_open(f, rq.config.file, getpid()), stopped;

	if (!err) {
		err = rq.config.snapshot ? xsp_client_export_memory(f->path) :
					   xsp_client_save(f->path);
		if (err)
			xsp_trace_file_drop(f);
		else
			err = xsp_trace_file_keep(f);
	} else if (!rq.config.snapshot) {
		/* It is not to be kept for a file that there cannot be. */
		xsp_client_save(NULL);
	}
	if (rq.config.snapshot) {
		stopped = xsp_client_stop_memory();
		err = err ? err : stopped;
	}
	return err;
}

/* With the lock, which is let go of meanwhile. */
static void process(void)
{
	struct xsp_trace_file f;
	int err;

	pthread_mutex_unlock(&rq.lock);
	err = save(&f);
	pthread_mutex_lock(&rq.lock);
	if (err) {
		over(rq.config.file, err);
		return;
	}
	enter(IDLE);
	xsp_log(XSP_LOG_STAGE, "on-demand: the trace is saved as %s, in the folder of %s", f.name,
		rq.config.file);
}

/**
 * xsp_request_run() - do what is due; by the library's thread alone
 *
 * Return: ms until something is again.
 */
int64_t xsp_request_run(void)
{
	int64_t wait;

	pthread_mutex_lock(&rq.lock);
	while (move_on(&wait) || rq.state == PROCESS)
		if (rq.state == PROCESS)
			process();
	pthread_mutex_unlock(&rq.lock);
	return wait;
}

/* ---- by iterations: the program's thread ---- */

/* Warm-up begins with iteration @at, or later. */
static bool reached(int64_t at)
{
	int64_t warmup = rq.config.warmup_iterations, up = rq.config.roundup;

	if (at > rq.first - warmup) {
		/* What was asked for is over: as early as it can be, at a round number. */
		rq.first = at + warmup;
		if (up > 0 && rq.first % up)
			rq.first += up - rq.first % up;
	}
	return at >= rq.first - warmup;
}

static void step(int64_t at)
{
	if (rq.state == PENDING && reached(at) && !prepare())
		enter(WARMUP);
	/* The end first: with an iteration left out it must not begin and end in one. */
	if (rq.state == COLLECT && at >= rq.last)
		end_collect();
	else if (rq.state == WARMUP && at >= rq.first)
		collect();
}

/**
 * xsp_ondemand_step() - the program's next iteration begins
 *
 * The first that begins by a step is number 1, as in "ProfilerStep#1".  Costs a count
 * and a look where no request is about iterations.
 */
void xsp_ondemand_step(void)
{
	int64_t at = __atomic_add_fetch(&iteration, 1, __ATOMIC_RELAXED);
	bool saved;
	int err;

	if (likely(!__atomic_load_n(&by_steps, __ATOMIC_RELAXED)))
		return;
	err = errno;
	/*
	 * A client that makes steps of its own: counted, no more.  And the child of a raw clone()
	 * has a copy of the request, of which its parent's thread may have held the lock.
	 */
	if (xsp_client_calls_us() || __atomic_load_n(&rq.owner, __ATOMIC_RELAXED) != getpid())
		goto out;
	pthread_mutex_lock(&rq.lock);
	if (rq.by_iteration)
		step(at);
	saved = rq.state == PROCESS;
	pthread_mutex_unlock(&rq.lock);
	if (saved)
		xsp_ondemand_wake();
out:
	errno = err;
}

/* ---- who does it, and the end ---- */

int xsprof_ondemand_cancel(void)
{
	int err = errno, ret = -EDEADLK;

	if (!xsp_client_calls_us()) {
		pthread_mutex_lock(&rq.lock);
		ret = cancel();
		pthread_mutex_unlock(&rq.lock);
	}
	errno = err;
	return ret;
}

/**
 * xsp_request_end() - the program ends; by the library's thread
 *
 * The library's own client saves what it has.  Any other may be in pieces by now.
 */
void xsp_request_end(void)
{
	pthread_mutex_lock(&rq.lock);
	if (xsp_client_is_custom())
		enter(IDLE);
	else if (rq.state == COLLECT)
		end_collect();
	else
		cancel();
	if (rq.state == PROCESS)
		process();
	pthread_mutex_unlock(&rq.lock);
}

/* In the child of a fork: nothing is under way here, and the lock is nobody's. */
void xsp_request_forget(void)
{
	pthread_mutex_init(&rq.lock, NULL);
	rq.by_iteration = false;
	xsp_client_forget();
	enter(IDLE);
}

int xsprof_register_client(const struct xsprof_client *client)
{
	int err = errno, ret = client ? xsp_client_check(client) : 0;

	if (!ret && xsp_client_calls_us())
		ret = -EBUSY;
	if (ret)
		return ret;
	pthread_mutex_lock(&rq.lock);
	if (rq.state == IDLE)
		xsp_client_set(client);
	else
		ret = -EBUSY;
	pthread_mutex_unlock(&rq.lock);
	errno = err;
	return ret;
}
