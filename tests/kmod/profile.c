// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program whose profiler runs while its recorder ends: the module pauses the rings that both
 * read, so the profile gets no further record, and says how many ops it lost. Of a recorder that is
 * killed it loses none. The program is this one, executed again; the test is the recorder.
 */
#include <sys/wait.h>

#include <xsprof/profiler.h>
#include <xsprof/result.h>
#include <xsprof/xsprof.h>

#include "dev.h"
#include "env.h"

#define OPS	100u	/* before the recorder ends, and as many after it */

/* ---- the program --------------------------------------------------------------------------- */

/* Of what the session has recorded, to this word: see store_lost() of lib/profiler/recorder.c. */
#define LOST	"session_lost="

static long long lost = -1;

/* In place of libxsprof-trace: the session's capture is this file. */
int xsprof_result_open(const char *path, const struct xsprof_result_options *opts,
		       struct xsprof_result **result)
{
	static char text[1 << 20];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));
	char *at;

	(void)opts;
	at = n > 0 ? memmem(text, (size_t)n, LOST, strlen(LOST)) : NULL;
	if (at)
		lost = strtoll(at + strlen(LOST), NULL, 10);
	close(fd);
	*result = NULL;
	return 0;
}

static void work(void)
{
	const struct xsprof_op op = {
		.name = xsprof_name("an op"), .sequence = XSPROF_NO_SEQUENCE,
	};

	for (unsigned int i = 0; i < OPS; i++) {
		xsprof_op_begin(&op);
		xsprof_op_end();
	}
}

/* Tells the test that it is there, and waits for it. */
static void meet(long long value)
{
	char byte;

	if (write(3, &value, sizeof(value)) != sizeof(value) || read(4, &byte, 1) != 1)
		_exit(20);
}

static void program(void)
{
	struct xsprof_experimental all = { .size = sizeof(all), .all_threads = true };
	struct xsprof_profiler_config config = {
		.size = sizeof(config), .state = XSPROF_PROFILER_KINETO, .experimental = &all,
	};
	struct xsprof_result *result;

	xsprof_instant(xsprof_name("a mark"));
	meet(0);
	if (xsprof_enable_profiler(&config, XSPROF_ACTIVITY(CPU), 0))
		_exit(21);
	work();
	meet(0);
	work();
	meet(0);
	if (xsprof_disable_profiler(&result))
		_exit(22);
	meet(lost);
	_exit(0);
}

/* After the library's own, before the harness. */
__attribute__((constructor(1000))) static void maybe_program(void)
{
	if (getenv("XSPROF_TEST_PROFILE"))
		program();
}

/* ---- the recorder -------------------------------------------------------------------------- */

FIXTURE(profile)
{
	int		fd;
	pid_t		pid;
	int		from;		/* the program */
	int		to;
	struct dev	recorder;
	struct dev	peek;
};

FIXTURE_VARIANT(profile)
{
	bool		ends;
	bool		drops;		/* as one that has started the program */
};

FIXTURE_VARIANT_ADD(profile, recorder_ends)
{
	.ends = true,
	.drops = true,
};

/* As `xsprof record -p`. */
FIXTURE_VARIANT_ADD(profile, recorder_leaves)
{
	.ends = true,
};

FIXTURE_VARIANT_ADD(profile, recorder_is_killed)
{
};

static pid_t start(int *from, int *to)
{
	int out[2], in[2];
	pid_t pid;

	if (pipe2(out, O_CLOEXEC) || pipe2(in, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (!pid) {
		/* Not 3 and 4 already: those would close again. */
		int o = fcntl(out[1], F_DUPFD_CLOEXEC, 10), i = fcntl(in[0], F_DUPFD_CLOEXEC, 10);

		dup2(o, 3);
		dup2(i, 4);
		setenv("XSPROF_TEST_PROFILE", "y", 1);
		setenv("XSPROF_BACKEND", "device", 1);
		execl("/proc/self/exe", "profile", NULL);
		_exit(12);
	}
	close(out[1]);
	close(in[0]);
	*from = out[0];
	*to = in[1];
	return pid;
}

static long long heard(int from)
{
	long long value;

	return read(from, &value, sizeof(value)) == sizeof(value) ? value : -2;
}

static void go_on(int to)
{
	if (write(to, "", 1) != 1)
		abort();
}

static uint64_t find(int fd, pid_t pid)
{
	struct xsprof_info info = { 0 };

	while (dev_list(fd, &info, 1, info.id, NULL) == 1)
		if (info.pid == (uint32_t)pid)
			return info.id;
	return 0;
}

static uint64_t published(const struct dev *d)
{
	uint64_t slots = 0;

	for (uint32_t k = 0; k < d->nr + d->nl; k++)
		if (dev_ready(d, k))
			slots += __atomic_load_n(&dev_writer(d, k)->head, __ATOMIC_ACQUIRE);
	return slots;
}

/* The recorder that ends, as xsp_drain_finish() leaves a producer. Return: 0 or -errno. */
static int pause_rings(int fd, bool drops)
{
	struct xsprof_control c = { .size = sizeof(c), .pause = XSPROF_PAUSED_RECORDER };
	int err = dev_call(fd, XSPROF_IOC_CONTROL, &c);

	if (!err && drops)
		err = dev_call(fd, XSPROF_IOC_DROP, (void *)(uintptr_t)XSPROF_DROP_AT_END);
	return err;
}

FIXTURE_SETUP(profile)
{
	uint64_t id;

	self->recorder.fd = self->peek.fd = -1;
	self->fd = dev_open();
	ASSERT_GE(self->fd, 0);
	self->pid = start(&self->from, &self->to);
	ASSERT_GT(self->pid, 0);
	ASSERT_EQ(0, heard(self->from));
	id = find(self->fd, self->pid);
	ASSERT_NE(0, id);
	ASSERT_EQ(0, dev_read_id(&self->recorder, self->fd, id, XSPROF_OPEN_CONSUME));
	ASSERT_EQ(0, dev_read_id(&self->peek, self->fd, id, 0));
}

FIXTURE_TEARDOWN(profile)
{
	dev_close(&self->recorder);
	dev_close(&self->peek);
	close(self->from);
	close(self->to);
	waitpid(self->pid, NULL, 0);
	dev_drop_ended(self->fd);
	close(self->fd);
}

TEST_F(profile, what_it_has_not_is_counted)
{
	uint64_t before, after, first = published(&self->peek);

	go_on(self->to);
	ASSERT_EQ(0, heard(self->from));
	before = published(&self->peek);
	/* A begin and an end each. */
	EXPECT_GE(before - first, 2 * OPS);
	if (variant->ends) {
		ASSERT_EQ(0, pause_rings(self->recorder.fd, variant->drops));
	}
	dev_close(&self->recorder);
	go_on(self->to);
	ASSERT_EQ(0, heard(self->from));
	after = published(&self->peek);
	if (variant->ends) {
		EXPECT_EQ(before, after);
	} else {
		EXPECT_GE(after - before, 2 * OPS);
	}
	go_on(self->to);
	EXPECT_EQ(variant->ends ? OPS : 0, heard(self->from));
	go_on(self->to);
}

TEST_HARNESS_MAIN
