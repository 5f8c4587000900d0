// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whether what a recovery wrote is on the disk as it was written: it is the only copy soon.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "recover/local.h"

/* The writer's descriptor may not read. */
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
	/* Each chunk is read, and its checksum is that of what was in memory. */
	err = scan_capture(copy, &scan);
	close(copy);
	if (err)
		return err == -ENOMEM ? err : -EIO;
	if (!scan.ended || scan.size != cap->size)
		err = -EIO;
	scan_free(&scan);
	return err;
}
