/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The device /dev/xsprof for readers: lists producers, what the kernel knows of each, and the
 * kernel's sync points. ring-file.h reads the producers' memory, for both backends.
 */
#ifndef XSP_RING_DEVICE_H
#define XSP_RING_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include <xsprof/ioctl.h>

#include "read/ring-file.h"

/* more than the kernel keeps */
#define XSP_DEVICE_SYNCS	1024u

/**
 * xsp_recording_cookie - the number that identifies a session in the device
 * @path: its folder, or the folder's base name
 *
 * Return: FNV-1a of the base name, never 0, which means no session.
 */
uint64_t xsp_recording_cookie(const char *path);

/**
 * xsp_device_open - open the device for reading producers
 *
 * Return: a descriptor that becomes readable when a producer has come or ended since the last
 * xsp_device_each(); -ENOENT: no device; -EACCES, -errno.
 */
int xsp_device_open(void);

/* A message for such an error with a remedy, to follow the device's name; constant. */
const char *xsp_device_strerror(int err);

/* The same for errors of xsp_device_open_ring() and of calls on its descriptor. */
const char *xsp_device_ring_strerror(int err);

/**
 * xsp_device_each - visit every producer that we may read
 * @fd: the device
 * @after: only numbers above this
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
 * @consume: move its tails: one reader at a time may
 *
 * Return: 0; -ENOENT: no such producer; -EBUSY: another reader consumes it; -EPERM: we may peek but
 * not consume; -errno, including those of xsp_ctl_check().
 */
int xsp_device_open_ring(struct xsp_ring_file *rf, int fd, uint64_t id, bool consume);

/**
 * xsp_device_events - read what the kernel knows of a producer
 * @rf: producer of the device
 * @info: filled in
 *
 * Acknowledges events: the descriptor is not readable again before a new one.
 */
int xsp_device_events(const struct xsp_ring_file *rf, struct xsprof_info *info);

/**
 * xsp_device_watch - set when the descriptor of a producer becomes readable
 * @rf: producer that we consume
 * @slots: after this many slots in a ring, 0 to disable
 * @period: after this many ns if anything was written, 0 to disable
 */
int xsp_device_watch(const struct xsp_ring_file *rf, uint64_t slots, uint64_t period);

/* Disables a producer that we consume, or enables it again. Return: 0 or -errno. */
int xsp_device_pause(const struct xsp_ring_file *rf, bool pause);

/*
 * Ends recording in a producer of either backend: its markers are disabled from then on. Return: 0;
 * 1: they are not, as a profile of the program reads the same rings; -errno.
 */
int xsp_ring_switch_off(const struct xsp_ring_file *rf);

/**
 * xsp_device_sched - start or stop recording scheduler events of a producer's threads
 * @rf: producer of the device
 * @on: start or stop
 *
 * Return: 1 if it was on before, 0 if not; -ENOTTY: the module lacks it; -errno.
 */
int xsp_device_sched(const struct xsp_ring_file *rf, bool on);

/*
 * Lets the kernel free a producer that was read: now that it has ended or, with @at_end, when it
 * ends.
 */
int xsp_device_drop(const struct xsp_ring_file *rf, bool at_end);

/**
 * xsp_device_syncs - read the kernel's sync points
 * @fd: the device, or a producer
 * @syncs: array of XSP_DEVICE_SYNCS, filled in, oldest first
 *
 * Return: their number; -errno.
 */
int xsp_device_syncs(int fd, struct xsprof_sync *syncs);

#endif /* XSP_RING_DEVICE_H */
