/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A producer of this process, and producers of other processes, which end on request.
 */
#ifndef KMOD_POLL_H
#define KMOD_POLL_H

#include <sys/wait.h>

#include "ring.h"

FIXTURE(poll)
{
	struct dev	d;
	int		fd;
};

FIXTURE_SETUP(poll)
{
	self->fd = dev_open();
	ASSERT_GE(self->fd, 0);
	ASSERT_GE(dev_drop_ended(self->fd), 0);
	ASSERT_EQ(0, dev_attach(&self->d, XSPROF_MODE_DISCARD, 64 << 10, 1));
	ASSERT_EQ(0, dev_ring_open(&self->d, self->d.nr));
}

FIXTURE_TEARDOWN(poll)
{
	dev_close(&self->d);
	EXPECT_LE(0, dev_drop_ended(self->fd));
	close(self->fd);
}

/* A producer with a ring of its own, until it is told to end: by a byte, or by a signal. */
static pid_t producer_start(int *go, uint64_t ring_size, uint64_t *id)
{
	int to[2], from[2];
	pid_t pid;

	if (pipe(to) || pipe(from))
		return -1;
	pid = fork();
	if (!pid) {
		struct dev d;
		char c;

		close(to[1]);
		if (dev_attach(&d, XSPROF_MODE_DISCARD, ring_size, 1) || dev_ring_open(&d, d.nr) ||
		    !ring_put(&d, d.nr, 0, 0, 1) || write(from[1], &d.id, 8) != 8)
			_exit(1);
		_exit(read(to[0], &c, 1) < 0);
	}
	close(to[0]);
	close(from[1]);
	if (read(from[0], id, 8) != 8)
		*id = 0;
	close(from[0]);
	*go = to[1];
	return pid;
}

static int producer_end(pid_t pid, int go)
{
	int status = -1;

	close(go);
	waitpid(pid, &status, 0);
	return status;
}

#endif /* KMOD_POLL_H */
