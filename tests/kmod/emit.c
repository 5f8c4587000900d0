// SPDX-License-Identifier: GPL-2.0-only
/*
 * Markers as kernel events, without the library: tracepoints enabled by any kind of tracer show in
 * every control page, and each EMIT is one event or none.
 */
#include <dirent.h>
#include <pthread.h>
#include <sys/wait.h>

#include "emit.h"

FIXTURE(emit)
{
	struct dev	d;
};

FIXTURE_SETUP(emit)
{
	ASSERT_EQ(0, tracefs_open(16 << 10));
	ASSERT_EQ(0, dev_attach(&self->d, XSPROF_MODE_DISCARD, 16 << 10, 1));
	ASSERT_EQ(0, page_says(&self->d));
}

FIXTURE_TEARDOWN(emit)
{
	EXPECT_EQ(0, tracefs_close());
	/* Whoever it was that had it on. */
	EXPECT_EQ(0, page_says(&self->d));
	dev_close(&self->d);
}

/* All names have the prefix: they are symbols beside all other symbols of the kernel. */
TEST(names)
{
	DIR *dir = opendir(TRACEFS "events/xsprof");
	const struct dirent *entry;
	unsigned int n = 0;

	ASSERT_NE(NULL, dir);
	while ((entry = readdir(dir))) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		EXPECT_EQ(0, strncmp(entry->d_name, "xsp_", 4)) {
			TH_LOG("%s", entry->d_name);
		}
		n++;
	}
	closedir(dir);
	EXPECT_EQ(XSPROF_EMIT_KINDS + 1, n);
}

/* Each kind alone: as many events as calls, in order, and none of or for the others. */
TEST_F(emit, each)
{
	uint64_t n = env_part(5000, 500, 10);

	for (unsigned int k = 0; k < XSPROF_EMIT_KINDS; k++) {
		struct seen s = { .pid = getpid() };

		EXPECT_EQ(0, emit(self->d.fd, k, 1, "early", "c"));
		ASSERT_EQ(0, tracefs_set(kinds[k], true));
		EXPECT_EQ(1 << k, page_says(&self->d));
		for (uint64_t i = 1; i <= n; i++)
			for (unsigned int j = 0; j < XSPROF_EMIT_KINDS; j++) {
				ASSERT_EQ(j == k, emit(self->d.fd, j, i, "a name", "some-cat"));
			}
		ASSERT_EQ(0, tracefs_set(kinds[k], false));
		EXPECT_EQ(0, page_says(&self->d));
		EXPECT_EQ(0, emit(self->d.fd, k, 1, "late", "c"));
		EXPECT_EQ(0, tracefs_read(see, &s));
		EXPECT_EQ(n, s.count[k]);
		EXPECT_EQ(n, total(&s));
		EXPECT_EQ(n * (n + 1) / 2, s.ticks);
		EXPECT_EQ(0, s.strange);
		ASSERT_EQ(0, tracefs_clear());
	}
}

/* Who attaches meanwhile sees it at once, a forked child too; each event is its own's. */
TEST_F(emit, processes)
{
	uint64_t n = env_figure(500, 100);
	struct seen s = { .name = "child" };
	pid_t pid[4];
	struct dev d;
	int status;

	ASSERT_EQ(0, tracefs_set("xsp_instant", true));
	ASSERT_EQ(0, dev_attach(&d, XSPROF_MODE_OVERWRITE, 16 << 10, 1));
	EXPECT_EQ(1 << XSPROF_EMIT_INSTANT, page_says(&d));
	for (int i = 0; i < 4; i++) {
		pid[i] = fork();
		ASSERT_GE(pid[i], 0);
		if (pid[i])
			continue;
		if (dev_attach(&d, XSPROF_MODE_DISCARD, 16 << 10, 1) ||
		    page_says(&d) != 1 << XSPROF_EMIT_INSTANT)
			_exit(1);
		for (uint64_t j = 0; j < n; j++)
			if (emit(d.fd, XSPROF_EMIT_INSTANT, j, "child", "c") != 1)
				_exit(2);
		_exit(0);
	}
	for (int i = 0; i < 4; i++) {
		EXPECT_EQ(pid[i], waitpid(pid[i], &status, 0));
		EXPECT_EQ(0, status);
	}
	for (int i = 0; i < 4; i++) {
		s.pid = pid[i];
		s.count[XSPROF_EMIT_INSTANT] = 0;
		EXPECT_EQ(0, tracefs_read(see, &s));
		EXPECT_EQ(n, total(&s));
		EXPECT_EQ(0, s.strange);
	}
	ASSERT_EQ(0, tracefs_set("xsp_instant", false));
	EXPECT_EQ(0, page_says(&d));
	dev_close(&d);
}

