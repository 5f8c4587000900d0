// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Finding producers in a session, and the messages of processes that could not become one.  It
 * never reads a ring.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ctl-check.h"
#include "base/hash.h"
#include "base/plain.h"
#include "drain/local.h"

/* Messages of processes that are passed on; more are only counted. */
#define MESSAGES_MAX	256u

int xsp_drain_watch(int dirfd)
{
	char path[64];
	int fd;

	fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/thread-self/fd/%d", dirfd);
	/* A message is made before it is written: its end counts. */
	if (fd >= 0 && inotify_add_watch(fd, path, IN_MOVED_TO | IN_CREATE | IN_CLOSE_WRITE) < 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static uint32_t hash_name(const char *name)
{
	return (uint32_t)xsp_hash_bytes(XSP_HASH_TEXT, name, strlen(name));
}

static struct xsp_producer *find_live(const struct xsp_drain *d, const char *name, uint32_t hash)
{
	struct xsp_producer *p;

	for (p = d->live; p; p = p->next)
		if (p->hash == hash && !strcmp(p->name, name))
			return p;
	return NULL;
}

void xsp_drain_refuse(struct xsp_drain *d, const char *name, uint64_t key, int err,
		      const char *why)
{
	uint32_t i;

	for (i = 0; i < d->nr_refused; i++)
		if (d->refused[i].key == key && d->refused[i].err == err)
			return;
	if (d->nr_refused < XSP_REFUSED_MAX) {
		d->refused[d->nr_refused++] = (struct xsp_refused){ key, err };
		xsp_store_note(&d->st, "%s: not recorded: %s", name, why);
	} else if (!d->refused_more) {
		d->refused_more = true;
		xsp_store_note(&d->st, "more than %u files are not recorded: the others are not "
			       "named", XSP_REFUSED_MAX);
	}
}

/* Why a process does not take part.  Return: whether there is room for one more. */
static bool more_messages(struct xsp_drain *d)
{
	if (++d->messages == MESSAGES_MAX + 1)
		xsp_store_note(&d->st, "more than %u processes are not recorded: the others are "
			       "not named", MESSAGES_MAX);
	return d->messages <= MESSAGES_MAX;
}

void xsp_drain_join(struct xsp_drain *d, struct xsp_producer *p)
{
	const struct xsp_producer *other;

	p->next = d->live;
	d->live = p;
	d->nr_live++;
	d->seen++;
	/* Without it the end is found by asking. */
	if (p->pidfd >= 0)
		xsp_drain_wake_on(d, p->pidfd, p);
	/* The same process: it runs another program now. */
	for (other = p->next; other && !d->look; other = other->next)
		d->look = p->pid && other->pid == p->pid;
	/* Who begins may begin with a burst. */
	d->sleep = XSP_SLEEP_MIN;
	d->idle_since = xsp_now();
	if (d->st.kinds & ~d->synced)
		xsp_drain_clocks(d, d->st.kinds & ~d->synced);
	xsp_store_say(&d->st, "%s: process %d joined as producer %u", p->name, (int)p->pid,
		      p->number);
}

static void take_up(struct xsp_drain *d, const char *name, ino_t ino)
{
	uint32_t hash = hash_name(name);
	struct xsp_producer *p;
	int err = -EMFILE;

	if (find_live(d, name, hash))
		return;
	if (d->next_number < XSPROF_CAP_MAX_PRODUCERS)
		err = xsp_producer_open(&d->st, d->st.dirfd, name, &d->next_number, &p);
	if (err) {
		/* Not complete, gone again, or no descriptor free: the next scan tries again. */
		if (err == -ENOENT)
			return;
		xsp_drain_refuse(d, name, ino, err, xsp_ctl_strerror(err));
		return;
	}
	p->hash = hash;
	xsp_drain_join(d, p);
}

void xsp_drain_note_ended(struct xsp_drain *d, const struct xsp_producer *p)
{
	int err = 0;

	if (p->rf.peek)
		err = p->rf.device ? xsp_ended_add(&d->ended, 0, p->id) :
				     xsp_ended_add(&d->ended, p->dev, p->ino);
	if (err)
		xsp_store_note(&d->st, "%s: is shown again: %s", p->name, strerror(-err));
}

int xsp_drain_peek(struct xsp_drain *d, int dirfd, const char *name)
{
	struct xsprof_cap_exit exit;
	struct xsp_producer *p;
	struct stat st;
	int err = -EMFILE;

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
	/* The next step reads what it left, which its session's recorder may do too, once. */
	d->look = true;
	return -ESRCH;
}

/* e.PID.START.0: a process says in a line why it does not take part. */
static void take_message(struct xsp_drain *d, const char *name)
{
	char text[257];

	/* What is made and not yet written the next scan reads. */
	if (!xsp_plain_file(d->st.dirfd, name, text, sizeof(text)))
		return;
	if (!more_messages(d))
		return;
	xsp_store_note(&d->st, "process %.*s is not recorded: %s",
		       (int)strspn(name + 2, "0123456789"), name + 2, text);
}

static void hear(void *data, const struct xsp_notice *notice)
{
	struct xsp_drain *d = data;

	if (more_messages(d))
		xsp_store_note(&d->st, "process %d of user %u is not recorded: %s",
			       (int)notice->pid, (unsigned int)notice->uid,
			       xsp_notice_reason(notice->err));
}

void xsp_drain_hear(struct xsp_drain *d, bool last)
{
	if (!xsp_notices_hear(&d->notices, last, hear, d) && last)
		xsp_store_note(&d->st, XSP_NOTICES_LEFT);
}

void xsp_drain_scan(struct xsp_drain *d)
{
	struct dirent *entry;
	DIR *dir;
	int fd;

	if (d->st.dirfd < 0)
		return;
	/* A descriptor of its own: the position in the folder is one per open. */
	fd = openat(d->st.dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return;
	}
	while ((entry = readdir(dir))) {
		if (xsp_file_is(entry->d_name, 'p'))
			take_up(d, entry->d_name, entry->d_ino);
		else if (xsp_file_is(entry->d_name, 'e'))
			take_message(d, entry->d_name);
	}
	closedir(dir);
}

/* A process that ends, or executes another program, closes its file. */
static bool closed_one(const char *buf, size_t len)
{
	const struct inotify_event *event;
	size_t at;

	for (at = 0; at + sizeof(*event) <= len; at += sizeof(*event) + event->len) {
		event = (const struct inotify_event *)(buf + at);
		if (event->mask & IN_CLOSE_WRITE && event->len && xsp_file_is(event->name, 'p'))
			return true;
	}
	return false;
}

bool xsp_drain_appeared(struct xsp_drain *d)
{
	char buf[4096] __attribute__((aligned(8)));
	bool any = false;
	ssize_t n;

	while (d->inotify >= 0 && (n = read(d->inotify, buf, sizeof(buf))) > 0) {
		any = true;
		d->look |= closed_one(buf, n);
	}
	return any;
}
