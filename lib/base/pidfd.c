// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Descriptors of processes (pidfd).
 */
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/pidfd.h"

/* The fields of PIDFD_GET_INFO up to the last one used. */
struct pidfd_exit {
	uint64_t	mask;
	uint64_t	cgroup;
	uint32_t	ids[11];
	int32_t		status;
	uint64_t	reserved[4];
};

#define PIDFD_GET_EXIT		_IOWR(0xff, 11, struct pidfd_exit)
#define PIDFD_HAS_EXIT		(1ull << 3)

int xsp_pidfd_open(pid_t pid)
{
	int fd = syscall(SYS_pidfd_open, pid, 0);

	return fd < 0 ? -errno : fd;
}

bool xsp_pidfd_ended(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	return poll(&poll_fd, 1, 0) > 0 && poll_fd.revents & (POLLIN | POLLHUP);
}

int xsp_pidfd_status(int fd, int *status)
{
	struct pidfd_exit info = { .mask = PIDFD_HAS_EXIT };

	/* Older kernels return ENOTTY or leave the bit out. */
	if (ioctl(fd, PIDFD_GET_EXIT, &info) || !(info.mask & PIDFD_HAS_EXIT))
		return -ENODATA;
	*status = info.status;
	return 0;
}