/* perf is a tracer like another; what two have on goes off with the second. */
TEST_F(emit, perf)
{
	uint64_t n = env_costly(1000, 100), count = 0;
	int fd = perf_open("xsp_counter"), second;

	ASSERT_GE(fd, 0);
	EXPECT_EQ(1 << XSPROF_EMIT_COUNTER, page_says(&self->d));
	for (uint64_t i = 0; i < n; i++)
		ASSERT_EQ(1, emit(self->d.fd, XSPROF_EMIT_COUNTER, i, "n", "c"));
	EXPECT_EQ(8, read(fd, &count, 8));
	EXPECT_EQ(n, count);
	ASSERT_EQ(0, tracefs_set("xsp_counter", true));
	second = perf_open("xsp_begin");
	ASSERT_GE(second, 0);
	EXPECT_EQ(1 << XSPROF_EMIT_COUNTER | 1 << XSPROF_EMIT_BEGIN, page_says(&self->d));
	close(fd);
	EXPECT_EQ(1 << XSPROF_EMIT_COUNTER | 1 << XSPROF_EMIT_BEGIN, page_says(&self->d));
	ASSERT_EQ(0, tracefs_set("xsp_counter", false));
	EXPECT_EQ(1 << XSPROF_EMIT_BEGIN, page_says(&self->d));
	close(second);
	EXPECT_EQ(0, page_says(&self->d));
}

/* With always_on=N: recorded while it is traced, and not what the program paused itself. */
TEST_F(emit, idle)
{
	struct xsprof_control c = { .size = sizeof(c) };
	struct xsprof_attach a = dev_attach_defaults();
	struct dev d, r;

	ASSERT_EQ(0, env_file_put(ENV_PARAMETERS "always_on", "N"));
	a.wanted = 5;
	EXPECT_EQ(0, dev_attach_as(&d, &a));
	EXPECT_EQ(0, d.ctl->enabled);
	EXPECT_EQ(XSPROF_PAUSED_RECORDER, d.ctl->paused);
	EXPECT_EQ(0, tracefs_set("xsp_end", true));
	EXPECT_EQ(5, d.ctl->enabled);
	EXPECT_EQ(0, d.ctl->paused);
	c.pause = XSPROF_PAUSED_PROGRAM;
	EXPECT_EQ(0, dev_call(d.fd, XSPROF_IOC_CONTROL, &c));
	EXPECT_EQ(0, d.ctl->enabled);
	EXPECT_EQ(0, tracefs_set("xsp_end", false));
	EXPECT_EQ(XSPROF_PAUSED_PROGRAM | XSPROF_PAUSED_RECORDER, d.ctl->paused);
	EXPECT_EQ(0, tracefs_set("xsp_end", true));
	EXPECT_EQ(0, d.ctl->enabled);
	EXPECT_EQ(XSPROF_PAUSED_PROGRAM, d.ctl->paused);
	c = (struct xsprof_control){ .size = sizeof(c), .resume = XSPROF_PAUSED_PROGRAM };
	EXPECT_EQ(0, dev_call(d.fd, XSPROF_IOC_CONTROL, &c));
	EXPECT_EQ(5, d.ctl->enabled);
	dev_close(&d);
	/* One that attaches meanwhile. */
	a = dev_attach_defaults();
	a.wanted = 3;
	EXPECT_EQ(0, dev_attach_as(&d, &a));
	EXPECT_EQ(3, d.ctl->enabled);
	/* A reader's word counts from then on, whoever traces. */
	EXPECT_EQ(0, dev_read_id(&r, d.fd, d.id, XSPROF_OPEN_CONSUME));
	c = (struct xsprof_control){ .size = sizeof(c), .pause = XSPROF_PAUSED_RECORDER };
	EXPECT_EQ(0, dev_call(r.fd, XSPROF_IOC_CONTROL, &c));
	EXPECT_EQ(0, tracefs_set("xsp_begin", true));
	EXPECT_EQ(0, d.ctl->enabled);
	c = (struct xsprof_control){ .size = sizeof(c), .resume = XSPROF_PAUSED_RECORDER };
	EXPECT_EQ(0, dev_call(r.fd, XSPROF_IOC_CONTROL, &c));
	EXPECT_EQ(0, tracefs_set("", false));
	EXPECT_EQ(3, d.ctl->enabled);
	EXPECT_EQ(0, page_says(&d));
	dev_close(&r);
	dev_close(&d);
	ASSERT_EQ(0, env_file_put(ENV_PARAMETERS "always_on", "Y"));
	/* What is recorded at all times, or by a recorder, is left as it is. */
	EXPECT_EQ(~0ull, self->d.ctl->enabled);
}

