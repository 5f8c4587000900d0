// SPDX-License-Identifier: GPL-2.0-only
/*
 * When scheduler events of a process begin and end: disabled, paused, forked, executed, killed,
 * with its memory, with the module. A reader that sees an end has seen the last event. Only one
 * producer of a process can have them at a time.
 */
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "sched.h"

#define RING	(1 << 20)

TEST(off_means_off)
{
	struct xsprof_control c = { .size = sizeof(c) };
	struct sched s, r;
	uint64_t before;

	ASSERT_EQ(0, sched_attach(&s, XSPROF_MODE_DISCARD, RING));
	ASSERT_EQ(0, sched_read(&r, s.d.fd, s.d.id, XSPROF_OPEN_CONSUME));
	sched_naps();
	EXPECT_LE(40, sched_heads(&s));
	ASSERT_EQ(0, sched_switch_to(s.d.fd, 0, NULL));
	before = sched_heads(&s);
	sched_naps();
	EXPECT_EQ(before, sched_heads(&s));
	ASSERT_EQ(0, sched_switch_to(s.d.fd, XSPROF_SCHED_ON, NULL));
	sched_naps();
	EXPECT_LE(before + 40, sched_heads(&s));
	/* A pause is a pause. */
	c.pause = XSPROF_PAUSED_RECORDER;
	ASSERT_EQ(0, dev_call(r.d.fd, XSPROF_IOC_CONTROL, &c));
	before = sched_heads(&s);
	sched_naps();
	EXPECT_EQ(before, sched_heads(&s));
	c.pause = 0;
	c.resume = XSPROF_PAUSED_RECORDER;
	ASSERT_EQ(0, dev_call(r.d.fd, XSPROF_IOC_CONTROL, &c));
	sched_naps();
	EXPECT_LE(before + 40, sched_heads(&s));
	dev_close(&r.d);
	dev_close(&s.d);
}

struct strangers {
	uint32_t	self;
	uint64_t	n;
};

static void take_strangers(void *arg, uint32_t k, uint64_t at, const uint64_t *s, unsigned int n)
{
	struct strangers *o = arg;

	(void)k, (void)at, (void)n;
	o->n += ring_rec_type(s) != XSPROF_REC_PAD && (uint32_t)s[0] != o->self;
}

/* A child by fork() is another process: nothing of it is in its parent's rings. */
TEST(fork_is_another)
{
	struct strangers o = { .self = sched_tid() };
	struct sched s;
	int status;
	pid_t pid;

	ASSERT_EQ(0, sched_attach(&s, XSPROF_MODE_DISCARD, RING));
	pid = fork();
	if (!pid) {
		sched_naps();
		_exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, sched_walk(&s, take_strangers, &o));
	EXPECT_EQ(0, o.n);
	dev_close(&s.d);
}

/* Whoever sees the end of a process has seen its last record. */
static void until_end(struct __test_metadata *_metadata, bool exec)
{
	struct sched_count count = { 0 };
	struct sched r;
	struct pollfd p;
	uint64_t before;
	int to[2], fd, status;
	uint64_t id = 0;
	pid_t pid;

	ASSERT_EQ(0, pipe(to));
	pid = fork();
	if (!pid) {
		static struct sched s;
		struct sched_pair pair = { .rounds = UINT32_MAX };

		if (sched_attach(&s, XSPROF_MODE_OVERWRITE, 64 << 10))
			_exit(1);
		if (write(to[1], &s.d.id, sizeof(s.d.id)) != sizeof(s.d.id))
			_exit(2);
		if (exec) {
			sched_naps();
			execl("/bin/sleep", "sleep", "1000", NULL);
			_exit(3);
		}
		sched_run_pair(&pair);
		_exit(0);
	}
	ASSERT_EQ(sizeof(id), read(to[0], &id, sizeof(id)));
	fd = dev_open();
	ASSERT_EQ(0, sched_read(&r, fd, id, XSPROF_OPEN_CONSUME));
	while (sched_heads(&r) < 30)
		env_nap(1000);
	if (!exec)
		kill(pid, SIGKILL);
	p = (struct pollfd){ .fd = r.d.fd };	/* POLLHUP needs no asking */
	ASSERT_EQ(1, poll(&p, 1, -1));
	EXPECT_TRUE(p.revents & POLLHUP);
	before = sched_heads(&r);
	sched_naps();
	EXPECT_EQ(before, sched_heads(&r));
	EXPECT_EQ(exec ? XSPROF_STATE_DETACHED : XSPROF_STATE_KILLED, r.d.ctl->state);
	EXPECT_EQ(-ESHUTDOWN, sched_switch_to(r.d.fd, XSPROF_SCHED_ON, NULL));
	ring_check = sched_whole;
	for (uint32_t k = 0; k < r.cpus; k++) {
		struct ring_cursor c = { 0 };

		ring_take(&r.k, k, &c, UINT64_MAX, sched_count_one, &count);
		EXPECT_EQ(0, c.torn + c.back);
		EXPECT_EQ(dev_writer(&r.k, k)->head, c.at);
		EXPECT_EQ(0, dev_writer(&r.k, k)->drops);
		EXPECT_LE(c.last, r.d.ctl->exit_ticks);
	}
	EXPECT_NE(0, count.n[1]);
	EXPECT_EQ(0, count.bad);
	if (exec)
		kill(pid, SIGKILL);
	EXPECT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, dev_call(r.d.fd, XSPROF_IOC_DROP, NULL));
	dev_close(&r.d);
	close(fd);
}

