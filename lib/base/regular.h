/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Opening a file of which somebody else has chosen the name: only a regular one, whatever has the
 * name by then.  Opening a device may act (a watchdog begins to count), that of a pipe may wait.
 */
#ifndef XSP_BASE_REGULAR_H
#define XSP_BASE_REGULAR_H

struct stat;

/**
 * xsp_regular_pin - hold a regular file, and not open it
 * @dirfd: folder, or AT_FDCWD
 * @name: there; links are followed
 * @st: its type, size and device, by which the caller may refuse it
 *
 * Return: a descriptor that names the file (O_PATH); -ENOENT: it is no regular file; -errno.
 */
int xsp_regular_pin(int dirfd, const char *name, struct stat *st);

/**
 * xsp_regular_open - open what is held
 * @pin: of xsp_regular_pin(); closed
 * @flags: of open(); it does not wait for a lease
 *
 * Return: a descriptor, or a negative errno.
 */
int xsp_regular_open(int pin, int flags);

#endif /* XSP_BASE_REGULAR_H */