static uint64_t ns_of(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

struct sync_seen {
	uint64_t	from;
	uint64_t	to;
	uint64_t	first_real;
	unsigned int	n;
	unsigned int	wrong;
};

/* Its fields have no category: not for tracefs_read(). */
static int read_syncs(struct sync_seen *s)
{
	FILE *f = fopen(TRACEFS_OWN "trace", "re");
	char text[512], kind[16];
	unsigned long long v[5];
	unsigned int window;

	if (!f)
		return -errno;
	while (fgets(text, sizeof(text), f)) {
		const char *at = strstr(text, "xsp_clock_sync: ");

		if (*text == '#' || !at)
			continue;
		if (sscanf(at, "xsp_clock_sync: kind=%15s ticks=%llu mono=%llu raw=%llu boot=%llu "
			   "real=%llu window=%u", kind, &v[0], &v[1], &v[2], &v[3], &v[4],
			   &window) != 7 || v[1] < s->from || v[1] > s->to || !v[0] || !v[2] ||
		    v[3] < v[1] || v[4] < s->first_real)
			s->wrong++;
		s->n++;
	}
	fclose(f);
	return 0;
}

/* The clocks, at each attach and each second: by the module itself, and with nobody's help. */
TEST_F(emit, clock_sync)
{
	struct sync_seen s = { .first_real = ns_of(CLOCK_REALTIME),
			       .from = ns_of(CLOCK_MONOTONIC) };
	struct dev d;

	ASSERT_EQ(0, tracefs_set("xsp_clock_sync", true));
	/* No producer sends it. */
	EXPECT_EQ(0, page_says(&self->d));
	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, dev_attach(&d, XSPROF_MODE_DISCARD, 16 << 10, 1));
		dev_close(&d);
	}
	while (s.n < 5) {
		s.n = 0;
		s.wrong = 0;
		s.to = ns_of(CLOCK_MONOTONIC) + 1000000000u;
		ASSERT_EQ(0, read_syncs(&s));
		EXPECT_LE(3, s.n);
		EXPECT_EQ(0, s.wrong);
		env_nap(100000);
	}
}

/* Switched while producers come, mark and go: whatever the order, it ends as it is said last. */
struct churn {
	bool		stop;
	uint64_t	wrong;
	uint64_t	emitted;
};

static void *come_and_go(void *arg)
{
	struct churn *c = arg;
	struct dev d;

	while (!__atomic_load_n(&c->stop, __ATOMIC_RELAXED)) {
		if (dev_attach(&d, XSPROF_MODE_DISCARD, 16 << 10, 1)) {
			__atomic_add_fetch(&c->wrong, 1, __ATOMIC_RELAXED);
			break;
		}
		for (uint64_t i = 0; i < 20; i++) {
			int ret = emit(d.fd, i % XSPROF_EMIT_KINDS, i + 1, "churn", "c");

			if (ret < 0)
				__atomic_add_fetch(&c->wrong, 1, __ATOMIC_RELAXED);
			else
				__atomic_add_fetch(&c->emitted, (uint64_t)ret, __ATOMIC_RELAXED);
		}
		dev_close(&d);
	}
	return NULL;
}

