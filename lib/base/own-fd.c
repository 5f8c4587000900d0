// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Descriptors of the library's own in somebody else's program: out of its way, and known again.
 * Programs close descriptors that they do not know, and the number then is of another file: one
 * that must not be grown, written to, nor closed.  Owns no descriptor.  Signal-safe.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ring/state.h"

#define XSP_FD_MIN	512	/* out of the way of programs that count on low numbers */

/**
 * xsp_fd_high() - a descriptor well above the program's own
 * @fd: descriptor, or a negative number
 *
 * Return: the new one, @fd being closed; @fd where there is no higher one.
 */
int xsp_fd_high(int fd)
{
	int high;

	if (fd < 0)
		return fd;
	high = fcntl(fd, F_DUPFD_CLOEXEC, XSP_FD_MIN);
	if (high < 0)
		return fd;
	close(fd);
	return high;
}

/* Note what @fd is.  Return: 0 or a negative errno. */
int xsp_fd_note(struct xsp_fd_id *id, int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	id->dev = st.st_dev;
	id->ino = st.st_ino;
	return 0;
}

/* Is @fd what was noted? */
bool xsp_fd_is(const struct xsp_fd_id *id, int fd)
{
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) && st.st_dev == id->dev && st.st_ino == id->ino;
}
