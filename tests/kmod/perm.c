// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who may see what, and who pays.  As an ordinary user with each capability alone: own producers,
 * or all; what may not be seen is not there.  Memory is charged to the free allowance, to
 * RLIMIT_MEMLOCK and to the memory cgroup, and all of it comes back.
 */
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "ring.h"
#include "user.h"

#define USER	1000
#define OTHER	1001
#define PARANOID	"/proc/sys/kernel/perf_event_paranoid"

FIXTURE(perm)
{
	struct dev	root;		/* root's producer */
	uint64_t	id[2];		/* root's, and the other user's */
	pid_t		other;
	int		fd;
	long long	live;		/* producers, with these two */
	long long	bytes;		/* of these two */
};

/*
 * All that ended is dropped, and its memory is back: both may come a moment after the end of a
 * process, and never coming is a failure of ours.
 */
static void drop_all(const FIXTURE_DATA(perm) *self)
{
	while (user_counter("live") > self->live)
		sched_yield();
	dev_drop_ended(self->fd);
	while (user_counter("bytes") > self->bytes)
		sched_yield();
}

static void hold(int out)
{
	struct dev d;

	if (user_become(OTHER, 0) || dev_attach(&d, XSPROF_MODE_DISCARD, 16 << 10, 1) ||
	    dev_ring_open(&d, d.nr) || write(out, &d.id, 8) != 8)
		_exit(1);
	for (;;)
		pause();
}

FIXTURE_SETUP(perm)
{
	int p[2];

	self->fd = dev_open();
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(0, dev_attach(&self->root, XSPROF_MODE_DISCARD, 16 << 10, 1));
	ASSERT_EQ(0, dev_ring_open(&self->root, self->root.nr));
	ASSERT_EQ(0, pipe(p));
	self->other = fork();
	ASSERT_GE(self->other, 0);
	if (!self->other)
		hold(p[1]);
	close(p[1]);
	ASSERT_EQ(8, read(p[0], &self->id[1], 8));
	close(p[0]);
	self->id[0] = self->root.id;
	/* What another program left ends first. */
	while (user_counter("live") > 2)
		sched_yield();
	self->live = user_counter("live");
	for (unsigned int i = 0; i < 2; i++) {
		struct xsprof_info info;

		ASSERT_EQ(0, dev_info(self->fd, self->id[i], &info));
		self->bytes += info.bytes;
	}
	drop_all(self);
}

FIXTURE_TEARDOWN(perm)
{
	kill(self->other, SIGKILL);
	waitpid(self->other, NULL, 0);
	dev_close(&self->root);
	dev_drop_ended(self->fd);
	close(self->fd);
}

/* Return: errno of an open of @arg's producer that consumes, 0 for none. */
static int open_consuming(void *arg)
{
	const uint64_t *id = arg;
	struct dev r;

	return -dev_read_id(&r, dev_open(), *id, XSPROF_OPEN_CONSUME);
}

struct seen {
	uint64_t	id[2];
	unsigned int	mask;	/* out: 1 root's, 2 the other's, 4 own; 8 odd */
};

/* Which of root's, the other's and its own a process can list and open, both or neither. */
static int what_is_seen(void *arg)
{
	struct seen *s = arg;
	uint64_t ids[3] = { s->id[0], s->id[1], 0 };
	struct xsprof_info info;
	int mask = 0, fd;
	struct dev d;

	if (dev_attach(&d, XSPROF_MODE_DISCARD, 16 << 10, 1) || dev_ring_open(&d, d.nr))
		return 100;
	ids[2] = d.id;
	fd = dev_open();
	for (int i = 0; i < 3; i++) {
		int listed = dev_info(fd, ids[i], &info);
		struct dev r;
		int opened = dev_read_id(&r, fd, ids[i], 0);

		mask |= !opened << i;
		if (!opened)
			dev_close(&r);
		if (listed != opened || (opened && opened != -ENOENT))
			mask |= 8;
	}
	return mask;
}

/* Few of them on a debug kernel, which is there for what goes wrong in memory and locks. */
static bool is_tried(unsigned int cap)
{
	bool special = cap == CAP_PERFMON || cap == CAP_SYS_ADMIN || cap == CAP_SYS_PTRACE ||
		       cap == CAP_DAC_OVERRIDE;

	return prctl(PR_CAPBSET_READ, cap) == 1 &&
	       (special || !env_debug() || env_full() || cap % 8 == 0);
}

TEST_F(perm, capabilities)
{
	struct seen s = { .id = { self->id[0], self->id[1] } };

	EXPECT_EQ(4, user_as(USER, 0, what_is_seen, &s));
	EXPECT_EQ(6, user_as(OTHER, 0, what_is_seen, &s));
	/* Root without any: its own, and not what root has that may do all. */
	EXPECT_EQ(4, user_as(0, 0, what_is_seen, &s));
	for (unsigned int cap = 0; cap < 64; cap++) {
		bool all = cap == CAP_PERFMON || cap == CAP_SYS_ADMIN;

		if (!is_tried(cap))
			continue;
		EXPECT_EQ(all ? 7 : 4, user_as(USER, 1ull << cap, what_is_seen, &s)) {
			TH_LOG("capability %u", cap);
		}
	}
}

