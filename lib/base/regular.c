// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Opens a regular file in two steps: a descriptor that only names it (O_PATH) is checked, then
 * reopened through /proc: no name is resolved twice. /proc must be mounted.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/regular.h"

#ifndef AT_STATX_DONT_SYNC
#define AT_STATX_DONT_SYNC	0x4000	/* Linux 4.11; missing in musl */
#endif

int xsp_regular_pin(int dirfd, const char *name, struct stat *st)
{
	int fd = openat(dirfd, name, O_PATH | O_CLOEXEC), err = -ENOENT;

	if (fd < 0)
		return -errno;
	/* No synchronisation with a server: a user's own (FUSE) file system may never answer. */
	if (fstatat(fd, "", st, AT_EMPTY_PATH | AT_STATX_DONT_SYNC))
		err = -errno;
	else if (S_ISREG(st->st_mode))
		return fd;
	close(fd);
	return err;
}

int xsp_regular_open(int pin, int flags)
{
	char path[40];
	int fd;

	/* thread-self: a drain thread inside a program may have its own descriptor table. */
	snprintf(path, sizeof(path), "/proc/thread-self/fd/%d", pin);
	fd = open(path, flags | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		fd = -errno;
	close(pin);
	return fd;
}
