// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The file of a requested trace. Its name may come from the network through the daemon: the file
 * must be below KINETO_ONDEMAND_TRACE_DIR (/tmp/ by default), and must not be redirected elsewhere
 * by links that other users of that folder have made. Writes no contents.
 *
 * A local requester with the right to trace this process (listen.c) may name any file that this
 * process can write: it gains nothing, and its name is used as it is.
 *
 * Folders below the root are opened one by one, none through a link. The file is written in a
 * folder of our own there, which others cannot enter, and then renamed: a link under its name is
 * replaced rather than followed, and an incomplete trace is never visible.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ondemand/kineto-env.h"
#include "ondemand/trace-file.h"

#define OPEN_DIR	(O_PATH | O_DIRECTORY | O_CLOEXEC)

/* The next component of a path, and its length; "." is skipped. 0 at its end. */
static size_t next_name(const char **path)
{
	const char *p = *path;

	while (*p == '/' || (*p == '.' && (p[1] == '/' || !p[1])))
		p++;
	*path = p;
	return strcspn(p, "/");
}

static bool has_parents(const char *path)
{
	for (size_t n = next_name(&path); n; n = next_name(&path)) {
		if (n == 2 && path[0] == '.' && path[1] == '.')
			return true;
		path += n;
	}
	return false;
}

/* The part of the path @file below @root, NULL if it is not below. */
static const char *below(const char *file, const char *root)
{
	for (;;) {
		size_t n = next_name(&root), k = next_name(&file);

		if (!n)
			return k ? file : NULL;
		if (n != k || memcmp(root, file, n))
			return NULL;
		root += n;
		file += k;
	}
}

/**
 * xsp_trace_file_name() - make a requested file name unique per process
 * @name: without folders
 * @pid: process; 0: the request is for one process, the name is used as it is
 * @to: filled in: "_PID" is inserted before .json, .pt.trace.json, each optionally with .gz,
 *	case-insensitive; or appended
 * @room: its size
 *
 * Return: 0; -ENAMETOOLONG.
 */
int xsp_trace_file_name(const char *name, pid_t pid, char *to, size_t room)
{
	static const char *const ends[] = { ".pt.trace.json.gz", ".pt.trace.json", ".json.gz",
		".json" };
	size_t len = strlen(name), stem = len;
	int n;

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		size_t k = strlen(ends[i]);

		if (k <= len && !strcasecmp(name + len - k, ends[i])) {
			stem = len - k;
			break;
		}
	}
	if (pid)
		n = snprintf(to, room, "%.*s_%d%s", (int)stem, name, (int)pid, name + stem);
	else
		n = snprintf(to, room, "%s", name);
	return n < 0 || (size_t)n >= room ? -ENAMETOOLONG : 0;
}

/**
 * xsp_trace_file_path() - the final path of a file
 * @file: requested path
 * @pid: process, or 0
 * @to: filled in
 * @room: its size
 *
 * Return: 0; -ENAMETOOLONG.
 */
int xsp_trace_file_path(const char *file, pid_t pid, char *to, size_t room)
{
	const char *name = strrchr(file, '/');
	size_t folder = name ? (size_t)(name + 1 - file) : 0;

	if (folder >= room)
		return -ENAMETOOLONG;
	memcpy(to, file, folder);
	return xsp_trace_file_name(file + folder, pid, to + folder, room - folder);
}

/* Opens the folder of @file, and sets @name to the name in it. */
static int open_folder(const char *file, pid_t pid, const char **name)
{
	const char *root = pid ? xsp_kineto_env.trace_dir : "/", *rest;
	char one[NAME_MAX + 1];
	int fd, next;
	size_t n;

	if (!root)
		return -ENOMEM;
	if (*root != '/' || *file != '/' || has_parents(file))
		return -EPERM;
	rest = below(file, root);
	if (!rest)
		return -EPERM;
	/* Named by the environment: it may be a link. */
	fd = xsp_fd_high(open(root, OPEN_DIR));
	if (fd < 0)
		return -errno;
	for (n = next_name(&rest); rest[n]; n = next_name(&rest)) {
		if (n > NAME_MAX) {
			close(fd);
			return -ENAMETOOLONG;
		}
		memcpy(one, rest, n);
		one[n] = '\0';
		next = xsp_fd_high(openat(fd, one, OPEN_DIR | O_NOFOLLOW));
		if (next < 0) {
			next = -errno;
			close(fd);
			return next;
		}
		close(fd);
		fd = next;
		rest += n;
	}
	*name = rest;
	/* "/tmp/folder/" and "/tmp/folder/." do not name a file. */
	if (!n) {
		close(fd);
		return -EISDIR;
	}
	return fd;
}

