// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Attaches to a running process: `xsprof record -p` has loaded this library, and calls
 * xsprof_python_attach() once per recording. A thread of ours does the rest: it joins the recorder,
 * samples Python's threads until the recorder ends, and removes everything that it has put into the
 * process.
 *
 * The caller is a thread of the program, stopped at a point chosen for it, so it only starts our
 * thread. That thread takes the GIL as any thread may that Python did not create.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/recorder-lock.h"
#include "collect/common/say.h"
#include "collect/python/enter.h"
#include "collect/python/sample.h"

#define STACK	(512u << 10)	/* Python runs some functions on it */

static const struct timespec moment = { 0, 100000 };

/*
 * IDLE: nothing of ours is active. BEGINS, ENDS: the thread may wait for the GIL, so a fork does
 * not wait for the thread. TICKS: a fork ends the ticking (STOPS); the last of the concurrent forks
 * (FORKS) starts it again (STARTS). STOPS and STARTS are short and need nothing that a forking
 * thread holds, so other threads wait for their end. LEAVES is as short: the recorder has been told
 * that it may end, and another may come.
 */
enum { IDLE, BEGINS, TICKS, STOPS, FORKS, STARTS, ENDS, LEAVES };

static struct {
	int		state;
	pthread_t	thread;
	uintptr_t	python;		/* an address inside Python */
	uint32_t	hz;
	uint64_t	arena_size;
	char		session[PATH_MAX];
	bool		forks_known;
	uint32_t	forks;		/* forks under way */
	bool		told;		/* Python will call over() */
	bool		over;		/* it did: what we know of it is void */
} attached;

extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
			     void *dso) __attribute__((weak));

static bool is(int state)
{
	return __atomic_load_n(&attached.state, __ATOMIC_ACQUIRE) == state;
}

