// SPDX-License-Identifier: GPL-2.0-only
/*
 * Verifies that the recovered file is intact on the disk: it will be the only copy.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "recover/local.h"

/* The writer's descriptor is not open for reading. */
static int reopen(int fd)
{
	char path[32];
	int copy;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	copy = open(path, O_RDONLY | O_CLOEXEC);
	return copy < 0 ? -errno : copy;
}

int recover_verify(int fd, const struct xsp_cap *cap)
{
	struct scan scan;
	int copy, err;

	if (fsync(fd))
		return -errno;
	copy = reopen(fd);
	if (copy < 0)
		return copy;
	/* Each chunk is read, and its checksum compared with that of the data in memory. */
	err = scan_capture(copy, &scan);
	close(copy);
	if (err)
		return err == -ENOMEM ? err : -EIO;
	if (!scan.ended || scan.size != cap->size)
		err = -EIO;
	scan_free(&scan);
	return err;
}
