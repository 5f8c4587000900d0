// SPDX-License-Identifier: GPL-2.0-only
/*
 * Profiling sessions: when there is one, of which threads, by a schedule, and the errors when there
 * can be none.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "profiler/session-result.h"

/* ---- a session ------------------------------------------------------------------------------ */

static void test_states(void)
{
	struct xsprof_profiler_config bad = config;
	struct xsprof_result *r;

	CHECK_EQ(xsprof_profiler_state(), XSPROF_PROFILER_DISABLED);
	CHECK_EQ(xsprof_disable_profiler(NULL), -ENOENT);
	CHECK_EQ(xsprof_toggle_collection(false, 0), -ENOENT);
	CHECK_EQ(xsprof_enable_profiler_in_child_thread(), -ENOENT);
	CHECK_EQ(begin(NULL), -EINVAL);
	bad.state = XSPROF_PROFILER_DISABLED;
	CHECK_EQ(begin(&bad), -EINVAL);
	bad.state = XSPROF_PROFILER_STATES;
	CHECK_EQ(begin(&bad), -EINVAL);
	bad = config;
	bad.size = 4;
	CHECK_EQ(begin(&bad), -EINVAL);
	CHECK_EQ(xsprof_enable_profiler(&config, 0, 0), -EINVAL);
	CHECK_EQ(xsprof_enable_profiler(&config, 1u << XSPROF_ACTIVITIES, 0), -EINVAL);
	CHECK_EQ(xsprof_enable_profiler(&config, 1, 1u << XSPROF_OP_SCOPES), -EINVAL);
	op("before", XSPROF_OP_FUNCTION, 0);

	CHECK_EQ(begin(&config), 0);
	CHECK_EQ(xsprof_profiler_state(), XSPROF_PROFILER_KINETO);
	CHECK(xsprof_is_profiler_enabled_in_main_thread());
	CHECK_EQ(begin(&config), -EBUSY);
	CHECK_EQ(xsprof_prepare_profiler(&config, 1), -EBUSY);
	op("mm", XSPROF_OP_FUNCTION, 7);
	r = end();
	CHECK_EQ(xsprof_profiler_state(), XSPROF_PROFILER_DISABLED);
	CHECK(!xsprof_is_profiler_enabled_in_main_thread());
	op("after", XSPROF_OP_FUNCTION, 0);
	CHECK_EQ(r->n, 2);
	CHECK(r->ev[0].is_op && !strcmp(r->ev[0].name, "mm"));
	CHECK_EQ(r->ev[0].op.record_function_id, 7);
	CHECK_EQ(r->ev[0].op.sequence, -1);
	CHECK_EQ(r->ev[0].tid, gettid());
	CHECK_EQ(r->ev[1].type, XSPROF_REC_END);
	CHECK_EQ(r->lost, 0);
	CHECK_EQ(r->opts.nr_tids, 1);
	CHECK_EQ(r->tids[0], gettid());
	free(r);
	tap_result("begun, refused a second time, ended: what lay between is recorded");
}

static void test_again(void)
{
	for (unsigned int i = 0; i < 20; i++) {
		struct xsprof_result *r;
		char name[20];
		uint64_t at[4];

		snprintf(name, sizeof(name), "op %u", i);
		at[0] = xsprof_now();
		CHECK_EQ(begin(&config), 0);
		at[1] = xsprof_now();
		op(name, XSPROF_OP_FUNCTION, i);
		at[2] = xsprof_now();
		r = end();
		at[3] = xsprof_now();
		/* Compare in the records' clock, which the first session may have chosen. */
		CHECK(r->opts.from_ticks >= at[0] && r->opts.from_ticks <= at[1]);
		CHECK(r->opts.to_ticks >= at[2] && r->opts.to_ticks <= at[3]);
		CHECK_EQ(r->n, 2);
		CHECK(!strcmp(r->ev[0].name, name));
		free(r);
		op("between", XSPROF_OP_FUNCTION, 0);
	}
	tap_result("twenty sessions one after the other: each has its own");
}

