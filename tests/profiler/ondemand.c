// SPDX-License-Identifier: GPL-2.0-only
/*
 * Traces on demand, from a daemon's text to a file: by time, by iterations, of memory; what is
 * refused; a daemon that is hostile, or gone; a child of a fork; `xsprof ctl` beside the daemon.
 *
 *	ondemand path=0|1 [ctl=XSPROF]		the tool, without which that is left out
 */
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <xsprof/ondemand.h>

#include "profiler/demand.h"
#include "profiler/ondemand.h"

#if defined(__SANITIZE_THREAD__)
#define TSAN	1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TSAN	1
#endif
#endif
#ifndef TSAN
#define TSAN	0
#endif

enum what { INIT, PREPARE, START, STOP, SAVE, DISCARD, MEM_START, MEM_STOP, MEM_EXPORT, SO_FAR,
	KINDS };

/* What the client was told, in order. */
struct told {
	unsigned int	n[KINDS];
	unsigned int	total;
	enum what	order[1000];
	int64_t		at[KINDS];	/* the iteration that it came in */
	bool		flag[5];
	int		fail[KINDS];	/* what it returns */
	bool		signals;	/* one was let through to the library's thread */
	long		ms[KINDS];	/* when it came */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct told seen;	/* under the lock */
static struct told got;		/* the test's own copy, since until_idle() */

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

/* Nothing is under way: two questions that would take a request were asked since. */
static void until_idle(void)
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
	/* From inside neither waits for itself. */
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

/* In a thread of the program's own, while what there is so far is being written. */
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

static void step(void)
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

/* A trace is there, whole; it is taken away. */
static bool taken(const char *stem, pid_t pid)
{
	const char *path = trace_name(stem, pid);
	struct stat st;
	bool ok = !lstat(path, &st) && S_ISREG(st.st_mode) && st.st_size == 5;

	unlink(path);
	return ok;
}

/* ---- the tests ---- */

static void test_client(void)
{
	struct {
		struct xsprof_client	c;
		char			more[16];
	} later = { .c = client };
	struct xsprof_client c = client;

	CHECK_EQ(xsprof_register_client(&client), 0);
	CHECK_EQ(xsprof_register_client(NULL), 0);
	c.size = sizeof(c) - 1;
	CHECK_EQ(xsprof_register_client(&c), -EINVAL);
	/* Of a program that was built before there was @snapshot. */
	c.size = offsetof(struct xsprof_client, snapshot);
	CHECK_EQ(xsprof_register_client(&c), 0);
	c.size--;
	CHECK_EQ(xsprof_register_client(&c), -EINVAL);
	c = client;
	c.start = NULL;
	CHECK_EQ(xsprof_register_client(&c), -EINVAL);
	c = client;
	c.stop = NULL;
	CHECK_EQ(xsprof_register_client(&c), -EINVAL);
	c = client;
	c.save = NULL;
	CHECK_EQ(xsprof_register_client(&c), -EINVAL);
	c = client;
	c.stop_memory_profile = NULL;
	CHECK_EQ(xsprof_register_client(&c), -EINVAL);
	later.c.size = sizeof(later);
	CHECK_EQ(xsprof_register_client(&later.c), 0);
	later.more[3] = 1;
	CHECK_EQ(xsprof_register_client(&later.c), -E2BIG);
	CHECK_EQ(xsprof_register_client(&client), 0);
	CHECK_EQ(xsprof_ondemand_cancel(), -ENOENT);
	tap_result("clients that are taken, and that are not");
}

static void test_begin(void)
{
	unsigned int contexts = fake_count(&fake, &fake.contexts);
	unsigned int threads = entries("/proc/self/task");

	errno = 17;
	CHECK_EQ(xsprof_ondemand_init(), 0);
	CHECK_EQ(xsprof_ondemand_init(), 0);
	CHECK_EQ(errno, 17);
	fake_more(&fake, &fake.idle, 3);
	pthread_mutex_lock(&fake.lock);
	CHECK(fake.contexts > contexts);
	CHECK_EQ(fake.gpu, 3);
	CHECK_EQ(fake.pids[0], getpid());
	CHECK_EQ(fake.job, 77);
	CHECK_EQ(fake.wrong, 0);
	CHECK_EQ(fake.busy, 0);
	pthread_mutex_unlock(&fake.lock);
	CHECK_EQ(entries("/proc/self/task"), threads + 1);
	tap_result("registers, and goes on asking");
}

static void test_by_time(void)
{
	long begun = now_ms();

	forget();
	/* As dyno sends it: blanks before keys, and the start two seconds from now. */
	fake_configure(&fake, "\n    ACTIVITIES_LOG_FILE=%s/sub/time.json\n"
		       "PROFILE_START_TIME=0\nACTIVITIES_DURATION_MSECS=300\n"
		       "PROFILE_REPORT_INPUT_SHAPES=true\nPROFILE_WITH_STACK=true\n"
		       "PROFILE_WITH_FLOPS=false\nPROFILE_WITH_MODULES=false\n"
		       "    REQUEST_TRACE_ID=1\n", traces);
	until(SAVE, 1);
	until_idle();
	CHECK_ORDER(INIT, PREPARE, START, STOP, SAVE);
	CHECK(got.flag[0] && !got.flag[1] && got.flag[2] && !got.flag[3] && !got.flag[4]);
	CHECK(!got.signals);
	/* Earlier is wrong on any machine; later only says that this one is slow. */
	CHECK(got.ms[START] - begun >= 1990);
	CHECK(got.ms[STOP] - got.ms[START] >= 290);
	CHECK(taken("sub/time", getpid()));
	CHECK_EQ(entries(in_traces("sub")), 0);
	CHECK(fake_count(&fake, &fake.busy) > 0);
	tap_result("by time: begins when it should, and is saved in its place");

	forget();
	begun = real_ms();
	fake_configure(&fake, "PROFILE_START_TIME=%lld\nACTIVITIES_DURATION_MSECS=1\n",
		       real_ms() + 400);
	until(SAVE, 1);
	CHECK(real_ms() >= begun + 400);
	until_idle();
	CHECK_ORDER(PREPARE, START, STOP, SAVE);
	CHECK(taken("libkineto_activities", getpid()));
	tap_result("by a time of its own, into the file that has no other name");
}

static void test_busy(void)
{
	unsigned int handed;

	forget();
	fake_configure(&fake, "ACTIVITIES_LOG_FILE=%s/long.json\nPROFILE_START_TIME=%lld\n"
		       "ACTIVITIES_DURATION_MSECS=3600000\n", traces, real_ms());
	until(START, 1);
	/* The next one stays with the daemon, and we are not forgotten there meanwhile. */
	handed = fake_configure(&fake, "ACTIVITIES_LOG_FILE=%s/next.json\nPROFILE_START_TIME=%lld\n"
				"ACTIVITIES_DURATION_MSECS=1\n", traces, real_ms());
	fake_more(&fake, &fake.busy, 5);
	pthread_mutex_lock(&fake.lock);
	CHECK(fake.has_config);
	pthread_mutex_unlock(&fake.lock);
	CHECK_EQ(xsprof_register_client(NULL), -EBUSY);
	/* One that comes all the same is dropped. */
	pthread_mutex_lock(&fake.lock);
	fake_send(&fake, "req", "ACTIVITIES_ITERATIONS=1", 23);
	pthread_mutex_unlock(&fake.lock);
	fake_more(&fake, &fake.busy, 2);
	CHECK_EQ(xsprof_ondemand_cancel(), 0);
	CHECK_EQ(xsprof_ondemand_cancel(), -ENOENT);
	fake_until(&fake, &fake.handed, handed);
	until(SAVE, 1);
	until_idle();
	CHECK_ORDER(PREPARE, START, STOP, DISCARD, PREPARE, START, STOP, SAVE);
	CHECK(!taken("long", getpid()));
	CHECK(taken("next", getpid()));
	tap_result("one at a time; what is cancelled is thrown away");
}

static void iterations(const char *name, unsigned int warmup, int start, unsigned int roundup,
		       unsigned int n, bool and_time)
{
	unsigned int handed;

	forget();
	handed = fake_configure(&fake, "ACTIVITIES_LOG_FILE=%s/%s.json\n"
				"ACTIVITIES_WARMUP_ITERATIONS=%u\nPROFILE_START_ITERATION=%d\n"
				"PROFILE_START_ITERATION_ROUNDUP=%u\nACTIVITIES_ITERATIONS=%u\n%s",
				traces, name, warmup, start, roundup, n,
				and_time ? "PROFILE_START_TIME=1\n" : "");
	fake_until(&fake, &fake.handed, handed);
	/* It is taken as soon as it says that it is busy. */
	fake_more(&fake, &fake.busy, 1);
}

static void test_by_iteration(void)
{
	int64_t first;

	iterations("steps", 2, 0, 10, 3, false);
	first = made() + 1 + 2;
	first += (10 - first % 10) % 10;
	for (unsigned int i = 0; i < 30; i++)
		step();
	until(SAVE, 1);
	until_idle();
	/* One more step is made by the client's own prepare(). */
	CHECK_ORDER(PREPARE, START, STOP, SAVE);
	CHECK_EQ(got.at[PREPARE], first - 2 + 1);
	CHECK_EQ(got.at[START], first);
	CHECK_EQ(got.at[STOP], first + 3);
	CHECK(taken("steps", getpid()));
	tap_result("by iterations: at the next round number, with those of the warm-up before it");

	iterations("later", 0, made() + 20, 0, 1, true);
	first = made() + 20;
	for (unsigned int i = 0; i < 25; i++)
		step();
	until(SAVE, 1);
	until_idle();
	CHECK_ORDER(PREPARE, START, STOP, SAVE);
	/* The step of prepare() is one of the trace: the iteration it asked for is over with it. */
	CHECK_EQ(got.at[START], first + 1);
	CHECK_EQ(got.at[STOP], first + 2);
	CHECK(taken("later", getpid()));
	tap_result("by a number of its own, whatever time is asked for as well");

	iterations("past", 0, 1, 0, 4, false);
	first = made() + 1;
	for (unsigned int i = 0; i < 10; i++)
		step();
	until(SAVE, 1);
	until_idle();
	CHECK_EQ(got.at[START], first + 1);
	CHECK_EQ(got.at[STOP], first + 4);
	CHECK(taken("past", getpid()));
	tap_result("an iteration that is over means the next one");

	iterations("cancelled", 0, 0, 0, 1000, false);
	step();
	CHECK_EQ(xsprof_ondemand_cancel(), 0);
	step();
	until_idle();
	CHECK_ORDER(PREPARE, START, STOP, DISCARD);
	tap_result("by iterations: cancelled");
}

/* A text that must lead to nothing: the daemon hands it out, and nothing is called. */
static void nothing_of(const char *why, const char *config)
{
	unsigned int handed;

	forget();
	handed = fake_configure(&fake, "%s", config);
	fake_until(&fake, &fake.handed, handed);
	until_idle();
	if (got.total)
		tap_wrong("taken: %s", why);
}

static void test_refused(void)
{
	char text[1000];

	if (!made()) {
		snprintf(text, sizeof(text), "ACTIVITIES_LOG_FILE=%s/x.json\n"
			 "PROFILE_START_ITERATION=0\nACTIVITIES_ITERATIONS=1\n", traces);
		nothing_of("iterations of a program that makes none", text);
		return;
	}
	snprintf(text, sizeof(text), "PROFILE_START_TIME=%lld\nACTIVITIES_DURATION_MSECS=1\n",
		 real_ms() - 11000);
	nothing_of("a start 11 s ago", text);
	snprintf(text, sizeof(text), "PROFILE_START_TIME=%lld\nACTIVITIES_DURATION_MSECS=1\n",
		 real_ms() + 90000000);
	nothing_of("a start in more than a day", text);
	nothing_of("no request", "PROFILE_WITH_STACK=true\n");
	nothing_of("not enabled", "ACTIVITIES_ENABLED=false\nACTIVITIES_DURATION_MSECS=1\n");
	nothing_of("no time", "ACTIVITIES_DURATION_MSECS=0\n");
	nothing_of("more than a day", "ACTIVITIES_DURATION_SECS=86401\n");
	nothing_of("nonsense", "ACTIVITIES_DURATION_MSECS=1\nnonsense\n");
	nothing_of("outside", "ACTIVITIES_LOG_FILE=/etc/x.json\nACTIVITIES_DURATION_MSECS=1\n");
	snprintf(text, sizeof(text), "ACTIVITIES_DURATION_MSECS=1\n"
		 "ACTIVITIES_LOG_FILE=%s/../x.json\n", traces);
	nothing_of("above", text);
	snprintf(text, sizeof(text), "ACTIVITIES_DURATION_MSECS=1\n"
		 "ACTIVITIES_LOG_FILE=%s/link/x.json\n", traces);
	nothing_of("through a link", text);
	snprintf(text, sizeof(text), "ACTIVITIES_DURATION_MSECS=1\n"
		 "ACTIVITIES_LOG_FILE=%s/none/x.json\n", traces);
	nothing_of("no such folder", text);
	tap_result("requests that are refused");
}

static void now_please(const char *name)
{
	fake_configure(&fake, "ACTIVITIES_LOG_FILE=%s/%s.json\nPROFILE_START_TIME=%lld\n"
		       "ACTIVITIES_DURATION_MSECS=1\n", traces, name, real_ms());
}

static void test_failures(void)
{
	static const struct {
		enum what	what;
		unsigned int	calls;
	} fails[] = { { PREPARE, 1 }, { START, 2 }, { STOP, 3 }, { SAVE, 4 } };

	for (unsigned int i = 0; i < 4; i++) {
		forget();
		pthread_mutex_lock(&lock);
		seen.fail[fails[i].what] = -EIO;
		pthread_mutex_unlock(&lock);
		now_please("fails");
		until(fails[i].what, 1);
		until_idle();
		CHECK_EQ(got.total, fails[i].calls);
		CHECK(!taken("fails", getpid()));
	}
	CHECK_EQ(entries(traces), 2);
	forget();
	now_please("works");
	until(SAVE, 1);
	until_idle();
	CHECK(taken("works", getpid()));
	tap_result("a client that fails ends its request, and the next one works");
}

static void test_memory(void)
{
	struct xsprof_client c = client;
	char text[500];

	forget();
	snprintf(text, sizeof(text), "ACTIVITIES_LOG_FILE=%s/memory.json\nPROFILE_START_TIME=%lld\n"
		 "ACTIVITIES_DURATION_MSECS=50\nPROFILE_PROFILE_MEMORY=true\n"
		 "PROFILE_MEMORY=true\nPROFILE_MEMORY_DURATION_MSECS=50\n", traces, real_ms());
	fake_configure(&fake, "%s", text);
	until(MEM_STOP, 1);
	until_idle();
	CHECK_ORDER(PREPARE, MEM_START, MEM_EXPORT, MEM_STOP);
	CHECK(got.flag[1]);
	CHECK(got.ms[MEM_EXPORT] - got.ms[MEM_START] >= 49);
	CHECK(taken("memory", getpid()));
	c.start_memory_profile = NULL;
	c.stop_memory_profile = NULL;
	c.export_memory_profile = NULL;
	CHECK_EQ(xsprof_register_client(&c), 0);
	nothing_of("a snapshot by nobody", text);
	CHECK_EQ(xsprof_register_client(&client), 0);
	tap_result("a snapshot of memory");
}

static void test_hostile(void)
{
	static const struct fake_head head[] = {
		{ .size = SIZE_MAX, .type = "req" },
		{ .size = 4096, .type = "req" },
		{ .size = 0, .type = "ctxt" },
	};
	static char junk[65000];

	forget();
	for (unsigned int i = 0; i < 3; i++) {
		fake_lies(&fake, &head[i], sizeof(head[i]), true);
		fake_more(&fake, &fake.requests, 2);
	}
	memset(junk, 0xee, sizeof(junk));
	fake_lies(&fake, junk, sizeof(junk), false);
	fake_more(&fake, &fake.requests, 2);
	memcpy(junk, &(struct fake_head){ .size = sizeof(junk) - 40, .type = "req" }, 40);
	fake_lies(&fake, junk, sizeof(junk), false);
	until_idle();
	CHECK_EQ(got.total, 0);
	now_please("still");
	until(SAVE, 1);
	until_idle();
	CHECK(taken("still", getpid()));
	tap_result("a hostile daemon does no harm");
}

static void test_gone(void)
{
	char name[108], path[300];
	bool same = true;

	fake_end(&fake);
	/* Some questions to nobody: it does not end. */
	usleep(300000);
	CHECK(fake_start(&fake, by_path ? top : NULL));
	fake_until(&fake, &fake.contexts, 1);
	forget();
	now_please("again");
	until(SAVE, 1);
	until_idle();
	CHECK(taken("again", getpid()));
	tap_result("a daemon that vanishes and returns");

	pthread_mutex_lock(&fake.lock);
	snprintf(name, sizeof(name), "%s", fake.name);
	pthread_mutex_unlock(&fake.lock);
	if (by_path) {
		snprintf(path, sizeof(path), "%s/%s", top, name);
		CHECK_EQ(unlink(path), 0);
	} else {
		/* The library's is the highest; whatever is there is closed, as daemons do. */
		for (int fd = 512; fd < 1024; fd++)
			syscall(SYS_close, fd);	/* no race that TSan has to tell of */
	}
	for (unsigned int i = 0; i < 1000 && same; i++) {
		fake_more(&fake, &fake.requests, 1);
		pthread_mutex_lock(&fake.lock);
		same = !strcmp(name, fake.name);
		pthread_mutex_unlock(&fake.lock);
	}
	CHECK(!same);
	forget();
	now_please("anew");
	until(SAVE, 1);
	until_idle();
	CHECK(taken("anew", getpid()));
	tap_result("a socket that somebody took away is made anew");
}

/* ---- xsprof ctl, of the same process ---- */

static const char *tool;
static char said[2000];

/* Return: its exit status. */
static int ctl(const char *verb, const char *file)
{
	char command[1000];
	size_t n;
	FILE *f;

	snprintf(command, sizeof(command), "'%s' ctl %s -p %d %s%s 2>&1", tool, verb,
		 (int)getpid(), file ? "-o " : "", file ? in_traces(file) : "");
	f = popen(command, "r");
	if (!f)
		tap_bail("%s: %s", command, strerror(errno));
	n = fread(said, 1, sizeof(said) - 1, f);
	said[n] = '\0';
	return WEXITSTATUS(pclose(f));
}

static bool is_written(const char *file)
{
	struct stat st;
	bool ok = !lstat(in_traces(file), &st) && S_ISREG(st.st_mode) && st.st_size == 5;

	unlink(in_traces(file));
	return ok;
}

static void *make_steps(void *unused)
{
	for (unsigned int i = 0; i < 10; i++)
		step();
	return unused;
}

static void *do_cancel(void *unused)
{
	CHECK_EQ(xsprof_ondemand_cancel(), 0);
	return unused;
}

static void test_ctl(void)
{
	unsigned int handed;

	if (!tool) {
		tap_skip("xsprof ctl beside the daemon", "no ctl=XSPROF was named");
		return;
	}
	forget();
	fake_configure(&fake, "ACTIVITIES_LOG_FILE=%s/long.json\nPROFILE_START_TIME=%lld\n"
		       "ACTIVITIES_DURATION_MSECS=3600000\n", traces, real_ms());
	until(START, 1);
	CHECK_EQ(ctl("start", "ctl.json"), 1);
	CHECK(strstr(said, "another trace is under way, which the daemon asked for"));
	CHECK_EQ(ctl("status", NULL), 0);
	CHECK(strstr(said, "recording, asked for by the daemon"));
	CHECK_EQ(ctl("snapshot", "part.json"), 0);
	CHECK(is_written("part.json"));
	CHECK_EQ(ctl("stop", NULL), 0);
	CHECK(strstr(said, trace_name("long", getpid())));
	until_idle();
	CHECK_ORDER(PREPARE, START, SO_FAR, STOP, SAVE);
	CHECK(taken("long", getpid()));
	tap_result("xsprof ctl beside the daemon: whose trace is first has it");

	forget();
	CHECK_EQ(ctl("start --shapes", "ctl.json"), 0);
	until(START, 1);
	handed = fake_configure(&fake, "ACTIVITIES_LOG_FILE=%s/next.json\nPROFILE_START_TIME=%lld\n"
				"ACTIVITIES_DURATION_MSECS=1\n", traces, real_ms());
	fake_more(&fake, &fake.busy, 3);
	pthread_mutex_lock(&fake.lock);
	CHECK(fake.has_config);
	pthread_mutex_unlock(&fake.lock);
	CHECK_EQ(ctl("stop", NULL), 0);
	fake_until(&fake, &fake.handed, handed);
	until(SAVE, 2);
	until_idle();
	CHECK_ORDER(PREPARE, START, STOP, SAVE, PREPARE, START, STOP, SAVE);
	CHECK(is_written("ctl.json"));
	CHECK(taken("next", getpid()));
	tap_result("the daemon's next one waits for the end of xsprof ctl's");

	iterations("steps", 0, 0, 0, 3, false);
	step();
	until(START, 1);
	__atomic_store_n(&meanwhile, make_steps, __ATOMIC_RELEASE);
	CHECK_EQ(ctl("snapshot", "part.json"), 0);
	step();
	until(SAVE, 1);
	until_idle();
	CHECK_ORDER(PREPARE, START, SO_FAR, STOP, SAVE);
	CHECK(is_written("part.json"));
	CHECK(taken("steps", getpid()));
	iterations("steps", 0, 0, 0, 3, false);
	step();
	until(START, 1);
	__atomic_store_n(&meanwhile, do_cancel, __ATOMIC_RELEASE);
	CHECK_EQ(ctl("snapshot", "part.json"), 0);
	until_idle();
	CHECK_ORDER(PREPARE, START, SO_FAR, STOP, DISCARD);
	CHECK(is_written("part.json"));
	__atomic_store_n(&meanwhile, NULL, __ATOMIC_RELEASE);
	tap_result("an end that comes while what there is so far is written comes after it");

	forget();
	CHECK_EQ(ctl("start --memory-snapshot", "memory.pickle"), 0);
	until(MEM_START, 1);
	CHECK_EQ(ctl("snapshot", "part.pickle"), 0);
	CHECK_EQ(ctl("stop", NULL), 0);
	until_idle();
	CHECK_ORDER(PREPARE, MEM_START, MEM_EXPORT, MEM_EXPORT, MEM_STOP);
	CHECK(is_written("part.pickle"));
	CHECK(is_written("memory.pickle"));
	tap_result("the client's memory profile: start, export, stop");
}

static void test_fork(void)
{
	const char *name = "a forked child has none of it, and may begin its own";
	int status = -1, end[2];
	char byte;
	pid_t pid;

	if (TSAN) {
		tap_skip(name, "TSan follows no fork from several threads");
		return;
	}
	CHECK_EQ(pipe2(end, O_CLOEXEC), 0);
	forget();
	fake_configure(&fake, "ACTIVITIES_LOG_FILE=%s/parent.json\nPROFILE_START_TIME=%lld\n"
		       "ACTIVITIES_DURATION_MSECS=3600000\n", traces, real_ms());
	until(START, 1);
	pthread_mutex_lock(&fake.lock);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		/* No thread, no request of the parent's, and no socket. */
		unsigned int threads = entries("/proc/self/task");

		if (xsprof_ondemand_cancel() != -ENOENT)
			_exit(1);
		step();
		if (xsprof_register_client(NULL) || xsprof_ondemand_init() ||
		    entries("/proc/self/task") != threads + 1)
			_exit(2);
		close(end[1]);
		exit(read(end[0], &byte, 1) != 0);
	}
	close(end[0]);
	pthread_mutex_unlock(&fake.lock);
	/* The child asks for itself. */
	until_asks(pid);
	close(end[1]);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	CHECK_EQ(xsprof_ondemand_cancel(), 0);
	until_idle();
	CHECK_ORDER(PREPARE, START, STOP, DISCARD);
	tap_result("%s", name);
}

int main(int argc, char **argv)
{
	tool = arg_text(argc, argv, "ctl");
	if (!demand_begin(arg_number(argc, argv, "path", 0))) {
		printf("1..0 # SKIP another daemon has the name \"dynolog\" here\n");
		return 77;
	}
	test_client();
	test_begin();
	test_refused();
	test_by_time();
	test_busy();
	test_by_iteration();
	test_refused();
	test_failures();
	test_memory();
	test_hostile();
	test_ctl();
	test_gone();
	test_fork();
	demand_end();
	CHECK_EQ(sockets(), by_path);
	return tap_done();
}
