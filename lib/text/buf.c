// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Output buffer: see buf.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "text/buf.h"

int xsp_open_beside(const char *path, char **tmp)
{
	static unsigned int count;
	struct timespec now;
	int tries, fd, err;

	for (tries = 0; tries < 100; tries++) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (asprintf(tmp, "%s.tmp-%d-%x-%lx", path, (int)getpid(),
			     __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED),
			     (unsigned long)now.tv_nsec) < 0) {
			*tmp = NULL;
			return -ENOMEM;
		}
		fd = open(*tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd >= 0)
			return fd;
		err = -errno;
		free(*tmp);
		*tmp = NULL;
		if (err != -EEXIST)
			return err;
	}
	return -EEXIST;
}

/* Was it put there by another user, not root? @st: of the name itself, even if it is a link. */
static bool is_theirs(const struct stat *st)
{
	return st->st_uid && st->st_uid != geteuid() &&
	       (S_ISLNK(st->st_mode) || S_ISFIFO(st->st_mode));
}

int xsp_open_in_place(const char *path)
{
	struct stat st;
	int fd;

	if (lstat(path, &st) || is_theirs(&st) || stat(path, &st) || S_ISREG(st.st_mode))
		return -ENOENT;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int open_file(struct xsp_buf *buf, const char *path)
{
	buf->path = path;
	buf->fd = xsp_open_in_place(path);
	/* Several writers of one name have temporary files of their own until they are complete. */
	if (buf->fd == -ENOENT)
		buf->fd = xsp_open_beside(path, &buf->tmp);
	return buf->fd < 0 ? buf->fd : 0;
}

int xsp_buf_init(struct xsp_buf *buf, int fd)
{
	memset(buf, 0, sizeof(*buf));
	buf->fd = fd;
	buf->base = malloc(XSP_BUF_SIZE);
	if (!buf->base)
		return -ENOMEM;
	buf->p = buf->base;
	buf->limit = buf->base + XSP_BUF_SIZE - XSP_BUF_ROOM;
	return 0;
}

int xsp_buf_memory(struct xsp_buf *buf)
{
	memset(buf, 0, sizeof(*buf));
	buf->fd = -1;
	buf->grows = true;
	buf->base = malloc(2 * XSP_BUF_ROOM);
	if (!buf->base)
		return -ENOMEM;
	buf->p = buf->base;
	buf->limit = buf->base + XSP_BUF_ROOM;
	return 0;
}

/* Doubles the size; on failure there is still room for what comes, which is discarded. */
static int grow(struct xsp_buf *buf)
{
	size_t used = (size_t)(buf->p - buf->base);
	size_t size = (size_t)(buf->limit - buf->base) + XSP_BUF_ROOM;
	char *base = buf->err ? NULL : realloc(buf->base, 2 * size);

	if (!base) {
		buf->err = ENOMEM;
		buf->p = buf->base;
		return -ENOMEM;
	}
	buf->base = base;
	buf->p = base + used;
	buf->limit = base + 2 * size - XSP_BUF_ROOM;
	return 0;
}

void xsp_buf_free(struct xsp_buf *buf)
{
	free(buf->base);
	buf->base = NULL;
}

int xsp_buf_open(struct xsp_buf *buf, const char *path)
{
	int ret = xsp_buf_init(buf, -1);

	if (ret < 0)
		return ret;
	if (!strcmp(path, "-")) {
		buf->fd = STDOUT_FILENO;
		return 0;
	}
	ret = open_file(buf, path);
	if (ret < 0) {
		free(buf->tmp);
		free(buf->base);
		buf->tmp = NULL;
		buf->base = NULL;
	}
	return ret;
}

int xsp_buf_flush(struct xsp_buf *buf)
{
	const char *s = buf->base;

	if (buf->grows)
		return grow(buf);
	if (buf->put && !buf->err) {
		buf->err = -buf->put(buf->data, s, (size_t)(buf->p - s));
		buf->total += (uint64_t)(buf->p - s);
		buf->p = buf->base;
		return -buf->err;
	}
	while (!buf->err && s < buf->p) {
		ssize_t n = write(buf->fd, s, (size_t)(buf->p - s));

		if (n < 0) {
			if (errno != EINTR)
				buf->err = errno;
			continue;
		}
		s += n;
		buf->total += (uint64_t)n;
	}
	buf->p = buf->base;
	return -buf->err;
}

int xsp_buf_close(struct xsp_buf *buf, int keep)
{
	int ret = keep ? xsp_buf_flush(buf) : 0;

	if (buf->path && buf->fd >= 0 && close(buf->fd) < 0 && !ret && errno != EINTR)
		ret = -errno;
	if (buf->tmp && keep && !ret && rename(buf->tmp, buf->path) < 0)
		ret = -errno;
	if (buf->tmp && (!keep || ret))
		unlink(buf->tmp);
	free(buf->tmp);
	free(buf->base);
	buf->tmp = NULL;
	buf->base = NULL;
	buf->fd = -1;
	return ret;
}
