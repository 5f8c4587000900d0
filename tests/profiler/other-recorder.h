/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recorder of this process, which reads nothing: a session on tmpfs, with its locks. The program
 * collects its own records (lib/numbers.h).
 */
#ifndef XSP_TEST_OTHER_RECORDER_H
#define XSP_TEST_OTHER_RECORDER_H

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/session.h"
#include "common/tap.h"

struct recorder {
	char	session[64];
	struct session_locks locks;
};

__attribute__((unused)) static void recorder_begin(struct recorder *r)
{
	strcpy(r->session, "/dev/shm/xsprof-test.XXXXXX");
	if (!mkdtemp(r->session) || session_lock(&r->locks, r->session))
		tap_bail("%s: %s", r->session, strerror(errno));
	/* Read by collect(). */
	setenv("XSPROF_SESSION", r->session, 1);
}

/* Counts files and folders in @path. @sweep: also removes the files. */
static unsigned int entries(const char *path, bool sweep)
{
	unsigned int n = 0;
	struct dirent *e;
	DIR *d = opendir(path);

	while (d && (e = readdir(d))) {
		if (*e->d_name == '.')
			continue;
		n++;
		if (sweep)
			unlinkat(dirfd(d), e->d_name, 0);
	}
	if (d)
		closedir(d);
	return n;
}

__attribute__((unused)) static void recorder_end(struct recorder *r)
{
	session_unlock(&r->locks);
	entries(r->session, true);
	rmdir(r->session);
}

#endif /* XSP_TEST_OTHER_RECORDER_H */
