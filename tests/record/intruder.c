// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attacks on the recorder and its session by a child that became another user: see intruder.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <xsprof/abi.h>

#include "record/intruder.h"

/* The library's descriptors are above the program's. Return: one that names the session, or -1. */
static int session_fd(void)
{
	const char *session = getenv("XSPROF_SESSION");
	char path[64], to[4096];
	int fd;

	for (fd = 3; fd < 1024; fd++) {
		ssize_t n;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		n = readlink(path, to, sizeof(to) - 1);
		if (n > 0 && (to[n] = '\0', !strcmp(to, session)))
			return fd;
	}
	return -1;
}

static void refused(int ret, int err, const char *what)
{
	printf("probe %s: %s\n", what, ret < 0 && errno == err ? "refused" : "permitted");
}

/* Connects to the next such socket in /proc/net/unix; -1: there are no more. */
static int next_recorder(FILE *list, const char *prefix)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	char line[512];

	while (list && fgets(line, sizeof(line), list)) {
		char *name = strstr(line, prefix);
		size_t len;
		int fd;

		if (!name)
			continue;
		len = strcspn(name, "\n");
		memcpy(un.sun_path, name, len);
		un.sun_path[0] = '\0';
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		if (!connect(fd, (struct sockaddr *)&un,
			     offsetof(struct sockaddr_un, sun_path) + len) || errno == EAGAIN)
			return fd;
		close(fd);
	}
	return -1;
}

/* Sends a notice without the recording's name: the recorder ignores it. */
static void forge(void)
{
	FILE *list = fopen("/proc/net/unix", "re");
	char message[100] = "forged";
	unsigned int sent = 0;
	int fd;

	while ((fd = next_recorder(list, "@xsprof.")) >= 0) {
		sent += write(fd, message, sizeof(message)) == sizeof(message);
		close(fd);
	}
	if (list)
		fclose(list);
	printf("probe forged notice: %s\n", sent ? "sent" : "not sent");
}

/* Makes connections that send nothing, several at a time. */
void flood(const char *pid)
{
	unsigned int n = 0, before;
	int open[512], fd;
	char prefix[64];

	snprintf(prefix, sizeof(prefix), "@xsprof.s.%s.", pid);
	memset(open, -1, sizeof(open));
	do {
		FILE *list = fopen("/proc/net/unix", "re");

		before = n;
		while ((fd = next_recorder(list, prefix)) >= 0) {
			close(open[n % 512]);
			open[n++ % 512] = fd;
			if (n == FLOOD) {
				puts("flooding");
				fflush(stdout);
			}
		}
		if (list)
			fclose(list);
	} while (n != before);
	printf("%u connections\n", n);
}

static void probe_recorder(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)recorder);
	refused(open(path, O_RDONLY | O_DIRECTORY), EACCES, "list the recorder's descriptors");
	forge();
}

/* @theirs: the ring file of the parent, which runs as another user */
void probe(const char *theirs)
{
	int dir = session_fd();

	must(dir < 0, "the session's descriptor");
	printf("probe descriptor: %s\n",
	       fcntl(dir, F_GETFD) == FD_CLOEXEC ? "closed by exec" : "kept by exec");
	refused(openat(dir, ".", O_RDONLY | O_DIRECTORY), EACCES, "list");
	refused(openat(dir, "lock", O_RDWR), EACCES, "write the lock");
	refused(unlinkat(dir, "lock", 0), EPERM, "remove the lock");
	refused(openat(dir, theirs, O_RDONLY), EACCES, "read another's rings");
	refused(unlinkat(dir, theirs, 0), EPERM, "remove another's rings");
	refused(renameat(dir, theirs, dir, "x"), EPERM, "rename another's rings");
	refused(fchmodat(dir, ".", 0777, 0), EPERM, "change the session's mode");
	refused(openat(dir, "../..", O_PATH), EACCES, "go up");
	probe_recorder();
}

/* Makes folders that would stay if only files were removed, or folders to the depth of a path. */
void make_folders(void)
{
	int dir = session_fd(), fd;

	must(dir < 0, "the session's descriptor");
	must(mkdirat(dir, "a", 0700) || mkdirat(dir, "a/b", 0), "mkdir");
	fd = openat(dir, "a/file", O_WRONLY | O_CREAT, 0);
	must(fd < 0, "a/file");
	close(fd);
	dir = openat(dir, ".", O_PATH);
	for (int i = 0; i < 3000; i++) {
		must(mkdirat(dir, "deep", 0777), "mkdir deep");
		fd = openat(dir, "deep", O_PATH);
		must(fd < 0, "deep");
		close(dir);
		dir = fd;
	}
	close(dir);
}

void make_crowd(void)
{
	int dir = session_fd(), fd;
	char name[32];

	must(dir < 0, "the session's descriptor");
	for (int i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "p.%d.%d.0", 4190000 + i, i);
		fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL, 0600);
		must(fd < 0, name);
		close(fd);
	}
}

void slander(void)
{
	int dir = session_fd(), fd;

	must(dir < 0, "the session's descriptor");
	fd = openat(dir, "e.1.0.0", O_WRONLY | O_CREAT | O_EXCL, 0600);
	must(fd < 0 || write(fd, "hello", 5) != 5, "e.1.0.0");
	close(fd);
}

/* Makes a file of our own that claims to be our parent's, who is another user. */
void impersonate(const char *theirs)
{
	int dir = session_fd(), fd = -1, copy;
	struct xsprof_ctl *ctl = NULL;
	unsigned long long start = 0;
	char name[64], link[300];
	struct stat st = { 0 };
	unsigned int pid = 0;

	for (int i = 3; i < 1024 && fd < 0; i++) {
		ssize_t n;

		snprintf(name, sizeof(name), "/proc/self/fd/%d", i);
		n = readlink(name, link, sizeof(link) - 1);
		link[n > 0 ? n : 0] = '\0';
		if (strstr(link, "/p.") && !fstat(i, &st) && st.st_uid == NOBODY)
			fd = i;
	}
	must(fd < 0 || sscanf(theirs, "p.%u.%llu.", &pid, &start) != 2, "our own file");
	ctl = malloc(st.st_size);
	must(!ctl || pread(fd, ctl, st.st_size, 0) != st.st_size, "reading it");
	ctl->pid = pid;
	ctl->start_time = start;
	ctl->seq = 7;
	snprintf(name, sizeof(name), "p.%u.%llu.7", pid, start);
	copy = openat(dir, name, O_CREAT | O_EXCL | O_RDWR, 0600);
	must(copy < 0 || write(copy, ctl, st.st_size) != st.st_size, name);
	close(copy);
	free(ctl);
	/* Until the recorder has removed it; a stopped one does so later. */
	for (int i = 0; i < 1000 && !orphaned && !faccessat(dir, name, F_OK, 0); i++)
		usleep(20000);
}

/* Locks the file from now on, as soon as nobody else has the lock. */
void grab(const char *file)
{
	int fd = openat(session_fd(), "lock", O_RDONLY);
	char text[16];

	must(fd < 0, "the lock");
	if (fork())
		return;
	close_range(0, 2, 0);
	snprintf(text, sizeof(text), "%d", (int)getpid());
	write_file(file, text);
	flock(fd, LOCK_EX);
	for (;;)
		pause();
}