static bool swap(int from, int to)
{
	return __atomic_compare_exchange_n(&attached.state, &from, to, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

/*
 * Called at the end of Python's interpreter. The program may start another one, which contains
 * nothing of what was put into or found in this one.
 */
static void over(void)
{
	__atomic_store_n(&attached.told, false, __ATOMIC_RELAXED);
	__atomic_store_n(&attached.over, true, __ATOMIC_RELEASE);
}

/* Does the interpreter that we attached to still run? */
static bool runs(void)
{
	if (!cpython.initialized() || python.finalizing())
		return false;
	/*
	 * Acquire: a thread that sees the next interpreter run also sees that this one has ended.
	 */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return !__atomic_load_n(&attached.over, __ATOMIC_ACQUIRE);
}

/* Return: 1 the recorder lives; 0 it does not; a negative errno. */
static int recorder(void)
{
	int dir = open(attached.session, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int lives = dir < 0 ? -errno : xsp_recorder_lives(dir);

	if (dir >= 0)
		close(dir);
	return lives;
}

static bool goes_on(void)
{
	int lives = recorder();

	/* No descriptor is free: unknown, assume it does. */
	return lives > 0 || lives == -EMFILE || lives == -ENFILE;
}

static bool samples(void)
{
	return runs() && goes_on();
}

/* ---- the thread ------------------------------------------------------------------------------ */

static void forks(void);
static void forked_parent(void);
static void forked_child(void);

static bool join(void)
{
	const char *why;
	int err;

	if (!python_open((const void *)attached.python) || !python_user_open() ||
	    !python_user_can_sample() || !python_user_can_join() || !cpython_find())
		return false;
	python_object = python_handle();
	why = python_sample_why_not();
	if (why) {
		collect_say("Python: %s: its frames are not recorded", why);
		return false;
	}
	attached.over = false;
	__atomic_store_n(&python_gc_met, NULL, __ATOMIC_RELAXED);
	/*
	 * Registered after the other library's handlers: its lock is then taken after our thread
	 * has stopped.
	 */
	if (!attached.forks_known && __register_atfork)
		attached.forks_known = !__register_atfork(forks, forked_parent, forked_child,
							  NULL);
	err = python_user.join(attached.session, attached.arena_size);
	/* A recording that was shorter than this is over. */
	if (err == -EINPROGRESS)
		collect_say("this process cannot be recorded now: a profile or trace of its own is "
			    "running (xsprof.profile(), 'xsprof ctl'): try again when it has "
			    "ended");
	else if (err == -EBUSY)
		collect_say("this process cannot be recorded: it is already being recorded, by "
			    "another recorder or by itself (XSPROF_RECORD)");
	else if (err && err != -ENOTCONN && err != -ENOENT)
		collect_say("this process cannot be recorded: %s", strerror(-err));
	return !err;
}

/* Return: false: Python's memory does not look as expected, or Python is ending. */
static bool find(int category)
{
	void *state = python_enter(runs);
	int found;

	if (!state)
		return false;
	if (!attached.told)
		attached.told = !cpython.at_exit(over);
	/* Another interpreter may run than in the last recording. */
	python_tasks_again();
	found = python_sample_find();
	/* Python runs no handlers of signals in this thread: the exception is of an audit hook. */
	if (found < 0) {
		collect_say("Python: an audit hook refuses what xsprof runs in it: its frames are "
			    "not recorded");
		python.err_clear();
	} else if (found && !python_seen_find()) {
		collect_say("Python: unexpected layout of its GIL or threads: its frames are not "
			    "recorded");
		found = 0;
	}
	python_gc_begin(category);
	(void)python_names_begin();	/* python_leave() drops an exception */
	python_leave(state);
	return found > 0;
}

static void end(void)
{
	void *state = python_enter(runs);

	if (state) {
		python_gc_end();
		python_leave(state);
	}
	python_gc_forget();
	python_ask_end();
	python_seen_forget();
	__atomic_store_n(&attached.state, LEAVES, __ATOMIC_RELEASE);
	python_user.leave();
}

static void wait_here(void)
{
	const struct timespec tenth = { 0, 100000000 };

	while (samples())
		nanosleep(&tenth, NULL);
}

static void *run(void *again)
{
	bool sampled = again;
	int category;

	python_ticker_begins(attached.hz);
	if (!again) {
		/* Before the program sees that it is recorded, as children are from then on. */
		python_enter_settle();
		if (!join()) {
			pthread_detach(pthread_self());
			__atomic_store_n(&attached.state, IDLE, __ATOMIC_RELEASE);
			return NULL;
		}
		category = python_user.category("python");
		if (category < 0)
			category = 0;
		sample_peek_forked();
		python_code_init(category);
		python_tasks_init(category);
		python_tasks_find_init();
		python_tick_init(attached.hz, category);
		sampled = find(category);
		if (sampled)
			__atomic_store_n(&attached.state, TICKS, __ATOMIC_RELEASE);
		else
			wait_here();
	}
	if (sampled) {
		python_tick_here(samples);
		while (is(STARTS))
			sched_yield();
		/* A fork waits for us, and will start us again. */
		if (!swap(TICKS, ENDS))
			return NULL;
	}
	end();
	pthread_detach(pthread_self());
	__atomic_store_n(&attached.state, IDLE, __ATOMIC_RELEASE);
	return NULL;
}

/* ---- forks: Python warns programs that fork with more than one thread ------------------------ */

static void forks(void)
{
	struct python_calm calm;

	if (!python_enter_is_ours())
		return;
	python_calm(&calm);
	__atomic_fetch_add(&attached.forks, 1, __ATOMIC_SEQ_CST);
	while (is(TICKS) || is(STOPS) || is(STARTS)) {
		if (swap(TICKS, STOPS)) {
			python_tick_quit();
			pthread_join(attached.thread, NULL);
			__atomic_store_n(&attached.state, FORKS, __ATOMIC_RELEASE);
		}
		sched_yield();
	}
	python_calm_end(&calm);
}

static void start_again(void)
{
	static char again;

	python_tick_init(attached.hz, python_user.category("python"));
	if (!python_thread_make(&attached.thread, STACK, run, &again)) {
		__atomic_store_n(&attached.state, TICKS, __ATOMIC_RELEASE);
		/* If the recorder is gone, end here, before another fork stops it again. */
		while (!samples() && is(TICKS))
			nanosleep(&moment, NULL);
		return;
	}
	collect_say("no sampling thread: Python's frames are no longer recorded");
	python_ask_end();
	python_user.leave();
	__atomic_store_n(&attached.state, IDLE, __ATOMIC_RELEASE);
}

static void forked_parent(void)
{
	struct python_calm calm;

	if (!python_enter_is_ours())
		return;
	python_calm(&calm);
	if (!__atomic_sub_fetch(&attached.forks, 1, __ATOMIC_SEQ_CST) && swap(FORKS, STARTS))
		start_again();
	python_calm_end(&calm);
}

static int child_ends(void *unused)
{
	(void)unused;
	/* A recorder that comes meanwhile waits until the previous recording has ended. */
	if (!__atomic_load_n(&python_gc_met, __ATOMIC_RELAXED) || !swap(IDLE, LEAVES))
		return 0;
	__atomic_store_n(&python_gc_met, NULL, __ATOMIC_RELAXED);
	python_gc_end();
	python_user.leave();
	__atomic_store_n(&attached.state, IDLE, __ATOMIC_RELEASE);
	return 0;
}

/*
 * The child has no thread that waits for the recorder's end: it looks at its collections, with the
 * GIL held. What it removes from the list of callbacks it cannot remove while Python walks it.
 */
static void look_at_recorder(bool full)
{
	static uint64_t looked_at;
	uint64_t now = xsp_clock_ns(CLOCK_MONOTONIC);
	int lives;

	/* The hooks of the GIL are missing here, so no other event announces a new thread. */
	if (full)
		python_names_want();
	if (now - looked_at < 1000000000u)
		return;
	looked_at = now;
	python_names_want();
	lives = recorder();
	/* Not for another error: a child that changed its user is recorded on. */
	if (!lives || lives == -ENOENT)
		/* The queue of pending calls is full: later again. */
		(void)cpython.add_pending(child_ends, NULL);
}

/* The child is recorded like all children, but not sampled. */
static void forked_child(void)
{
	attached.forks = 0;
	if (__atomic_load_n(&attached.state, __ATOMIC_ACQUIRE) == IDLE)
		return;
	python_ask_end();
	python_ask_forked();
	python_seen_forget();
	python_tick_forked();
	python_names_forked();
	sample_peek_forked();
	python_gc_met = look_at_recorder;
	__atomic_store_n(&attached.state, IDLE, __ATOMIC_RELEASE);
}

/* The child has no thread. Once the thread has found all it needs, forked_child() sees to that. */
static void forked_early(void)
{
	if (!attached.forks_known)
		__atomic_store_n(&attached.state, IDLE, __ATOMIC_RELEASE);
}

/* ---- who has loaded us ----------------------------------------------------------------------- */

/* "PYTHON HZ ARENA SESSION": an address inside Python in hexadecimal; the others as in options. */
static bool take(const char *text)
{
	char *end;

	attached.python = strtoul(text, &end, 16);
	attached.hz = (uint32_t)strtoul(end, &end, 10);
	attached.arena_size = strtoul(end, &end, 10);
	if (*end++ != ' ' || *end != '/' || strlen(end) >= sizeof(attached.session) ||
	    !attached.hz || attached.hz > PYTHON_HZ_MAX)
		return false;
	strcpy(attached.session, end);
	return true;
}

/*
 * Return: 0; -EBUSY: already being recorded this way; -EAGAIN: the previous recording is just
 * ending; -EALREADY: a recorder started the process; another negative errno.
 */
__attribute__((visibility("default"))) int xsprof_python_attach(const char *text)
{
	int err;

	if (python_sample_met())
		return -EALREADY;
	/*
	 * The previous recording may have ended just now. A thread that leaves needs no GIL any
	 * more; the limit is for a lock that this thread may have where it was interrupted. In
	 * nanosleep() it could be cancelled.
	 */
	for (int i = 0; i < 1000 && is(LEAVES); i++)
		syscall(SYS_nanosleep, &moment, NULL);
	if (!swap(IDLE, BEGINS))
		return goes_on() ? -EBUSY : -EAGAIN;
	/* This thread was found at a moment at which it holds no lock (tools/inject/safe.c). */
	python_enter_watch(forked_early);
	python_late = true;
	python_tell(attached.session);
	err = take(text) ? 0 : EINVAL;
	if (!err)
		err = python_thread_make(&attached.thread, STACK, run, NULL);
	if (err)
		__atomic_store_n(&attached.state, IDLE, __ATOMIC_RELEASE);
	return -err;
}
