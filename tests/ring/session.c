// SPDX-License-Identifier: GPL-2.0-only
/*
 * session [NAME=VALUE]... COMMAND [ARG...]: runs a command in a new session, like a recorder, but
 * reads nothing: the command under test reads its rings itself. Owns the session's directory and
 * removes it. Exits with the command's status.
 *
 * The directory is in $XSPROF_TEST_SHM, or /dev/shm.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/session.h"

static char dir[256];

static void die(const char *what)
{
	fprintf(stderr, "session: %s: %s\n", what, strerror(errno));
	exit(125);
}

static void make(void)
{
	const char *base = getenv("XSPROF_TEST_SHM");
	struct session_locks locks;
	char text[32];

	snprintf(dir, sizeof(dir), "%s/xsprof-test.XXXXXX", base ? base : "/dev/shm");
	if (!mkdtemp(dir))
		die(dir);
	if (session_lock(&locks, dir))
		die("its locks");
	snprintf(text, sizeof(text), "pid %d\n", (int)getpid());
	if (write(locks.file, text, strlen(text)) < 0)
		die("its lock file");
	if (setenv("XSPROF_SESSION", dir, 1))
		die("setenv");
}

static void sweep(void)
{
	struct dirent *e;
	DIR *d = opendir(dir);

	while (d && (e = readdir(d)))
		unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
	rmdir(dir);
}

static volatile sig_atomic_t child;

/* A signal to us ends the command too; the directory is removed in any case. */
static void pass_on(int sig)
{
	if (child > 0)
		kill(child, sig);
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = pass_on };
	int i, status;

	/* Use files, which the command can read itself, even if the device is loaded. */
	if (setenv("XSPROF_BACKEND", "tmpfs", 1))
		die("setenv");
	for (i = 1; i < argc && strchr(argv[i], '='); i++)
		if (putenv(argv[i]))
			die(argv[i]);
	if (i >= argc) {
		fprintf(stderr, "usage: session [NAME=VALUE]... COMMAND [ARG...]\n");
		return 125;
	}
	make();
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	child = fork();
	if (child < 0)
		die("fork");
	if (!child) {
		execvp(argv[i], argv + i);
		die(argv[i]);
	}
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			die("waitpid");
	sweep();
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