TEST(killed)
{
	until_end(_metadata, false);
}

TEST(executes)
{
	until_end(_metadata, true);
}

/* ---- one producer of a process --------------------------------------------------------------- */

static int attach(struct sched *s)
{
	struct xsprof_attach a = dev_attach_defaults();
	int err;

	a.ring_size = 16 << 10;
	a.kernel_size = 64 << 10;
	err = dev_attach_as(&s->d, &a);
	if (!err)
		sched_view(s);
	return err;
}

/* A forked child can have its own.  Return: 0, or which check failed. */
static int have_own(void)
{
	static struct sched s;

	if (attach(&s) || sched_switch_to(s.d.fd, XSPROF_SCHED_ON, NULL))
		return 1;
	sched_naps();
	return sched_heads(&s) < 20;
}

/*
 * The program that one_of_a_program executes: IMAGE OUT.  Requests scheduling records and writes
 * the result and the number of slots to descriptor OUT.
 */
#define IMAGE	"recorded"

__attribute__((constructor)) static void recorded(int argc, char **argv)
{
	static struct sched s;
	int said[2];

	if (argc != 2 || strcmp(argv[0], IMAGE))
		return;
	said[0] = attach(&s) ?: sched_switch_to(s.d.fd, XSPROF_SCHED_ON, NULL);
	sched_naps();
	said[1] = said[0] ? 0 : (int)sched_heads(&s);
	if (write(atoi(argv[1]), said, sizeof(said)) != sizeof(said))
		_exit(1);
	_exit(0);
}

/* The second is refused and gets no memory; the first goes on. */
TEST(one_of_a_process)
{
	struct sched first, second, r;
	struct xsprof_info info;
	uint64_t before, bytes;
	int fd = dev_open(), status;
	uint32_t was;
	pid_t pid;

	ASSERT_GE(fd, 0);
	ASSERT_EQ(0, attach(&first));
	ASSERT_EQ(0, attach(&second));
	ASSERT_EQ(0, sched_switch_to(first.d.fd, XSPROF_SCHED_ON, NULL));
	ASSERT_EQ(0, dev_info(fd, second.d.id, &info));
	bytes = info.bytes;
	EXPECT_EQ(-EBUSY, sched_switch_to(second.d.fd, XSPROF_SCHED_ON, NULL));
	ASSERT_EQ(0, sched_read(&r, fd, second.d.id, 0));
	EXPECT_EQ(-EBUSY, sched_switch_to(r.d.fd, XSPROF_SCHED_ON, NULL));
	sched_naps();
	EXPECT_EQ(0, sched_heads(&second));
	for (uint32_t k = 0; k < second.cpus; k++)
		EXPECT_FALSE(dev_ready(&second.d, second.d.nr + second.d.nl + k));
	/* Refused calls allocate nothing. */
	ASSERT_EQ(0, dev_info(fd, second.d.id, &info));
	EXPECT_EQ(bytes, info.bytes);
	pid = fork();
	if (!pid)
		_exit(have_own());
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	/* Switched off, the first still has the rings. */
	EXPECT_EQ(0, sched_switch_to(first.d.fd, 0, &was));
	EXPECT_EQ(XSPROF_SCHED_ON, was);
	EXPECT_EQ(-EBUSY, sched_switch_to(second.d.fd, XSPROF_SCHED_ON, NULL));
	ASSERT_EQ(0, sched_switch_to(first.d.fd, XSPROF_SCHED_ON, NULL));
	before = sched_heads(&first);
	sched_naps();
	EXPECT_LE(before + 20, sched_heads(&first));
	/* After the end of the first. */
	dev_close(&first.d);
	EXPECT_EQ(0, sched_switch_to(second.d.fd, XSPROF_SCHED_ON, NULL));
	sched_naps();
	EXPECT_LE(20, sched_heads(&second));
	dev_close(&r.d);
	dev_close(&second.d);
	close(fd);
}

