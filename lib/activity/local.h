/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What the files of activity/ call of each other, from bottom to top:
 *
 *	clock.c		the markers' clock in nanoseconds, and clocks of devices
 *	device.c	numbers of devices, and what is said of them
 *	put.c		many activities, and the account of those that are not recorded
 *	thread.c	collectors, and their threads
 *	trust.c		files that no other user can write to
 *	plugin.c	collectors that are files
 */
#ifndef XSP_ACTIVITY_LOCAL_H
#define XSP_ACTIVITY_LOCAL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <xsprof/collector.h>

#include "base/own.h"

#define XSP_SECOND	1000000000u

/* ---- clock.c ---- */
#define XSP_DEVICES	1024u	/* numbers that there are */

/* Of CLOCK_MONOTONIC, ns: for what is waited for. */
uint64_t xsp_monotonic(void) XSP_HIDDEN;
/* A device has a clock from now on, if it has none.  Return: 0; -ENOMEM. */
int xsp_clock_add(uint32_t number, const char *kind) XSP_HIDDEN;
/* The counter of each clock that is known better or worse than its counter says. */
void xsp_clocks_show(void) XSP_HIDDEN;
/* In the child of a fork.  The same of the others. */
void xsp_clocks_forget(void) XSP_HIDDEN;

/* ---- device.c ---- */
void xsp_devices_forget(void) XSP_HIDDEN;

/**
 * struct xsp_collector - a collector
 * @c: what it said, with zeros for fields that it does not know
 * @lock: of @rung to @done
 * @wake: something of these has changed
 * @thread: where @pid is this process
 * @pid: process of @thread; 0 for none.  Under the lock of all collectors
 * @category: that of @c as a number
 * @rung: @work is to be called
 * @end: the program ends
 * @over: the thread has done its last
 * @asked: times that somebody wanted what is known by now
 * @done: @asked of before the last @work
 * @on: @start was called, and @stop was not: the thread's
 * @told: one of them was called: the thread's
 * @written: bytes since the recorder was waited for: the thread's
 * @stalled: since when the recorder takes nothing, ns of CLOCK_MONOTONIC; 0: it does
 * @patience: until when it is waited for, 0: always
 * @off: activities that came while recording was off
 * @next: another
 */
struct xsp_collector {
	struct xsprof_collector	c;
	pthread_mutex_t		lock;
	pthread_cond_t		wake;
	pthread_t		thread;
	pid_t			pid;
	int			category;
	bool			rung;
	bool			end;
	bool			over;
	uint32_t		asked;
	uint32_t		done;
	bool			on;
	bool			told;
	uint64_t		written;
	uint64_t		stalled;
	uint64_t		patience;
	struct xsprof_miss	off;
	struct xsp_collector	*next;
};

/* ---- put.c ---- */
/* The recorder takes nothing any more, and has for @ns. */
bool xsp_recorder_gone(struct xsp_collector *k, uint64_t ns) XSP_HIDDEN;
/* A counter of each that has changed. */
void xsp_misses_show(struct xsp_collector *k) XSP_HIDDEN;
/* In the child of a fork: it has missed nothing yet. */
void xsp_misses_forget(struct xsp_collector *k) XSP_HIDDEN;

/* ---- trust.c ---- */
/**
 * xsp_trust_file() - can nobody but this user and root change what is in a file?
 * @path: absolute, without links and dots: of realpath()
 * @why: set to the reason and the cure where it is not so
 * @size: bytes of @why
 *
 * Looks at it and at all folders above it.
 *
 * Return: 0; -EISDIR, -EINVAL: no regular file; -EACCES; another negative errno.
 */
int xsp_trust_file(const char *path, char *why, size_t size) XSP_HIDDEN;

#endif /* XSP_ACTIVITY_LOCAL_H */
