// SPDX-License-Identifier: GPL-2.0-only
/*
 * Accounting of a producer's memory: it is charged to the free allowance, to RLIMIT_MEMLOCK and to
 * the memory cgroup, and all of it is uncharged.
 */
#include <sys/resource.h>

#include "perm.h"

struct payment {
	uint64_t	ring_size;
	rlim_t		locked;
	int		want;
};

static int pay(void *arg)
{
	struct payment *p = arg;
	struct rlimit lim = { p->locked, p->locked };
	struct dev d;
	int err;

	if (setrlimit(RLIMIT_MEMLOCK, &lim) || dev_attach(&d, XSPROF_MODE_DISCARD, p->ring_size, 1))
		return 50;
	err = dev_ring_open(&d, d.nr);
	if (err != p->want) {
		printf("# populate: %d\n", err);
		fflush(stdout);
		return 51;
	}
	/* What could be had stays, and works. */
	return 0;
}

static int paid(const FIXTURE_DATA(perm) *self, uint64_t caps, struct payment *p)
{
	int ret = user_as(USER, caps, pay, p);

	drop_all(self);
	return ret;
}

TEST_F(perm, locked_memory)
{
	long long was = env_parameter("uid_free_bytes");
	struct payment p = { .ring_size = 1 << 20, .locked = 0, .want = 0 };

	ASSERT_GT(was, 4 << 20);
	/* Below the allowance nothing is locked. */
	EXPECT_EQ(0, paid(self, 0, &p));
	ASSERT_EQ(0, env_parameter_set("uid_free_bytes", 512 << 10));
	p.want = -EPERM;
	EXPECT_EQ(0, paid(self, 0, &p));
	p.locked = 256 << 10;
	EXPECT_EQ(0, paid(self, 0, &p));
	p.locked = 2 << 20;
	p.want = 0;
	EXPECT_EQ(0, paid(self, 0, &p));
	p.locked = 0;
	EXPECT_EQ(0, paid(self, 1ull << CAP_IPC_LOCK, &p));
	/* All of it comes back: the limit is as far away as before. */
	for (int i = 0; i < 20; i++) {
		p.locked = 640 << 10;
		EXPECT_EQ(0, paid(self, 0, &p));
	}
	ASSERT_EQ(0, env_parameter_set("uid_free_bytes", was));
}

TEST_F(perm, module_limit)
{
	struct payment p = { .ring_size = 1 << 20, .locked = 0, .want = -ENOMEM };
	long long was = env_parameter("max_bytes"), now = user_counter("bytes");

	ASSERT_GT(was, 0);
	ASSERT_GE(now, 0);
	ASSERT_EQ(0, env_parameter_set("max_bytes", now + (512 << 10)));
	EXPECT_EQ(0, paid(self, 0, &p));
	ASSERT_EQ(0, env_parameter_set("max_bytes", was));
	p.want = 0;
	EXPECT_EQ(0, paid(self, 0, &p));
}

static int attach_many(void *arg)
{
	unsigned int *most = arg, n = 0;
	struct dev d;
	int err = 0;

	while (n < 2 * *most && !(err = dev_attach(&d, XSPROF_MODE_DISCARD, 16 << 10, 1)))
		n++;
	return n == *most && err == -EUSERS ? 0 : 1;
}

TEST_F(perm, producers_of_a_user)
{
	long long was = env_parameter("uid_max_producers");
	unsigned int most = 10;

	ASSERT_EQ(0, env_parameter_set("uid_max_producers", most));
	EXPECT_EQ(0, user_as(USER, 0, attach_many, &most));
	/* Another user's are another's. */
	most = 9;
	EXPECT_EQ(0, user_as(OTHER, 0, attach_many, &most));
	ASSERT_EQ(0, env_parameter_set("uid_max_producers", was));
}

