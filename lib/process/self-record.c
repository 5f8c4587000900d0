// SPDX-License-Identifier: LGPL-2.1-only
/*
 * XSPROF_RECORD=FILE: a program that records itself, without a separate recorder. A thread of the
 * library drains the rings of this process, and of the children that join it, into FILE. The thread
 * takes no signals and is the only cost. At its start it prints what is wrong with its
 * configuration, and at its end that there was nothing to record: no other process can tell.
 *
 * If the program is killed, its file is valid up to the last whole chunk; the rest is in its
 * session on tmpfs, where `xsprof recover` finds it.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/own-fd.h"
#include "base/proc.h"
#include "capture/host.h"
#include "capture/open.h"
#include "capture/writer.h"
#include "drain/thread.h"
#include "process/backend.h"
#include "process/local.h"
#include "read/leftover.h"
#include "read/recording.h"
#include "ring/config.h"

/*
 * Descriptors needed: by the thread for its session, its file, its wake-up and one inspected
 * process; by the program for the thread's pipe and its rings.
 */
#define THREAD_FILES	8
#define PROGRAM_FILES	5

static struct {
	struct xsp_recording	session;
	struct xsp_cap		cap;
	const char		*object;	/* object of an error ... */
	const char		*why;		/* ... its reason; NULL: errno */
	const char		*cure;		/* ... and a remedy */
	struct xsp_drain_thread	thread;
	char			path[PATH_MAX];
	int			fd;
	bool			lost;		/* the program has closed our descriptors */
	bool			beside;		/* @path is not the requested file */
	bool			running;
	bool			finished;
	char			refusal[160];	/* the first reason: not recorded */
	struct xsp_drain_stats	stats;		/* set when finished */
} self = { .cure = "", .fd = -1, .session = { .dirfd = -1, .lockfd = -1 } };

/* Are @nr descriptors free? Without them the recording would start and see nothing. */
static bool has_files(int nr)
{
	int fds[THREAD_FILES], got = 0, i;

	while (got < nr && (fds[got] = open("/", O_PATH | O_CLOEXEC)) >= 0)
		got++;
	for (i = 0; i < got; i++)
		close(fds[i]);
	if (got == nr)
		return true;
	self.object = "descriptors";
	self.why = "there are too few: raise RLIMIT_NOFILE (ulimit -n)";
	return false;
}

/* FILE with "%p" replaced by the process id and "%%" by "%"; made absolute for later readers. */
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

static int open_file(void)
{
	static char old[PATH_MAX + 8];
	struct xsp_cap_place place = { .path = self.path };
	int fd = xsp_cap_open(&place);

	self.why = place.why;
	self.cure = place.why ? ": name another file" : "";
	if (place.old && snprintf(old, sizeof(old), "%s.old", self.path) < (int)sizeof(old)) {
		self.object = old;
		self.cure = ": cannot keep the existing file there: move it away, or name another "
			    "file";
	}
	if (fd < 0)
		return fd;
	self.fd = xsp_fd_keep(fd);
	return self.fd < 0 ? self.fd : 0;
}

/* Another program records itself into FILE: this one uses FILE.PID. */
static int open_beside(void)
{
	size_t len = strlen(self.path), room = sizeof(self.path) - len;

	if (snprintf(self.path + len, room, ".%d", (int)getpid()) >= (int)room)
		return -ENAMETOOLONG;
	self.beside = true;
	return open_file();
}

/* Prints the invalid values in the environment. */
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
	xsp_say("XSPROF_RECORD: '%.128s': nothing is recorded: %.256s: %s%s", file, object, why,
		self.cure);
	return err;
}

/* Does the environment select a backend that we do not read? */
static const char *other_backend(void)
{
	if (xsp_config.backend == XSP_CHOICE_NONE)
		return "XSPROF_BACKEND=none in the environment disables it: unset it";
	if (xsp_config.backend == XSP_CHOICE_DEVICE)
		return "XSPROF_BACKEND=device in the environment requests rings in the module, but "
		       "a program that records itself needs them on tmpfs: unset it, or use "
		       "'xsprof record'";
	return NULL;
}