/*
 * What may be done with root's, the other's and its own besides reading: all of it or nothing.
 * Return: a mask as of what_is_seen().
 */
static int what_is_written(void *arg)
{
	struct seen *s = arg;
	uint64_t ids[3] = { s->id[0], s->id[1], 0 };
	int mask = 0, fd;
	struct dev d;

	if (dev_attach(&d, XSPROF_MODE_DISCARD, 16 << 10, 1) || dev_ring_open(&d, d.nr))
		return 100;
	ids[2] = d.id;
	fd = dev_open();
	for (int i = 0; i < 3; i++) {
		struct xsprof_control c = { .size = sizeof(c), .set = 1 };
		struct xsprof_sched on = { .size = sizeof(on), .flags = XSPROF_SCHED_ON };
		struct xsprof_sched off = { .size = sizeof(off) };
		struct dev r, w;
		int n = 0;

		if (dev_read_id(&r, fd, ids[i], 0))
			continue;
		/* Of one that lives a drop is refused anyway, but not for want of a right. */
		n += dev_call(r.fd, XSPROF_IOC_DROP, NULL) != -EPERM;
		n += dev_call(r.fd, XSPROF_IOC_CONTROL, &c) != -EPERM;
		n += dev_call(r.fd, XSPROF_IOC_SCHED, &on) != -EPERM;
		n += dev_call(r.fd, XSPROF_IOC_SCHED, &off) != -EPERM;
		if (!dev_read_id(&w, fd, ids[i], XSPROF_OPEN_CONSUME)) {
			n += !dev_tail_open(&w, w.nr);
			dev_close(&w);
		}
		dev_close(&r);
		mask |= n == 5 ? 1 << i : n ? 8 : 0;
	}
	return mask;
}

/* The right to read all is none to pause, drop or consume what is another's. */
TEST_F(perm, write_capabilities)
{
	struct seen s = { .id = { self->id[0], self->id[1] } };

	EXPECT_EQ(4, user_as(USER, 0, what_is_written, &s));
	EXPECT_EQ(6, user_as(OTHER, 0, what_is_written, &s));
	EXPECT_EQ(4, user_as(0, 0, what_is_written, &s));
	for (unsigned int cap = 0; cap < 64; cap++) {
		int all = cap == CAP_SYS_ADMIN ? 7 : 4;

		if (!is_tried(cap))
			continue;
		EXPECT_EQ(all, user_as(USER, 1ull << cap, what_is_written, &s)) {
			TH_LOG("capability %u", cap);
		}
	}
	/* Refused, and not hidden: it is there for whoever may read it. */
	EXPECT_EQ(EPERM, user_as(USER, 1ull << CAP_PERFMON, open_consuming, &self->id[1]));
}

/* A ring holds what the program wrote, and when it ran: perf's level is about other data. */
TEST_F(perm, perf_event_paranoid)
{
	static const char *const levels[] = { "4", "2", "-1" };
	struct seen s = { .id = { self->id[0], self->id[1] } };
	char was[32];

	ASSERT_EQ(0, env_file_get(PARANOID, was, sizeof(was)));
	for (unsigned int i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		ASSERT_EQ(0, env_file_put(PARANOID, levels[i]));
		/* Its own, and nothing more where the kernel hides nothing. */
		EXPECT_EQ(4, user_as(USER, 0, what_is_seen, &s)) {
			TH_LOG("perf_event_paranoid=%s", levels[i]);
		}
		EXPECT_EQ(4, user_as(USER, 0, what_is_written, &s)) {
			TH_LOG("perf_event_paranoid=%s", levels[i]);
		}
	}
	EXPECT_EQ(0, env_file_put(PARANOID, was));
}

/* A program that was set-user-id is not its caller's to read. */
static int half_own(void *arg)
{
	uint64_t *id = arg;
	struct dev r;
	int fd = dev_open();

	return dev_read_id(&r, fd, *id, 0) == -ENOENT ? 0 : 1;
}

TEST_F(perm, set_user_id)
{
	uint64_t id;
	int p[2];
	pid_t pid;

	ASSERT_EQ(0, pipe(p));
	pid = fork();
	ASSERT_GE(pid, 0);
	if (!pid) {
		struct dev d;

		/* Real id the user's, effective and saved another's. */
		if (setresuid(USER, OTHER, OTHER) ||
		    dev_attach(&d, XSPROF_MODE_DISCARD, 16 << 10, 1) || dev_ring_open(&d, d.nr) ||
		    write(p[1], &d.id, 8) != 8)
			_exit(1);
		for (;;)
			pause();
	}
	close(p[1]);
	ASSERT_EQ(8, read(p[0], &id, 8));
	close(p[0]);
	EXPECT_EQ(0, user_as(USER, 0, half_own, &id));
	EXPECT_EQ(0, user_as(OTHER, 0, half_own, &id));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

TEST_F(perm, node)
{
	long long mode = env_parameter("mode");
	struct stat st;

	ASSERT_EQ(0, stat(XSPROF_DEVICE_PATH, &st));
	EXPECT_EQ(mode & 0777, st.st_mode & 0777);
}

/* ---- who pays ------------------------------------------------------------------------------ */

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
