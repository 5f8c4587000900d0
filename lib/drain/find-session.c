// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Finds producers in a session, and messages of processes that could not become one. Reads no ring.
 *
 * Processes that have changed their user may fill the folder: a step looks at a limited number of
 * names and opens a limited number of files, and the next step continues. New files are taken up by
 * the name in the inotify event; the folder is scanned once a second, and again if names were left.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/ctl-check.h"
#include "base/hash.h"
#include "drain/local.h"

/* Limits of a step: see struct xsp_budget. */
#define STEP_ENTRIES	512u
#define STEP_OPENS	256u
#define STEP_FOREIGN	32u
#define STEP_REMOVALS	128u
/* Enough to read all that inotify queues by default, 16384 names. */
#define STEP_READS	256u
/* Limit of steps of the final scan. */
#define LAST_STEPS	1024u

int xsp_drain_watch(int dirfd)
{
	char path[64];
	int fd;

	fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/thread-self/fd/%d", dirfd);
	/* A message file is created before it is written: wait for its closing. */
	if (fd >= 0 && inotify_add_watch(fd, path, IN_MOVED_TO | IN_CREATE | IN_CLOSE_WRITE) < 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

void xsp_drain_join(struct xsp_drain *d, struct xsp_producer *p)
{
	struct xsp_producer *other;

	p->next = d->live;
	d->live = p;
	d->nr_live++;
	d->seen++;
	/* Without a pidfd the end is detected by polling. */
	if (p->pidfd >= 0)
		xsp_drain_wake_on(d, p->pidfd, p);
	/* The same process with another producer: it runs another program now. */
	for (other = p->next; other; other = other->next)
		other->look |= p->pid && other->pid == p->pid;
	/* A new producer may begin with a burst. */
	d->sleep = XSP_SLEEP_MIN;
	d->idle_since = xsp_now();
	if (d->st.kinds & ~d->synced)
		xsp_drain_clocks(d, d->st.kinds & ~d->synced);
	xsp_store_say(&d->st, "%s: process %d joined as producer %u", p->name, (int)p->pid,
		      p->number);
}

/* ---- files ---------------------------------------------------------------------------------- */

/**
 * struct found - a file that is not known yet
 * @name: its name
 * @st: its attributes
 * @share: account of its user
 * @refusal: entry to remember if it cannot be recorded
 */
struct found {
	const char		*name;
	struct stat		st;
	struct xsp_share	*share;
	struct xsp_refusal	refusal;
};

/* Checks that need no open(). */
static int check_file(const struct xsp_drain *d, const struct found *f)
{
	if (S_ISLNK(f->st.st_mode))
		return -ELOOP;
	if (!S_ISREG(f->st.st_mode))
		return -ENOEXEC;
	if ((uint64_t)f->st.st_size < sizeof(struct xsprof_ctl))
		return -ENODATA;
	if (!xsp_share_has_room(&d->shares, f->share))
		return -EDQUOT;
	return d->next_number < XSPROF_CAP_MAX_PRODUCERS ? 0 : -EUSERS;
}

static bool may_open(struct xsp_drain *d, const struct found *f)
{
	uint32_t *opens = f->share->foreign ? &d->budget.foreign_opens : &d->budget.opens;

	if (!*opens || (f->share->foreign && xsp_now() > d->st.foreign_until))
		return false;
	--*opens;
	return true;
}

static int open_file(struct xsp_drain *d, const struct found *f)
{
	uint32_t number = d->next_number;
	struct xsp_producer *p;
	int err;

	err = xsp_files_reserve(&d->files);
	if (!err)
		err = xsp_producer_open(&d->st, d->st.dirfd, f->name, &d->next_number, &p);
	if (err)
		return err;
	if (d->next_number != number)
		xsp_share_take(&d->shares, f->share);
	xsp_files_add(&d->files, p);
	xsp_drain_join(d, p);
	return 0;
}

/*
 * Removes a refused file so that it is not checked again. Its name may belong to another file by
 * now, of a recorded process: rename it to a secret name first and check it there.
 */
static bool remove_file(struct xsp_drain *d, const struct found *f)
{
	int dir = d->st.dirfd;
	struct stat st;

	if (renameat(dir, f->name, dir, d->aside))
		return errno == ENOENT;
	if (!fstatat(dir, d->aside, &st, AT_SYMLINK_NOFOLLOW) && st.st_ino == f->st.st_ino)
		return !unlinkat(dir, d->aside, S_ISDIR(st.st_mode) ? AT_REMOVEDIR : 0);
	/* If this fails the file is lost. */
	(void)renameat(dir, d->aside, dir, f->name);
	return true;
}

_Static_assert(XSP_SHARE_OTHERS == 32768, "refuse() says so");

static void refuse(struct xsp_drain *d, const struct found *f)
{
	const char *why = xsp_ctl_strerror(f->refusal.err);
	/* A file with a producer's name is complete, or never will be. */
	bool passes = xsp_drain_may_pass(f->refusal.err) && f->refusal.err != -EAGAIN;
	char text[128];

	if (f->refusal.err == -EDQUOT && d->shares.others_producers == XSP_SHARE_OTHERS) {
		why = "other users have reached their limit of 32768 processes in a capture";
	} else if (f->refusal.err == -EDQUOT) {
		snprintf(text, sizeof(text), "user %u, who is not the recorder's user, has reached "
			 "the limit of %u processes in a capture", (unsigned int)f->share->uid,
			 f->share->producers);
		why = text;
	}
	/* At the end the whole folder is removed anyway. */
	if (!f->share->foreign || passes || d->last) {
		xsp_drain_refuse(d, f->share, f->name, &f->refusal, why);
	} else if (!d->budget.removals) {
		d->scan = true;
	} else {
		d->budget.removals--;
		if (remove_file(d, f))
			xsp_drain_refuse_removed(d, f->share, f->name, why);
		else
			xsp_drain_refuse(d, f->share, f->name, &f->refusal, why);
	}
}

/* A file that was incomplete, or for which no descriptor was free, is tried again in each round. */
static bool is_known(const struct xsp_drain *d, const struct found *f)
{
	const struct xsp_refusal *before = xsp_refused_find(&d->refused, f->refusal.key);

	return before && before->stamp == f->refusal.stamp &&
	       (before->round == d->round || !xsp_drain_may_pass(before->err));
}

static void take_up(struct xsp_drain *d, const char *name)
{
	struct found f = { .name = name };
	uint64_t hash = xsp_hash_bytes(XSP_HASH_TEXT, name, strlen(name));
	int err;

	if (xsp_files_find(&d->files, name) ||
	    fstatat(d->st.dirfd, name, &f.st, AT_SYMLINK_NOFOLLOW))
		return;
	f.share = xsp_share_of(&d->shares, f.st.st_uid);
	f.refusal.key = xsp_hash_pair(hash, f.st.st_ino) | 1;
	f.refusal.stamp = (int64_t)f.st.st_ctim.tv_sec * 1000000000 + f.st.st_ctim.tv_nsec;
	f.refusal.round = d->round;
	if (is_known(d, &f))
		return;
	err = check_file(d, &f);
	if (!err && !may_open(d, &f)) {
		d->scan = true;
		return;
	}
	if (!err)
		err = open_file(d, &f);
	/* It may be gone again. */
	if (!err || err == -ENOENT)
		return;
	f.refusal.err = err;
	refuse(d, &f);
}

void xsp_drain_note_ended(struct xsp_drain *d, const struct xsp_producer *p)
{
	int err = 0;

	if (p->rf.peek)
		err = p->rf.device ? xsp_ended_add(&d->ended, 0, p->id) :
				     xsp_ended_add(&d->ended, p->dev, p->ino);
	if (err)
		xsp_store_note(&d->st, "%s: appears again: %s", p->name, strerror(-err));
}

int xsp_drain_peek(struct xsp_drain *d, int dirfd, const char *name)
{
	struct xsprof_cap_exit exit;
	struct xsp_producer *p;
	struct stat st;
	int err = -EUSERS;

	if (!xsp_file_is(name, 'p') || fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW))
		return -ENOENT;
	for (p = d->live; p; p = p->next)
		if (p->ino == st.st_ino && p->dev == st.st_dev)
			return 0;
	if (xsp_ended_has(&d->ended, st.st_dev, st.st_ino))
		return -ESRCH;
	if (d->next_number < XSPROF_CAP_MAX_PRODUCERS)
		err = xsp_producer_peek(&d->st, dirfd, name, &d->next_number, &p);
	if (err)
		return err;
	xsp_drain_join(d, p);
	if (!xsp_producer_ended(&d->st, p, &exit))
		return 0;
	/* The next step reads what it left; the session's own recorder may do so as well. */
	d->look = true;
	return -ESRCH;
}

/* ---- messages ------------------------------------------------------------------------------- */

/* e.PID.START.0: a line with the reason why a process is not recorded. */
static void take_message(struct xsp_drain *d, const char *name)
{
	struct found f = { .name = name };
	char line[XSP_MESSAGE];

	if (fstatat(d->st.dirfd, name, &f.st, AT_SYMLINK_NOFOLLOW))
		return;
	f.share = xsp_share_of(&d->shares, f.st.st_uid);
	if (xsp_message_is_junk(f.share, &f.st)) {
		/* The rest is handled by the next regular scan. */
		if (d->budget.removals && d->budget.removals--)
			remove_file(d, &f);
		return;
	}
	/* Created but not written yet: the write will wake us. */
	if (S_ISREG(f.st.st_mode) && !f.st.st_size)
		return;
	if (!may_open(d, &f))
		d->scan = true;
	else if (xsp_messages_take(&d->messages, f.share, d->st.dirfd, name, line))
		xsp_store_note(&d->st, "%s", line);
}

static void hear(void *data, const struct xsp_notice *notice)
{
	struct xsp_drain *d = data;
	char line[XSP_MESSAGE];

	if (xsp_messages_hear(&d->messages, xsp_share_of(&d->shares, notice->uid), notice, line))
		xsp_store_note(&d->st, "%s", line);
}

void xsp_drain_hear(struct xsp_drain *d, bool last)
{
	if (!xsp_notices_hear(&d->notices, last, hear, d) && last)
		xsp_store_note(&d->st, XSP_NOTICES_LEFT);
}

/* ---- the folder ----------------------------------------------------------------------------- */

static void look_at(struct xsp_drain *d, const char *name)
{
	if (xsp_file_is(name, 'p'))
		take_up(d, name);
	else if (xsp_file_is(name, 'e'))
		take_message(d, name);
}

static void take_event(struct xsp_drain *d, const struct inotify_event *event)
{
	struct xsp_producer *p;

	/* inotify dropped names. */
	if (event->mask & IN_Q_OVERFLOW)
		d->scan = true;
	if (!event->len)
		return;
	if (!xsp_file_is(event->name, 'p')) {
		look_at(d, event->name);
	} else if (event->mask & IN_MOVED_TO) {
		/* Complete files were renamed to their name; everything else waits for the scan. */
		take_up(d, event->name);
	} else if (event->mask & IN_CLOSE_WRITE) {
		/* A process that ends, or executes another program, closes its file. */
		p = xsp_files_find(&d->files, event->name);
		if (p)
			p->look = true;
	}
}

/* Handles new files; if events remain the descriptor stays readable. */
static void take_events(struct xsp_drain *d)
{
	char buf[4096] __attribute__((aligned(8)));
	const struct inotify_event *event;
	ssize_t n, at;
	uint32_t i;

	for (i = 0; i < STEP_READS && d->inotify >= 0; i++) {
		n = read(d->inotify, buf, sizeof(buf));
		for (at = 0; at < n; at += (ssize_t)sizeof(*event) + event->len) {
			event = (const struct inotify_event *)(buf + at);
			take_event(d, event);
		}
		if (n <= 0)
			break;
	}
}

/* struct linux_dirent64 of getdents64(2). */
struct entry {
	uint64_t	ino;
	int64_t		off;
	uint16_t	len;
	uint8_t		type;
	char		name[];
};

/* Scans from where the last step stopped. Return: true if there may be more. */
static bool scan_some(struct xsp_drain *d, int fd)
{
	char buf[4096] __attribute__((aligned(8)));
	const struct entry *entry;
	long n, at;

	while (d->budget.entries) {
		n = syscall(SYS_getdents64, fd, buf, sizeof(buf));
		if (n <= 0)
			return false;
		for (at = 0; at < n; at += entry->len) {
			entry = (const struct entry *)(buf + at);
			look_at(d, entry->name);
			d->budget.entries -= d->budget.entries > 0;
		}
	}
	return true;
}

/* The position belongs to the open file: keep it open until the end of the folder. */
static void scan(struct xsp_drain *d)
{
	int fd = d->folder;

	if (fd < 0) {
		d->scan = false;
		fd = openat(d->st.dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	if (fd < 0)
		return;
	if (scan_some(d, fd)) {
		if (d->folder < 0)
			d->folder = xsp_store_fd(&d->st, fd);
		return;
	}
	if (d->folder < 0)
		close(fd);
	else
		xsp_fd_close(d->folder);
	d->folder = -1;
}

void xsp_drain_find(struct xsp_drain *d)
{
	d->budget = (struct xsp_budget){
		.entries = STEP_ENTRIES,
		.opens = STEP_OPENS,
		.foreign_opens = d->last ? STEP_ENTRIES : STEP_FOREIGN,
		.removals = STEP_REMOVALS,
	};
	d->st.foreign_until = xsp_now() + XSP_FOREIGN_NS;
	if (d->st.dirfd < 0)
		return;
	take_events(d);
	if (d->scan || d->folder >= 0)
		scan(d);
}

void xsp_drain_find_last(struct xsp_drain *d)
{
	uint32_t i;

	/* Start from the beginning. */
	xsp_fd_close(d->folder);
	d->folder = -1;
	d->scan = true;
	d->last = true;
	for (i = 0; i < LAST_STEPS && (d->scan || d->folder >= 0) && d->st.dirfd >= 0; i++)
		xsp_drain_find(d);
	if (i == LAST_STEPS)
		xsp_store_note(&d->st, "too many files in the recording, some were not checked: "
			       "processes that started at its end may be missing");
}
