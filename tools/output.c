// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opening a capture's file, as perf does: what is overwritten is kept once, as FILE.old.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output.h"
#include "tool.h"

static int keep_old(const char *path)
{
	char *old;
	int err = 0;

	if (asprintf(&old, "%s.old", path) < 0)
		return -ENOMEM;
	if (rename(path, old)) {
		err = -errno;
		tool_error("%s: cannot be renamed to %s: %s", path, old, strerror(-err));
	}
	free(old);
	return err;
}

int output_open(const char *path)
{
	struct stat st;
	int fd, err;

	/* A pipe or a device is written to as it is. */
	if (!stat(path, &st)) {
		if (S_ISDIR(st.st_mode)) {
			tool_error("%s: is a directory: name a file with -o", path);
			return -EISDIR;
		}
		if (S_ISREG(st.st_mode)) {
			if (st.st_size && access(path, W_OK)) {
				err = -errno;
				tool_error("%s: %s: name another file with -o", path,
					   strerror(-err));
				return err;
			}
			err = st.st_size ? keep_old(path) : 0;
			if (err)
				return err;
		}
	}
	/* What a program did is its user's business. */
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0) {
		err = -errno;
		tool_error("%s: cannot be written: %s: name another file with -o", path,
			   strerror(-err));
		return err;
	}
	return fd;
}

void output_drop(const char *path, int fd)
{
	struct stat st;

	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		unlink(path);
	close(fd);
}
