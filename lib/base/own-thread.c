// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Threads of the library's own: with little stack, a name, and none of the program's signals.
 */
#include <pthread.h>
#include <signal.h>

#include "ring/state.h"

/**
 * xsp_thread_start() - begin a thread of our own
 * @thread: set to it
 * @name: as it is seen in /proc, at most 15 bytes
 * @stack: bytes of its stack
 * @run: what it does
 * @data: passed to @run
 *
 * Return: 0 or a negative errno.
 */
int xsp_thread_start(pthread_t *thread, const char *name, size_t stack, void *(*run)(void *data),
		     void *data)
{
	pthread_attr_t attr;
	sigset_t all, old;
	int err;

	err = -pthread_attr_init(&attr);
	if (err)
		return err;
	pthread_attr_setstacksize(&attr, stack);
	/* The program's signals are its own threads'. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = -pthread_create(thread, &attr, run, data);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	if (!err)
		pthread_setname_np(*thread, name);
	return err;
}
