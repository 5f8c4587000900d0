/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The device /dev/xsprof as a reader sees it: which producers there are, what the kernel knows
 * of each, the clocks it took.  What is in a producer's memory is ring-file.h's, for both kinds.
 */
#ifndef XSP_RING_DEVICE_H
#define XSP_RING_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include <xsprof/ioctl.h>

#include "read/ring-file.h"

/* More sync points than the kernel keeps. */
#define XSP_DEVICE_SYNCS	1024u

/**
 * xsp_recording_cookie - the number by which the device knows a session
 * @path: its folder, or the name of that alone
 *
 * Return: FNV-1a of the folder's name, never 0: that is no session.
 */
uint64_t xsp_recording_cookie(const char *path);

/**
 * xsp_device_open - open the device to look at producers
 *
 * Return: a descriptor that poll() finds readable when a producer has come or ended since the
 * last xsp_device_each(); -ENOENT: there is no device; -EACCES, -errno.
 */
int xsp_device_open(void);

/* What such an error says and what to do about it, after the device's name; constant text. */
const char *xsp_device_strerror(int err);

/* The same of an error of xsp_device_open_ring() or a call on what it opened, after its name. */
const char *xsp_device_ring_strerror(int err);

/**
 * xsp_device_each - visit every producer that we may read
 * @fd: the device
 * @after: those above this number
 * @visit: called for each; a non-zero return ends the walk
 * @data: passed to it
 *
 * Return: 0, what @visit returned, or -errno.
 */
int xsp_device_each(int fd, uint64_t after,
		    int (*visit)(void *data, const struct xsprof_info *info), void *data);

/**
 * xsp_device_open_ring - open a producer of the device
 * @rf: filled in
 * @fd: the device
 * @id: the producer's number
 * @consume: to move its tails: one reader at a time may
 *
 * Return: 0; -ENOENT: there is none of that number; -EBUSY: somebody else consumes it; -EPERM: we
 * may look at it, and not consume it; -errno,
 * those of xsp_ctl_check() among them.
 */
int xsp_device_open_ring(struct xsp_ring_file *rf, int fd, uint64_t id, bool consume);

/**
 * xsp_device_events - what the kernel knows of a producer now
 * @rf: producer of the device
 * @info: filled in
 *
 * Acknowledges: its descriptor is not readable again before something happens.
 */
int xsp_device_events(const struct xsp_ring_file *rf, struct xsprof_info *info);

/**
 * xsp_device_watch - when our descriptor of a producer becomes readable
 * @rf: producer that we consume
 * @slots: after so many slots in a ring, 0 for not
 * @period: ns after which it does when anything was written, 0 for never
 */
int xsp_device_watch(const struct xsp_ring_file *rf, uint64_t slots, uint64_t period);

/* Switches a producer that we consume off, or on again.  Return: 0 or -errno. */
int xsp_device_pause(const struct xsp_ring_file *rf, bool pause);

/*
 * Ends recording in a producer of either kind: its markers are disabled from now on.
 * Return: 0 or -errno.
 */
int xsp_ring_switch_off(const struct xsp_ring_file *rf);

/**
 * xsp_device_sched - what the scheduler does with its threads is recorded, or no more
 * @rf: producer of the device
 * @on: it is
 *
 * Return: 1 when it was so before, 0 when it was not; -ENOTTY: a module that cannot; -errno.
 */
int xsp_device_sched(const struct xsp_ring_file *rf, bool on);

/* All of it was read: it need not be kept, once it has ended or, with @at_end, when it will. */
int xsp_device_drop(const struct xsp_ring_file *rf, bool at_end);

/**
 * xsp_device_syncs - the sync points that the kernel took
 * @fd: the device, or a producer
 * @syncs: XSP_DEVICE_SYNCS of them, filled in, oldest first
 *
 * Return: how many; -errno.
 */
int xsp_device_syncs(int fd, struct xsprof_sync *syncs);

#endif /* XSP_RING_DEVICE_H */
