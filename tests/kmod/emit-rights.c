// SPDX-License-Identifier: GPL-2.0-only
/*
 * Permission to enable markers' tracepoints: only callers that may trace the machine. The owner of
 * a traced program needs no capability, and the program behaves as before.
 */
#include <pthread.h>
#include <sys/wait.h>

#include "emit.h"
#include "user.h"

#define PARANOID	"/proc/sys/kernel/perf_event_paranoid"

FIXTURE(rights)
{
	struct dev	d;
};

FIXTURE_SETUP(rights)
{
	ASSERT_EQ(0, tracefs_open(1024));
	ASSERT_EQ(0, dev_attach(&self->d, XSPROF_MODE_DISCARD, 16 << 10, 1));
	ASSERT_EQ(0, page_says(&self->d));
}

FIXTURE_TEARDOWN(rights)
{
	EXPECT_EQ(0, tracefs_close());
	EXPECT_EQ(0, page_says(&self->d));
	dev_close(&self->d);
}

struct opening {
	uint64_t	id;		/* of the event */
	int		err;		/* expected errno, 0 for none */
};

/* Count events of the calling process only.  Return: 0, or which check failed. */
static int open_own(void *arg)
{
	const struct opening *o = arg;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr), .config = o->id,
		.exclude_kernel = 1, .exclude_hv = 1,
	};
	uint32_t on = o->err ? 0 : 1u << XSPROF_EMIT_BEGIN;
	struct dev d;
	int fd;

	if (dev_attach(&d, XSPROF_MODE_DISCARD, 16 << 10, 1))
		return 1;
	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if ((fd < 0 ? errno : 0) != o->err)
		return 2;
	if (page_says(&d) != (int)on || emit(d.fd, XSPROF_EMIT_BEGIN, 1, "n", "c") != !!on)
		return 3;
	close(fd);
	return page_says(&d) ? 4 : 0;
}

/*
 * A traced marker costs every program a system call.  So counting one takes CAP_PERFMON, although
 * perf lets unprivileged users count tracepoints of their own processes.
 */
TEST_F(rights, opener)
{
	static const char *const levels[] = { "2", "1", "0", "-1" };
	char was[32];
	int id = tracefs_id("xsp_begin");

	ASSERT_LT(0, id);
	ASSERT_EQ(0, env_file_get(PARANOID, was, sizeof(was)));
	for (unsigned int i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		struct opening o = { .id = (uint64_t)id, .err = EPERM };

		ASSERT_EQ(0, env_file_put(PARANOID, levels[i]));
		EXPECT_EQ(0, user_as(1000, 0, open_own, &o)) {
			TH_LOG("perf_event_paranoid=%s", levels[i]);
		}
		EXPECT_EQ(0, page_says(&self->d));
		o.err = 0;
		EXPECT_EQ(0, user_as(1000, 1ull << CAP_PERFMON, open_own, &o)) {
			TH_LOG("perf_event_paranoid=%s, CAP_PERFMON", levels[i]);
		}
		EXPECT_EQ(0, page_says(&self->d));
	}
	EXPECT_EQ(0, env_file_put(PARANOID, was));
}

/* ---- inherited events ------------------------------------------------------------------------ */

/* A producer of its own, with one marker.  Return: 0, or which step failed. */
static int mark(void)
{
	struct dev d;

	if (dev_attach(&d, XSPROF_MODE_DISCARD, 16 << 10, 1))
		return 1;
	if (emit(d.fd, XSPROF_EMIT_BEGIN, 1, "n", "c") != 1)
		return 2;
	dev_close(&d);
	return 0;
}

static void *mark_in_thread(void *arg)
{
	*(int *)arg = mark();
	return NULL;
}

struct traced {
	int	go[2];
};

/* Waits to be traced, then becomes three.  Return: 0, or which step failed. */
static int fork_and_clone(void *arg)
{
	struct traced *t = arg;
	pthread_t thread;
	int status, wrong = 0;
	pid_t pid;
	char c;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (read(t->go[0], &c, 1) != 1 || mark())
		return 11;
	if (pthread_create(&thread, NULL, mark_in_thread, &wrong))
		return 12;
	pthread_join(thread, NULL);
	if (wrong)
		return 13;
	pid = fork();
	if (pid < 0)
		return 14;
	if (!pid)
		_exit(mark());
	return waitpid(pid, &status, 0) == pid && !status ? 0 : 15;
}

/*
 * perf opens the event again for each task that the traced one makes, in the name of that: the
 * right was the opener's.
 */
TEST_F(rights, inherited)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr), .inherit = 1,
	};
	int id = tracefs_id("xsp_begin"), fd, status;
	struct traced t;
	uint64_t count;
	pid_t pid;

	ASSERT_LT(0, id);
	attr.config = (uint64_t)id;
	ASSERT_EQ(0, pipe(t.go));
	fflush(stdout);
	pid = fork();
	ASSERT_GE(pid, 0);
	if (!pid)
		_exit(user_become(1000, 0) ? 101 : fork_and_clone(&t));
	fd = syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	ASSERT_GE(fd, 0);
	ASSERT_EQ(1, write(t.go[1], "x", 1));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	ASSERT_EQ(8, read(fd, &count, 8));
	EXPECT_EQ(3, count);
	close(fd);
}

TEST_HARNESS_MAIN