static int make_session(const char **object)
{
	char facts[256], boot[64] = "";
	int err;

	xsp_proc_line("/proc/sys/kernel/random/boot_id", boot, sizeof(boot));
	snprintf(facts, sizeof(facts), "pid %d\nboot %s\ncommand " XSP_RECORDS_ITSELF "\n",
		 (int)getpid(), boot);
	/* Clean up after killed programs: without a recorder nothing else does. */
	xsp_leftover_free(true);
	err = xsp_recording_create(&self.session, facts, false, object);
	if (err)
		return err;
	err = xsp_recording_keep_open(&self.session);
	*object = "descriptors of the recording";
	if (err)
		xsp_recording_remove(&self.session);
	return err;
}

static void closed(void *unused)
{
	(void)unused;
	xsp_shm_relock();
}

/* Messages of the drain; called in the thread. */
static void note(void *unused, bool wrong, const char *text)
{
	(void)unused;
	if (wrong && !*self.refusal && strstr(text, "not recorded: "))
		snprintf(self.refusal, sizeof(self.refusal), "%s", text);
}

static const struct xsp_drain_ops ops = {
	.closed = closed,
	.say = note,
};

static int make_capture(void)
{
	int err = xsp_cap_create(&self.cap, self.fd, NULL);

	if (err)
		return err;
	err = xsp_recording_add_capture(&self.session, self.cap.uuid);
	if (!err)
		err = xsp_host_store(&self.cap, "command=" XSP_RECORDS_ITSELF "\n");
	if (!err)
		err = xsp_drain_open(self.session.dirfd, &self.cap, &ops, NULL, 0,
				     &self.thread.drain);
	if (err)
		xsp_cap_free(&self.cap);
	else
		/* Without sockets everything but notices works. */
		(void)xsp_drain_add_notices(self.thread.drain, self.session.path);
	return err;
}

/*
 * If the thread shares the program's descriptors, a program that closes all unknown ones
 * (closefrom(3)) has closed ours. Return: false; the message has been printed.
 */
static bool ready(void *unused)
{
	(void)unused;
	if (!self.lost && xsp_fd_ours(self.fd) && xsp_fd_ours(self.session.dirfd) &&
	    xsp_fd_ours(self.session.lockfd))
		return true;
	if (!self.lost)
		xsp_say("XSPROF_RECORD: '%.256s': the recording ends early: the program closed its "
			"descriptors; 'xsprof recover' adds what is left in memory", self.path);
	self.lost = true;
	return false;
}

static void close_all(void)
{
	xsp_fd_close(self.fd);
	self.fd = -1;
	xsp_recording_close(&self.session);
}

/* Called in the thread. */
static int open_all(void *unused)
{
	int err;

	(void)unused;
	if (!has_files(THREAD_FILES))
		return -EMFILE;
	err = make_session(&self.object);
	if (err) {
		self.why = xsp_recording_strerror(err);
		return err;
	}
	self.object = self.path;
	err = open_file();
	if (err == -EBUSY)
		err = open_beside();
	if (!err)
		err = xsp_recording_add_output(&self.session, self.path);
	if (!err)
		err = make_capture();
	if (!err)
		return 0;
	xsp_recording_remove(&self.session);
	close_all();
	return err;
}

/* ... and a remedy. */
static const char *why_lost(const struct xsp_drain_stats *stats)
{
	if (stats->late_records == stats->lost_records)
		return "their processes were creating their rings";
	if (stats->error == -ENOSPC || stats->error == -EDQUOT)
		return "no space left for the file: free some, or use another path";
	if (stats->error)
		return "the file could not be written";
	if (stats->no_room == ENOSPC || stats->no_room == EDQUOT)
		return "the tmpfs of the rings was full: use a smaller XSPROF_BUFFER_SIZE (4M), or "
		       "set XSPROF_SHM_DIR to a larger tmpfs";
	if (stats->no_room)
		return xsp_drain_no_room(stats->no_room);
	return "rings filled up before they were read: use a larger XSPROF_BUFFER_SIZE (4M) or "
	       "fewer XSPROF_CATEGORIES";
}

