// SPDX-License-Identifier: GPL-2.0-only
/*
 * Start and end of processes: fork with and without exec, from several threads, vfork, exec, exit
 * and _exit; clone.c has children that the C library does not see. Each has its own producer, every
 * record is there, and none is in another process' ring.
 *
 *	session XSPROF_BUFFER_SIZE=256k fork
 */
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>

#include <xsprof/flow.h>
#include <xsprof/op.h>

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

static void an_op(void)
{
	struct xsprof_op op = { .name = name, .sequence = XSPROF_NO_SEQUENCE };

	xsprof_op_begin(&op);
	xsprof_op_end();
}

static void a_memory_report(void)
{
	xsprof_report_memory_usage(&name, 64, 64, 64, 0);
}

static void out_of_memory(void)
{
	xsprof_report_out_of_memory(64, 64, 64, 0);
}

static void an_allocation(void)
{
	xsprof_alloc(name, &name, 64, 0, 64, 64);
}

static void an_instant(void)
{
	xsprof_instant(name);
}

static void a_counter(void)
{
	xsprof_counter_f64(name, 0.5);
}

static void a_complete_range(void)
{
	xsprof_complete(name, xsprof_now());
}

static void a_span(void)
{
	uint64_t now = xsprof_now();

	xsprof_span(name, now, now, 1, 0);
}

static void a_step(void)
{
	xsprof_step(name, 1);
}

static void an_async_range(void)
{
	xsprof_async_begin(name, 1);
	xsprof_async_end(name, 1);
}

static void a_flow(void)
{
	xsprof_flow_start(name, 1);
}

static void a_correlation(void)
{
	xsprof_correlation_push(0, 1);
	xsprof_correlation_pop(0);
}

static void a_relation(void)
{
	xsprof_relation(0, 1, 2);
}

static void arguments(void)
{
	struct xsprof_kv kv = xsprof_u64(name, 1);

	xsprof_instant_args(name, &kv, 1);
}

/* A child becomes a producer with its first record of any kind, also without fork handlers. */
static void test_each_kind(void)
{
	static const struct {
		const char	*name;
		void		(*make)(void);
	} kinds[] = {
		{ "ops", an_op }, { "memory reports", a_memory_report },
		{ "out of memory", out_of_memory }, { "allocations", an_allocation },
		{ "instants", an_instant }, { "counters", a_counter },
		{ "complete ranges", a_complete_range }, { "spans", a_span }, { "steps", a_step },
		{ "async ranges", an_async_range }, { "flows", a_flow },
		{ "correlation ids", a_correlation }, { "relations", a_relation },
		{ "arguments", arguments },
	};

	numbers(0, 1);
	for (unsigned int i = 0; i < 2 * sizeof(kinds) / sizeof(kinds[0]); i++) {
		pid_t pid = i & 1 ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();

		if (!pid) {
			for (unsigned int k = 0; k < 10; k++)
				kinds[i / 2].make();
			_exit(0);
		}
		CHECK_EQ(wait_for(pid), 0);
		collect(pid);
		if (got.files != 1 || got.n < 10 || got.drops || got.rec[0].tid != (uint32_t)pid)
			tap_wrong("%s%s: %u records of 10, %llu dropped", kinds[i / 2].name,
				  i & 1 ? ", clone()" : "", got.n, (unsigned long long)got.drops);
	}
	collect(getpid());
	tap_result("fork: a child that makes one kind of record alone");
}

static bool is_named(uint32_t tid, const char *text)
{
	const char *is = collect_entry(XSPROF_ENTRY_THREAD, tid, NULL);

	return is && !strcmp(is, text);
}

/* What a child states before its first record is kept: a worker names itself first. */
static void test_first_words(void)
{
	for (unsigned int i = 0; i < 2; i++) {
		pid_t pid = i ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();

		if (!pid) {
			if (xsprof_thread_name("a worker"))
				_exit(1);
			xsprof_instant(name);
			_exit(0);
		}
		CHECK_EQ(wait_for(pid), 0);
		collect(pid);
		CHECK(is_named((uint32_t)pid, "a worker"));
		pid = i ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();
		if (!pid) {
			if (xsprof_thread_name_of(4711, "another") || xsprof_fact("one", "two"))
				_exit(1);
			_exit(0);
		}
		CHECK_EQ(wait_for(pid), 0);
		collect(pid);
		CHECK(is_named(4711, "another"));
		CHECK(collect_entry(XSPROF_ENTRY_FACT, 0, "one=two"));
	}
	collect(getpid());
	tap_result("fork: a child that names a thread, or states a fact, before any record");
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

/* Checks our lock from another process, as the recorder does. */
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
		other = fork();		/* ends at once, without effect on its parent */
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

	/* In a child, because a process that reads its own file, as we do, drops its own lock. */
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

/* As setproctitle() does: overwrites the environment's strings in place. */
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
	/* Finds the grandchild's file by its parent. */
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
	test_each_kind();
	test_first_words();
	test_silent_child();
	test_grandchild();
	test_threads();
	test_alive();
	test_exec();
	test_vfork();
	test_environment();
	return tap_done();
}
