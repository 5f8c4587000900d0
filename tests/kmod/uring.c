// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device under io_uring: a read returns at once the same as pread(), everything else is
 * refused, and requests pending when their process exits or executes another program hold nothing.
 */
#include <linux/io_uring.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "ring.h"
#include "user.h"

#define ENTRIES		64

/**
 * struct uring - an io_uring of ENTRIES entries, without liburing
 * @fd: its descriptor
 * @p: what the kernel said of it
 * @sq, @cq: the two rings, mapped
 * @sqes: the requests
 */
struct uring {
	int			fd;
	struct io_uring_params	p;
	char			*sq;
	char			*cq;
	struct io_uring_sqe	*sqes;
};

static void *uring_map(int fd, size_t len, off_t off)
{
	void *at = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, off);

	return at == MAP_FAILED ? NULL : at;
}

/* Return: 0 or -errno. */
static int uring_init(struct uring *u, unsigned int flags)
{
	memset(u, 0, sizeof(*u));
	u->p.flags = flags;
	u->fd = (int)syscall(SYS_io_uring_setup, ENTRIES, &u->p);
	if (u->fd < 0)
		return -errno;
	u->sq = uring_map(u->fd, u->p.sq_off.array + u->p.sq_entries * sizeof(uint32_t),
			  IORING_OFF_SQ_RING);
	u->cq = uring_map(u->fd, u->p.cq_off.cqes + u->p.cq_entries * sizeof(struct io_uring_cqe),
			  IORING_OFF_CQ_RING);
	u->sqes = uring_map(u->fd, u->p.sq_entries * sizeof(*u->sqes), IORING_OFF_SQES);
	return u->sq && u->cq && u->sqes ? 0 : -ENOMEM;
}

static uint32_t *uring_word(char *ring, uint32_t off)
{
	return (uint32_t *)(ring + off);
}

static void uring_add(struct uring *u, struct io_uring_sqe sqe)
{
	uint32_t *tail = uring_word(u->sq, u->p.sq_off.tail), i = *tail & (u->p.sq_entries - 1);

	u->sqes[i] = sqe;
	uring_word(u->sq, u->p.sq_off.array)[i] = i;
	/* The kernel acquires it: the entry is whole before it counts. */
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
}

/* Return: the number that the kernel took, or -errno. */
static int uring_submit(struct uring *u, unsigned int n)
{
	int ret = (int)syscall(SYS_io_uring_enter, u->fd, n, 0, IORING_ENTER_GETEVENTS, NULL, 0);

	return ret < 0 ? -errno : ret;
}

/* Waits for a completion, @ms at most (-1: for ever).  Return: 0; -ETIME. */
static int uring_next(struct uring *u, int ms, struct io_uring_cqe *cqe)
{
	uint32_t *head = uring_word(u->cq, u->p.cq_off.head);
	uint32_t *tail = uring_word(u->cq, u->p.cq_off.tail);
	struct io_uring_cqe *cqes = (struct io_uring_cqe *)(u->cq + u->p.cq_off.cqes);
	struct pollfd p = { .fd = u->fd, .events = POLLIN };

	if (poll(&p, 1, ms) != 1)
		return -ETIME;
	/* Pairs with the kernel's release of the tail: the entry is whole. */
	if (__atomic_load_n(tail, __ATOMIC_ACQUIRE) == *head)
		return -ETIME;
	*cqe = cqes[*head & (u->p.cq_entries - 1)];
	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	return 0;
}

/* Submits @sqe alone and waits for it.  Return: its result. */
static int uring_do(struct uring *u, struct io_uring_sqe sqe)
{
	struct io_uring_cqe cqe;

	uring_add(u, sqe);
	if (uring_submit(u, 1) != 1 || uring_next(u, -1, &cqe))
		return -EPROTO;
	return cqe.res;
}

static struct io_uring_sqe read_of(int fd, void *buf, uint32_t len, uint64_t off)
{
	return (struct io_uring_sqe){
		.opcode = IORING_OP_READ,
		.fd = fd,
		.addr = (uintptr_t)buf,
		.len = len,
		.off = off,
	};
}

FIXTURE(uring)
{
	struct uring	u;
	struct dev	d;
	struct dev	r;
};

FIXTURE_SETUP(uring)
{
	int err = uring_init(&self->u, 0);

	if (err == -ENOSYS || err == -EPERM)
		SKIP(return, "this kernel has no io_uring");
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, dev_attach(&self->d, XSPROF_MODE_DISCARD, 64 << 10, 2));
	ASSERT_EQ(0, dev_ring_open(&self->d, self->d.nr));
	for (uint64_t i = 0; i < 100; i++)
		ASSERT_TRUE(ring_put(&self->d, self->d.nr, 0, i, 1));
	ASSERT_EQ(0, dev_read_id(&self->r, self->d.fd, self->d.id, XSPROF_OPEN_CONSUME));
}

FIXTURE_TEARDOWN(uring)
{
	dev_close(&self->r);
	dev_close(&self->d);
	close(self->u.fd);
}

