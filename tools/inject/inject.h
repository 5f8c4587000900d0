/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loading a library of ours into a Python that runs.
 *
 * inject.c decides, process.c knows whether the process is one that can be used, target.c where its
 * functions are, symbols.c reads these in its files, safe.c knows the moments at which a thread may
 * be used, call.c has a thread call a function and go on as if nothing had been, left.c lets those
 * go that stop too late.
 */
#ifndef XSPROF_INJECT_H
#define XSPROF_INJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define INJECT_WHY	512u	/* bytes of a reason */

/**
 * struct inject - what is to be loaded
 * @pid: into which process
 * @library: its path
 * @symbol: the function in it that is called with a text; it returns 0 or a negative errno
 * @options: the text, behind an address in Python, hexadecimal, and a blank
 * @asked: are we asked to give up?
 * @data: passed to it
 */
struct inject {
	pid_t		pid;
	const char	*library;
	const char	*symbol;
	const char	*options;
	bool		(*asked)(void *data);
	void		*data;
};

/**
 * inject() - load it and call the function
 * @what: see there
 * @why: set to the reason where it cannot be done, with its cure; of INJECT_WHY bytes
 *
 * The process runs on while it is done, but for one thread, for a few milliseconds.
 *
 * Return: 0 or a negative errno, which the function may have returned; -EINTR: we were asked to
 * give up.
 */
int inject(const struct inject *what, char *why);

/**
 * inject_settle() - let threads go that were told to stop and have done so only now
 *
 * To be called now and then, by the thread that calls inject(): a stop is a SIGCHLD.
 */
void inject_settle(void);

#endif /* XSPROF_INJECT_H */
