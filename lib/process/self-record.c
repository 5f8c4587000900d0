// SPDX-License-Identifier: LGPL-2.1-only
/*
 * XSPROF_RECORD=FILE: a program that records itself, with no recorder beside it.  A thread of
 * the library's own drains the rings of this process, and of the children that join it, into
 * FILE.  It never takes a signal, and costs the program nothing but that thread.  It prints what
 * is wrong with what it was asked for, at its start and nothing after it: nobody else is there to
 * tell.
 *
 * A killed program leaves its file good to the last whole chunk and the rest in its session on
 * tmpfs, where `xsprof recover` finds it.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/proc.h"
#include "capture/host.h"
#include "capture/writer.h"
#include "drain/drain.h"
#include "process/local.h"
#include "read/recording.h"
#include "ring/config.h"

#define STACK_SIZE	(256u << 10)

static struct {
	struct xsp_recording	session;
	struct xsp_cap		cap;
	struct xsp_drain	*drain;
	struct xsp_fd_id	file;	/* what @fd is, so that we never write to anything else */
	char			path[PATH_MAX];
	pthread_t		thread;
	int			fd;
	int			wake;
	bool			stop;
	bool			running;
} self = { .fd = -1, .wake = -1, .session = { .dirfd = -1, .lockfd = -1 } };

/* FILE with "%p" replaced by the process id, "%%" by "%"; absolute, for who looks later. */
static int expand(const char *file, char *path, size_t size)
{
	size_t at = 0;
	int n;

	if (!*file)
		return -EINVAL;
	if (*file != '/') {
		if (!getcwd(path, size))
			return -errno;
		at = strlen(path);
		if (at >= size - 2)
			return -ENAMETOOLONG;
		path[at++] = '/';
	}
	for (; *file; file++) {
		if (file[0] == '%' && file[1] == 'p') {
			n = snprintf(path + at, size - at, "%d", (int)getpid());
			file++;
		} else {
			file += file[0] == '%' && file[1] == '%';
			n = snprintf(path + at, size - at, "%c", *file);
		}
		at += n;
		if (at >= size - 1)
			return -ENAMETOOLONG;
	}
	path[at] = '\0';
	return 0;
}

