// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bytes kept in an unnamed file: see spool.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/common/spool.h"

const char *xsp_spool_folder(void)
{
	const char *dir = getenv("TMPDIR");

	return dir && *dir ? dir : P_tmpdir;
}

struct xsp_spool *xsp_spool_new(void)
{
	struct xsp_spool *spool = malloc(sizeof(*spool));

	if (!spool)
		return NULL;
	spool->fd = -1;
	spool->err = 0;
	spool->used = 0;
	spool->total = 0;
	return spool;
}

void xsp_spool_free(struct xsp_spool *spool)
{
	if (!spool)
		return;
	if (spool->fd >= 0)
		close(spool->fd);
	free(spool);
}

/* If the file system does not support O_TMPFILE, the file is created and unlinked. */
static int open_file(void)
{
	char *path;
	int fd;

	fd = open(xsp_spool_folder(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
		return fd >= 0 ? fd : -errno;
	if (asprintf(&path, "%s/xsprof-spool.XXXXXX", xsp_spool_folder()) < 0)
		return -ENOMEM;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	else if (unlink(path) < 0) {
		close(fd);
		fd = -errno;
	}
	free(path);
	return fd;
}

static int flush(struct xsp_spool *spool)
{
	const char *s = spool->data;

	if (spool->fd < 0 && !spool->err) {
		spool->fd = open_file();
		if (spool->fd < 0)
			spool->err = -spool->fd;
	}
	while (!spool->err && spool->used) {
		ssize_t n = write(spool->fd, s, spool->used);

		if (n < 0) {
			if (errno != EINTR)
				spool->err = errno;
			continue;
		}
		s += n;
		spool->used -= (size_t)n;
		spool->total += (uint64_t)n;
	}
	spool->used = 0;
	return -spool->err;
}

int xsp_spool_put(struct xsp_spool *spool, const char *s, size_t len)
{
	while (len && !spool->err) {
		size_t room = sizeof(spool->data) - spool->used, n = len < room ? len : room;

		memcpy(spool->data + spool->used, s, n);
		spool->used += n;
		s += n;
		len -= n;
		if (spool->used == sizeof(spool->data))
			flush(spool);
	}
	return -spool->err;
}

int xsp_spool_copy(struct xsp_spool *spool, struct xsp_buf *buf)
{
	uint64_t at = 0;

	/* If all of it fits in memory, no file is needed. */
	if (spool->fd < 0 && !spool->err) {
		xsp_buf_put(buf, spool->data, spool->used);
		return 0;
	}
	flush(spool);
	while (!spool->err && at < spool->total) {
		ssize_t n = pread(spool->fd, spool->data, sizeof(spool->data), (off_t)at);

		if (n <= 0) {
			if (n == 0 || errno != EINTR)
				spool->err = n == 0 ? EIO : errno;
			continue;
		}
		xsp_buf_put(buf, spool->data, (size_t)n);
		at += (uint64_t)n;
	}
	return -spool->err;
}
