// SPDX-License-Identifier: GPL-2.0-only
/*
 * A producer whose process executes a program: it ends, whatever references to it remain, and
 * reveals nothing of the new program, which may have more privileges.
 */
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "exec.h"

#define RT_RUNTIME	"/proc/sys/kernel/sched_rt_runtime_us"

/**
 * struct test - one process, from here
 * @plan: what it does
 * @start: what it said before
 * @report: what it said afterwards, as another program
 * @reader: of its first producer
 * @pid: the process
 * @fd: the device
 * @path: what it executes
 */
struct test {
	struct plan	plan;
	struct start	start;
	struct report	report;
	struct sched	reader;
	pid_t		pid;
	int		fd;
	char		path[64];
};

static int prepare(struct test *t)
{
	*t = (struct test){ .fd = dev_open() };
	snprintf(t->path, sizeof(t->path), "/tmp/executed-%d", getpid());
	t->plan = (struct plan){ .path = t->path, .producers = 1 };
	if (t->fd < 0)
		return t->fd;
	return pipe(t->plan.start) || pipe(t->plan.go) || pipe(t->plan.report) ? -errno : 0;
}

static void clean_up(struct test *t)
{
	dev_close(&t->reader.d);
	if (t->pid > 0) {
		kill(t->pid, SIGKILL);
		waitpid(t->pid, NULL, 0);
	}
	/* It is not ours to wait for: its parent was another. */
	if (t->start.heir)
		kill(t->start.heir, SIGKILL);
	unlink(t->path);
	dev_drop_ended(t->fd);
	close(t->fd);
}

static void until_heads(const struct sched *s, uint64_t least)
{
	while (sched_heads(s) < least)
		env_nap(1000);
}

/* From the start to the point where the process is about to execute.  Return: 0 or -errno. */
static int begin(struct test *t)
{
	int err;

	fflush(stdout);
	t->pid = fork();
	if (t->pid < 0)
		return -errno;
	if (!t->pid) {
		/* An end of a pipe that the other side holds as well would hide that side's end. */
		close(t->plan.start[0]);
		close(t->plan.go[1]);
		close(t->plan.report[0]);
		run(&t->plan);
	}
	close(t->plan.start[1]);
	close(t->plan.report[1]);
	if (read(t->plan.start[0], &t->start, sizeof(t->start)) != sizeof(t->start))
		return -EPIPE;
	err = sched_read(&t->reader, t->fd, t->start.id, XSPROF_OPEN_CONSUME);
	if (!err)
		until_heads(&t->reader, 40);
	return err;
}

/* And on to where the executed program has run. */
static int go_on(struct test *t)
{
	if (write(t->plan.go[1], "x", 1) != 1)
		return -errno;
	return read(t->plan.report[0], &t->report, sizeof(t->report)) == sizeof(t->report) ?
	       0 : -EPIPE;
}

/* One that does not end is the harness' time limit. */
static void until_end(const struct test *t)
{
	struct pollfd p = { .fd = t->reader.d.fd };	/* POLLHUP needs no asking */

	while (poll(&p, 1, -1) == 1 && !(p.revents & POLLHUP))
		;
}

/* The same of one that nobody reads.  Return: 0 or -errno. */
static int until_ended(int fd, uint64_t id, struct xsprof_info *info)
{
	int err;

	do
		err = dev_info(fd, id, info);
	while (!err && info->state == XSPROF_STATE_LIVE);
	return err;
}

/* Ended for its readers, and no record is of the program that was executed. */
static void has_ended(struct __test_metadata *_metadata, struct test *t)
{
	struct xsprof_info info;
	uint64_t before;

	until_end(t);
	EXPECT_EQ(XSPROF_STATE_DETACHED, t->reader.d.ctl->state);
	ASSERT_EQ(0, dev_info(t->fd, t->start.id, &info));
	EXPECT_EQ(XSPROF_STATE_DETACHED, info.state);
	EXPECT_EQ(-1, info.status);
	EXPECT_NE(0, info.ended);
	EXPECT_EQ((uint32_t)t->pid, info.pid);
	EXPECT_EQ(-ESHUTDOWN, sched_switch_to(t->reader.d.fd, XSPROF_SCHED_ON, NULL));
	before = sched_heads(&t->reader);
	sched_naps();
	EXPECT_EQ(before, sched_heads(&t->reader));
	ring_check = sched_whole;
	for (uint32_t k = 0; k < t->reader.cpus; k++) {
		struct ring_cursor c = { 0 };

		ring_take(&t->reader.k, k, &c, UINT64_MAX, NULL, NULL);
		EXPECT_EQ(0, c.torn + c.back);
		EXPECT_LT(c.last, t->report.begun) {
			TH_LOG("CPU %u: %llu ns after the program began", k,
			       (unsigned long long)(c.last - t->report.begun));
		}
	}
	/* Whoever holds the rest of it is still there: it did not end by that. */
	if (t->start.heir) {
		EXPECT_EQ(0, kill(t->start.heir, 0));
	}
}

