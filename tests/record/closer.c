// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program that records itself (XSPROF_RECORD) and closes and reuses descriptors as programs do.
 *
 *	closer low	closes 3 to 255 and opens files of its own there, while a child ends
 *	closer all	closes all from 3 on, and opens files at all of these numbers
 *	closer lost	... and expects no more of the recording
 *	closer fork	its second child looks for descriptors of the first
 *	closer grow	continues in a sandbox that gives its rings no more memory
 *	closer sandbox WHAT	in a sandbox that has no close_range()
 *
 * Return: 0; writes errors to standard output. 77: this machine cannot make such a sandbox.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <xsprof/xsprof.h>

#define MARKS	1000
#define FILES	700	/* descriptor numbers to fill with files */

static int bad;
static bool theirs[FILES];

static void wrong(const char *what, int number)
{
	printf("wrong: %s (%d)\n", what, number);
	bad = 1;
}

static void marks(void)
{
	for (int i = 0; i < MARKS; i++) {
		xsprof_begin(xsprof_name("mark"));
		xsprof_end();
	}
}

/* Waits until all records were read: then the drain has opened our file. */
static void marks_read(void)
{
	marks();
	if (xsprof_flush(60000))
		wrong("nobody reads", errno);
}

/* Waits until process @pid has a file in the session, or none any more. */
static void wait_for_file(pid_t pid, bool there)
{
	char prefix[32];
	bool found;

	snprintf(prefix, sizeof(prefix), "p.%d.", (int)pid);
	do {
		DIR *dir = opendir(getenv("XSPROF_SESSION"));
		struct dirent *entry;

		if (!dir)
			return wrong("no session", errno);
		found = false;
		while ((entry = readdir(dir)))
			found |= !strncmp(entry->d_name, prefix, strlen(prefix));
		closedir(dir);
		usleep(1000);
	} while (found != there);
}

/* Opens one file at each free descriptor from 3 on. */
static ino_t open_files(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || write(fd, "theirs", 6) != 6)
		wrong("no file", errno);
	for (; fd >= 0 && fd < FILES; fd = dup(fd))
		theirs[fd] = true;
	return st.st_ino;
}

/* The program's descriptors are open, and nobody has moved, truncated or written to the file. */
static void check_files(ino_t ino)
{
	struct stat st;

	for (int fd = 3; fd < FILES; fd++) {
		if (!theirs[fd])
			continue;
		if (fstat(fd, &st) || st.st_ino != ino)
			wrong("closed", fd);
		else if (st.st_size != 6)
			wrong("written to", fd);
		else if (lseek(fd, 0, SEEK_CUR) != 6)
			wrong("moved", fd);
	}
}

static void close_from(int fd, int end)
{
	for (; fd < end; fd++)
		close(fd);
}

/* Starts a child that is a producer until it reads the end of @fd. */
static pid_t start_child(int fd, int other)
{
	pid_t pid = fork();
	char c;

	if (pid)
		return pid;
	close(other);
	marks_read();
	(void)!read(fd, &c, 1);
	exit(bad);
}

static void end_child(pid_t pid, int fd)
{
	int status;

	close(fd);
	if (waitpid(pid, &status, 0) != pid || status)
		wrong("child", status);
}

static void low(void)
{
	int pipes[2], end;
	pid_t child;
	ino_t ino;

	if (pipe2(pipes, O_CLOEXEC))
		return wrong("pipe", errno);
	child = start_child(pipes[0], pipes[1]);
	marks_read();
	wait_for_file(child, true);
	end = fcntl(pipes[1], F_DUPFD_CLOEXEC, 300);
	close_from(3, 256);
	ino = open_files("theirs");
	marks_read();
	end_child(child, end);
	wait_for_file(child, false);
	marks_read();
	check_files(ino);
}

static void all(bool lost)
{
	ino_t ino;

	marks_read();
	close_from(3, FILES);
	ino = open_files("theirs");
	marks();
	if (!lost && xsprof_flush(60000))
		wrong("nobody reads any more", errno);
	check_files(ino);
}

/* Makes two system calls of this thread fail from here on. */
static bool refuse(unsigned int one, unsigned int other, unsigned int err)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, one, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, other, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | err),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { .len = sizeof(code) / sizeof(code[0]), .filter = code };

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

static int grow(void)
{
	xsprof_instant(xsprof_name("first"));
	if (!refuse(SYS_madvise, SYS_fallocate, EPERM))
		return 77;
	marks();
	return bad;
}

static int sandbox(char **argv)
{
	if (!refuse(SYS_close_range, SYS_close_range, ENOSYS) ||
	    setenv("XSPROF_RECORD", "c.data", 1))
		return 77;
	argv[1] = argv[0];
	execv("/proc/self/exe", argv + 1);
	return 77;
}

static void look_for(const char *path, const char *what)
{
	FILE *file = fopen(path, "r");
	char line[4096];

	while (file && fgets(line, sizeof(line), file))
		if (strstr(line, what))
			wrong(line, 0);
	if (file)
		fclose(file);
}

static void look_at_files(const char *what)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	char path[4096];
	ssize_t n;

	while (dir && (entry = readdir(dir))) {
		n = readlinkat(dirfd(dir), entry->d_name, path, sizeof(path) - 1);
		path[n < 0 ? 0 : n] = '\0';
		if (strstr(path, what) || strstr(path, "inotify") || strstr(path, "eventpoll") ||
		    strstr(path, "pidfd"))
			wrong(path, atoi(entry->d_name));
	}
	if (dir)
		closedir(dir);
}

static void forks(void)
{
	char what[32];
	int pipes[2];
	pid_t child, second;

	if (pipe2(pipes, O_CLOEXEC))
		return wrong("pipe", errno);
	child = start_child(pipes[0], pipes[1]);
	marks_read();
	wait_for_file(child, true);
	/* By now the library has read this process's own records. */
	marks_read();
	second = fork();
	if (!second) {
		snprintf(what, sizeof(what), "/p.%d.", (int)child);
		look_for("/proc/self/maps", what);
		look_at_files(what);
		look_at_files(".data");
		exit(bad);
	}
	if (waitpid(second, &bad, 0) != second || bad)
		wrong("second child", bad);
	end_child(child, pipes[1]);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "low"))
		low();
	else if (!strcmp(what, "all"))
		all(false);
	else if (!strcmp(what, "lost"))
		all(true);
	else if (!strcmp(what, "fork"))
		forks();
	else if (!strcmp(what, "grow"))
		return grow();
	else if (!strcmp(what, "sandbox") && argc > 2)
		return sandbox(argv);
	else
		return 95;
	fflush(stdout);
	return bad;
}
