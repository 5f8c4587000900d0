// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program with few resources: descriptors closed without the library's knowledge, limits of file
 * size, memory and descriptors, a full tmpfs, seccomp filters, no clock. The program continues
 * unaffected, and losses are counted if there is any memory for the count.
 *
 *	session XSPROF_BUFFER_SIZE=1M limits [tmpfs=1]
 *
 * tmpfs: the session has its own tmpfs of 2 MiB.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <xsprof/xsprof.h>

#include "ring/collect.h"

#ifndef SYS_close_range
#define SYS_close_range	436	/* Linux 5.9, and the same everywhere */
#endif

#define RECORDS	20000

static xsprof_name_t name;

static void numbers(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		xsprof_counter(name, i);
}

/* Checks the child's status, and that each of its records is there or counted. */
static void check(pid_t pid, bool attached)
{
	int status;

	waitpid(pid, &status, 0);
	CHECK_EQ(status, 0);
	collect(pid);
	CHECK_EQ(got.files > 0, attached);
	if (attached)
		CHECK_EQ(collect_count(XSPROF_REC_COUNTER_I64, name) + got.drops, RECORDS);
}

static void limit(int resource, rlim_t value)
{
	struct rlimit rl = { .rlim_cur = value, .rlim_max = value };

	if (setrlimit(resource, &rl))
		_exit(90);
}

static void test_closed(void)
{
	pid_t pid = fork();

	if (!pid) {
		numbers(1);
		syscall(SYS_close_range, 3, ~0u, 0);
		numbers(RECORDS - 1);
		_exit(0);
	}
	check(pid, true);
	CHECK_EQ(got.drops, 0);
	tap_result("all descriptors closed");
}

/* Our descriptor's number now belongs to a file of the program: the library must not use it. */
static void test_reused(void)
{
	char path[] = "/tmp/xsprof-limits.XXXXXX";
	int theirs = mkstemp(path), status;
	struct stat st;
	pid_t pid;

	CHECK(theirs >= 0 && write(theirs, "theirs", 6) == 6);
	pid = fork();
	if (!pid) {
		numbers(1);
		for (int fd = 3; fd < 1024; fd++)
			if (fd != theirs)
				dup2(theirs, fd);
		numbers(RECORDS - 1);
		/* Its child must not close it either. */
		if (!fork()) {
			numbers(10);
			for (int fd = 3; fd < 1024; fd++)
				if (fcntl(fd, F_GETFD) < 0)
					_exit(91);
			_exit(0);
		}
		wait(&status);
		_exit(status ? 92 : 0);
	}
	check(pid, true);
	CHECK(!fstat(theirs, &st) && st.st_size == 6);
	close(theirs);
	unlink(path);
	tap_result("its descriptor's number taken for another file");
}

static void test_file_size(void)
{
	static const rlim_t size[] = { 0, 1, 4096, 1 << 20 };

	for (unsigned int i = 0; i < 4; i++) {
		pid_t pid = fork();

		if (!pid) {
			limit(RLIMIT_FSIZE, size[i]);
			numbers(RECORDS);
			_exit(0);
		}
		check(pid, false);
		/* The limit is lowered later: existing rings stay valid. */
		pid = fork();
		if (!pid) {
			numbers(1);
			limit(RLIMIT_FSIZE, size[i]);
			numbers(RECORDS - 1);
			_exit(0);
		}
		check(pid, true);
	}
	tap_result("RLIMIT_FSIZE before and after attach");
}

static void test_descriptors(void)
{
	for (rlim_t most = 0; most < 12; most++) {
		pid_t pid = fork();
		int status;

		if (!pid) {
			limit(RLIMIT_NOFILE, most);
			numbers(RECORDS);
			_exit(0);
		}
		/* With enough descriptors it has a ring, with fewer it has none. */
		waitpid(pid, &status, 0);
		CHECK_EQ(status, 0);
		collect(pid);
		CHECK(most > 3 || !got.files);
		CHECK(most < 11 || got.files);
		if (got.files)
			CHECK_EQ(collect_count(XSPROF_REC_COUNTER_I64, name) + got.drops, RECORDS);
	}
	tap_result("RLIMIT_NOFILE");
}

static void test_address_space(void)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		limit(RLIMIT_AS, 1 << 20);
		numbers(RECORDS);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	CHECK_EQ(status, 0);
	tap_result("RLIMIT_AS");
}

enum filter {
	KILL,		/* all except the end and madvise(), which any allocator calls */
	KILL_ALL,	/* madvise() too */
	REFUSE,		/* all except the end fail */
	FILTERS,
};