/* ---- what is executed, and what is left ----------------------------------------------------- */

FIXTURE(exec)
{
	struct test	t;
};

FIXTURE_VARIANT(exec)
{
	enum image	image;
	enum left	left;
	bool		thread;
};

FIXTURE_VARIANT_ADD(exec, plain) { PLAIN, NOTHING, false };
FIXTURE_VARIANT_ADD(exec, plain_descriptor) { PLAIN, DESCRIPTOR, false };
FIXTURE_VARIANT_ADD(exec, plain_control_page) { PLAIN, CONTROL_PAGE, false };
FIXTURE_VARIANT_ADD(exec, plain_thread) { PLAIN, DESCRIPTOR, true };
FIXTURE_VARIANT_ADD(exec, set_user_id) { SET_USER_ID, NOTHING, false };
FIXTURE_VARIANT_ADD(exec, set_user_id_descriptor) { SET_USER_ID, DESCRIPTOR, false };
FIXTURE_VARIANT_ADD(exec, set_user_id_control_page) { SET_USER_ID, CONTROL_PAGE, false };
FIXTURE_VARIANT_ADD(exec, set_user_id_thread) { SET_USER_ID, DESCRIPTOR, true };
FIXTURE_VARIANT_ADD(exec, set_user_id_inherited) { SET_USER_ID, INHERITED, false };
FIXTURE_VARIANT_ADD(exec, capable_descriptor) { CAPABLE, DESCRIPTOR, false };
FIXTURE_VARIANT_ADD(exec, capable_control_page) { CAPABLE, CONTROL_PAGE, false };

FIXTURE_SETUP(exec)
{
	ASSERT_EQ(0, prepare(&self->t));
}

FIXTURE_TEARDOWN(exec)
{
	clean_up(&self->t);
}

TEST_F(exec, ends)
{
	static const int refused[] = { -EPERM, -EPERM, -EPERM, -EPERM, -EPERM, -EPERM, -ESRCH };
	struct test *t = &self->t;
	int err = make_image(t->path, variant->image);

	if (err == -EOPNOTSUPP)
		SKIP(return, "no file capabilities here");
	ASSERT_EQ(0, err);
	t->plan.left = variant->left;
	t->plan.thread = variant->thread;
	ASSERT_EQ(0, begin(t));
	ASSERT_EQ(0, go_on(t));
	EXPECT_EQ(variant->image == SET_USER_ID ? 0 : USER, t->report.uid);
	EXPECT_EQ(variant->image != PLAIN, t->report.caps >> CAP & 1);
	has_ended(_metadata, t);
	for (unsigned int i = 0; variant->left == INHERITED && i < 7; i++) {
		EXPECT_EQ(refused[i], t->report.refused[i]) {
			TH_LOG("call %u", i);
		}
	}
}

/* ---- one process ----------------------------------------------------------------------------- */

FIXTURE(process)
{
	struct test	t;
};

FIXTURE_SETUP(process)
{
	ASSERT_EQ(0, prepare(&self->t));
	ASSERT_EQ(0, make_image(self->t.path, PLAIN));
	self->t.plan.left = DESCRIPTOR;
}

FIXTURE_TEARDOWN(process)
{
	clean_up(&self->t);
}

/* A server that executes itself anew and leaves its workers: the next one is a producer as well. */
TEST_F(process, executes_itself)
{
	struct test *t = &self->t;
	struct xsprof_info info;

	t->plan.again = true;
	ASSERT_EQ(0, begin(t));
	ASSERT_EQ(0, go_on(t));
	has_ended(_metadata, t);
	ASSERT_EQ(0, dev_info(t->fd, t->report.id, &info));
	EXPECT_EQ(XSPROF_STATE_LIVE, info.state);
	EXPECT_EQ((uint32_t)t->pid, info.pid);
	/* Which ends as any other. */
	kill(t->pid, SIGKILL);
	ASSERT_EQ(0, until_ended(t->fd, t->report.id, &info));
	EXPECT_EQ(XSPROF_STATE_KILLED, info.state);
	EXPECT_EQ(SIGKILL, info.status);
}

