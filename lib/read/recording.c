// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Creates, verifies, locks and removes the folders of recordings. Each step uses open descriptors,
 * not names, so that no folder can be replaced in between.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/own-fd.h"
#include "base/proc.h"
#include "read/recording.h"

#define DEFAULT_BASE	"/dev/shm"

/* A folder of our own that no other user can enter. */
static int check_dir(const struct stat *st)
{
	if (!S_ISDIR(st->st_mode))
		return -ENOTDIR;
	if (st->st_uid != geteuid())
		return -EPERM;
	if (st->st_mode & 077)
		return -EACCES;
	return 0;
}

/* A recording's folder: users who can reach it could create files in it. */
static int check_session(const struct stat *st)
{
	struct stat closed = *st;

	if ((st->st_mode & 07777) == XSP_RECORDING_MODE)
		closed.st_mode &= ~(mode_t)077;
	return check_dir(&closed);
}

const char *xsp_recording_strerror(int err)
{
	switch (err) {
	case -ENOTDIR:		return "is not a directory";
	case -EPERM:		return "belongs to another user";
	case -EACCES:		return "is accessible to others, or not to us: it must be ours, "
		"with mode 0700";
	case -ENOENT:		return "does not exist";
	case -EINVAL:		return "is not an absolute path";
	case -ENAMETOOLONG:	return "path too long";
	case -ENOSPC:		return "is full: free some space, or set XSPROF_SHM_DIR to another "
		"tmpfs";
	case -EFBIG:		return "cannot be written: File too large: raise the file size "
				       "limit (ulimit -f)";
	case -EROFS:		return "is read-only: set XSPROF_SHM_DIR to a tmpfs";
	case -EWOULDBLOCK:	return "has a running recorder";
	default:		return strerror(-err);
	}
}

static uint64_t random64(void)
{
	struct timespec ts;
	uint64_t value;

	if (getrandom(&value, sizeof(value), GRND_NONBLOCK) == sizeof(value))
		return value;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_nsec * 11400714819323198485ull ^ ts.tv_sec;
}

/*
 * Any user can create a folder with our name in /dev/shm. Then ours gets a random suffix; an
 * existing one is reused, so that all processes find the same recordings.
 *
 * Return: 0, and @path is set; -ENOENT there is none.
 */
static int find_other_dir(const char *base, char *path)
{
	char name[NAME_MAX + 1] = "", prefix[32];
	struct dirent *entry;
	struct stat st;
	DIR *dir = opendir(base);

	if (!dir)
		return -errno;
	snprintf(prefix, sizeof(prefix), "xsprof-%u.", (unsigned int)geteuid());
	while ((entry = readdir(dir)))
		if (!strncmp(entry->d_name, prefix, strlen(prefix)) &&
		    (!*name || strcmp(entry->d_name, name) < 0) &&
		    !fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
		    !check_dir(&st))
			strcpy(name, entry->d_name);
	closedir(dir);
	if (!*name)
		return -ENOENT;
	return snprintf(path, XSP_RECORDING_PATH, "%s/%s", base, name) < XSP_RECORDING_PATH ? 0 :
	       -ENAMETOOLONG;
}

static int other_dir(const char *base, char *path, bool create)
{
	if (!create)
		return -ENOENT;
	if (snprintf(path, XSP_RECORDING_PATH, "%s/xsprof-%u.%016llx", base,
		     (unsigned int)geteuid(), (unsigned long long)random64()) >=
	    XSP_RECORDING_PATH)
		return -ENAMETOOLONG;
	return mkdir(path, 0700) ? -errno : 0;
}

int xsp_recording_user_dir(char *path, bool create, const char **object)
{
	const char *base = secure_getenv("XSPROF_SHM_DIR");
	struct stat st;

	if (!base || !*base)
		base = DEFAULT_BASE;
	*object = base;
	if (base[0] != '/')
		return -EINVAL;
	/* If the base is missing, the error is not about the folder below it. */
	if (stat(base, &st))
		return -errno;
	if (!find_other_dir(base, path))
		return 0;
	if (snprintf(path, XSP_RECORDING_PATH, "%s/xsprof-%u", base, (unsigned int)geteuid()) >=
	    XSP_RECORDING_PATH)
		return -ENAMETOOLONG;
	if (create && mkdir(path, 0700) && errno != EEXIST)
		return -errno;
	*object = path;
	if (lstat(path, &st))
		return -errno;
	/* It may be a hard link to a file of ours that another user made. */
	if (st.st_uid != geteuid() || S_ISREG(st.st_mode))
		return other_dir(base, path, create);
	return check_dir(&st);
}