static void filter(enum filter kind)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kind == KILL ? SYS_madvise : SYS_exit_group,
			 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, kind == REFUSE ? SECCOMP_RET_ERRNO | EPERM :
			 SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog prog = { .len = 5, .filter = code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		_exit(77);
}

static void test_filters(void)
{
	static const char *const what[] = {
		[KILL] = "a filter that kills for any system call but madvise()",
		[KILL_ALL] = "a filter that kills for any system call, all rings with their memory",
		[REFUSE] = "a filter that refuses all system calls",
	};
	const struct xsprof_options options = {
		.size = sizeof(options), .flags = XSPROF_INIT_PREFAULT,
	};

	for (enum filter kind = KILL; kind < FILTERS; kind++) {
		pid_t pid = fork();
		siginfo_t info;

		if (!pid) {
			if (kind == KILL_ALL && xsprof_init(&options))
				_exit(93);
			/* A thread's first marker asks the kernel for what it needs. */
			numbers(1);
			filter(kind);
			errno = 0;
			numbers(RECORDS - 1);
			syscall(SYS_exit_group, errno == EPERM ? 94 : 0);
		}
		if (!waitid(P_PID, pid, &info, WEXITED | WNOWAIT) && info.si_code == CLD_EXITED &&
		    info.si_status == 77) {
			waitpid(pid, NULL, 0);
			tap_skip(what[kind], "no seccomp");
			continue;
		}
		check(pid, true);
		CHECK(kind == REFUSE || !got.drops);
		tap_result("%s", what[kind]);
	}
}

/* Allows read(), write(), exit() and the return from a handler, but no clock. */
static void strict(bool paused)
{
	numbers(1);
	if (paused && xsprof_pause())
		_exit(95);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0))
		_exit(77);
	numbers(RECORDS);
	/* exit_group(), which _exit() calls, is not allowed. */
	syscall(SYS_exit, 0);
}

static void test_strict(void)
{
	static const char what[] = "strict seccomp: paused before, and not";

	for (int paused = 1; paused >= 0; paused--) {
		int status;
		pid_t pid = fork();

		if (!pid)
			strict(paused);
		waitpid(pid, &status, 0);
		if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
			tap_skip(what, "no seccomp");
			return;
		}
		collect(pid);
		if (paused) {
			CHECK_EQ(status, 0);
			CHECK_EQ(got.drops, 0);
			CHECK_EQ(collect_count(XSPROF_REC_COUNTER_I64, name), 1);
			continue;
		}
#if defined(__x86_64__)
		/* As libxsprof-user(3) says. */
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
		CHECK_EQ(collect_count(XSPROF_REC_COUNTER_I64, name), 1);
#endif
	}
	tap_result("%s", what);
}

#if defined(__x86_64__)
static void test_no_clock(void)
{
	pid_t pid = fork();

	if (!pid) {
		numbers(1);
		if (xsprof_pause() || prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0))
			_exit(95);
		numbers(RECORDS);
		if (prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0) || xsprof_resume())
			_exit(96);
		numbers(RECORDS - 1);
		/* The program's end, with the library's destructor. */
		if (xsprof_pause() || prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0))
			_exit(97);
		exit(0);
	}
	check(pid, true);
	tap_result("PR_SET_TSC: paused, and at the end");
}
#endif

static void test_tmpfs(void)
{
	pid_t pid[12];

	collect(getpid());
	/* Each process wants more than there is, and they share it. */
	for (unsigned int i = 0; i < 12; i++) {
		pid[i] = fork();
		if (!pid[i]) {
			numbers(RECORDS);
			_exit(0);
		}
	}
	for (unsigned int i = 0; i < 12; i++) {
		int status;

		waitpid(pid[i], &status, 0);
		CHECK_EQ(status, 0);
		collect(pid[i]);
		if (got.files)
			CHECK_EQ(collect_count(XSPROF_REC_COUNTER_I64, name) + got.drops, RECORDS);
	}
	tap_result("12 processes on a tmpfs that is full");
}

int main(int argc, char **argv)
{
	name = xsprof_name("number");
	if (arg_number(argc, argv, "tmpfs", 0)) {
		test_tmpfs();
		return tap_done();
	}
	test_closed();
	test_reused();
	test_file_size();
	test_descriptors();
	test_address_space();
	test_filters();
	test_strict();
#if defined(__x86_64__)
	test_no_clock();
#endif
	return tap_done();
}