/* What ends is that process' alone, however many others there are, some of which have gone. */
TEST_F(process, others_stay)
{
	struct test *t = &self->t;
	struct dev d[4];

	for (unsigned int i = 0; i < 4; i++)
		ASSERT_EQ(0, dev_attach(&d[i], XSPROF_MODE_DISCARD, 1, 1));
	dev_close(&d[0]);
	t->plan.producers = 3;
	ASSERT_EQ(0, begin(t));
	dev_close(&d[3]);
	ASSERT_EQ(0, go_on(t));
	has_ended(_metadata, t);
	for (unsigned int i = 1; i < 3; i++) {
		EXPECT_EQ(XSPROF_STATE_LIVE, d[i].ctl->state);
		dev_close(&d[i]);
	}
}

/* Nothing has changed. */
TEST_F(process, cannot_execute)
{
	struct test *t = &self->t;

	t->plan.fails = true;
	ASSERT_EQ(0, begin(t));
	ASSERT_EQ(1, write(t->plan.go[1], "x", 1));
	until_heads(&t->reader, sched_heads(&t->reader) + 100);
	EXPECT_EQ(XSPROF_STATE_LIVE, t->reader.d.ctl->state);
}

/* A process that is many producers, which all end as one.  Return: how many, the first in @id. */
static unsigned int begin_many(struct test *t, uint64_t *id)
{
	t->plan.producers = (unsigned int)env_costly(300, 30);
	if (begin(t))
		return 0;
	*id = t->start.id;
	return t->plan.producers;
}

static void ended_as(struct __test_metadata *_metadata, struct test *t, uint64_t id, uint32_t state,
		     int status)
{
	struct xsprof_info info;

	ASSERT_EQ(0, until_ended(t->fd, id, &info));
	EXPECT_EQ(state, info.state);
	EXPECT_EQ(status, info.status);
}

/* Also where the program that it executes ends at once. */
static void many(struct __test_metadata *_metadata, struct test *t)
{
	unsigned int n;
	uint64_t id;

	n = begin_many(t, &id);
	ASSERT_LT(0, n);
	ASSERT_EQ(1, write(t->plan.go[1], "x", 1));
	for (unsigned int i = 0; i < n; i++)
		ended_as(_metadata, t, id + i, XSPROF_STATE_DETACHED, -1);
}

TEST_F(process, many_are_killed)
{
	unsigned int n;
	uint64_t id;

	n = begin_many(&self->t, &id);
	ASSERT_LT(0, n);
	ASSERT_EQ(0, kill(self->t.pid, SIGKILL));
	for (unsigned int i = 0; i < n; i++)
		ended_as(_metadata, &self->t, id + i, XSPROF_STATE_KILLED, SIGKILL);
}

TEST_F(process, many_producers)
{
	many(_metadata, &self->t);
}

TEST_F(process, ends_at_once)
{
	self->t.plan.path = "/bin/true";
	many(_metadata, &self->t);
}

/* Leaves no other CPU than 0 to anybody.  Return: how many processes that takes. */
static unsigned int take_others(pid_t pids[], unsigned int most)
{
	unsigned int n = env_cpus() - 1;

	for (unsigned int i = 0; i < n && i < most; i++) {
		pids[i] = fork();
		if (pids[i])
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (exec_first(i + 1))
			_exit(1);
		for (;;)
			;
	}
	return n;
}

/*
 * The end itself takes a moment, and here it does not come before the executed program sleeps for
 * the first time: nothing is told all the same.
 */
TEST_F(process, before_its_end)
{
	struct test *t = &self->t;
	unsigned int n;
	pid_t pids[16];
	long long was;
	char text[32];
	int err;

	ASSERT_GE(16, env_cpus());
	ASSERT_EQ(0, env_file_get(RT_RUNTIME, text, sizeof(text)));
	was = strtoll(text, NULL, 0);
	t->plan.first = true;
	ASSERT_EQ(0, begin(t));
	ASSERT_EQ(0, env_file_put(RT_RUNTIME, "-1\n"));
	n = take_others(pids, 16);
	err = go_on(t);
	for (unsigned int i = 0; i < n; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	snprintf(text, sizeof(text), "%lld\n", was);
	EXPECT_EQ(0, env_file_put(RT_RUNTIME, text));
	ASSERT_EQ(0, err);
	has_ended(_metadata, t);
}

TEST_HARNESS_MAIN