/* A session's descriptors do not disturb a program that uses all low numbers. */
static void test_descriptors(void)
{
	char path[] = "/tmp/xsprof-session.XXXXXX";
	int theirs = mkstemp(path), fd;
	struct xsprof_result *r;
	bool used[512] = { 0 };
	struct stat st;

	CHECK(theirs >= 0 && write(theirs, "theirs", 6) == 6);
	CHECK_EQ(begin(&config), 0);
	op("before", XSPROF_OP_FUNCTION, 0);
	/* Only free numbers: the library's thread uses one for a moment now and then. */
	while ((fd = dup(theirs)) >= 0 && fd < 512)
		used[fd] = true;
	if (fd < 0)
		tap_bail("no descriptors");
	close(fd);
	/* None of the library's files is at a low number. */
	for (fd = 3; fd < 512; fd++) {
		char link[64], to[256];
		ssize_t n;

		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		n = readlink(link, to, sizeof(to) - 1);
		to[n < 0 ? 0 : n] = '\0';
		if (strstr(to, "/p.") || strstr(to, "inotify") || strstr(to, "eventpoll"))
			tap_wrong("descriptor %d is %s", fd, to);
	}
	op("after", XSPROF_OP_FUNCTION, 0);
	r = end();
	CHECK_EQ(r->n, 4);
	free(r);
	for (fd = 3; fd < 512; fd++) {
		if (used[fd]) {
			CHECK(!fstat(fd, &st) && st.st_size == 6);
			close(fd);
		}
	}
	close(theirs);
	unlink(path);
	tap_result("a session has no low descriptors");
}

/* ---- threads -------------------------------------------------------------------------------- */

static void *child(void *join)
{
	if (join)
		CHECK_EQ(xsprof_enable_profiler_in_child_thread(), 0);
	CHECK_EQ(xsprof_profiler_state(), join ? XSPROF_PROFILER_KINETO :
						 XSPROF_PROFILER_DISABLED);
	op(join ? "joined" : "apart", XSPROF_OP_FUNCTION, 0);
	if (join) {
		CHECK_EQ(xsprof_enable_profiler_in_child_thread(), -EALREADY);
		CHECK_EQ(xsprof_disable_profiler_in_child_thread(), 0);
		CHECK_EQ(xsprof_disable_profiler_in_child_thread(), -ENOENT);
		op("left", XSPROF_OP_FUNCTION, 0);
	}
	return NULL;
}

static void run_children(void)
{
	pthread_t a, b;

	if (pthread_create(&a, NULL, child, (void *)&config) ||
	    pthread_create(&b, NULL, child, NULL))
		tap_bail("no threads");
	pthread_join(a, NULL);
	pthread_join(b, NULL);
}

static void test_threads(void)
{
	struct xsprof_result *r;

	CHECK_EQ(begin(&config), 0);
	run_children();
	op("mine", XSPROF_OP_FUNCTION, 0);
	r = end();
	CHECK_EQ(r->n, 4);
	CHECK(!strcmp(r->ev[0].name, "joined") && !strcmp(r->ev[2].name, "mine"));
	CHECK_EQ(r->opts.nr_tids, 2);
	free(r);
	tap_result("of the threads that join, until they leave");
}

static void *all_child(void *unused)
{
	(void)unused;
	CHECK_EQ(xsprof_profiler_state(), XSPROF_PROFILER_KINETO);
	op("any", XSPROF_OP_FUNCTION, 0);
	return NULL;
}

static void test_all_threads(void)
{
	struct xsprof_experimental all = { .size = sizeof(all), .all_threads = true };
	struct xsprof_profiler_config c = config;
	struct xsprof_result *r;
	pthread_t a;

	c.experimental = &all;
	CHECK_EQ(begin(&c), 0);
	if (pthread_create(&a, NULL, all_child, NULL))
		tap_bail("no threads");
	pthread_join(a, NULL);
	r = end();
	CHECK_EQ(r->n, 2);
	CHECK_EQ(r->opts.nr_tids, 0);
	CHECK(r->opts.config->experimental->all_threads);
	free(r);
	tap_result("of all threads");
}

/* The first thread begins a session, the others join it, and any may end it. */
static void *storm(void *data)
{
	unsigned int *began = data;

	for (unsigned int i = 0; i < 50; i++) {
		struct xsprof_result *r = NULL;
		int err = begin(&config);

		if (err && err != -EBUSY)
			tap_wrong("enable: %s", strerror(-err));
		if (!err)
			__atomic_add_fetch(began, 1, __ATOMIC_RELAXED);
		else
			(void)xsprof_enable_profiler_in_child_thread();
		op("storm", XSPROF_OP_FUNCTION, i);
		(void)xsprof_profiler_state();
		(void)xsprof_disable_profiler_in_child_thread();
		if (err)
			continue;
		err = xsprof_disable_profiler(i % 2 ? &r : NULL);
		if (err)
			tap_wrong("disable: %s", strerror(-err));
		free(r);
	}
	return NULL;
}

static void test_storm(void)
{
	pthread_t thread[32];
	unsigned int began = 0;

	for (unsigned int i = 0; i < 32; i++)
		if (pthread_create(&thread[i], NULL, storm, &began))
			tap_bail("no threads");
	for (unsigned int i = 0; i < 32; i++)
		pthread_join(thread[i], NULL);
	CHECK(began > 0);
	CHECK_EQ(xsprof_disable_profiler(NULL), -ENOENT);
	CHECK_EQ(begin(&config), 0);
	free(end());
	tap_result("32 threads that begin, join, leave and end sessions");
}

