// SPDX-License-Identifier: GPL-2.0-only
/*
 * Without a recorder, a program linked with the library creates no file or thread, makes no system
 * call in a marker, and prints nothing. Also if the session is not trusted: another user's,
 * accessible to others, or without a recorder.
 *
 *	quiet		needs no session; makes its own
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <xsprof/xsprof.h>

#include "common/session.h"
#include "common/tap.h"

static char dir[100];

static unsigned int entries(const char *path)
{
	unsigned int n = 0;
	DIR *d = opendir(path);

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

static void markers(xsprof_name_t name)
{
	struct xsprof_kv kv = xsprof_str(name, "text");

	xsprof_begin(name);
	xsprof_end();
	xsprof_instant(name);
	xsprof_counter(name, 1);
	xsprof_counter_f64(name, 1);
	xsprof_complete(name, 1);
	xsprof_span(name, 1, 2, 3, 4);
	xsprof_step(name, 1);
	xsprof_async_begin(name, 1);
	xsprof_flow_start(name, 1);
	xsprof_correlation_push(0, 1);
	xsprof_alloc(name, &kv, 1, 0, 0, 0);
	xsprof_relation(1, 2, 3);
	xsprof_begin_args(name, &kv, 1);
	xsprof_args(&kv, 1);
	xsprof_end_args(&kv, 1);
	xsprof_instant_args(name, &kv, 1);
	XSPROF_BEGIN("macro");
	XSPROF_END();
	{
		XSPROF_SCOPE("scope");
	}
}

/* From here on any system call except exit_group() ends the process with SIGSYS. */
static void no_system_calls(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog prog = { .len = 4, .filter = code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		_exit(77);
}

/* What an instrumented program does; run as a separate process. */
static int program(void)
{
	struct xsprof_stats stats = { .size = sizeof(stats) };
	xsprof_name_t name;

	if (entries("/proc/self/task") != 3)
		return 11;
	/* ".", "..", 0, 1, 2, and the descriptor of the directory. */
	if (entries("/proc/self/fd") != 6)
		return 12;
	if (xsprof_enabled())
		return 13;
	name = xsprof_name("name");
	if (!name || xsprof_name("name") != name || xsprof_category("category") < 0)
		return 14;
	if (xsprof_pause() != -ENOTCONN || xsprof_resume() != -ENOTCONN ||
	    xsprof_flush(0) != -ENOTCONN || xsprof_thread_name("x") != -ENOTCONN ||
	    xsprof_category_enable(0, 1) != -ENOTCONN || xsprof_init(NULL) != -ENOTCONN)
		return 15;
	if (xsprof_get_stats(&stats) || stats.attached || stats.slots || stats.lost)
		return 16;
	if (entries("/proc/self/fd") != 6)
		return 17;
	no_system_calls();
	for (int i = 0; i < 1000; i++)
		markers(name);
	syscall(SYS_exit_group, 0);
	return 0;
}

static void run(const char *what, const char *session, unsigned int files)
{
	char *argv[] = { (char *)"quiet", (char *)"program", NULL };
	char out[200];
	int fd[2], status;
	ssize_t n;
	pid_t pid;

	if (pipe(fd))
		tap_bail("pipe");
	fflush(stdout);
	pid = fork();
	if (!pid) {
		dup2(fd[1], 1);
		dup2(fd[1], 2);
		for (int i = 3; i < 256; i++)
			close(i);
		if (session)
			setenv("XSPROF_SESSION", session, 1);
		else
			unsetenv("XSPROF_SESSION");
		unsetenv("XSPROF_RECORD");
		/* Where the device is loaded there may be a recorder. */
		setenv("XSPROF_BACKEND", "tmpfs", 1);
		execv("/proc/self/exe", argv);
		_exit(126);
	}
	close(fd[1]);
	n = read(fd[0], out, sizeof(out) - 1);
	if (n > 0)
		tap_wrong("output: %.*s", (int)n, out);
	close(fd[0]);
	waitpid(pid, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
		tap_skip(what, "no seccomp");
		return;
	}
	CHECK_EQ(status, 0);
	CHECK_EQ(entries(dir), files);
	tap_result("%s", what);
}

int main(int argc, char **argv)
{
	struct session_locks locks;
	char path[200], lock[200];

	if (argc > 1 && !strcmp(argv[1], "program"))
		return program();
	snprintf(dir, sizeof(dir), "%s/xsprof-quiet.XXXXXX",
		 getenv("XSPROF_TEST_SHM") ? getenv("XSPROF_TEST_SHM") : "/dev/shm");
	if (!mkdtemp(dir))
		tap_bail("%s: %s", dir, strerror(errno));
	snprintf(lock, sizeof(lock), "%s/lock", dir);
	snprintf(path, sizeof(path), "%s.link", dir);
	run("no session", NULL, 2);
	run("a session that is not there", "/nonexistent", 2);
	run("a session by a relative path", "relative", 2);
	run("a session with no lock", dir, 2);
	close(open(lock, O_CREAT | O_RDWR | O_CLOEXEC, 0600));
	run("a session whose recorder is gone", dir, 3);
	if (session_lock(&locks, dir))
		tap_bail("%s: %s", dir, strerror(errno));
	chmod(dir, 0701);
	run("a session that others may enter", dir, 3);
	chmod(dir, 0700);
	if (symlink(dir, path))
		tap_bail("symlink");
	run("a session behind a symbolic link", path, 3);
	unlink(path);
	if (!geteuid() && !chown(dir, 65534, 65534)) {
		run("another user's session", dir, 3);
		if (chown(dir, 0, 0))
			tap_bail("chown");
	} else {
		tap_skip("another user's session", "not root");
	}
	close(locks.dir);
	run("a dead recorder, whose lock file another process has locked", dir, 3);
	close(locks.file);
	unlink(lock);
	rmdir(dir);
	return tap_done();
}
