/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loads a library into a running Python process.
 *
 * inject.c controls it, process.c checks whether the process can be used, target.c finds its
 * functions, symbols.c reads symbols of its files, safe.c decides at which moments a thread may be
 * used, call.c makes a thread call a function and restores it, left.c releases threads that stop
 * too late.
 */
#ifndef XSPROF_INJECT_H
#define XSPROF_INJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define INJECT_WHY	512u	/* size of an error message */

/**
 * struct inject - the library to load
 * @pid: process id of the target
 * @library: its path
 * @symbol: the function in it that is called with a string; it returns 0 or a negative errno
 * @options: the string, which follows an address in Python, in hexadecimal, and a blank
 * @asked: has the user requested to stop?
 * @data: passed to @asked
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
 * inject() - load a library and call a function of it
 * @what: see struct inject
 * @why: set on failure: the reason and what to do; INJECT_WHY bytes
 *
 * The process keeps running, except one thread, which is stopped for a few milliseconds.
 *
 * Return: 0 or a negative errno, also that of the function; -EINTR: the user requested to stop.
 */
int inject(const struct inject *what, char *why);

/**
 * inject_settle() - release threads that stopped late
 *
 * To be called now and then by the thread that called inject(): each stop sends it SIGCHLD.
 */
void inject_settle(void);

#endif /* XSPROF_INJECT_H */
