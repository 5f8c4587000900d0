// SPDX-License-Identifier: GPL-2.0-only
/*
 * Permission to enable and disable scheduler events of a process, and to write to their rings.
 */
#include "sched.h"
#include "user.h"

static int call_raw(int fd, uint32_t size, uint32_t flags, uint32_t reserved)
{
	struct xsprof_sched s = { .size = size, .flags = flags, .reserved = reserved };

	return dev_call(fd, XSPROF_IOC_SCHED, &s);
}

static int in_child(int (*fn)(struct dev *d, uint64_t id), struct dev *d, uint64_t id)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(fn(d, id));
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Another process with the producer's descriptor. */
static int another(struct dev *d, uint64_t id)
{
	(void)id;
	return -sched_switch_to(d->fd, XSPROF_SCHED_ON, NULL);
}

static int stranger(struct dev *d, uint64_t id)
{
	struct dev r;
	int fd, err = user_become(2000, 0);

	(void)d;
	fd = err ? err : dev_open();
	if (fd < 0)
		return 99;
	return -dev_read_id(&r, fd, id, 0);
}

/* A reader of the same user. */
static int reader(struct dev *d, uint64_t id)
{
	int fd = dev_open(), err;
	uint32_t before;
	struct dev r;

	(void)d;
	err = fd < 0 ? fd : dev_read_id(&r, fd, id, 0);
	if (!err)
		err = sched_switch_to(r.fd, XSPROF_SCHED_ON, &before);
	return err ? -err : (int)before;
}

TEST(asking)
{
	struct xsprof_attach a = dev_attach_defaults();
	uint32_t before;
	struct dev d;
	int fd;

	fd = dev_open();
	ASSERT_GE(fd, 0);
	EXPECT_EQ(-ENODEV, sched_switch_to(fd, XSPROF_SCHED_ON, NULL));
	close(fd);
	ASSERT_EQ(0, dev_attach_as(&d, &a));
	EXPECT_NE(0, d.ctl->nr_kernel_rings);
	EXPECT_EQ(a.kernel_size, d.ctl->kernel_size);
	EXPECT_EQ(-EINVAL, call_raw(d.fd, sizeof(struct xsprof_sched), 2, 0));
	EXPECT_EQ(-EINVAL, call_raw(d.fd, sizeof(struct xsprof_sched), 1, 1));
	EXPECT_EQ(-EINVAL, call_raw(d.fd, 3, 1, 0));
	EXPECT_EQ(EPERM, in_child(another, &d, d.id));
	EXPECT_EQ(ENOENT, in_child(stranger, &d, d.id));
	EXPECT_EQ(0, sched_switch_to(d.fd, 0, &before));
	EXPECT_EQ(0, before);
	EXPECT_FALSE(dev_ready(&d, d.nr + d.nl));
	EXPECT_EQ(0, in_child(reader, &d, d.id));
	EXPECT_TRUE(dev_ready(&d, d.nr + d.nl));
	EXPECT_EQ(XSPROF_SCHED_ON, in_child(reader, &d, d.id));
	EXPECT_EQ(0, sched_switch_to(d.fd, XSPROF_SCHED_ON, &before));
	EXPECT_EQ(XSPROF_SCHED_ON, before);
	EXPECT_EQ(0, sched_switch_to(d.fd, 0, &before));
	EXPECT_EQ(XSPROF_SCHED_ON, before);
	EXPECT_EQ(0, sched_switch_to(d.fd, 0, &before));
	EXPECT_EQ(0, before);
	dev_close(&d);
}

/* Return: bytes of [@from, @to) that are not zero. */
static uint64_t dirty(const char *base, uint64_t from, uint64_t to)
{
	uint64_t n = 0;

	for (; from < to; from++)
		n += !!base[from];
	return n;
}

/* A refused MAP_FIXED would leave a hole: elsewhere. */
static int try_write(struct dev *d, uint64_t off, uint64_t len)
{
	void *at = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, d->fd, off);

	if (at == MAP_FAILED)
		return -errno;
	munmap(at, len);
	return 0;
}

/* Nobody writes there but the kernel, and it writes records and the counters of a ring. */
TEST(read_only)
{
	struct sched s, r;
	uint64_t off, used;

	ASSERT_EQ(0, sched_attach(&s, XSPROF_MODE_DISCARD, 64 << 10));
	ASSERT_EQ(0, sched_read(&r, s.d.fd, s.d.id, 0));
	for (uint32_t k = 0; k < s.cpus; k++) {
		off = dev_ring_off(&s.k, k);
		EXPECT_EQ(-EACCES, try_write(&s.k, off, s.k.page));
		EXPECT_EQ(-EACCES, try_write(&s.k, off + s.k.page, s.k.page));
		EXPECT_EQ(-EACCES, try_write(&s.k, off + 2 * s.k.page, s.k.page));
		EXPECT_EQ(-EACCES, try_write(&s.k, off + 2 * s.k.page, s.k.ring_size));
		EXPECT_EQ(-EINVAL, dev_populate(s.k.fd, off, s.k.page));
		EXPECT_EQ(-EACCES, try_write(&r.k, off + s.k.page, s.k.page));
		EXPECT_NE(0, mprotect(s.k.base + off, s.k.page, PROT_READ | PROT_WRITE));
	}
	dev_close(&r.d);
	ASSERT_EQ(0, sched_switch_to(s.d.fd, 0, NULL));
	for (uint32_t k = 0; k < s.cpus; k++) {
		struct xsprof_ring_writer want = { .kind = XSPROF_RING_KERNEL, .cpu = k,
						   .grown = UINT64_MAX };

		want.head = dev_writer(&s.k, k)->head;
		EXPECT_EQ(0, memcmp(dev_writer(&s.k, k), &want, sizeof(want)));
		EXPECT_EQ(0, dirty((char *)dev_writer(&s.k, k), sizeof(want), 2 * s.k.page));
		used = want.head * XSPROF_SLOT_SIZE;
		EXPECT_EQ(0, dirty((char *)dev_data(&s.k, k), used, s.k.ring_size));
	}
	ASSERT_EQ(0, sched_read(&r, s.d.fd, s.d.id, XSPROF_OPEN_CONSUME));
	for (uint32_t k = 0; k < s.cpus; k++) {
		EXPECT_EQ(-EACCES, try_write(&r.k, dev_ring_off(&r.k, k), s.k.page));
		EXPECT_EQ(-EACCES, try_write(&r.k, dev_ring_off(&r.k, k) + 2 * s.k.page,
					     s.k.page));
	}
	dev_close(&r.d);
	dev_close(&s.d);
}

TEST_HARNESS_MAIN
