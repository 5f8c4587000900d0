// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loads a library into a running Python: at once in a thread that waits for something; if none
 * does, in Python's main thread by a pending call.
 */
#include <errno.h>

#include "inject/local.h"

#ifdef __x86_64__

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

#define ROUND_NS	5000000u
#define AT_ONCE		20u	/* rounds of searching a waiting thread */
#define ROUNDS		200u
#define LATER_NS	10000000000u

static void pause_ns(uint64_t ns)
{
	const struct timespec t = { 0, (long)ns };

	nanosleep(&t, NULL);
}

/* Stops each thread and calls @fn for it, until that returns 0 or an error. */
static int each_thread(const struct target *t, int (*look)(struct stopped *s, void *data),
		       void *data, char *why)
{
	static struct stopped s;
	struct dirent *entry;
	char path[64];
	int err = -EAGAIN, tid;
	DIR *dir;

	inject_settle();
	*why = '\0';
	snprintf(path, sizeof(path), "/proc/%d/task", (int)t->pid);
	dir = opendir(path);
	if (!dir)
		return inject_refuse(why, -ESRCH, "it has ended");
	while (err == -EAGAIN && xsp_clock_ns(CLOCK_MONOTONIC) < t->until &&
	       (entry = readdir(dir))) {
		tid = atoi(entry->d_name);
		if (!tid)
			continue;
		err = thread_stop(&s, t, tid);
		if (err == -EPERM || err == -EACCES)
			err = inject_refuse_ptrace(tid, -err, why);
		if (err == -EPERM || err == -EBUSY)
			break;
		if (err) {
			/* If it has ended, another thread may do. */
			if (err == -ESRCH)
				*why = '\0';
			err = -EAGAIN;
			continue;
		}
		err = look(&s, data);
		thread_go_on(&s);
	}
	closedir(dir);
	return err;
}

struct attempt {
	const struct inject	*what;
	struct call		call;
	bool			later;
	bool			asked;
};

static int try_it(struct stopped *s, void *data)
{
	struct attempt *a = data;
	int err;

	if (safe_for_loader(s)) {
		err = thread_take(s);
		return err ? err : call_now(s, a->what, &a->call);
	}
	if (!a->later || !safe_for_pending(s))
		return -EAGAIN;
	err = thread_take(s);
	if (!err)
		err = call_later(s, a->what, &a->call);
	a->asked = !err;
	return err;
}

/* The main thread has executed it: wait until it has left the code. */
static int clear_up(struct stopped *s, void *data)
{
	struct attempt *a = data;

	if (s->tid != s->t->pid)
		return -EAGAIN;
	if (s->regs.rip - a->call.base < 0x60000u || thread_take(s))
		return -EINTR;
	call_free(s, &a->call);
	return 0;
}

static int cancel(struct stopped *s, void *data)
{
	struct attempt *a = data;

	if (s->tid != s->t->pid)
		return -EAGAIN;
	return call_cancel(s, &a->call) ? 0 : -EBUSY;
}

static bool is_asked(const struct inject *what)
{
	return what->asked(what->data);
}

static int wait_for_python(const struct target *t, struct attempt *a, char *why)
{
	uint64_t until = xsp_clock_ns(CLOCK_MONOTONIC) + LATER_NS;
	char unused[INJECT_WHY];
	int i;

	while (!call_done(t, &a->call)) {
		if (is_asked(a->what) && each_thread(t, cancel, a, unused) != -EBUSY)
			return -EINTR;
		if (xsp_clock_ns(CLOCK_MONOTONIC) > until &&
		    each_thread(t, cancel, a, unused) != -EBUSY)
			return inject_refuse(why, -ETIMEDOUT, "its main thread has not run Python "
					     "code for 10 s, and no other thread is waiting: it is "
					     "in a long call: try again later");
		pause_ns(ROUND_NS);
	}
	for (i = 0; i < 100 && each_thread(t, clear_up, a, unused) == -EINTR; i++)
		pause_ns(ROUND_NS);
	return 0;
}

static int failed(int err, char *why)
{
	if (err == -ETIMEDOUT)
		return inject_refuse(why, err, "loading the library timed out: it waits for a lock "
				     "of another thread, or for a disk: restart the program with "
				     "'xsprof record COMMAND'");
	if (*why)
		return err;
	if (err == -EAGAIN)
		return inject_refuse(why, err, "none of its threads can run the loader: they are "
				     "in signal handlers, wait for a disk (state D), or are "
				     "stopped (Ctrl-Z): try again");
	return inject_refuse(why, err, "ptrace: %s", strerror(-err));
}

static int said(const struct call *call, char *why)
{
	if (call->result == INT32_MIN)
		return inject_refuse(why, -ENOEXEC, "the library was not loaded: %s", call->text);
	if (call->result == -ENXIO)
		return inject_refuse(why, -ENXIO, "it has loaded Python's library, but runs no "
				     "interpreter: try again when it runs one");
	if (call->result == -EBUSY)
		return inject_refuse(why, -EBUSY, "it is already being recorded by 'xsprof record "
				     "-p'");
	if (call->result == -EALREADY)
		return inject_refuse(why, -EALREADY, "it was started by 'xsprof record', and a "
				     "process can have one recorder");
	if (call->result == -EAGAIN)
		return inject_refuse(why, -EAGAIN, "its previous recording has not ended: xsprof's "
				     "thread in it has yet to get the GIL: try again later");
	if (call->result)
		return inject_refuse(why, call->result, "cannot start xsprof's thread in it: "
				     "%s", strerror(-call->result));
	return 0;
}

int inject(const struct inject *what, char *why)
{
	static struct attempt a;
	struct target t;
	unsigned int i;
	int err;

	*why = '\0';
	memset(&a, 0, sizeof(a));
	a.what = what;
	inject_settle();
	err = target_open(&t, what->pid, what->library, why);
	if (err)
		return err;
	err = -EAGAIN;
	t.until = xsp_clock_ns(CLOCK_MONOTONIC) + LATER_NS;
	for (i = 0; err == -EAGAIN && i < ROUNDS && xsp_clock_ns(CLOCK_MONOTONIC) < t.until; i++) {
		a.later = i >= AT_ONCE;
		if (i)
			pause_ns(ROUND_NS);
		err = is_asked(what) ? -EINTR : each_thread(&t, try_it, &a, why);
	}
	t.until = UINT64_MAX;
	if (err == -EINTR)
		*why = '\0';
	else if (err)
		err = failed(err, why);
	else if (a.asked)
		err = wait_for_python(&t, &a, why);
	target_close(&t);
	return err ? err : said(&a.call, why);
}

#else

int inject(const struct inject *what, char *why)
{
	(void)what;
	return inject_refuse(why, -ENOTSUP, "only supported on x86-64: start it with 'xsprof "
			     "record COMMAND'");
}

#endif /* __x86_64__ */
