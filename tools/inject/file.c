// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opens files by their paths in another process. The process may have put anything there: a link to
 * a place that only xsprof may access, a device, a pipe without a writer. So a path is resolved
 * like in the process itself, only regular files are opened, and the opened file is the resolved
 * one.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inject/local.h"

/* Kernels before 5.6 resolve links from xsprof's root: the result is then another file. */
static int look_up(int root, const char *path)
{
	const struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));

	if (fd < 0 && errno == ENOSYS)
		fd = openat(root, path + strspn(path, "/"), O_PATH | O_CLOEXEC | O_NOFOLLOW);
	return fd < 0 ? -errno : fd;
}

int file_find(pid_t pid, const char *path, struct stat *st)
{
	char root[64];
	int dir, fd;

	snprintf(root, sizeof(root), "/proc/%d/root", (int)pid);
	dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	fd = look_up(dir, path);
	close(dir);
	if (fd < 0)
		return fd;
	if (!fstat(fd, st) && S_ISREG(st->st_mode))
		return fd;
	close(fd);
	return -ESTALE;
}

int file_open(int found)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", found);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}
