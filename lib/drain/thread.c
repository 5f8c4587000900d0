// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Runs a drain in a thread inside a program: see thread.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "base/own-fd.h"
#include "drain/thread.h"

#define STACK_SIZE	(256u << 10)

static void steps(struct xsp_drain_thread *t)
{
	while (!__atomic_load_n(&t->stop, __ATOMIC_ACQUIRE) && t->ready(t->data)) {
		struct timespec ts = { 0, xsp_drain_step(t->drain) % 1000000000u };
		struct pollfd fds[2] = {
			{ .fd = t->wake[0], .events = POLLIN },
			{ .fd = xsp_drain_fd(t->drain), .events = POLLIN },
		};

		if (ts.tv_nsec)
			ppoll(fds, 2, &ts, NULL);
	}
}

static void *run(void *data)
{
	struct xsp_drain_thread *t = data;
	int err;

	/* The program may cancel threads that it does not know. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	if (!t->open) {
		steps(t);
		return NULL;
	}
	(void)xsp_fd_private(t->wake[0]);
	err = t->open(t->data);
	t->err = err;
	sem_post(&t->opened);
	if (err)
		return NULL;
	steps(t);
	t->close(t->data);
	return NULL;
}

static int start(struct xsp_drain_thread *t, const char *name)
{
	int err;

	t->stop = false;
	err = xsp_thread_start(&t->thread, name, STACK_SIZE, run, t);
	if (err || !t->open)
		return err;
	while (sem_wait(&t->opened))
		;
	if (t->err)
		pthread_join(t->thread, NULL);
	return t->err;
}

int xsp_drain_thread_begin(struct xsp_drain_thread *t, const char *name)
{
	int err;

	/* A pipe rather than an eventfd: if its number is reused, the other file is recognised. */
	if (pipe2(t->wake, O_CLOEXEC | O_NONBLOCK))
		return -errno;
	t->wake[0] = xsp_fd_keep(t->wake[0]);
	t->wake[1] = xsp_fd_keep(t->wake[1]);
	sem_init(&t->opened, 0, 0);
	err = t->wake[0] < 0 || t->wake[1] < 0 ? -EMFILE : start(t, name);
	t->runs = !err;
	if (err) {
		xsp_fd_close(t->wake[0]);
		xsp_fd_close(t->wake[1]);
	}
	return err;
}

void xsp_drain_thread_end(struct xsp_drain_thread *t)
{
	if (!t->runs)
		return;
	__atomic_store_n(&t->stop, true, __ATOMIC_RELEASE);
	/*
	 * Wakes the reading end; if the program has closed that, the thread notices within 50 ms.
	 */
	xsp_fd_close(t->wake[1]);
	pthread_join(t->thread, NULL);
	xsp_fd_close(t->wake[0]);
	t->runs = false;
}