/* ---- schedules ------------------------------------------------------------------------------ */

static unsigned int ready_calls, ready_ops[8];

static void ready(void *data, struct xsprof_result *r)
{
	unsigned int n = 0;

	CHECK(data == &ready_calls);
	for (unsigned int i = 0; i < r->n; i++) {
		if (!r->ev[i].is_op)
			continue;
		n++;
		if (ready_calls < 8)
			ready_ops[ready_calls] = ready_ops[ready_calls] * 100 +
				(unsigned int)r->ev[i].op.record_function_id;
	}
	CHECK(n > 0);
	ready_calls++;
	free(r);
}

static void test_schedule(void)
{
	struct xsprof_schedule schedule = { .size = sizeof(schedule), .skip_first = 1, .wait = 1,
					    .warmup = 1, .active = 2, .repeat = 2 };

	CHECK_EQ(xsprof_schedule_profiler(&config, 1, 0, &schedule, ready, &ready_calls), 0);
	CHECK_EQ(begin(&config), -EBUSY);
	/* Step 0 is skipped, 1 waits, 2 warms up, 3 and 4 record; 5 to 8 the same; 9 ends it. */
	for (unsigned int step = 0; step < 12; step++) {
		op("work", XSPROF_OP_FUNCTION, step);
		CHECK_EQ(xsprof_profiler_step(), 0);
	}
	CHECK_EQ(ready_calls, 2);
	CHECK_EQ(ready_ops[0], 304);
	CHECK_EQ(ready_ops[1], 708);
	CHECK_EQ(xsprof_disable_profiler(NULL), 0);
	CHECK_EQ(xsprof_disable_profiler(NULL), -ENOENT);
	schedule.active = 0;
	CHECK_EQ(xsprof_schedule_profiler(&config, 1, 0, &schedule, ready, NULL), -EINVAL);
	CHECK_EQ(begin(&config), 0);
	free(end());
	tap_result("a schedule: skipped, waiting, warming up, recorded, twice");
}

/* ---- fork ----------------------------------------------------------------------------------- */

static void test_fork(void)
{
	struct xsprof_result *r;
	int status;
	pid_t pid;

	CHECK_EQ(begin(&config), 0);
	op("parent", XSPROF_OP_FUNCTION, 0);
	pid = fork();
	if (!pid) {
		op("child", XSPROF_OP_FUNCTION, 0);
		_exit(xsprof_is_profiler_enabled_in_main_thread() ||
		      xsprof_disable_profiler(NULL) != -ENOENT);
	}
	if (waitpid(pid, &status, 0) != pid)
		tap_bail("fork: %s", strerror(errno));
	CHECK_EQ(status, 0);
	op("parent", XSPROF_OP_FUNCTION, 0);
	r = end();
	CHECK_EQ(r->n, 4);
	CHECK(!strcmp(r->ev[2].name, "parent"));
	free(r);
	tap_result("a forked child has no session, and its parent goes on");
}

/* ---- not at all ----------------------------------------------------------------------------- */

/* With XSPROF_BACKEND=none. */
static int test_none(void)
{
	struct xsprof_profiler_config c = config;

	CHECK_EQ(xsprof_prepare_profiler(&c, 1), -EPERM);
	CHECK_EQ(begin(&c), -EPERM);
	CHECK(!xsprof_is_profiler_enabled_in_main_thread());
	CHECK_EQ(xsprof_op_wanted, 0);
	c.state = XSPROF_PROFILER_ITT;
	CHECK_EQ(begin(&c), 0);
	CHECK_EQ(xsprof_disable_profiler(NULL), 0);
	tap_result("where nothing is to be recorded a session is refused that would");
	return tap_done();
}

/* The program dies in its session. */
static int be_killed(void)
{
	if (begin(&config))
		return 1;
	for (unsigned int i = 0; i < 100; i++)
		op("last words", XSPROF_OP_FUNCTION, i);
	return raise(SIGKILL);
}

/* The program ends between two sessions, with its result in hand. */
static int end_idle(bool killed)
{
	if (begin(&config))
		return 1;
	op("first words", XSPROF_OP_FUNCTION, 0);
	usleep(20000);
	free(end());
	if (killed)
		raise(SIGKILL);
	_exit(3);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "killed"))
		return be_killed();
	if (argc > 1 && !strncmp(argv[1], "idle", 4))
		return end_idle(!strcmp(argv[1], "idle-killed"));
	if (argc > 1 && !strcmp(argv[1], "none"))
		return test_none();
	test_states();
	test_again();
	test_descriptors();
	test_threads();
	test_all_threads();
	test_schedule();
	test_storm();
	/* A leak checker reports what a child leaves unfreed. */
	if (argc < 2 || strcmp(argv[1], "alone"))
		test_fork();
	return tap_done();
}
