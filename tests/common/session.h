/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What makes a folder a session with a live recorder, to the processes that record there: a lock on
 * the folder and one on its file "lock", as long as they are open.
 */
#ifndef XSP_TEST_SESSION_H
#define XSP_TEST_SESSION_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

struct session_locks {
	int	dir;
	int	file;
};

/* Creates the file, unless it is there. Return: 0 or a negative errno. */
__attribute__((unused)) static int session_lock(struct session_locks *l, const char *session)
{
	char path[400];

	snprintf(path, sizeof(path), "%s/lock", session);
	l->file = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	l->dir = open(session, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (l->file < 0 || l->dir < 0 || flock(l->file, LOCK_EX) || flock(l->dir, LOCK_EX))
		return -errno;
	return 0;
}

/* As when the recorder dies. */
__attribute__((unused)) static void session_unlock(struct session_locks *l)
{
	close(l->file);
	close(l->dir);
	l->file = l->dir = -1;
}

#endif /* XSP_TEST_SESSION_H */
