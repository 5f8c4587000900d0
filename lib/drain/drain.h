/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The drain: finds the producers of a session and of the device, reads all their rings while
 * they run, and stores what they hold in a capture, each producer's end and account with it.
 * Used by `xsprof record`, `xsprof recover` and by programs that record themselves.
 *
 * It never blocks a producer, never prints, and waits only where its owner does: call
 * xsp_drain_step(), sleep for as long as it says or until xsp_drain_fd() is readable, repeat.
 * One thread.
 */
#ifndef XSP_CAP_DRAIN_H
#define XSP_CAP_DRAIN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "drain/filter.h"
#include "drain/producer.h"
#include "drain/store.h"

struct xsp_drain;

#define XSP_DEATHS	8u	/* processes that are named */

/**
 * struct xsp_death - a process that was killed
 * @pid: process id
 * @signal: by which signal
 */
struct xsp_death {
	pid_t		pid;
	int32_t		signal;
};

/**
 * struct xsp_drain_stats - the recording so far
 * @records: events stored
 * @slots: slots stored
 * @lost_records: records lost: dropped by producers, or read with no room in the file
 * @late_records: of these, those of a process that was just about to have rings
 * @lost_slots: slots overwritten before they were read, in OVERWRITE mode
 * @bad_slots: slots refused
 * @no_room: why rings of a process got no more memory, an errno; 0: all did
 * @devices: GPUs that processes have stated, each as often as it was
 * @modules: bit k: a function of the module with that number was called, of --python-trace's
 * @bytes: of the file
 * @producers: seen
 * @live: not ended
 * @on_device: of those seen, the device's
 * @killed: processes that a signal ended
 * @vanished: processes of which it is not known how they ended
 * @deaths: the first that were killed
 * @refused: files that are no producers, and processes that could not become one
 * @error: the first error of the file
 */
struct xsp_drain_stats {
	uint64_t	records;
	uint64_t	slots;
	uint64_t	lost_records;
	uint64_t	late_records;
	uint64_t	lost_slots;
	uint64_t	bad_slots;
	uint32_t	no_room;
	uint64_t	devices;
	uint64_t	modules;
	uint64_t	bytes;
	uint32_t	producers;
	uint32_t	live;
	uint32_t	on_device;
	uint32_t	killed;
	uint32_t	vanished;
	struct xsp_death deaths[XSP_DEATHS];
	uint32_t	refused;
	int		error;
};

/**
 * xsp_drain_open - begin to drain a session into a capture
 * @dirfd: the session; the caller keeps it open.  -1 for none
 * @cap: where to; the caller ends and frees it
 * @ops: questions to the caller, NULL for none
 * @data: passed to them
 * @first: number of the first new producer: 0, or more where @cap goes on with a capture
 * @out: the drain
 */
int xsp_drain_open(int dirfd, struct xsp_cap *cap, const struct xsp_drain_ops *ops, void *data,
		   uint32_t first, struct xsp_drain **out);
void xsp_drain_close(struct xsp_drain *d);

/**
 * xsp_drain_add_device - drain producers of the device too
 * @d: drain
 * @fd: of xsp_device_open(); closed with the drain, and where this fails; kept inside a program
 * @filter: which; its arrays stay the caller's
 *
 * Return: 0 or -errno.
 */
int xsp_drain_add_device(struct xsp_drain *d, int fd, const struct xsp_device_filter *filter);

/**
 * xsp_drain_add_notices - hear of processes that cannot reach the session
 * @d: drain
 * @session: its folder
 *
 * Return: 0 or -errno.
 */
int xsp_drain_add_notices(struct xsp_drain *d, const char *session);

/**
 * xsp_drain_peek - look at a producer of somebody's session
 * @d: drain of no session, whose filter says peek
 * @dirfd: the session
 * @name: its file
 *
 * Return: 0, also when it is looked at already; -ESRCH: it has ended, and what it left is read in
 * the next step, or was; -errno.
 */
int xsp_drain_peek(struct xsp_drain *d, int dirfd, const char *name);

/* Events of others are converted with its sync points: they are taken without a producer too. */
void xsp_drain_set_clocks(struct xsp_drain *d);

/* A drain without a device that only looks, at what xsp_drain_peek() names. */
void xsp_drain_set_peek(struct xsp_drain *d);

/* Readable when there is something to do; -1 where nothing tells. */
int xsp_drain_fd(const struct xsp_drain *d);

/* A process has ended: look at all producers in the next step. */
void xsp_drain_look(struct xsp_drain *d);

/**
 * xsp_drain_step - find, read, store, once
 * @d: drain
 *
 * Return: ns to sleep before the next step, 0 for none; UINT64_MAX until xsp_drain_fd() is
 * readable, which happens only with a device.
 */
uint64_t xsp_drain_step(struct xsp_drain *d);

/* All that is published by now, with its clocks and accounts, whole in the file; it goes on. */
void xsp_drain_flush(struct xsp_drain *d);

/**
 * xsp_drain_finish - the end: switch off who still runs, read all that is left, write totals
 * @d: drain
 * @why: as in struct xsprof_cap_end
 *
 * Return: 0, or the first error of the file.
 */
int xsp_drain_finish(struct xsp_drain *d, uint32_t why);

void xsp_drain_get_stats(const struct xsp_drain *d, struct xsp_drain_stats *stats);

/* What @no_room of the totals means, not 0, and what helps, but where the tmpfs was full. */
const char *xsp_drain_no_room(uint32_t err);

/* The first producer that has not ended; go on with ->next. */
const struct xsp_producer *xsp_drain_producers(const struct xsp_drain *d);

#endif /* XSP_CAP_DRAIN_H */
