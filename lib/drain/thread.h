/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * A drain inside the program that it records: a thread of the library's own that does its steps.
 * It never takes a signal.
 */
#ifndef XSP_DRAIN_THREAD_H
#define XSP_DRAIN_THREAD_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>

#include "drain/drain.h"

/**
 * struct xsp_drain_thread - a thread, and what wakes it
 * @drain: the drain; its owner's while the thread does not run
 * @ready: may the drain do a step?  The program may have closed descriptors; false ends the thread
 * @open: NULL, or makes the drain, in the thread, which has descriptors of its own if it can have.
 *	Return: 0 or -errno
 * @close: with @open: ends it there
 * @data: passed to them
 * @thread: the thread
 * @wake: a pipe; closed at one end it wakes
 * @opened: @err is set
 * @err: of @open
 * @stop: it is to end
 * @runs: there is one
 */
struct xsp_drain_thread {
	struct xsp_drain	*drain;
	bool			(*ready)(void *data);
	int			(*open)(void *data);
	void			(*close)(void *data);
	void			*data;
	pthread_t		thread;
	int			wake[2];
	sem_t			opened;
	int			err;
	bool			stop;
	bool			runs;
};

/* Return: 0 or -errno, of @open too. */
int xsp_drain_thread_begin(struct xsp_drain_thread *t, const char *name);
/* When this returns it has ended, and has done all of its last step. */
void xsp_drain_thread_end(struct xsp_drain_thread *t);

#endif /* XSP_DRAIN_THREAD_H */
