/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Detects the end of a process that is not our child: its pidfd becomes readable when its last
 * thread has ended; newer kernels also keep its exit status.
 */
#ifndef XSP_BASE_PIDFD_H
#define XSP_BASE_PIDFD_H

#include <stdbool.h>
#include <sys/types.h>

/* Return: a descriptor, closed on exec; or -errno. */
int xsp_pidfd_open(pid_t pid);

/* Has the process ended? True for a zombie. */
bool xsp_pidfd_ended(int fd);

/*
 * The status as from wait(), available after the process was reaped; Linux 6.15 and newer.
 *
 * Return: 0; -ENODATA: unknown, or not yet.
 */
int xsp_pidfd_status(int fd, int *status);

#endif /* XSP_BASE_PIDFD_H */
