// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Joining a recorder's session: the checks of its directory, and the word to the recorder from a
 * process that cannot record.  Owns a descriptor of the directory, for children of forks: one that
 * has given up its user or its root directory does not reach it by its path any more.
 *
 * Plain system calls only: a forked child attaches at its first marker, which may be in a
 * signal handler.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file-name.h"
#include "base/hash.h"
#include "base/notice.h"
#include "base/proc.h"
#include "process/join.h"
#include "read/recording.h"

static int kept = -1;			/* the session's directory */
static struct xsp_fd_id kept_id;	/* programs close it, and use its number again */
static uint64_t kept_path;		/* hash of its path */

static uint64_t hash_of(const char *path)
{
	return xsp_hash_bytes(XSP_HASH_TEXT, path, strlen(path));
}

/* By whoever attaches, one at a time. */
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

/* Return: a descriptor; -EACCES not ours, or not to be reached; another negative errno. */
static int open_session(const char *path)
{
	struct stat st;
	int dir;

	/* What is kept was checked, by this process or by one that it was forked from. */
	if (kept_path == hash_of(path) && xsp_fd_is(&kept_id, kept)) {
		dir = fcntl(kept, F_DUPFD_CLOEXEC, 0);
		return dir < 0 ? -errno : dir;
	}
	/* Only a place to start from: it is never listed. */
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
 * xsp_recording_join() - the session's directory, if it is one of ours with a live recorder
 * @path: absolute path
 *
 * Return: a descriptor; -ENOTCONN no recorder; -EACCES not ours; another negative errno of opening
 * it, -EMFILE among them.  Whether one that cannot be opened has a recorder,
 * xsp_recording_complain() knows.
 */
int xsp_recording_join(const char *path)
{
	int dir = open_session(path), lock, held;

	if (dir < 0)
		return dir;
	lock = openat(dir, "lock", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (lock < 0) {
		/* That there is none says that nobody records; that it cannot be had does not. */
		held = errno == ENOENT ? -ENOTCONN : -errno;
		close(dir);
		return held;
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
 * Return: 0; as xsp_recording_join().
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
 * xsp_recording_complain() - this process does not reach its session
 * @session: the session's directory
 * @err: why, as xsp_recording_join() said; 0 only asks
 *
 * Return: 0 a recorder lives, and now knows; -ENOTCONN none does, as far as can be seen here.
 */
int xsp_recording_complain(const char *session, int err)
{
	return xsp_notice_send(session, err);
}

#define LINK_ROOM	127u	/* bytes of a link that tmpfs keeps with its inode */

static bool note_by_link(const char *session, const char *name, const char *text)
{
	/* Not on the stack, which may be a signal handler's. */
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
	/* Acquire, and the release below: the path is one thread's, or one handler's, meanwhile. */
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

	/* Beyond its limit of file size a write is a signal that ends the program. */
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
 * Best effort: where not even this can be written there is nobody to tell.
 */
void xsp_recording_note(const char *session, const char *text)
{
	char name[XSP_FILE_NAME];
	int dir = xsp_recording_join(session);

	/* No note in a folder that is missing or another user's. */
	if (dir < 0 && dir != -EMFILE && dir != -ENFILE && dir != -ENOMEM)
		return;
	xsp_file_name(name, 'e', getpid(), xsp_proc_start_time(), 0);
	/*
	 * It may be descriptors, room or the size of files that this process has none of: a link
	 * takes none of these, and is in memory whole.  A file, where links are refused or too
	 * short.
	 */
	if (!note_by_link(session, name, text) && dir >= 0)
		note_by_file(dir, name, text);
	if (dir >= 0)
		close(dir);
}