/* The executed program can have them while its predecessor is not closed. */
TEST(one_of_a_program)
{
	int p[2], said[2], status;
	char out[16];
	pid_t pid;

	ASSERT_EQ(0, pipe(p));
	snprintf(out, sizeof(out), "%d", p[1]);
	pid = fork();
	if (!pid) {
		static struct sched s;

		close(p[0]);
		if (attach(&s) || sched_switch_to(s.d.fd, XSPROF_SCHED_ON, NULL))
			_exit(1);
		/* Inherited: the producer stays open. */
		if (dup(s.d.fd) < 0)
			_exit(2);
		execl("/proc/self/exe", IMAGE, out, NULL);
		_exit(3);
	}
	close(p[1]);
	ASSERT_EQ(sizeof(said), read(p[0], said, sizeof(said)));
	EXPECT_EQ(0, said[0]);
	EXPECT_LE(20, said[1]);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	close(p[0]);
}

/* ---- memory --------------------------------------------------------------------------------- */

static long long held(void)
{
	char text[64];

	return env_file_get("/sys/class/misc/xsprof/bytes", text, sizeof(text)) ?
	       -1 : strtoll(text, NULL, 0);
}

/* All of it or nothing is recorded; all of it is charged, and comes back. */
TEST(memory)
{
	long long limit = env_parameter("max_bytes"), before;
	struct xsprof_attach a = dev_attach_defaults();
	struct xsprof_info info;
	struct dev d;
	int fd = dev_open();

	ASSERT_GE(fd, 0);
	while (held() && dev_drop_ended(fd) >= 0)	/* of what ran before */
		sched_yield();
	before = held();
	a.kernel_size = 64 << 10;
	ASSERT_EQ(0, dev_attach_as(&d, &a));
	ASSERT_EQ(0, env_parameter_set("max_bytes", before + (96 << 10)));
	EXPECT_EQ(-ENOMEM, sched_switch_to(d.fd, XSPROF_SCHED_ON, NULL));
	for (uint32_t k = 0; k < d.ctl->nr_kernel_rings; k++)
		EXPECT_FALSE(dev_ready(&d, d.nr + d.nl + k));
	ASSERT_EQ(0, env_parameter_set("max_bytes", limit));
	EXPECT_EQ(0, sched_switch_to(d.fd, XSPROF_SCHED_ON, NULL));
	ASSERT_EQ(0, dev_info(fd, d.id, &info));
	EXPECT_LE((64 << 10) * sysconf(_SC_NPROCESSORS_CONF), info.bytes);
	EXPECT_EQ((uint64_t)held(), info.bytes + before);
	dev_close(&d);
	ASSERT_GE(dev_drop_ended(fd), 0);
	while (held() != before && dev_drop_ended(fd) >= 0)
		sched_yield();
	EXPECT_EQ(before, held());
	close(fd);
}

/* ---- the module ----------------------------------------------------------------------------- */

static int load(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = syscall(SYS_finit_module, fd, "", 0) ? -errno : 0;
	close(fd);
	while (!err && access(XSPROF_DEVICE_PATH, F_OK))
		sched_yield();
	return err;
}

static int unload(void)
{
	return syscall(SYS_delete_module, "xsprof", O_NONBLOCK) ? -errno : 0;
}

/* Its hooks go with it, though they were in use a moment ago, and others switch all the time. */
TEST(module_goes)
{
	const char *path = getenv("XSPROF_MODULE");
	uint64_t rounds = env_figure(10, 2);
	int status, err;
	pid_t busy;

	if (!path || access(path, R_OK))
		SKIP(return, "XSPROF_MODULE names no module that can be read");
	busy = fork();
	if (!busy) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			env_nap(1);
	}
	for (uint64_t i = 0; i < rounds; i++) {
		pid_t pid = fork();

		if (!pid) {
			static struct sched s;

			if (sched_attach(&s, XSPROF_MODE_OVERWRITE, 1) ||
			    unload() != -EWOULDBLOCK)
				_exit(1);
			if (i & 1)
				sched_switch_to(s.d.fd, 0, NULL);
			_exit(0);
		}
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		ASSERT_EQ(0, status);
		while ((err = unload()) == -EWOULDBLOCK)	/* its file is on its way out */
			sched_yield();
		ASSERT_EQ(0, err);
		ASSERT_EQ(0, load(path));
	}
	kill(busy, SIGKILL);
	waitpid(busy, NULL, 0);
}

TEST_HARNESS_MAIN
