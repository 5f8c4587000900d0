/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A client for traces on demand that logs its calls, in order, and writes files of five bytes. Also
 * requests for the daemon.
 */
#ifndef XSP_TEST_DEMAND_CLIENT_H
#define XSP_TEST_DEMAND_CLIENT_H

#include <signal.h>

#include <xsprof/ondemand.h>

#include "ondemand/ondemand.h"
#include "profiler/demand.h"

enum what { INIT, PREPARE, START, STOP, SAVE, DISCARD, MEM_START, MEM_STOP, MEM_EXPORT, SO_FAR,
	KINDS };

/* The calls that the client got, in order. */
struct told {
	unsigned int	n[KINDS];
	unsigned int	total;
	enum what	order[1000];
	int64_t		at[KINDS];	/* the iteration of the call */
	bool		flag[5];
	int		fail[KINDS];	/* what the call returns */
	bool		signals;	/* the library's thread has a signal unblocked */
	long		ms[KINDS];	/* time of the call */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct told seen;	/* protected by lock */
static struct told got;		/* a copy, made by until_idle() */

static int64_t steps;

static int64_t made(void)
{
	return __atomic_load_n(&steps, __ATOMIC_RELAXED);
}

static long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static int note(enum what what)
{
	int fail;

	pthread_mutex_lock(&lock);
	seen.n[what]++;
	if (seen.total < 1000)
		seen.order[seen.total++] = what;
	seen.at[what] = made();
	seen.ms[what] = now_ms();
	fail = seen.fail[what];
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return fail;
}

static void forget(void)
{
	pthread_mutex_lock(&lock);
	memset(seen.n, 0, sizeof(seen.n));
	memset(seen.fail, 0, sizeof(seen.fail));
	memset(seen.at, 0xff, sizeof(seen.at));
	seen.total = 0;
	pthread_mutex_unlock(&lock);
}

static void until(enum what what, unsigned int n)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += FAKE_PATIENCE;
	pthread_mutex_lock(&lock);
	while (seen.n[what] < n)
		if (pthread_cond_timedwait(&changed, &lock, &end)) {
			tap_wrong("call %d did not come %u times", what, n);
			break;
		}
	pthread_mutex_unlock(&lock);
}

/* Waits until nothing is under way: until two more polls that could take a request. */
__attribute__((unused)) static void until_idle(void)
{
	fake_more(&fake, &fake.idle, 2);
	pthread_mutex_lock(&lock);
	got = seen;
	pthread_mutex_unlock(&lock);
}

static bool in_order(const enum what *want, unsigned int n)
{
	bool same;

	pthread_mutex_lock(&lock);
	same = seen.total == n && !memcmp(seen.order, want, n * sizeof(*want));
	if (!same)
		for (unsigned int i = 0; i < seen.total; i++)
			tap_note("call %u was %d", i, seen.order[i]);
	pthread_mutex_unlock(&lock);
	return same;
}

#define CHECK_ORDER(...) do { \
	static const enum what want_[] = { __VA_ARGS__ }; \
	CHECK(in_order(want_, sizeof(want_) / sizeof(want_[0]))); \
} while (0)

/* ---- the client ---- */

static void on_init(void *data)
{
	CHECK(data == &seen);
	note(INIT);
}

static int on_prepare(void *data, bool shapes, bool memory, bool stack, bool flops, bool modules)
{
	const bool flag[5] = { shapes, memory, stack, flops, modules };
	sigset_t blocked;

	CHECK(data == &seen);
	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	pthread_mutex_lock(&lock);
	memcpy(seen.flag, flag, sizeof(flag));
	if (!sigismember(&blocked, SIGUSR1) || !sigismember(&blocked, SIGINT))
		seen.signals = true;
	pthread_mutex_unlock(&lock);
	/* Called from a callback, neither waits for itself. */
	CHECK_EQ(xsprof_ondemand_cancel(), -EDEADLK);
	CHECK_EQ(xsprof_register_client(NULL), -EBUSY);
	xsp_ondemand_step();
	__atomic_add_fetch(&steps, 1, __ATOMIC_RELAXED);
	return note(PREPARE);
}

static int on_start(void *data)
{
	CHECK(data == &seen);
	return note(START);
}

