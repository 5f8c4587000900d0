// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Opens the file of a capture: see open.h. Writes nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/regular.h"
#include "capture/open.h"

/* Limit of attempts, as another process may replace the file after each check. */
#define TRIES	16

static int fail(struct xsp_cap_place *place, int err, const char *why)
{
	place->why = why;
	return err;
}

static bool is_trusted(const struct stat *st)
{
	return st->st_uid == geteuid() || !st->st_uid;
}

/*
 * Examines the path. A link made by another user could make us overwrite any file of ours, and a
 * fifo of another user would receive what we write. A link of our own, or of root (/dev/stdout), is
 * followed. @st: st_mode is 0 if nothing exists; @link: it is a link.
 */
static int look(struct xsp_cap_place *place, struct stat *st, bool *link)
{
	memset(st, 0, sizeof(*st));
	*link = false;
	if (lstat(place->path, st)) {
		st->st_mode = 0;
		return errno == ENOENT ? 0 : -errno;
	}
	*link = S_ISLNK(st->st_mode);
	if (*link && !is_trusted(st))
		return fail(place, -EACCES, "is a symbolic link of another user");
	if (*link && stat(place->path, st)) {
		st->st_mode = 0;
		return errno == ENOENT ? 0 : -errno;
	}
	if (S_ISDIR(st->st_mode))
		return fail(place, -EISDIR, "is a directory");
	if (S_ISFIFO(st->st_mode) && !*link && !is_trusted(st))
		return fail(place, -EACCES, "is a pipe of another user");
	return 0;
}

/* On a file system without locks this excludes no other recorder. */
static int lock(struct xsp_cap_place *place, int fd)
{
	if (!flock(fd, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK)
		return 0;
	return fail(place, -EBUSY, "is being written by another recorder");
}

/* Does the path still name @fd, which is locked? */
static bool has_name(const char *path, int fd)
{
	struct stat st, now;

	return !fstat(fd, &st) && !stat(path, &now) && st.st_ino == now.st_ino &&
	       st.st_dev == now.st_dev;
}

static int keep(struct xsp_cap_place *place)
{
	char old[PATH_MAX + 8];

	bool device = !strncmp(place->path, "/dev/", 5) && strncmp(place->path, "/dev/shm/", 9);

	/* Do not open paths that stand for a descriptor: all programs use them. */
	if (device || !strncmp(place->path, "/proc/", 6))
		return fail(place, -EEXIST, "is a file that is not empty");
	if (snprintf(old, sizeof(old), "%s.old", place->path) >= (int)sizeof(old))
		return -ENAMETOOLONG;
	if (rename(place->path, old)) {
		place->old = errno == EISDIR;
		return place->old ? fail(place, -EISDIR, "is a directory") : -errno;
	}
	place->kept = true;
	return 0;
}

/* Renames the existing file to FILE.old, unless another recorder writes it. */
static int move_aside(struct xsp_cap_place *place)
{
	struct stat st;
	int fd = xsp_regular_pin(AT_FDCWD, place->path, &st), err;
	char file[40];

	if (fd >= 0)
		fd = xsp_regular_open(fd, O_WRONLY);
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	err = lock(place, fd);
	snprintf(file, sizeof(file), "/proc/thread-self/fd/%d", fd);
	if (!err && has_name(place->path, fd)) {
		if (!st.st_size || (place->worthless && st.st_uid == geteuid() &&
				    place->worthless(file, st.st_size)))
			err = unlink(place->path) ? -errno : 0;
		else
			err = keep(place);
	}
	close(fd);
	return err;
}

/* Return: a descriptor; -EAGAIN: the file was replaced meanwhile; -errno. */
static int open_it(struct xsp_cap_place *place, const struct stat *st, bool link)
{
	int flags = O_WRONLY | O_CLOEXEC | (link ? 0 : O_NOFOLLOW), fd, err;
	struct stat now;

	/* A new file belongs to the user whatever program made it. */
	if (!st->st_mode)
		flags |= O_CREAT | (link ? 0 : O_EXCL);
	fd = open(place->path, flags, 0600);
	if (fd < 0)
		return errno == EEXIST || errno == ELOOP || (errno == ENOENT && st->st_mode) ?
		       -EAGAIN : -errno;
	err = fstat(fd, &now) ? -errno : 0;
	if (!err && st->st_mode && (st->st_ino != now.st_ino || st->st_dev != now.st_dev))
		err = -EAGAIN;
	if (!err && S_ISREG(now.st_mode))
		err = lock(place, fd);
	/* Another process may have written to it meanwhile. */
	if (!err && S_ISREG(now.st_mode) && (fstat(fd, &now) || now.st_size))
		err = -EAGAIN;
	if (!err)
		return fd;
	close(fd);
	return err;
}

/* A file of another user, or one with a second name, could be read or truncated by others. */
static bool may_be_used(const struct stat *st, bool link)
{
	return !st->st_size && (link || (st->st_uid == geteuid() && st->st_nlink == 1));
}

int xsp_cap_open(struct xsp_cap_place *place)
{
	struct stat st;
	bool link;
	int ret;

	place->kept = false;
	place->why = NULL;
	place->old = false;
	for (unsigned int i = 0; i < TRIES; i++) {
		ret = look(place, &st, &link);
		if (ret)
			return ret;
		if (S_ISREG(st.st_mode) && !may_be_used(&st, link)) {
			ret = move_aside(place);
			if (ret)
				return ret;
			continue;
		}
		ret = open_it(place, &st, link);
		if (ret != -EAGAIN)
			return ret;
	}
	return fail(place, -EAGAIN, "is replaced by another process again and again");
}
