// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Joining a recorder's session: the checks of its directory, and the word to the recorder from a
 * process that cannot record.  Owns nothing.
 *
 * Plain system calls only: a forked child attaches at its first marker, which may be in a
 * signal handler.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file-name.h"
#include "base/proc.h"
#include "process/join.h"

/**
 * xsp_recording_join() - the session's directory, if it is one of ours with a live recorder
 * @path: absolute path
 *
 * Return: a descriptor; -ENOTCONN no recorder; -EACCES not ours; another negative errno.
 */
int xsp_recording_join(const char *path)
{
	int dir, lock, held;
	struct stat st;

	dir = open(path, O_DIRECTORY | O_NOFOLLOW | O_RDONLY | O_CLOEXEC);
	if (dir < 0)
		return errno == ENOENT ? -ENOTCONN : -errno;
	if (fstat(dir, &st) || st.st_uid != geteuid() || (st.st_mode & 077)) {
		close(dir);
		return -EACCES;
	}
	lock = openat(dir, "lock", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (lock < 0) {
		close(dir);
		return -ENOTCONN;
	}
	/* A recorder holds it for as long as it lives: to get it is to know that none does. */
	held = flock(lock, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
	close(lock);
	if (!held) {
		close(dir);
		return -ENOTCONN;
	}
	return dir;
}

/**
 * xsp_recording_live() - is there somebody who records in this session?
 * @session: the session's directory
 *
 * Return: 0; -ENOTCONN no recorder; -EACCES not ours; another negative errno.
 */
int xsp_recording_live(const char *session)
{
	int dir = xsp_recording_join(session);

	if (dir < 0)
		return dir;
	close(dir);
	return 0;
}

/**
 * xsp_recording_note() - tell the recorder why this process does not record
 * @session: the session's directory
 * @text: one line
 *
 * Best effort: where not even this can be written there is nobody to tell.
 */
void xsp_recording_note(const char *session, const char *text)
{
	struct rlimit rl;
	char name[XSP_FILE_NAME];
	int dir, fd;

	dir = xsp_recording_join(session);
	if (dir < 0)
		return;
	/* Beyond its limit of file size a write is a signal that ends the program. */
	if (!getrlimit(RLIMIT_FSIZE, &rl) && rl.rlim_cur < strlen(text)) {
		close(dir);
		return;
	}
	xsp_file_name(name, 'e', getpid(), xsp_proc_start_time(), 0);
	fd = openat(dir, name, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0) {
		if (write(fd, text, strlen(text)) < 0)
			unlinkat(dir, name, 0);
		close(fd);
	}
	close(dir);
}
