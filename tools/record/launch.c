// SPDX-License-Identifier: GPL-2.0-only
/*
 * Starts the command, forwards signals, waits for it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/proc.h"
#include "ftrace/mark.h"
#include "record/launch.h"

/* Signals sent to us that are meant for the command. */
static const int forwarded[] = {
	SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM,
};

#define NR_FORWARDED	(sizeof(forwarded) / sizeof(forwarded[0]))

static int try_path(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	return access(path, X_OK) ? -errno : 0;
}

/* Like execvp(): the first executable file; remembers one that is not executable. */
int launch_find(const char *name, char *path, size_t size)
{
	const char *dirs = getenv("PATH"), *end;
	int err, found = -ENOENT;

	snprintf(path, size, "%s", name);
	if (!*name)
		return -ENOENT;
	if (strchr(name, '/'))
		return try_path(name);
	if (!dirs)
		dirs = "/bin:/usr/bin";
	for (;; dirs = end + 1) {
		end = strchrnul(dirs, ':');
		if (end == dirs)
			snprintf(path, size, "./%s", name);
		else
			snprintf(path, size, "%.*s/%s", (int)(end - dirs), dirs, name);
		err = try_path(path);
		if (!err)
			return 0;
		if (err != -ENOENT && err != -ENOTDIR && err != -EISDIR)
			found = err;
		if (!*end)
			break;
	}
	snprintf(path, size, "%s", name);
	return found;
}

static void ignore(int sig, struct sigaction *old)
{
	struct sigaction sa;

	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = SIG_IGN;
	sigaction(sig, &sa, old);
}

int launch_prepare(struct launch *l)
{
	struct sigaction sa;
	struct rlimit files;
	sigset_t mask;
	size_t i;

	memset(l, 0, sizeof(*l));
	l->sigfd = -1;
	l->mark = -1;
	/* Orphaned descendants of the command become our children: we learn how they end. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	/* A failed write is reported, and must not kill us. */
	ignore(SIGPIPE, &l->old_pipe);
	ignore(SIGXFSZ, &l->old_xfsz);
	/* If it were inherited as ignored, children would vanish unseen. */
	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = SIG_DFL;
	sigaction(SIGCHLD, &sa, &l->old_chld);
	/* One descriptor per producer. */
	if (!getrlimit(RLIMIT_NOFILE, &l->old_files)) {
		files = l->old_files;
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	for (i = 0; i < NR_FORWARDED; i++) {
		/* A signal that was ignored when we started (nohup) stays ignored. */
		if (!sigaction(forwarded[i], NULL, &sa) && sa.sa_handler != SIG_IGN)
			sigaddset(&mask, forwarded[i]);
	}
	if (sigprocmask(SIG_BLOCK, &mask, &l->old_mask))
		return -errno;
	l->sigfd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	return l->sigfd < 0 ? -errno : 0;
}

/* @go reaches its end when the parent closes its side. */
static void __attribute__((noreturn)) become(struct launch *l, char **argv, char **env, int pipe,
					     int go)
{
	char byte;
	int err;

	/* If this fails, the reader notices that no mark comes. */
	if (l->mark >= 0 && write(l->mark, FTRACE_MARK, strlen(FTRACE_MARK)) < 0)
		close(l->mark);
	while (read(go, &byte, 1) < 0 && errno == EINTR)
		;
	sigaction(SIGPIPE, &l->old_pipe, NULL);
	sigaction(SIGXFSZ, &l->old_xfsz, NULL);
	sigaction(SIGCHLD, &l->old_chld, NULL);
	setrlimit(RLIMIT_NOFILE, &l->old_files);
	sigprocmask(SIG_SETMASK, &l->old_mask, NULL);
	for (; *env; env++)
		putenv(*env);
	if (l->data_out)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	execvp(argv[0], argv);
	err = errno;
	/* Without a reader there is no one to tell. */
	if (write(pipe, &err, sizeof(err)) != sizeof(err))
		_exit(126);
	_exit(err == ENOENT ? 127 : 126);
}

int launch_start(struct launch *l, char **argv, char **env)
{
	int fds[2], go[2], err = 0;
	ssize_t n;

	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	if (pipe2(go, O_CLOEXEC)) {
		err = -errno;
		goto err_fds;
	}
	fflush(NULL);
	l->pid = fork();
	if (l->pid < 0) {
		err = -errno;
		close(go[0]);
		close(go[1]);
		goto err_fds;
	}
	if (!l->pid) {
		close(go[1]);
		become(l, argv, env, fds[1], go[0]);
	}
	close(fds[1]);
	close(go[0]);
	if (l->held)
		l->held(l->held_data, l->pid);
	close(go[1]);
	do {
		n = read(fds[0], &err, sizeof(err));
	} while (n < 0 && errno == EINTR);
	close(fds[0]);
	if (n == sizeof(err)) {
		waitpid(l->pid, &l->status, 0);
		l->ended = true;
		return -err;
	}
	l->children = true;
	return 0;

err_fds:
	close(fds[0]);
	close(fds[1]);
	return err;
}

static void remember(struct launch *l, pid_t pid, uint64_t start_time, int status)
{
	struct launch_reaped *r = &l->reaped[l->nr_reaped++ % LAUNCH_REAPED];

	r->pid = pid;
	r->start_time = start_time;
	r->status = status;
	if (pid != l->pid || l->ended)
		return;
	l->ended = true;
	l->status = status;
}

/* Inspected before it is reaped: afterwards its pid may be reused. */
static bool reap(struct launch *l)
{
	struct xsp_proc_stat st;
	bool any = false;
	siginfo_t info;
	int status;

	for (;;) {
		info.si_pid = 0;
		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT)) {
			l->children = errno != ECHILD;
			return any;
		}
		if (!info.si_pid)
			return any;
		if (xsp_proc_stat(info.si_pid, &st))
			st.start_time = 0;
		if (waitpid(info.si_pid, &status, WNOHANG) != info.si_pid)
			return any;
		remember(l, info.si_pid, st.start_time, status);
		any = true;
	}
}

static void forward(struct launch *l, const struct signalfd_siginfo *info)
{
	int sig = info->ssi_signo;

	if (sig == SIGINT || sig == SIGTERM || sig == SIGHUP || sig == SIGQUIT) {
		l->last_signal = sig;
		l->asked++;
	}
	/*
	 * A signal from the kernel (a terminal's Ctrl-C) went to the whole group, including the
	 * command.
	 */
	if (info->ssi_code == SI_KERNEL || l->ended)
		return;
	kill(l->pid, sig);
}

bool launch_serve(struct launch *l)
{
	struct signalfd_siginfo info;

	while (read(l->sigfd, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo != SIGCHLD)
			forward(l, &info);
	return reap(l);
}

bool launch_status(const struct launch *l, pid_t pid, uint64_t start_time, int *status)
{
	uint64_t i, n = l->nr_reaped < LAUNCH_REAPED ? l->nr_reaped : LAUNCH_REAPED;

	for (i = 0; i < n; i++) {
		const struct launch_reaped *r = &l->reaped[(l->nr_reaped - 1 - i) % LAUNCH_REAPED];

		if (r->pid == pid && r->start_time == start_time) {
			*status = r->status;
			return true;
		}
	}
	return false;
}
