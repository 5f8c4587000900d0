/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The drain: finds the producers of a session and of the device, reads all their rings while they
 * run, and stores the records in a capture, with each producer's end and counts. Used by `xsprof
 * record`, `xsprof recover` and programs that record themselves.
 *
 * It never blocks a producer, never prints, and does not wait itself: its owner calls
 * xsp_drain_step(), sleeps for the time that it returns or until xsp_drain_fd() is readable, and
 * repeats. Single-threaded.
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

#define XSP_DEATHS	8u	/* number of killed processes reported by pid */

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
 * struct xsp_drain_stats - totals so far
 * @records: events stored
 * @slots: slots stored
 * @lost_records: records lost: dropped by producers, or read but not stored for lack of room in the
 *	file
 * @late_records: of these, records of processes that had no rings yet
 * @lost_slots: slots overwritten before they were read, in OVERWRITE mode
 * @bad_slots: invalid slots
 * @elsewhere_slots: recovery: slots that the killed recorder had stored in a capture that is
 *	missing
 * @no_room: errno why rings of a process got no more memory; 0: all did
 * @devices: GPUs that processes have stated, counted once per statement
 * @cuda: a process used CUDA, or a collector said what it does not record
 * @sampled: the stacks of a Python were sampled
 * @modules: bit k: a function of module k of --python-trace was called
 * @bytes: size of the file
 * @producers: producers seen
 * @live: producers that have not ended
 * @on_device: of @producers, those of the device
 * @killed: processes that were killed by a signal
 * @vanished: processes that ended in an unknown way
 * @deaths: the first killed ones
 * @refused: files that are not producers, and processes that could not become one
 * @error: first write error of the file
 */
struct xsp_drain_stats {
	uint64_t	records;
	uint64_t	slots;
	uint64_t	lost_records;
	uint64_t	late_records;
	uint64_t	lost_slots;
	uint64_t	bad_slots;
	uint64_t	elsewhere_slots;
	uint32_t	no_room;
	uint64_t	devices;
	bool		cuda;
	bool		sampled;
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
 * xsp_drain_open - start to drain a session into a capture
 * @dirfd: the session's folder; stays the caller's. -1 for none
 * @cap: the capture; the caller ends and frees it
 * @ops: callbacks to the caller, NULL for none
 * @data: passed to them
 * @first: number of the first new producer: 0, or more if @cap continues a capture
 * @out: set to the drain
 */
int xsp_drain_open(int dirfd, struct xsp_cap *cap, const struct xsp_drain_ops *ops, void *data,
		   uint32_t first, struct xsp_drain **out);
void xsp_drain_close(struct xsp_drain *d);

/**
 * xsp_drain_add_device - also drain producers of the device
 * @d: drain
 * @fd: from xsp_device_open(); closed with the drain, or on failure; kept inside a program
 * @filter: selection; its arrays stay the caller's
 *
 * Return: 0 or -errno.
 */
int xsp_drain_add_device(struct xsp_drain *d, int fd, const struct xsp_device_filter *filter);

/**
 * xsp_drain_add_notices - receive notices of processes that cannot reach the session
 * @d: drain
 * @session: the session's folder
 *
 * Return: 0 or -errno.
 */
int xsp_drain_add_notices(struct xsp_drain *d, const char *session);

/**
 * xsp_drain_peek - peek at a producer of any session
 * @d: drain without a session, whose filter says peek
 * @dirfd: the session's folder
 * @name: file of the producer
 *
 * Return: 0, also if it is being read already; -ESRCH: it has ended, and the rest of its records is
 * read in the next step, or was; -errno.
 */
int xsp_drain_peek(struct xsp_drain *d, int dirfd, const char *name);

/* Takes sync points even without a producer, because other events are converted with them. */
void xsp_drain_set_clocks(struct xsp_drain *d);

/* For a drain without a device that only peeks at producers given to xsp_drain_peek(). */
void xsp_drain_set_peek(struct xsp_drain *d);

/* Becomes readable when there is work; -1: there is no such notification. */
int xsp_drain_fd(const struct xsp_drain *d);

/* A process has ended: check all producers in the next step. */
void xsp_drain_look(struct xsp_drain *d);

/**
 * xsp_drain_step - find producers, read rings, store; once
 * @d: drain
 *
 * Return: ns to sleep before the next step, 0 for none; UINT64_MAX: until xsp_drain_fd() is
 * readable, only with a device.
 */
uint64_t xsp_drain_step(struct xsp_drain *d);

/* Stores everything published so far, with clocks and counts, completely; then continues. */
void xsp_drain_flush(struct xsp_drain *d);

/**
 * xsp_drain_finish - end: switch off living producers, read everything, write totals
 * @d: drain
 * @why: as in struct xsprof_cap_end
 *
 * Return: 0, or the first write error of the file.
 */
int xsp_drain_finish(struct xsp_drain *d, uint32_t why);

void xsp_drain_get_stats(const struct xsp_drain *d, struct xsp_drain_stats *stats);

/* A message for a @no_room other than 0, with a remedy unless the tmpfs was full. */
const char *xsp_drain_no_room(uint32_t err);

/* The first producer that has not ended; others follow by ->next. */
const struct xsp_producer *xsp_drain_producers(const struct xsp_drain *d);

#endif /* XSP_CAP_DRAIN_H */