/* The messages that `xsprof record` prints at its end: errors and losses only. */
static void say_how_it_went(const struct xsp_drain_stats *stats)
{
	const char *refusal = xsp_attach_refusal();
	uint64_t refused = refusal ? xsp_late() : 0;

	/* It had no rings, so no drain counts these. */
	if (refused)
		xsp_say("XSPROF_RECORD: '%.256s': all %llu records of this process were lost: %s",
			self.path, (unsigned long long)refused, refusal);
	if (stats->lost_records)
		xsp_say("XSPROF_RECORD: '%.256s': %llu records were lost, of %llu: %s", self.path,
			(unsigned long long)stats->lost_records,
			(unsigned long long)(stats->records + stats->lost_records),
			why_lost(stats));
	else if (!stats->records && stats->refused && !refused)
		xsp_say("XSPROF_RECORD: '%.256s': nothing was recorded: %s", self.path,
			refusal ? refusal : self.refusal);
	else if (!stats->records && !stats->lost_slots && !stats->bad_slots && !refused)
		xsp_say("XSPROF_RECORD: '%.256s': nothing was recorded: no marker was executed%s",
			self.path, secure_getenv("XSPROF_CATEGORIES") ?
			" of the categories in XSPROF_CATEGORIES" : "");
}

static void finish(void *unused)
{
	/* What is not stored stays on tmpfs for `xsprof recover`. */
	if (ready(unused)) {
		xsp_drain_finish(self.thread.drain, 0);
		xsp_drain_get_stats(self.thread.drain, &self.stats);
		self.finished = true;
		xsp_recording_remove(&self.session);
	}
	xsp_drain_close(self.thread.drain);
	xsp_cap_free(&self.cap);
	close_all();
}

/*
 * A forked child has no drain thread; its parent drains its producer. The lock must belong to the
 * parent only: the child closes it with all kept descriptors.
 */
void xsp_self_record_forget(void)
{
	self.running = false;
}

/**
 * xsp_self_record_start() - record this process and its children into a file
 * @file: its name; "%p" in it is replaced by the process id
 *
 * On success XSPROF_SESSION in the environment names the session, on tmpfs. Problems, also with
 * other variables, are printed on standard error.
 *
 * Return: 0 or a negative errno.
 */
int xsp_self_record_start(const char *file)
{
	const char *other = other_backend();
	int err;

	if (other) {
		xsp_say("XSPROF_RECORD: '%.128s': nothing is recorded: %s", file, other);
		return -EOPNOTSUPP;
	}
	say_wrong();
	err = expand(file, self.path, sizeof(self.path));
	if (err)
		return say_failed(file, file, strerror(-err), err);
	self.object = file;
	self.thread.ready = ready;
	self.thread.open = open_all;
	self.thread.close = finish;
	err = -EMFILE;
	if (has_files(PROGRAM_FILES))
		err = xsp_drain_thread_begin(&self.thread, "xsprof-drain");
	if (err)
		return say_failed(file, self.object, self.why ? self.why : strerror(-err), err);
	/* Printed here: the thread has no standard error. */
	if (self.beside)
		xsp_say("XSPROF_RECORD: '%.128s': another program is being recorded into it: using "
			"'%.256s' for this one; '%%p' in the name gives each process its own "
			"file", file,
			self.path);
	/*
	 * This process and its children must use files: the drain does not read the device's
	 * producers.
	 */
	if (setenv("XSPROF_SESSION", self.session.path, 1) ||
	    setenv("XSPROF_BACKEND", "tmpfs", 1)) {
		err = -errno;
		unsetenv("XSPROF_SESSION");
		xsp_drain_thread_end(&self.thread);
		return say_failed(file, "environment", strerror(-err), err);
	}
	self.running = true;
	return 0;
}

/* At the end of the program: waits until everything in the rings is in the file. */
void xsp_self_record_stop(void)
{
	if (!self.running)
		return;
	xsp_drain_thread_end(&self.thread);
	self.running = false;
	/* The thread's descriptors are in another table, which ours does not affect. */
	if (self.finished)
		say_how_it_went(&self.stats);
}