TEST_F(uring, a_read_waits_for_nothing)
{
	static char got[8192], want[8192];
	struct xsprof_events e = { .size = sizeof(e) };
	uint64_t off = dev_ring_off(&self->d, self->d.nr);
	struct iovec iov = { got, sizeof(got) };

	ASSERT_EQ((int)sizeof(want), pread(self->r.fd, want, sizeof(want), off));
	/* EVENTS: poll() has nothing to say from here on. */
	ASSERT_EQ(0, dev_call(self->r.fd, XSPROF_IOC_EVENTS, &e));
	EXPECT_EQ((int)sizeof(got), uring_do(&self->u, read_of(self->r.fd, got, sizeof(got), off)));
	EXPECT_EQ(0, memcmp(got, want, sizeof(got)));
	memset(got, 0, sizeof(got));
	EXPECT_EQ((int)sizeof(got), preadv2(self->r.fd, &iov, 1, off, RWF_NOWAIT));
	EXPECT_EQ(0, memcmp(got, want, sizeof(got)));
}

/* By a worker of io_uring's, which is a thread of the process: the rights are those of the open. */
TEST_F(uring, a_read_by_a_worker)
{
	static char got[8192], want[8192];
	uint64_t off = dev_ring_off(&self->d, self->d.nr);
	struct io_uring_sqe sqe = read_of(self->r.fd, got, sizeof(got), off);

	sqe.flags = IOSQE_ASYNC;
	ASSERT_EQ((int)sizeof(want), pread(self->r.fd, want, sizeof(want), off));
	EXPECT_EQ((int)sizeof(got), uring_do(&self->u, sqe));
	EXPECT_EQ(0, memcmp(got, want, sizeof(got)));
	/* Into what the process may only read. */
	sqe = read_of(self->r.fd, self->d.base, 4096, off);
	sqe.flags = IOSQE_ASYNC;
	EXPECT_EQ(-EFAULT, uring_do(&self->u, sqe));
}

TEST_F(uring, nothing_else)
{
	struct iovec ring = { dev_data(&self->d, self->d.nr), 4096 };
	char buf[64] = { 0 };
	int p[2];

	ASSERT_EQ(0, pipe(p));
	for (int i = 0; i < 2; i++) {
		int fd = i ? self->r.fd : self->d.fd;
		struct io_uring_sqe splice = {
			.opcode = IORING_OP_SPLICE, .fd = p[1], .splice_fd_in = fd,
			.off = ~0ull, .len = 4096,
		}, fallocate = {
			.opcode = IORING_OP_FALLOCATE, .fd = fd, .addr = 4096,
		}, command = {
			.opcode = IORING_OP_URING_CMD, .fd = fd,
		};

		EXPECT_EQ(-EINVAL, uring_do(&self->u, splice));
		EXPECT_GT(0, uring_do(&self->u, fallocate));
		EXPECT_EQ(-EOPNOTSUPP, uring_do(&self->u, command));
	}
	EXPECT_EQ(-EINVAL, uring_do(&self->u, read_of(self->d.fd, buf, sizeof(buf), 0)));
	/* The device's pages are not the process' to pin. */
	EXPECT_EQ(-1, syscall(SYS_io_uring_register, self->u.fd, IORING_REGISTER_BUFFERS, &ring,
			      1));
	close(p[0]);
	close(p[1]);
}

/* Requests that wait and requests under way, when nobody is there any longer to see them end. */
static int leave_requests(unsigned int flags, bool exec)
{
	static char buf[1 << 20];
	struct io_uring_sqe poll_for_end = { .opcode = IORING_OP_POLL_ADD }, read;
	struct xsprof_events e = { .size = sizeof(e) };
	struct uring u;
	struct dev d, r;

	if (uring_init(&u, flags) || dev_attach(&d, XSPROF_MODE_DISCARD, 256 << 10, 2) ||
	    dev_ring_open(&d, d.nr) || dev_read_id(&r, d.fd, d.id, XSPROF_OPEN_CONSUME))
		return 1;
	for (unsigned int i = 0; i < 16; i++) {
		if (i == 8 && dev_call(r.fd, XSPROF_IOC_EVENTS, &e))
			return 2;
		read = read_of(r.fd, buf, sizeof(buf), 0);
		read.flags = i < 8 ? IOSQE_ASYNC : 0;
		uring_add(&u, read);
		if (uring_submit(&u, 1) < 0)
			return 3;
	}
	poll_for_end.fd = r.fd;
	poll_for_end.poll32_events = POLLHUP;
	uring_add(&u, poll_for_end);
	poll_for_end.fd = d.fd;
	poll_for_end.poll32_events = POLLIN;
	uring_add(&u, poll_for_end);
	if (uring_submit(&u, 2) < 0)
		return 4;
	if (exec)
		execl("/bin/true", "true", NULL);
	return exec ? 5 : 0;
}

TEST(ends_with_requests)
{
	long long live = user_counter("live");
	struct uring u;
	int fd, err = uring_init(&u, 0);

	if (err == -ENOSYS || err == -EPERM)
		SKIP(return, "this kernel has no io_uring");
	ASSERT_EQ(0, err);
	close(u.fd);
	for (unsigned int i = 0; i < env_figure(40, 12); i++) {
		int status;
		pid_t pid;

		fflush(stdout);
		pid = fork();
		ASSERT_GE(pid, 0);
		if (!pid)
			_exit(leave_requests(i & 1 ? IORING_SETUP_SQPOLL : 0, i & 2));
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_EQ(0, status);
	}
	while (user_counter("live") > live)
		sched_yield();
	fd = dev_open();
	ASSERT_GE(fd, 0);
	while (user_counter("kept") > 0)
		ASSERT_GE(dev_drop_ended(fd), 0);
	EXPECT_EQ(live, user_counter("live"));
	close(fd);
}

TEST_HARNESS_MAIN