/* As the recorder does: what is there is kept once, as FILE.old. */
static int open_file(void)
{
	char old[PATH_MAX + 8];
	struct stat st;

	if (!stat(self.path, &st) && S_ISREG(st.st_mode) && st.st_size) {
		snprintf(old, sizeof(old), "%s.old", self.path);
		if (rename(self.path, old))
			return -errno;
	}
	self.fd = xsp_fd_high(open(self.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
	return self.fd < 0 ? -errno : xsp_fd_note(&self.file, self.fd);
}

/* What the environment said and is not taken. */
static void say_wrong(void)
{
	uint32_t nr;
	const struct xsp_wrong *w = xsp_config_wrong(&nr);

	for (; nr; nr--, w++) {
		const char *value = secure_getenv(w->name);

		xsp_say("%s: '%.128s' is invalid: expected %s; %s", w->name, value ? value : "",
			w->expected, w->instead);
	}
}

static int say_failed(const char *file, const char *object, const char *why, int err)
{
	xsp_say("XSPROF_RECORD: '%.128s': nothing is recorded: %.256s: %s", file, object, why);
	return err;
}

static int make_session(const char **object)
{
	char facts[PATH_MAX + 256], boot[64] = "";
	int err;

	xsp_proc_line("/proc/sys/kernel/random/boot_id", boot, sizeof(boot));
	snprintf(facts, sizeof(facts), "pid %d\noutput %s\nboot %s\ncommand (records itself)\n",
		 (int)getpid(), self.path, boot);
	err = xsp_recording_create(&self.session, facts, object);
	if (err)
		return err;
	self.session.dirfd = xsp_fd_high(self.session.dirfd);
	/* A lock belongs to what is open, not to the descriptor: it moves along. */
	self.session.lockfd = xsp_fd_high(self.session.lockfd);
	return 0;
}

static int make_capture(void)
{
	int err = xsp_cap_create(&self.cap, self.fd, NULL);

	if (err)
		return err;
	err = xsp_recording_add_capture(&self.session, self.cap.uuid);
	if (!err)
		err = xsp_host_store(&self.cap, "command=(records itself)\n");
	if (!err)
		err = xsp_drain_open(self.session.dirfd, &self.cap, NULL, NULL, 0, &self.drain);
	if (err)
		xsp_cap_free(&self.cap);
	else
		/* Where there are no sockets, all but notices works. */
		(void)xsp_drain_add_notices(self.drain, self.session.path);
	return err;
}

static void *drain(void *unused)
{
	struct pollfd fds[2] = {
		{ .fd = self.wake, .events = POLLIN },
		{ .fd = xsp_drain_fd(self.drain), .events = POLLIN },
	};

	(void)unused;
	while (!__atomic_load_n(&self.stop, __ATOMIC_ACQUIRE)) {
		struct timespec ts = { 0, 0 };

		if (!xsp_fd_is(&self.file, self.fd))
			return NULL;
		ts.tv_nsec = xsp_drain_step(self.drain) % 1000000000u;
		if (ts.tv_nsec)
			ppoll(fds, 2, &ts, NULL);
	}
	if (xsp_fd_is(&self.file, self.fd))
		xsp_drain_finish(self.drain, 0);
	return NULL;
}

static void close_all(void)
{
	if (self.fd >= 0)
		close(self.fd);
	if (self.wake >= 0)
		close(self.wake);
	self.fd = -1;
	self.wake = -1;
	xsp_recording_close(&self.session);
}

/*
 * The child of a fork has no drain thread; its producer is the parent's to drain.  The lock must
 * go with the parent: a descriptor left open here would keep the session alive after it.
 */
void xsp_self_record_forget(void)
{
	if (!self.running)
		return;
	xsp_drain_forget(self.drain);
	close_all();
	self.running = false;
}

/**
 * xsp_self_record_start() - record this process and its children into a file
 * @file: its name; "%p" in it becomes the process id
 *
 * On success XSPROF_SESSION in the environment names the session to join, by tmpfs.  What is
 * wrong, also with other variables, is said on standard error.
 *
 * Return: 0 or a negative errno.
 */
int xsp_self_record_start(const char *file)
{
	const char *object = file;
	int err;

	say_wrong();
	err = expand(file, self.path, sizeof(self.path));
	if (err)
		return say_failed(file, object, strerror(-err), err);
	err = make_session(&object);
	if (err)
		return say_failed(file, object, xsp_recording_strerror(err), err);
	object = self.path;
	err = open_file();
	if (err)
		goto err_session;
	self.wake = xsp_fd_high(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	if (self.wake < 0) {
		err = -errno;
		goto err_session;
	}
	err = make_capture();
	if (err)
		goto err_session;
	/* The device's producers are not drained here: this process and its children want files. */
	err = setenv("XSPROF_SESSION", self.session.path, 1) ||
	      setenv("XSPROF_BACKEND", "tmpfs", 1) ? -errno : 0;
	if (!err)
		err = xsp_thread_start(&self.thread, "xsprof-drain", STACK_SIZE, drain, NULL);
	if (err)
		goto err_capture;
	self.running = true;
	return 0;

err_capture:
	unsetenv("XSPROF_SESSION");
	unsetenv("XSPROF_BACKEND");
	xsp_drain_close(self.drain);
	xsp_cap_free(&self.cap);
err_session:
	xsp_recording_remove(&self.session);
	close_all();
	return say_failed(file, object, strerror(-err), err);
}

/* The end of the program: waits until everything in the rings is in the file. */
void xsp_self_record_stop(void)
{
	const uint64_t one = 1;

	if (!self.running)
		return;
	__atomic_store_n(&self.stop, true, __ATOMIC_RELEASE);
	/* Where it cannot be woken it wakes by itself, 50 ms later. */
	if (write(self.wake, &one, sizeof(one)) != sizeof(one))
		usleep(1000);
	pthread_join(self.thread, NULL);
	self.running = false;
	xsp_drain_close(self.drain);
	xsp_cap_free(&self.cap);
	xsp_recording_remove(&self.session);
	close_all();
}