TEST_F(emit, churn)
{
	uint64_t switches = env_costly(20, 5);
	struct seen s = { .name = "churn" };
	struct churn c = { 0 };
	pthread_t thread[3];

	for (int i = 0; i < 3; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, come_and_go, &c));
	for (uint64_t i = 0; i < switches; i++) {
		const char *kind = kinds[i % XSPROF_EMIT_KINDS];
		int fd;

		ASSERT_EQ(0, tracefs_set(kind, true));
		ASSERT_EQ(1 << i % XSPROF_EMIT_KINDS, page_says(&self->d));
		fd = perf_open(kind);
		ASSERT_GE(fd, 0);
		ASSERT_EQ(0, tracefs_set(kind, false));
		ASSERT_EQ(1 << i % XSPROF_EMIT_KINDS, page_says(&self->d));
		close(fd);
		ASSERT_EQ(0, page_says(&self->d));
	}
	ASSERT_EQ(0, tracefs_set("", true));
	env_nap(50000);
	__atomic_store_n(&c.stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	ASSERT_EQ(0, tracefs_set("", false));
	EXPECT_EQ(0, c.wrong);
	tracefs_read(see, &s);
	/* Some went to perf alone. */
	EXPECT_LT(0, total(&s));
	EXPECT_LE(total(&s), c.emitted);
}

static int unload(void)
{
	return syscall(SYS_delete_module, "xsprof", O_NONBLOCK) ? -errno : 0;
}

static int load(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (syscall(SYS_finit_module, fd, "", 0))
		err = -errno;
	close(fd);
	while (!err && access(XSPROF_DEVICE_PATH, F_OK))
		sched_yield();
	return err;
}

/* perf holds the module; an event that is on in tracefs goes with it. */
TEST(emit_unload)
{
	const char *path = getenv("XSPROF_MODULE");
	struct dev d;
	int fd, err;

	if (!path || access(path, R_OK))
		SKIP(return, "XSPROF_MODULE names no module that can be read");
	ASSERT_EQ(0, tracefs_open(1024));
	fd = perf_open("xsp_begin");
	ASSERT_GE(fd, 0);
	/* Earlier processes' ends may hold it for a moment; perf holds it for good. */
	for (int i = 0; i < 20; i++) {
		EXPECT_EQ(-EWOULDBLOCK, unload());
		env_nap(10000);
	}
	close(fd);
	for (uint64_t i = env_costly(10, 3); i; i--) {
		ASSERT_EQ(0, tracefs_set("", true));
		ASSERT_EQ(0, dev_attach(&d, XSPROF_MODE_DISCARD, 16 << 10, 1));
		EXPECT_EQ(ALL_KINDS, page_says(&d));
		EXPECT_EQ(1, emit(d.fd, XSPROF_EMIT_BEGIN, 1, "n", "c"));
		dev_close(&d);
		while ((err = unload()) == -EWOULDBLOCK)
			sched_yield();
		ASSERT_EQ(0, err);
		EXPECT_EQ(-ENOENT, tracefs_set("", false));
		ASSERT_EQ(0, load(path));
		/* It starts from nothing. */
		ASSERT_EQ(0, dev_attach(&d, XSPROF_MODE_DISCARD, 16 << 10, 1));
		EXPECT_EQ(0, page_says(&d));
		EXPECT_EQ(0, emit(d.fd, XSPROF_EMIT_BEGIN, 1, "n", "c"));
		dev_close(&d);
	}
	/* What is on goes off with the instance. */
	ASSERT_EQ(0, dev_attach(&d, XSPROF_MODE_DISCARD, 16 << 10, 1));
	ASSERT_EQ(0, tracefs_set("", true));
	EXPECT_EQ(ALL_KINDS, page_says(&d));
	EXPECT_EQ(0, rmdir(TRACEFS_OWN));
	EXPECT_EQ(0, page_says(&d));
	dev_close(&d);
}

TEST_HARNESS_MAIN
