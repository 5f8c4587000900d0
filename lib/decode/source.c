// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Source of bytes: a file, or a pipe copied to an unnamed temporary file.
 *
 * Uses pread(), not a mapping: truncation of the file is then an error and not SIGBUS in the user's
 * program, and data that was read does not count as its memory. Never writes to the file.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/pread.h"
#include "base/write-all.h"
#include "decode/local.h"

#define SPOOL_PIECE	(256u << 10)

/* Opens a temporary file that disappears when it is closed. */
static int open_spool(void)
{
	const char *dir = getenv("TMPDIR");
	char path[4096];
	int fd;

	if (!dir || dir[0] != '/')
		dir = "/tmp";
	fd = open(dir, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	/* Fallback: not all file systems support O_TMPFILE. */
	if (snprintf(path, sizeof(path), "%s/xsprof-XXXXXX", dir) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(path);
	return fd;
}

static int copy(int from, int to)
{
	char *piece = malloc(SPOOL_PIECE);
	int err = piece ? 0 : -ENOMEM;

	while (!err) {
		ssize_t n = read(from, piece, SPOOL_PIECE);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			err = n ? -errno : 0;
			break;
		}
		err = xsp_write_all(to, piece, n);
	}
	free(piece);
	return err;
}

static int spool(struct xsprof_trace *t, int from)
{
	int fd = open_spool();
	int err;

	if (fd < 0)
		return xst_fail(t, fd,
				"cannot make a temporary file to hold the pipe (%s): set TMPDIR",
				strerror(-fd));
	err = copy(from, fd);
	if (err) {
		close(fd);
		return xst_fail(t, err, "cannot copy the pipe to a temporary file: %s",
				strerror(-err));
	}
	t->file.src.fd = fd;
	return 0;
}

/* Takes ownership of @fd. */
static int use(struct xsprof_trace *t, int fd)
{
	struct stat st;
	int err;

	if (fstat(fd, &st)) {
		err = -errno;
		goto out;
	}
	if (S_ISDIR(st.st_mode)) {
		err = xst_fail(t, -EISDIR, "is a directory; name a capture file in it");
		goto out;
	}
	if (S_ISREG(st.st_mode)) {
		t->file.src.fd = fd;
		t->file.src.growing = true;
		t->file.src.size = st.st_size;
		return 0;
	}
	if (!S_ISFIFO(st.st_mode) && !S_ISSOCK(st.st_mode) && !S_ISCHR(st.st_mode)) {
		err = xst_fail(t, -EINVAL, "is neither a file nor a pipe");
		goto out;
	}
	err = spool(t, fd);
	if (!err && fstat(t->file.src.fd, &st))
		err = -errno;
	if (!err)
		t->file.src.size = st.st_size;
out:
	close(fd);
	if (err && !t->error[0])
		xst_fail(t, err, "%s", strerror(-err));
	return err;
}

int xst_source_open(struct xsprof_trace *t, const char *path)
{
	int fd, err;

	if (!strcmp(path, "-")) {
		fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
		if (fd < 0)
			return xst_fail(t, -errno, "standard input is closed");
		return use(t, fd);
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		err = -errno;
		return xst_fail(t, err, "%s", strerror(-err));
	}
	return use(t, fd);
}

void xst_source_close(struct xst_source *src)
{
	if (src->fd >= 0)
		close(src->fd);
	src->fd = -1;
}

int xst_source_read(const struct xst_source *src, uint64_t off, void *buf, size_t len)
{
	return xsp_pread(src->fd, buf, len, off);
}

bool xst_source_grown(struct xst_source *src)
{
	struct stat st;

	if (!src->growing || fstat(src->fd, &st) || (uint64_t)st.st_size <= src->size)
		return false;
	src->size = st.st_size;
	return true;
}