/* Live, ended, dropped: the memory of all producers is 0 in the end. */
TEST_F(perm, comes_back)
{
	long long before, now;
	struct xsprof_info info;
	struct dev d, r;

	drop_all(self);
	before = user_counter("bytes");
	ASSERT_EQ(0, dev_attach(&d, XSPROF_MODE_OVERWRITE, 256 << 10, 3));
	for (uint32_t k = d.nr; k < d.nr + d.nl; k++)
		ASSERT_EQ(0, dev_ring_open(&d, k));
	ASSERT_EQ(0, dev_info(self->fd, d.id, &info));
	EXPECT_EQ(2 * d.page + 3 * d.stride, info.bytes);
	EXPECT_EQ(before + (long long)info.bytes, user_counter("bytes"));
	/* An idle one costs its control page and a page of the arena. */
	ASSERT_EQ(0, dev_read_id(&r, self->fd, d.id, 0));
	dev_close(&d);
	EXPECT_EQ(before + (long long)info.bytes, user_counter("bytes"));
	EXPECT_EQ(0, dev_call(r.fd, XSPROF_IOC_DROP, NULL));
	/* As long as somebody has it mapped or open. */
	EXPECT_EQ(before + (long long)info.bytes, user_counter("bytes"));
	close(r.fd);
	r.fd = -1;
	EXPECT_EQ(before + (long long)info.bytes, user_counter("bytes"));
	dev_close(&r);
	/* The last reference may be put a moment after close(). */
	while ((now = user_counter("bytes")) > before)
		sched_yield();
	EXPECT_EQ(before, now);
}

/* ---- memory cgroup --------------------------------------------------------------------------- */

#define CGROUP	"/sys/fs/cgroup/xsprof-test"

/* @turn: the parent gives room when it is 1, and says 2. */
static int in_cgroup(uint32_t *turn)
{
	struct dev d;
	uint32_t k;
	int err = 0;

	*turn = 0;	/* in the page tables from here on */
	if (env_file_put(CGROUP "/cgroup.procs", "0"))
		return 50;
	if (dev_attach(&d, XSPROF_MODE_DISCARD, 4 << 20, 8))
		return 51;
	for (k = d.nr; !err && k < d.nr + d.nl; k++)
		err = dev_ring_open(&d, k);
	if (err != -ENOMEM)
		return 52;
	/*
	 * What was populated can be written to the last byte, with no SIGBUS.  Page tables and
	 * all else that a full group is short of are the process' own affair: it gets some room,
	 * and from outside, for even to ask for it takes memory.
	 */
	__atomic_store_n(turn, 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(turn, __ATOMIC_ACQUIRE) != 2)
		;
	for (uint32_t i = d.nr; i + 1 < k; i++)
		memset(dev_data(&d, i), 0x5a, d.ring_size);
	return k > d.nr + 1 ? 0 : 53;
}

TEST_F(perm, memory_cgroup)
{
	uint32_t *turn = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			      -1, 0);
	int err = env_cgroup(CGROUP, "8388608\n"), status;
	long long before;
	pid_t pid;

	if (err)
		SKIP(return, "no memory controller of cgroup v2 here: %s", strerror(-err));
	ASSERT_NE(MAP_FAILED, turn);
	*turn = 0;
	drop_all(self);
	before = user_counter("bytes");
	fflush(stdout);
	pid = fork();
	ASSERT_GE(pid, 0);
	if (!pid)
		_exit(in_cgroup(turn));
	while (__atomic_load_n(turn, __ATOMIC_ACQUIRE) != 1 && !waitpid(pid, &status, WNOHANG))
		sched_yield();
	EXPECT_EQ(0, env_file_put(CGROUP "/memory.max", "16777216\n"));
	__atomic_store_n(turn, 2, __ATOMIC_RELEASE);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_GT(user_counter("bytes"), before + (3 << 20));
	EXPECT_LT(user_counter("bytes"), before + (8 << 20));
	drop_all(self);
	rmdir(CGROUP);
}

TEST_HARNESS_MAIN
