/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The end of a process that is not our child: a descriptor of it becomes readable when its last
 * thread has ended, and newer kernels keep its exit status there.
 */
#ifndef XSP_BASE_PIDFD_H
#define XSP_BASE_PIDFD_H

#include <stdbool.h>
#include <sys/types.h>

/* Return: a descriptor, closed on exec; or -errno. */
int xsp_pidfd_open(pid_t pid);

/* Has the process ended?  A zombie has. */
bool xsp_pidfd_ended(int fd);

/*
 * The status as wait() gives it, from when the process was waited for on; Linux 6.15 and newer.
 *
 * Return: 0; -ENODATA: not known, or not yet.
 */
int xsp_pidfd_status(int fd, int *status);

#endif /* XSP_BASE_PIDFD_H */
