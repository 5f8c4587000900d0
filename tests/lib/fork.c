// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processes that come and go: fork with and without exec, from several threads, vfork, exec, exit
 * and _exit; clone.c has those that the C library does not see.  Each has a producer of its own,
 * what was written is there to the record, and nobody's records are in another's ring.
 *
 *	session XSPROF_BUFFER_SIZE=256k fork
 */
#include <pthread.h>
#include <signal.h>

#include "lib/numbers.h"

extern char **environ;

static void test_fork(void)
{
	pid_t pid[4];

	collect(getpid());
	for (unsigned int i = 0; i < 4; i++) {
		pid[i] = fork();
		if (!pid[i]) {
			numbers(0, 1000 + i);
			_exit(0);
		}
		numbers(100 * i, 100 * (i + 1));
	}
	for (unsigned int i = 0; i < 4; i++) {
		CHECK_EQ(wait_for(pid[i]), 0);
		check_numbers_of(pid[i], 1000 + i, pid[i]);
		CHECK_EQ(got.ctl.ppid, getpid());
		CHECK_EQ(got.state, XSPROF_STATE_LIVE);
	}
	check_numbers(getpid(), 400);
	tap_result("fork: four children and their parent, each its own");
}

static void test_silent_child(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	CHECK_EQ(wait_for(pid), 0);
	collect(pid);
	CHECK_EQ(got.files, 0);
	tap_result("fork: a child that says nothing leaves nothing");
}

static void test_grandchild(void)
{
	int to[2];
	pid_t pid, grand = 0;

	CHECK_EQ(pipe(to), 0);
	pid = fork();
	if (!pid) {
		numbers(0, 10);
		pid = fork();
		if (!pid) {
			numbers(0, 20);
			_exit(0);
		}
		wait_for(pid);
		numbers(10, 15);
		if (write(to[1], &pid, sizeof(pid)) != sizeof(pid))
			_exit(1);
		_exit(0);
	}
	CHECK_EQ(read(to[0], &grand, sizeof(grand)), sizeof(grand));
	CHECK_EQ(wait_for(pid), 0);
	check_numbers(pid, 15);
	check_numbers(grand, 20);
	close(to[0]);
	close(to[1]);
	tap_result("fork: of a forked child");
}

#define FORKS	25

static void *fork_often(void *arg)
{
	pid_t *pid = arg;

	for (unsigned int i = 0; i < FORKS; i++) {
		pid[i] = fork();
		if (!pid[i]) {
			numbers(0, 50);
			_exit(0);
		}
		xsprof_name("while others fork");
	}
	return NULL;
}

static void test_threads(void)
{
	static pid_t pid[3][FORKS];
	pthread_t thread[3];

	collect(getpid());
	for (unsigned int i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, fork_often, pid[i]);
	numbers(0, 2000);
	for (unsigned int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	for (unsigned int i = 0; i < 3; i++)
		for (unsigned int k = 0; k < FORKS; k++) {
			CHECK_EQ(wait_for(pid[i][k]), 0);
			check_numbers(pid[i][k], 50);
		}
	check_numbers(getpid(), 2000);
	tap_result("fork: by three threads while a fourth writes");
}

/* Another process' look at our lock, as the recorder has it. */
static bool seen_alive(pid_t pid)
{
	struct flock fl = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
	char path[300];
	int fd;

	if (rd_find(getenv("XSPROF_SESSION"), pid, path, sizeof(path)))
		return false;
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0 || fcntl(fd, F_GETLK, &fl))
		return false;
	close(fd);
	return fl.l_type == F_WRLCK && fl.l_pid == pid;
}

static void test_alive(void)
{
	pid_t pid = fork(), other;
	siginfo_t info;

	if (!pid) {
		numbers(0, 1);
		other = fork();		/* goes at once: takes nothing of its parent's along */
		if (!other)
			_exit(0);
		wait_for(other);
		raise(SIGSTOP);
		_exit(0);
	}
	waitid(P_PID, pid, &info, WSTOPPED | WNOWAIT);
	CHECK(seen_alive(pid));
	kill(pid, SIGKILL);
	wait_for(pid);
	CHECK(!seen_alive(pid));
	check_numbers(pid, 1);
	tap_result("a lock says that a process lives, and goes with it");
}

static void test_exec(void)
{
	char *argv[] = { (char *)"fork", (char *)"after-exec", NULL };
	pid_t pid = fork();

	if (!pid) {
		numbers(0, 30);
		execv("/proc/self/exe", argv);
		_exit(126);
	}
	CHECK_EQ(wait_for(pid), 0);
	check_numbers(pid, 60);
	CHECK_EQ(got.files, 2);
	CHECK_EQ(got.state, XSPROF_STATE_EXITED);
	CHECK(got.ctl.exit_ticks > got.ctl.attach.ticks);
	tap_result("exec: two producers of one process; exit says goodbye");
}

static void test_vfork(void)
{
	char *const argv[] = { (char *)"true", NULL };
	siginfo_t info;
	pid_t pid = fork(), child;

	/* In a child: a process that reads its own file, as we do, lets go of its own lock. */
	if (!pid) {
		numbers(0, 10);
		child = vfork();
		if (!child) {
			execve("/bin/true", argv, environ);
			_exit(126);
		}
		if (wait_for(child))
			_exit(1);
		numbers(10, 20);
		raise(SIGSTOP);
		_exit(0);
	}
	waitid(P_PID, pid, &info, WSTOPPED | WNOWAIT);
	CHECK(seen_alive(pid));
	kill(pid, SIGCONT);
	CHECK_EQ(wait_for(pid), 0);
	check_numbers(pid, 20);
	tap_result("vfork and exec: the parent goes on as before");
}

/* As setproctitle() does it: the words of the environment are overwritten where they are. */
static void test_environment(void)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		for (char **e = environ; *e; e++)
			memset(*e, 'x', strlen(*e));
		pid = fork();
		if (!pid) {
			numbers(0, 5);
			_exit(0);
		}
		_exit(wait_for(pid) ? 1 : 0);
	}
	status = wait_for(pid);
	CHECK_EQ(status, 0);
	/* The grandchild's file is the one whose parent that was. */
	{
		const char *session = getenv("XSPROF_SESSION");
		unsigned int found = 0;
		struct dirent *e;
		DIR *d = opendir(session);

		while (d && (e = readdir(d))) {
			char path[600];
			struct rd rd;

			snprintf(path, sizeof(path), "%s/%s", session, e->d_name);
			if (e->d_name[0] != 'p' || rd_open(&rd, path))
				continue;
			found += rd.ctl->ppid == (uint32_t)pid;
			rd_close(&rd);
		}
		if (d)
			closedir(d);
		CHECK_EQ(found, 1);
	}
	tap_result("fork: after the program wrote over its environment");
}

int main(int argc, char **argv)
{
	name = xsprof_name("number");
	if (argc > 1 && !strcmp(argv[1], "after-exec")) {
		numbers(30, 60);
		return 0;
	}
	test_fork();
	test_silent_child();
	test_grandchild();
	test_threads();
	test_alive();
	test_exec();
	test_vfork();
	test_environment();
	return tap_done();
}
