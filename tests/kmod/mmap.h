/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A producer with a descriptor of each kind to map it by, and accesses that may fault.
 */
#ifndef KMOD_MMAP_H
#define KMOD_MMAP_H

#include <setjmp.h>
#include <signal.h>

#include "ring.h"

enum side { CONTROL_FD, PRODUCER_FD, READER_FD, CONSUMER_FD, SIDES };

FIXTURE(map)
{
	struct dev	d;		/* producer */
	struct dev	r;		/* consuming reader */
	int		fd[SIDES];
};

FIXTURE_SETUP(map)
{
	struct xsprof_open o = { .size = sizeof(o) };

	ASSERT_EQ(0, dev_attach(&self->d, XSPROF_MODE_DISCARD, 16 << 10, 2));
	ASSERT_EQ(0, dev_ring_open(&self->d, self->d.nr));
	ASSERT_EQ(0, dev_read_id(&self->r, self->d.fd, self->d.id, XSPROF_OPEN_CONSUME));
	o.id = self->d.id;
	self->fd[CONTROL_FD] = dev_open();
	self->fd[PRODUCER_FD] = self->d.fd;
	self->fd[READER_FD] = dev_call(self->d.fd, XSPROF_IOC_OPEN, &o);
	self->fd[CONSUMER_FD] = self->r.fd;
	for (unsigned int i = 0; i < SIDES; i++)
		ASSERT_GE(self->fd[i], 0);
}

FIXTURE_TEARDOWN(map)
{
	dev_close(&self->r);
	dev_close(&self->d);
	close(self->fd[CONTROL_FD]);
	close(self->fd[READER_FD]);
}

static sigjmp_buf env;

static void on_fault(int sig)
{
	siglongjmp(env, sig);
}

static void catch_faults(void)
{
	struct sigaction sa = { .sa_handler = on_fault, .sa_flags = SA_NODEFER };

	sigaction(SIGSEGV, &sa, NULL);
	sigaction(SIGBUS, &sa, NULL);
}

/* Return: 0, or the signal that a store to @at raised. */
static int store(volatile uint64_t *at, uint64_t value)
{
	int sig = sigsetjmp(env, 1);

	if (!sig)
		*at = value;
	return sig;
}

static int load(volatile uint64_t *at)
{
	int sig = sigsetjmp(env, 1);

	if (!sig)
		(void)*at;
	return sig;
}

#endif /* KMOD_MMAP_H */
