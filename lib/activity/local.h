/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Private header of activity/. Its files from bottom to top:
 *
 *	clock.c		the markers' clock in nanoseconds, and clocks of devices
 *	device.c	numbers and descriptions of devices
 *	put.c		many activities, and the account of those that are not recorded
 *	thread.c	collectors, and their threads
 *	handle.c	names that are given by handles
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
#define XSP_DEVICES	1024u	/* limit of device numbers */

/* CLOCK_MONOTONIC in ns, for timeouts. */
uint64_t xsp_monotonic(void) XSP_HIDDEN;
/* Gives a device a clock, if it has none. Return: 0; -ENOMEM. */
int xsp_clock_add(uint32_t number, const char *kind) XSP_HIDDEN;
/* Records the counter of each clock whose uncertainty has changed. */
void xsp_clocks_show(void) XSP_HIDDEN;
/* In a forked child. Likewise the other _forget(). */
void xsp_clocks_forget(void) XSP_HIDDEN;

/* ---- device.c ---- */
void xsp_devices_forget(void) XSP_HIDDEN;

/**
 * struct xsp_collector - a collector
 * @c: its description, with zeros in fields that it does not know
 * @lock: guards the fields from @rung to @done
 * @wake: signalled when one of them changes
 * @thread: its thread, if @pid is this process
 * @pid: process of @thread; 0: no thread. Guarded by the lock of all collectors
 * @category: number of its category
 * @rung: call @work now
 * @end: the program ends
 * @over: the thread has finished
 * @asked: number of flush requests
 * @done: value of @asked before the last @work
 * @on: @start was called, and @stop was not; used by the thread
 * @told: @start or @stop was called; used by the thread
 * @written: bytes since the last wait for the recorder; used by the thread
 * @stalled: time since when the recorder reads nothing, ns of CLOCK_MONOTONIC; 0: it reads
 * @patience: time until when to wait for it, 0: no limit
 * @wanted_at: ticks when it was last seen that recording is on; set by the thread
 * @off_since: ticks since when recording is off; 0: it is on; used by the thread
 * @off: number of activities that began while recording was off
 * @stated: of each miss, and of @off, the number in the last fact
 * @next: next collector
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
	uint64_t		wanted_at;
	uint64_t		off_since;
	struct xsprof_miss	off;
	uint64_t		*stated;
	struct xsp_collector	*next;
};

/* ---- put.c ---- */
/* Has the recorder read nothing for @ns? */
bool xsp_recorder_gone(struct xsp_collector *k, uint64_t ns) XSP_HIDDEN;
/* Records the counter of each miss that has changed; @last: there will be no more. */
void xsp_misses_show(struct xsp_collector *k, bool last) XSP_HIDDEN;
/* In a forked child: resets the counts. */
void xsp_misses_forget(struct xsp_collector *k) XSP_HIDDEN;

/* ---- thread.c ---- */
/* Those that were added; none is ever removed. */
struct xsp_collector *xsp_collectors(void) XSP_HIDDEN;

/* ---- trust.c ---- */
/**
 * xsp_trust_file() - can no user but this one and root change a file?
 * @path: absolute, without links and dots: from realpath()
 * @why: set to the reason and a remedy if not
 * @size: size of @why
 *
 * Checks the file and all folders above it.
 *
 * Return: 0; -EISDIR, -EINVAL: not a regular file; -EACCES; another negative errno.
 */
int xsp_trust_file(const char *path, char *why, size_t size) XSP_HIDDEN;

#endif /* XSP_ACTIVITY_LOCAL_H */
