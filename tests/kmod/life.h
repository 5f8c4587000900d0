/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A producer with ten records, and checks that another process cannot change it and that it
 * continues. For the programs life*.c.
 */
#ifndef KMOD_LIFE_H
#define KMOD_LIFE_H

#include <sys/wait.h>

#include "ring.h"

FIXTURE(life)
{
	struct dev	d;
	int		fd;
};

FIXTURE_SETUP(life)
{
	self->fd = dev_open();
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(0, dev_attach(&self->d, XSPROF_MODE_DISCARD, 64 << 10, 2));
	ASSERT_EQ(0, dev_arena_open(&self->d));
	ASSERT_EQ(0, dev_ring_open(&self->d, self->d.nr));
	for (uint64_t i = 0; i < 10; i++)
		ASSERT_TRUE(ring_put(&self->d, self->d.nr, 0, i, 1));
}

FIXTURE_TEARDOWN(life)
{
	dev_close(&self->d);
	dev_drop_ended(self->fd);
	close(self->fd);
}

/* In a child: return the line of a condition that must not hold. */
#define WRONG(cond) do { if (cond) return __LINE__; } while (0)

/*
 * What another process finds that has the producer's descriptor, and perhaps addresses.
 * Return: 0, or the line of what is wrong.
 */
static int stranger(const struct dev *d, int fd)
{
	uint64_t ring = dev_ring_off(d, d->nr);
	struct xsprof_control c = { .size = sizeof(c), .set = 1 };
	struct xsprof_attach a = dev_attach_defaults();
	void *at;

	at = mmap(NULL, d->page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, ring);
	WRONG(at != MAP_FAILED || errno != EPERM);
	at = mmap(NULL, d->ring_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, ring + 2 * d->page);
	WRONG(at != MAP_FAILED || errno != EPERM);
	at = mmap(NULL, d->page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, d->arena_off);
	WRONG(at != MAP_FAILED || errno != EPERM);
	WRONG(dev_populate(fd, ring + d->stride, d->page) != -EPERM);
	WRONG(ioctl(fd, XSPROF_IOC_KICK, 0) != -1 || errno != EPERM);
	WRONG(dev_call(fd, XSPROF_IOC_CONTROL, &c) != -EPERM);
	WRONG(dev_call(fd, XSPROF_IOC_ATTACH, &a) != -EBUSY);
	/* To look is not to write: the descriptor was given to it. */
	at = mmap(NULL, d->len, PROT_READ, MAP_SHARED, fd, 0);
	WRONG(at == MAP_FAILED);
	WRONG(((struct xsprof_ctl *)at)->magic != XSPROF_MAGIC);
	WRONG(mprotect((char *)at + ring, d->page, PROT_READ | PROT_WRITE) != -1);
	return 0;
}

/* The line of what is wrong is said by the child; 0 for nothing. */
static void leave(int line)
{
	if (line)
		printf("# %s:%d: not so in the child\n", __FILE__, line);
	fflush(stdout);
	_exit(line != 0);
}

static int status_of(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void still_exact(struct __test_metadata *_metadata, struct dev *d)
{
	struct ring_cursor c = { 0 };
	struct xsprof_info info;

	ASSERT_EQ(0, dev_info(d->fd, d->id, &info));
	EXPECT_EQ(XSPROF_STATE_LIVE, info.state);
	EXPECT_TRUE(ring_put(d, d->nr, 0, 10, 1));
	ring_take(d, d->nr, &c, UINT64_MAX, NULL, NULL);
	EXPECT_EQ(11, c.records);
	EXPECT_EQ(0, c.torn);
	EXPECT_FALSE(dev_ready(d, d->nr + 1));
}

#endif /* KMOD_LIFE_H */