static int on_stop(void *data)
{
	CHECK(data == &seen);
	return note(STOP);
}

static void put(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, "trace", 5) != 5)
		tap_wrong("%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
}

static int on_save(void *data, const char *path)
{
	CHECK(data == &seen);
	if (path)
		put(path);
	return note(path ? SAVE : DISCARD);
}

static int on_mem_start(void *data)
{
	(void)data;
	return note(MEM_START);
}

static int on_mem_stop(void *data)
{
	(void)data;
	return note(MEM_STOP);
}

static int on_mem_export(void *data, const char *path)
{
	(void)data;
	put(path);
	return note(MEM_EXPORT);
}

/* Runs in a thread of the program's own while a snapshot is being written. */
static void *(*meanwhile)(void *unused);

static int on_snapshot(void *data, const char *path)
{
	pthread_t thread;
	void *(*run)(void *unused) = __atomic_load_n(&meanwhile, __ATOMIC_ACQUIRE);

	CHECK(data == &seen);
	put(path);
	if (run) {
		CHECK_EQ(pthread_create(&thread, NULL, run, NULL), 0);
		CHECK_EQ(pthread_join(thread, NULL), 0);
	}
	return note(SO_FAR);
}

static const struct xsprof_client client = {
	.size = sizeof(client),
	.init = on_init,
	.prepare = on_prepare,
	.start = on_start,
	.stop = on_stop,
	.save = on_save,
	.start_memory_profile = on_mem_start,
	.stop_memory_profile = on_mem_stop,
	.export_memory_profile = on_mem_export,
	.data = &seen,
	.snapshot = on_snapshot,
};

__attribute__((unused)) static void step(void)
{
	__atomic_add_fetch(&steps, 1, __ATOMIC_RELAXED);
	errno = 4242;
	xsp_ondemand_step();
	CHECK_EQ(errno, 4242);
}

static const char *trace_name(const char *stem, pid_t pid)
{
	static char name[100];

	snprintf(name, sizeof(name), "%s_%d.json", stem, (int)pid);
	return in_traces(name);
}

/* Return: whether there is a complete trace; removes it. */
__attribute__((unused)) static bool taken(const char *stem, pid_t pid)
{
	const char *path = trace_name(stem, pid);
	struct stat st;
	bool ok = !lstat(path, &st) && S_ISREG(st.st_mode) && st.st_size == 5;

	unlink(path);
	return ok;
}

/* ---- requests ---- */

/* Makes a request. Return: the value of fake.handed once it is delivered. */
__attribute__((unused)) static unsigned int now_please(const char *name)
{
	return fake_configure(&fake, "ACTIVITIES_LOG_FILE=%s/%s.json\nPROFILE_START_TIME=%lld\n"
			      "ACTIVITIES_DURATION_MSECS=1\n", traces, name, real_ms());
}

/* Makes a request while we are busy: after @polls polls the daemon must still have it. */
__attribute__((unused)) static unsigned int later_please(const char *name, unsigned int polls)
{
	unsigned int handed = now_please(name);

	fake_more(&fake, &fake.busy, polls);
	pthread_mutex_lock(&fake.lock);
	CHECK(fake.has_config);
	pthread_mutex_unlock(&fake.lock);
	return handed;
}

__attribute__((unused)) static void iterations(const char *name, unsigned int warmup, int start,
					       unsigned int roundup, unsigned int n, bool and_time)
{
	unsigned int handed;

	forget();
	handed = fake_configure(&fake, "ACTIVITIES_LOG_FILE=%s/%s.json\n"
				"ACTIVITIES_WARMUP_ITERATIONS=%u\nPROFILE_START_ITERATION=%d\n"
				"PROFILE_START_ITERATION_ROUNDUP=%u\nACTIVITIES_ITERATIONS=%u\n%s",
				traces, name, warmup, start, roundup, n,
				and_time ? "PROFILE_START_TIME=1\n" : "");
	fake_until(&fake, &fake.handed, handed);
	/* It has been taken once the client reports that it is busy. */
	fake_more(&fake, &fake.busy, 1);
}

#endif /* XSP_TEST_DEMAND_CLIENT_H */
