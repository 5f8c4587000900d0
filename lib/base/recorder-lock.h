/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Tells whether a session's recorder lives, by the locks that it holds (read/recording.h).
 * Plain system calls only: a forked child asks in a signal handler.
 */
#ifndef XSP_RECORDER_LOCK_H
#define XSP_RECORDER_LOCK_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/file.h>
#include <unistd.h>

static inline bool xsp_recorder_locked(int fd)
{
	return flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

/**
 * xsp_recorder_lives() - has this session a live recorder?
 * @dir: descriptor of the session's directory; O_PATH is enough
 *
 * Return: 1 yes; 0 no; -ENOENT no lock file, so no; another negative errno: unknown.
 */
static inline int xsp_recorder_lives(int dir)
{
	int fd = openat(dir, "lock", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	bool locked;

	if (fd < 0)
		return -errno;
	/* Not the directory's lock alone: `xsprof recover` holds that of a dead recorder. */
	locked = xsp_recorder_locked(fd);
	close(fd);
	if (!locked)
		return 0;
	/*
	 * Not the file's alone: a process of the session that has changed its user can take it when
	 * the recorder is dead. It cannot open the directory; neither can we, if we are such a
	 * process: then the file's lock must do.
	 */
	fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return 1;
	locked = xsp_recorder_locked(fd);
	close(fd);
	return locked;
}

#endif /* XSP_RECORDER_LOCK_H */
