// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Joins a recorder's session: checks its directory, and notifies the recorder of a process that
 * cannot record. Owns a descriptor of the directory for forked children: a child that has changed
 * its user or root directory cannot reach it by its path any more.
 *
 * Plain system calls only: a forked child attaches at its first marker, which may be in a
 * signal handler.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file-name.h"
#include "base/hash.h"
#include "base/notice.h"
#include "base/proc.h"
#include "base/recorder-lock.h"
#include "process/join.h"
#include "read/recording.h"

static int kept = -1;			/* descriptor of the session's directory */
static struct xsp_fd_id kept_id;	/* recognises @kept */
static uint64_t kept_path;		/* hash of the path */

static uint64_t hash_of(const char *path)
{
	return xsp_hash_bytes(XSP_HASH_TEXT, path, strlen(path));
}

/* Called by the attaching thread only. */
void xsp_recording_keep(const char *path, int dir)
{
	if (xsp_fd_is(&kept_id, kept)) {
		if (kept_path == hash_of(path))
			return;
		close(kept);
	}
	kept = xsp_fd_high(fcntl(dir, F_DUPFD_CLOEXEC, 0));
	kept_path = hash_of(path);
	if (xsp_fd_note(&kept_id, kept))
		kept = -1;
}

/* Return: a descriptor; -EACCES not ours, or unreachable; another negative errno. */
static int open_session(const char *path)
{
	struct stat st;
	int dir;

	/* The kept directory was checked by this process or by a parent. */
	if (kept_path == hash_of(path) && xsp_fd_is(&kept_id, kept)) {
		dir = fcntl(kept, F_DUPFD_CLOEXEC, 0);
		return dir < 0 ? -errno : dir;
	}
	/* Only for *at() calls: the directory is never listed. */
	dir = open(path, O_DIRECTORY | O_NOFOLLOW | O_PATH | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	if (fstat(dir, &st) || st.st_uid != geteuid() ||
	    ((st.st_mode & 077) && (st.st_mode & 07777) != XSP_RECORDING_MODE)) {
		close(dir);
		return -EACCES;
	}
	return dir;
}

/**
 * xsp_recording_join() - open the session's directory, if it is ours and has a live recorder
 * @path: absolute path
 *
 * Return: a descriptor; -ENOTCONN no recorder; -EACCES not ours; another negative errno of opening
 * it, e.g. -EMFILE. For a directory that cannot be opened, xsp_recording_complain() tells whether
 * there is a recorder.
 */
int xsp_recording_join(const char *path)
{
	int dir = open_session(path), lives;

	if (dir < 0)
		return dir;
	lives = xsp_recorder_lives(dir);
	if (lives > 0)
		return dir;
	close(dir);
	return !lives || lives == -ENOENT ? -ENOTCONN : lives;
}

/**
 * xsp_recording_live() - does this session have a live recorder?
 * @session: the session's directory
 *
 * Return: 0, or the errors of xsp_recording_join().
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
 * xsp_recording_complain() - tell the recorder that this process cannot reach its session
 * @session: the session's directory
 * @err: the error of xsp_recording_join(); 0 only checks for a recorder
 *
 * Return: 0 a recorder lives and has been told; -ENOTCONN none that can be seen from here.
 */
int xsp_recording_complain(const char *session, int err)
{
	return xsp_notice_send(session, err);
}

#define LINK_ROOM	127u	/* longest link target that tmpfs stores in the inode */

static bool note_by_link(const char *session, const char *name, const char *text)
{
	/* Static: the stack may be a small one of a signal handler. */
	static char path[PATH_MAX];
	static bool used;
	size_t len = strlen(session);
	bool done;

	if (strlen(text) > LINK_ROOM)
		return false;
	if (kept_path == hash_of(session) && xsp_fd_is(&kept_id, kept))
		return !symlinkat(text, kept, name);
	if (len + 1 + strlen(name) >= sizeof(path))
		return false;
	/*
	 * Acquire, and the release below: @path is used by one thread, or one handler, at a time.
	 */
	if (__atomic_exchange_n(&used, true, __ATOMIC_ACQUIRE))
		return false;
	memcpy(path, session, len);
	path[len] = '/';
	strcpy(path + len + 1, name);
	done = !symlink(text, path);
	__atomic_store_n(&used, false, __ATOMIC_RELEASE);
	return done;
}

static void note_by_file(int dir, const char *name, const char *text)
{
	struct rlimit rl;
	int fd;

	/* A write beyond RLIMIT_FSIZE raises a signal that kills the program. */
	if (!getrlimit(RLIMIT_FSIZE, &rl) && rl.rlim_cur < strlen(text))
		return;
	fd = openat(dir, name, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) < 0)
		unlinkat(dir, name, 0);
	close(fd);
}

/**
 * xsp_recording_note() - tell the recorder why this process does not record
 * @session: the session's directory
 * @text: one line
 *
 * Best effort: if this cannot be written either, there is no way to tell.
 */
void xsp_recording_note(const char *session, const char *text)
{
	char name[XSP_FILE_NAME];
	int dir = xsp_recording_join(session);

	/* Write no note into a folder that is missing or belongs to another user. */
	if (dir < 0 && dir != -EMFILE && dir != -ENFILE && dir != -ENOMEM)
		return;
	xsp_file_name(name, 'e', getpid(), xsp_proc_start_time(), 0);
	/*
	 * This process may lack descriptors, space or file size: a symbolic link needs none of
	 * these and is created atomically. A file, if links are refused or too short.
	 */
	if (!note_by_link(session, name, text) && dir >= 0)
		note_by_file(dir, name, text);
	if (dir >= 0)
		close(dir);
}
