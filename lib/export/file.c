// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Output file of a result: see file.h. Several writers, of this process or others, may use one
 * path: each writes its own temporary file until it is complete.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "export/file.h"
#include "export/scheme.h"

/* Opens an unnamed temporary file, to be read again. */
static int open_nameless(void)
{
	const char *dir = secure_getenv("TMPDIR");
	int fd = open(dir && *dir ? dir : "/tmp", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);

	if (fd < 0)
		fd = memfd_create("xsprof-trace", MFD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int open_file(struct xsr_file *file)
{
	int fd;

	if (xsr_scheme(file->path))
		return open_nameless();
	fd = xsp_open_in_place(file->path);
	return fd == -ENOENT ? xsp_open_beside(file->path, &file->tmp) : fd;
}

int xsr_file_open(struct xsr_file *file, const char *path)
{
	int ret;

	memset(file, 0, sizeof(*file));
	file->path = path;
	file->fd = open_file(file);
	if (file->fd < 0)
		return file->fd;
	ret = xsp_buf_init(&file->buf, file->fd);
	if (!ret)
		ret = xsr_pack_open(&file->pack, &file->buf, path);
	return ret ? xsr_file_close(file, ret) : 0;
}

/* Passes the complete file to the scheme's handler. */
static int hand_over(struct xsr_file *file)
{
	int (*save)(void *data, const char *path, int fd);
	void *data;
	int ret = xsr_scheme_find(file->path, &save, &data);

	if (ret)
		return ret;
	if (lseek(file->fd, 0, SEEK_SET) < 0)
		return -errno;
	ret = save(data, file->path, file->fd);
	return ret > 0 ? -EINVAL : ret;
}

int xsr_file_close(struct xsr_file *file, int err)
{
	err = xsr_pack_close(&file->pack, &file->buf, err);
	if (!err && xsr_scheme(file->path))
		err = hand_over(file);
	if (close(file->fd) < 0 && !err && errno != EINTR)
		err = -errno;
	if (file->tmp && !err && rename(file->tmp, file->path) < 0)
		err = -errno;
	if (file->tmp && err)
		unlink(file->tmp);
	xsp_buf_free(&file->buf);
	free(file->tmp);
	file->tmp = NULL;
	file->fd = -1;
	return err;
}
