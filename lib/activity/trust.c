// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Files that no other user can change, neither the contents nor the path: a file that was checked
 * is the same when the path is opened afterwards.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "activity/local.h"

/* @path: the file, or a folder above it. */
static int check(const char *path, bool folder, char *why, size_t size)
{
	struct stat st;

	if (lstat(path, &st)) {
		snprintf(why, size, "%s: %s", path, strerror(errno));
		return -errno;
	}
	if (!folder && S_ISDIR(st.st_mode)) {
		snprintf(why, size, "it is a directory: name the files in it, separated by ':'");
		return -EISDIR;
	}
	if (!folder && !S_ISREG(st.st_mode)) {
		snprintf(why, size, "it is not a regular file");
		return -EINVAL;
	}
	if (st.st_uid && st.st_uid != geteuid()) {
		snprintf(why, size, "%s belongs to user %u, who could change it: its owner must be "
			 "root or you", path, (unsigned int)st.st_uid);
		return -EACCES;
	}
	/* In a sticky folder no user can replace files of others. */
	if (st.st_mode & (S_IWGRP | S_IWOTH) && !(folder && st.st_mode & S_ISVTX)) {
		snprintf(why, size, "other users can write to %s: chmod go-w %s", path, path);
		return -EACCES;
	}
	return 0;
}

int xsp_trust_file(const char *path, char *why, size_t size)
{
	char part[PATH_MAX];
	int err;

	if (*path != '/' || strlen(path) >= sizeof(part)) {
		snprintf(why, size, "its path is not absolute, or too long");
		return -EINVAL;
	}
	err = check(path, false, why, size);
	for (const char *slash = path; !err && slash; slash = strchr(slash + 1, '/')) {
		size_t n = slash == path ? 1 : (size_t)(slash - path);

		memcpy(part, path, n);
		part[n] = '\0';
		err = check(part, true, why, size);
	}
	return err;
}