static int open_dir(const char *path)
{
	struct stat st;
	int fd, err;

	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = fstat(fd, &st) ? -errno : check_session(&st);
	if (err) {
		close(fd);
		return err;
	}
	return fd;
}

static int write_facts(int fd, const char *facts)
{
	size_t len = strlen(facts);
	ssize_t n = pwrite(fd, facts, len, 0);

	if (n < 0)
		return -errno;
	return (size_t)n == len ? 0 : -ENOSPC;
}

/*
 * The folder is created under a temporary name and renamed when its lock is held: a visible
 * recording without a held lock always belongs to a dead recorder.
 */
int xsp_recording_create(struct xsp_recording *s, const char *facts, bool users,
			 const char **object)
{
	char making[XSP_RECORDING_PATH + 256], user[XSP_RECORDING_PATH];
	struct xsp_proc_stat st;
	int err;

	s->dirfd = -1;
	s->lockfd = -1;
	s->path[0] = '\0';
	err = xsp_recording_user_dir(user, true, object);
	if (err) {
		/* @user is on this stack frame, so point @object to the copy in @s. */
		if (*object == user) {
			strcpy(s->path, user);
			*object = s->path;
		}
		return err;
	}
	err = xsp_proc_stat(getpid(), &st);
	*object = "/proc/self/stat";
	if (err)
		return err;
	snprintf(s->path, sizeof(s->path), "%s/s.%d.%llu.%016llx", user, (int)getpid(),
		 (unsigned long long)st.start_time, (unsigned long long)random64());
	snprintf(making, sizeof(making), "%s/n%s", user, strrchr(s->path, '/') + 2);
	*object = s->path;
	if (mkdir(making, 0700))
		return -errno;
	err = s->dirfd = open_dir(making);
	if (err < 0)
		goto err_remove;
	if (flock(s->dirfd, LOCK_EX | LOCK_NB)) {
		err = -errno;
		goto err_remove;
	}
	s->lockfd = openat(s->dirfd, "lock", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (s->lockfd < 0) {
		err = -errno;
		goto err_remove;
	}
	err = flock(s->lockfd, LOCK_EX | LOCK_NB) ? -errno : write_facts(s->lockfd, facts);
	/* fchmod(): the umask belongs to the program that records itself. */
	if (!err && users && (fchmod(s->lockfd, 0644) || fchmod(s->dirfd, XSP_RECORDING_MODE)))
		err = -errno;
	if (!err && rename(making, s->path))
		err = -errno;
	if (!err)
		return 0;
	unlinkat(s->dirfd, "lock", 0);
err_remove:
	rmdir(making);
	xsp_recording_close(s);
	return err;
}

int xsp_recording_open(struct xsp_recording *s, const char *path)
{
	s->lockfd = -1;
	s->dirfd = -1;
	if (strlen(path) >= sizeof(s->path))
		return -ENAMETOOLONG;
	strcpy(s->path, path);
	s->dirfd = open_dir(path);
	if (s->dirfd < 0)
		return s->dirfd;
	s->lockfd = openat(s->dirfd, "lock", O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	return 0;
}

/*
 * Decided by the folder's lock: a user who may not list the folder cannot open it, and so cannot
 * lock it. The lock of the file "lock" can be taken, and kept, by a process that has changed its
 * user.
 */
int xsp_recording_alive(const struct xsp_recording *s)
{
	if (flock(s->dirfd, LOCK_SH | LOCK_NB))
		return errno == EWOULDBLOCK ? 1 : -errno;
	return flock(s->dirfd, LOCK_UN) ? -errno : 0;
}

int xsp_recording_adopt(struct xsp_recording *s)
{
	return flock(s->dirfd, LOCK_EX | LOCK_NB) ? -errno : 0;
}

void xsp_recording_one_line(char *value)
{
	for (; *value; value++)
		if (*value == '\n')
			*value = ' ';
}

/* Adds a line "key value" to the lock file of our recording. */
static int add_fact(struct xsp_recording *s, const char *key, const char *value)
{
	char line[PATH_MAX + 64];
	struct stat st;
	int len = snprintf(line, sizeof(line), "%s %s\n", key, value);

	if (len >= (int)sizeof(line))
		return -ENAMETOOLONG;
	line[len - 1] = '\0';
	xsp_recording_one_line(line);
	line[len - 1] = '\n';
	if (fstat(s->lockfd, &st) || pwrite(s->lockfd, line, len, st.st_size) != len)
		return -errno;
	return 0;
}

int xsp_recording_add_capture(struct xsp_recording *s, const uint8_t uuid[16])
{
	char text[33];
	int i;

	for (i = 0; i < 16; i++)
		snprintf(text + 2 * i, 3, "%02x", uuid[i]);
	return add_fact(s, "capture", text);
}

int xsp_recording_add_output(struct xsp_recording *s, const char *path)
{
	return add_fact(s, "output", path);
}

int xsp_recording_add_freed(struct xsp_recording *s)
{
	return add_fact(s, "freed", "yes");
}

/* By a write, which any sandbox that allows to make a recording permits. */
void xsp_recording_touch(const struct xsp_recording *s)
{
	char first;

	if (s->lockfd >= 0 && pread(s->lockfd, &first, 1, 0) == 1)
		/* On failure the recording looks older than it is. */
		(void)!pwrite(s->lockfd, &first, 1, 0);
}

int xsp_recording_fact(const struct xsp_recording *s, const char *key, char *buf, size_t size)
{
	char text[8192];
	size_t len = strlen(key);
	char *at, *end;
	ssize_t n;

	if (s->lockfd < 0)
		return -ENOENT;
	n = pread(s->lockfd, text, sizeof(text) - 1, 0);
	if (n < 0)
		return -errno;
	text[n] = '\0';
	for (at = text; *at; at = end + 1) {
		end = strchrnul(at, '\n');
		if (!strncmp(at, key, len) && at[len] == ' ') {
			snprintf(buf, size, "%.*s", (int)(end - at - len - 1), at + len + 1);
			return strlen(buf);
		}
		if (!*end)
			break;
	}
	return -ENOENT;
}

/* Limit of descriptors, and of recursion, of a removal. */
#define DEEPEST	16
/* Limit of moving deeper folders up: another process may keep creating more. */
#define PASSES	1000

/**
 * struct removal - a folder being emptied
 * @fd: descriptor
 * @moved: number of folders moved into it from too deep a level
 */
struct removal {
	int		fd;
	unsigned int	moved;
};

static void bring_up(struct removal *r, int fd, const char *name)
{
	char to[32];

	snprintf(to, sizeof(to), "deep.%u", r->moved++);
	renameat(fd, name, r->fd, to);
}

/*
 * Removes everything in @fd, which is closed. A process that changed its user may have made
 * folders: one that cannot be emptied makes the removal fail, which is reported.
 */
static void empty_dir(struct removal *r, int fd, unsigned int depth)
{
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!dir && fd >= 0)
		close(fd);
	while (dir && (entry = readdir(dir))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
		    !unlinkat(fd, entry->d_name, 0) || errno != EISDIR)
			continue;
		if (depth == DEEPEST) {
			bring_up(r, fd, entry->d_name);
			continue;
		}
		empty_dir(r, openat(fd, entry->d_name,
				    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), depth + 1);
		unlinkat(fd, entry->d_name, AT_REMOVEDIR);
	}
	if (dir)
		closedir(dir);
}

