/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A producer of root and one of an ordinary user, for tests that act as users with some
 * capabilities.
 */
#ifndef KMOD_PERM_H
#define KMOD_PERM_H

#include <signal.h>

#include "ring.h"
#include "user.h"

#define USER	1000
#define OTHER	1001

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

#endif /* KMOD_PERM_H */