/**
 * xsp_trace_file_check() - can xsp_trace_file_open() create this file?
 * @file: requested path
 * @pid: process; 0: requested locally, for one process
 *
 * To refuse a request before anything is recorded.
 *
 * Return: 0; -EPERM: outside of the folder for traces; another error.
 */
int xsp_trace_file_check(const char *file, pid_t pid)
{
	char to[NAME_MAX + 1];
	const char *name;
	int fd = open_folder(file, pid, &name), err;

	if (fd < 0)
		return fd;
	err = xsp_trace_file_name(name, pid, to, sizeof(to));
	if (!err && faccessat(fd, ".", W_OK | X_OK, AT_EACCESS))
		err = -errno;
	close(fd);
	return err;
}

/* Creates a folder of our own, in a folder that may be another user's. */
static int make_own(struct xsp_trace_file *f)
{
	struct stat st;
	uint64_t dice;
	int err;

	if (getrandom(&dice, sizeof(dice), 0) != sizeof(dice))
		return -EAGAIN;
	snprintf(f->own_name, sizeof(f->own_name), ".xsprof-%d-%016llx", (int)getpid(),
		 (unsigned long long)dice);
	if (mkdirat(f->dir, f->own_name, 0700))
		return -errno;
	f->own = xsp_fd_high(openat(f->dir, f->own_name, OPEN_DIR | O_NOFOLLOW));
	err = f->own < 0 || fstat(f->own, &st) ? -errno : 0;
	/* The parent may be another user's, who could have replaced it. */
	if (!err && (st.st_uid != geteuid() || st.st_mode & 077))
		err = -EPERM;
	if (!err)
		return 0;
	unlinkat(f->dir, f->own_name, AT_REMOVEDIR);
	if (f->own >= 0)
		close(f->own);
	f->own = -1;
	return err;
}

/**
 * xsp_trace_file_open() - start writing a file
 * @f: filled in
 * @file: requested path
 * @pid: process; 0 as above
 *
 * Must be followed by xsp_trace_file_keep() or xsp_trace_file_drop().
 *
 * Return: 0; as xsp_trace_file_check(); -ENOENT also without /proc.
 */
int xsp_trace_file_open(struct xsp_trace_file *f, const char *file, pid_t pid)
{
	struct stat st, seen;
	const char *name;
	int err;

	f->own = -1;
	f->dir = open_folder(file, pid, &name);
	if (f->dir < 0)
		return f->dir;
	err = xsp_trace_file_name(name, pid, f->name, sizeof(f->name));
	if (!err)
		err = make_own(f);
	if (err)
		goto err_dir;
	snprintf(f->path, sizeof(f->path), "/proc/self/fd/%d/.", f->own);
	if (stat(f->path, &seen) || fstat(f->own, &st))
		err = -errno;
	else if (seen.st_ino != st.st_ino || seen.st_dev != st.st_dev)
		err = -ENOENT;
	if (err) {
		xsp_trace_file_drop(f);
		return err;
	}
	snprintf(f->path, sizeof(f->path), "/proc/self/fd/%d/%s", f->own, f->name);
	return 0;

err_dir:
	close(f->dir);
	f->dir = -1;
	return err;
}

/**
 * xsp_trace_file_keep() - move the written file to its place
 * @f: from xsp_trace_file_open(); closed in any case
 *
 * Return: 0; -ENOENT: nothing was written; -EINVAL: not a regular file; another error of moving it.
 */
int xsp_trace_file_keep(struct xsp_trace_file *f)
{
	struct stat st;
	int err = 0;

	if (fstatat(f->own, f->name, &st, AT_SYMLINK_NOFOLLOW))
		err = -errno;
	else if (!S_ISREG(st.st_mode))
		err = -EINVAL;
	else if (renameat(f->own, f->name, f->dir, f->name))
		err = -errno;
	xsp_trace_file_drop(f);
	return err;
}

/**
 * xsp_trace_file_drop() - remove everything
 * @f: from xsp_trace_file_open(); closed
 */
void xsp_trace_file_drop(struct xsp_trace_file *f)
{
	int fd = openat(f->own, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	/* Removes the file, and what its writer may have left beside it. */
	while (d && (e = readdir(d)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			unlinkat(f->own, e->d_name, 0);
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
	unlinkat(f->dir, f->own_name, AT_REMOVEDIR);
	close(f->own);
	close(f->dir);
	f->own = -1;
	f->dir = -1;
}