int xsp_recording_remove(struct xsp_recording *s)
{
	struct removal r = { 0 };
	struct stat st, now;
	unsigned int moved;

	/*
	 * Do not remove another file that got our number after the program closed all descriptors.
	 */
	if (s->dirfd < 0 || fstat(s->dirfd, &st) || lstat(s->path, &now) ||
	    st.st_ino != now.st_ino || st.st_dev != now.st_dev) {
		s->dirfd = open_dir(s->path);
		if (s->dirfd < 0)
			return s->dirfd;
	}
	/* From here on no other user can add files. */
	if (fchmod(s->dirfd, 0700))
		return -errno;
	r.fd = s->dirfd;
	for (int pass = 0; pass < PASSES; pass++) {
		moved = r.moved;
		empty_dir(&r, openat(r.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), 0);
		if (r.moved == moved)
			break;
	}
	return rmdir(s->path) ? -errno : 0;
}

void xsp_recording_close(struct xsp_recording *s)
{
	xsp_fd_close(s->lockfd);
	xsp_fd_close(s->dirfd);
	s->lockfd = -1;
	s->dirfd = -1;
}

int xsp_recording_keep_open(struct xsp_recording *s)
{
	/* A flock belongs to the open file, not to the descriptor: it stays. */
	s->dirfd = xsp_fd_keep(s->dirfd);
	s->lockfd = xsp_fd_keep(s->lockfd);
	if (s->dirfd >= 0 && s->lockfd >= 0)
		return 0;
	xsp_recording_close(s);
	return -EMFILE;
}
