/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Opens a file whose name was chosen by another user, only if it is a regular file at the time of
 * opening. Opening a device may have effects (a watchdog starts), and opening a fifo may wait.
 */
#ifndef XSP_BASE_REGULAR_H
#define XSP_BASE_REGULAR_H

struct stat;

/**
 * xsp_regular_pin - get a reference to a regular file without opening it
 * @dirfd: folder, or AT_FDCWD
 * @name: name in @dirfd; links are followed
 * @st: its type, size and device, for the caller's own checks
 *
 * Return: an O_PATH descriptor; -ENOENT: not a regular file; -errno.
 */
int xsp_regular_pin(int dirfd, const char *name, struct stat *st);

/**
 * xsp_regular_open - open a pinned file
 * @pin: from xsp_regular_pin(); closed
 * @flags: for open(); it does not wait for a lease
 *
 * Return: a descriptor, or a negative errno.
 */
int xsp_regular_open(int pin, int flags);

#endif /* XSP_BASE_REGULAR_H */
