/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * A drain inside the program that it records: a thread of the library runs its steps. Takes no
 * signals.
 */
#ifndef XSP_DRAIN_THREAD_H
#define XSP_DRAIN_THREAD_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>

#include "drain/drain.h"

/**
 * struct xsp_drain_thread - the thread and its wake-up
 * @drain: the drain; belongs to the owner while the thread does not run
 * @ready: may the drain do a step? The program may have closed descriptors; false ends the thread
 * @open: NULL, or creates the drain in the thread, which has its own descriptor table if possible.
 *	Return: 0 or -errno
 * @close: with @open: ends the drain, in the thread
 * @data: passed to them
 * @thread: the thread
 * @wake: a pipe; closing one end wakes the thread
 * @opened: @err is set
 * @err: result of @open
 * @stop: the thread must end
 * @runs: the thread exists
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

/* Return: 0 or -errno, including that of @open. */
int xsp_drain_thread_begin(struct xsp_drain_thread *t, const char *name);
/* Ends the thread and waits for it; its last step is complete. */
void xsp_drain_thread_end(struct xsp_drain_thread *t);

#endif /* XSP_DRAIN_THREAD_H */
