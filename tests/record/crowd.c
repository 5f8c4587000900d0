// SPDX-License-Identifier: GPL-2.0-only
/*
 * A session's folder that another user, or a broken program, fills with files: a step of the drain
 * looks at and opens a bounded number of these, and the next step still opens a new producer.
 * Counts the files opened and looked at: linked with --wrap=openat,--wrap=fstatat. Also tests the
 * messages of processes about themselves and about others. TAP.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/writer.h"
#include "common/tap.h"
#include "drain/local.h"
#include "read/recording.h"
#include "record/sim.h"

#define STRANGER	12345
#define CROWD		3000u
#define STEPS		200		/* enough to read all files */
#define NO_PROCESS	4190000u	/* above all process ids, by default */

/* At most in a step: opens of our user's files, opens of other users' files, names looked at. */
#define OPENS_MOST	256u
#define FOREIGN_MOST	32u
#define LOOKS_MOST	1024u

static char nonsense[512];
static uint32_t opens, looks;

int __real_openat(int dir, const char *name, int flags, mode_t mode);
int __wrap_openat(int dir, const char *name, int flags, mode_t mode);
int __real_fstatat(int dir, const char *name, struct stat *st, int flags);
int __wrap_fstatat(int dir, const char *name, struct stat *st, int flags);

int __wrap_openat(int dir, const char *name, int flags, mode_t mode)
{
	opens += !strncmp(name, "p.", 2);
	return __real_openat(dir, name, flags, mode);
}

int __wrap_fstatat(int dir, const char *name, struct stat *st, int flags)
{
	looks += !strncmp(name, "p.", 2);
	return __real_fstatat(dir, name, st, flags);
}

/**
 * struct scene - a recording and its drain
 * @said: the drain's last message that contains @about
 */
struct scene {
	struct xsp_recording	session;
	struct xsp_cap		cap;
	struct xsp_drain	*d;
	const char		*about;
	char			said[512];
	uint32_t		notes;
	int			fd;
};

static void say(void *data, bool note, const char *text)
{
	struct scene *s = data;

	if (!note)
		return;
	s->notes++;
	if (s->about && strstr(text, s->about))
		snprintf(s->said, sizeof(s->said), "%s", text);
}

static const struct xsp_drain_ops ops = { .say = say };

static void begin(struct scene *s, uint32_t first)
{
	const char *object;

	memset(s, 0, sizeof(*s));
	s->fd = memfd_create("capture", MFD_CLOEXEC);
	if (s->fd < 0 || xsp_recording_create(&s->session, "pid 1\n", true, &object) ||
	    xsp_cap_create(&s->cap, s->fd, NULL) || xsp_guard_install() ||
	    xsp_drain_open(s->session.dirfd, &s->cap, &ops, s, first, &s->d))
		tap_bail("a drain");
	setenv("XSPROF_SESSION", s->session.path, 1);
}

static void end(struct scene *s)
{
	xsp_drain_close(s->d);
	xsp_cap_free(&s->cap);
	close(s->fd);
	xsp_recording_remove(&s->session);
	xsp_recording_close(&s->session);
}

/* Makes a file of this name and content; not through the wrapper, which would count it. */
static void make(const struct scene *s, const char *name, uid_t uid, const void *text, size_t len,
		 off_t size)
{
	int fd = __real_openat(s->session.dirfd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
			       0600);

	if (fd < 0 || fchown(fd, uid, uid) || ftruncate(fd, size) ||
	    pwrite(fd, text, len, 0) != (ssize_t)len)
		tap_bail("%s", name);
	close(fd);
}

/* Makes @nr files p.N.1.0 of garbage, a page each. */
static void crowd(const struct scene *s, uint32_t nr, uid_t uid)
{
	char name[64];

	for (uint32_t i = 0; i < nr; i++) {
		snprintf(name, sizeof(name), "p.%u.1.0", NO_PROCESS + i);
		make(s, name, uid, nonsense, sizeof(nonsense), 4096);
	}
}

static uint32_t files_left(const struct scene *s)
{
	DIR *dir = opendir(s->session.path);
	struct dirent *entry;
	uint32_t n = 0;

	while (dir && (entry = readdir(dir)))
		n += !strncmp(entry->d_name, "p.", 2) || !strncmp(entry->d_name, "r.", 2);
	if (dir)
		closedir(dir);
	return n;
}

/* Return: the files that @nr steps opened. @most: the limit for one step. */
static uint32_t steps(struct scene *s, uint32_t nr, uint32_t most)
{
	uint32_t sum = 0, seen = 0;

	while (nr--) {
		opens = looks = 0;
		xsp_drain_step(s->d);
		sum += opens;
		if (opens > most)
			tap_wrong("%u files were opened in a step, not %u at most", opens, most);
		if (looks > seen)
			seen = looks;
	}
	if (seen > LOOKS_MOST)
		tap_wrong("%u names were looked at in a step, not %u at most", seen, LOOKS_MOST);
	return sum;
}

static void check_producers(struct scene *s, uint32_t producers, uint64_t records)
{
	struct xsp_drain_stats stats;

	xsp_drain_get_stats(s->d, &stats);
	CHECK_EQ(stats.producers, producers);
	CHECK_EQ(stats.records, records);
}

static void own(void)
{
	struct scene s;
	int fd;

	begin(&s, 0);
	crowd(&s, CROWD, getuid());
	CHECK_EQ(steps(&s, STEPS, OPENS_MOST), CROWD);
	tap_result("nonsense: each file is opened once");
	s.d->scan = true;
	CHECK_EQ(steps(&s, STEPS, 0), 0);
	tap_result("nonsense: and not again while it is what it was");
	fd = __real_openat(s.session.dirfd, "p.4190007.1.0", O_RDWR, 0);
	if (fd < 0 || write(fd, "other", 5) != 5)
		tap_bail("a file of nonsense");
	close(fd);
	s.d->scan = true;
	CHECK_EQ(steps(&s, STEPS, 1), 1);
	tap_result("nonsense: one that is written to is opened once more");
	end(&s);
}

/* A producer starts while the drain looks at another user's files. */
static void stranger(void)
{
	struct scene s;
	struct sim sim;

	begin(&s, 0);
	crowd(&s, CROWD, STRANGER);
	steps(&s, 3, FOREIGN_MOST);
	CHECK(files_left(&s) > 0);
	sim_open(&sim, 2, 64u << 10, XSPROF_MODE_DISCARD, 0);
	sim_put(&sim, 0, sim_name(&sim, "honest"), 1, 1, false);
	steps(&s, 1, FOREIGN_MOST + 1);
	CHECK(files_left(&s) > 1000);
	xsp_drain_flush(s.d);
	check_producers(&s, 1, 1);
	tap_result("another user's files: a process that comes is taken up by the next step");
	CHECK_EQ(steps(&s, STEPS, FOREIGN_MOST + 1) > 0, true);
	CHECK_EQ(files_left(&s), 1);
	tap_result("another user's files: they are removed");
	/* 16 names, and a line for the rest. */
	CHECK_EQ(s.notes, 17);
	tap_result("another user's files: few are named");
	end(&s);
}

static void too_many(void)
{
	struct xsprof_ctl ctl;
	struct scene s;
	struct sim sim;
	char name[64];
	uint32_t i;

	begin(&s, 0);
	s.about = "has reached the limit";
	sim_open(&sim, 2, 64u << 10, XSPROF_MODE_DISCARD, 0);
	ctl = *sim.ctl;
	memset(ctl.ready, 0, sizeof(ctl.ready));
	ctl.pid = NO_PROCESS;
	for (i = 0; i < XSP_SHARE_PRODUCERS + 10; i++) {
		ctl.start_time = i + 1;
		snprintf(name, sizeof(name), "p.%u.%u.0", NO_PROCESS, i + 1);
		make(&s, name, STRANGER, &ctl, sizeof(ctl), (off_t)ctl.total_size);
	}
	for (i = 0; i < STEPS && files_left(&s) > 1; i++)
		steps(&s, 1, FOREIGN_MOST + 1);
	CHECK_EQ(files_left(&s), 1);
	check_producers(&s, XSP_SHARE_PRODUCERS + 1, 0);
	CHECK(!!strstr(s.said, "not recorded: user 12345, who is not the recorder's user, has "
		       "reached the limit of 4096 processes in a capture"));
	tap_result("another user's processes: so many have an entry");
	end(&s);
}

static void full(void)
{
	struct scene s;
	struct sim sim;

	begin(&s, XSPROF_CAP_MAX_PRODUCERS);
	s.about = "not recorded";
	sim_open(&sim, 2, 64u << 10, XSPROF_MODE_DISCARD, 0);
	steps(&s, 3, 0);
	check_producers(&s, 0, 0);
	CHECK(!!strstr(s.said, "comes after the 65536 processes that a capture can have"));
	tap_result("a capture that is full: the reason");
	end(&s);
}

/* Folders cannot be removed like files. */
static void folders(void)
{
	char name[64], path[4096];
	struct scene s;

	begin(&s, 0);
	for (uint32_t i = 0; i < CROWD; i++) {
		snprintf(name, sizeof(name), "p.%u.1.0", NO_PROCESS + i);
		snprintf(path, sizeof(path), "%s/x", name);
		if (mkdirat(s.session.dirfd, name, 0700) ||
		    (i % 2 && mkdirat(s.session.dirfd, path, 0700)) ||
		    fchownat(s.session.dirfd, name, STRANGER, STRANGER, 0))
			tap_bail("%s", name);
	}
	CHECK_EQ(steps(&s, STEPS, 0), 0);
	CHECK_EQ(s.notes, 17);
	tap_result("another user's folders: none is opened");
	end(&s);
}

static void tell(const struct scene *s, uint32_t pid, uid_t uid, const char *text)
{
	char name[64];

	snprintf(name, sizeof(name), "e.%u.1.0", pid);
	make(s, name, uid, text, strlen(text), 0);
}

/* Makes a step. Return: the lines that the drain wrote. */
static uint32_t said(struct scene *s)
{
	uint32_t before = s->notes;

	xsp_drain_step(s->d);
	return s->notes - before;
}

/*
 * Makes steps until the drain has taken the message of process @pid: a step that takes too long
 * leaves another user's file for the next. Return: the lines that the drain wrote meanwhile.
 */
static uint32_t taken(struct scene *s, uint32_t pid)
{
	uint32_t before = s->notes;
	char name[64];

	snprintf(name, sizeof(name), "e.%u.1.0", pid);
	for (int i = 0; i < STEPS && !faccessat(s->session.dirfd, name, F_OK, 0); i++)
		xsp_drain_step(s->d);
	return s->notes - before;
}

/* Messages of the recorder's own user's processes: the drain prints all. */
static void complaints(void)
{
	struct scene s;
	char text[32];

	begin(&s, 0);
	s.about = "process 4190000 is not recorded: no room";
	for (uint32_t i = 0; i < 20; i++)
		tell(&s, NO_PROCESS + i, getuid(), "no room");
	CHECK_EQ(said(&s), 20);
	CHECK(!!s.said[0]);
	tell(&s, NO_PROCESS, getuid(), "no room");
	CHECK_EQ(said(&s), 0);
	tap_result("messages: each is told, the same one once");
	for (uint32_t i = 0; i < 50; i++) {
		snprintf(text, sizeof(text), "reason %u", i);
		tell(&s, 1, getuid(), text);
		taken(&s, 1);
	}
	CHECK_EQ(s.notes, 20 + 4 + 1);
	tap_result("messages: of one process few are told");
	end(&s);
}

static void forgeries(void)
{
	struct xsp_drain_stats stats;
	struct scene s;

	begin(&s, 0);
	s.about = " is not recorded: ";
	for (uint32_t i = 0; i < 50; i++) {
		tell(&s, 1, STRANGER, "hello");
		CHECK_EQ(taken(&s, 1), !i);
	}
	CHECK(!s.said[0]);
	xsp_drain_get_stats(s.d, &stats);
	CHECK_EQ(stats.refused, 0);
	tap_result("another user's messages: of a process that lives and is not its own: ignored");
	for (uint32_t i = 0; i < 300; i++) {
		tell(&s, NO_PROCESS + i, STRANGER, "hello");
		taken(&s, NO_PROCESS + i);
	}
	CHECK_EQ(s.notes, 1 + 16 + 1);
	CHECK(!!strstr(s.said, " of user 12345 is not recorded: hello"));
	for (uint32_t i = 0; i < 20; i++)
		tell(&s, NO_PROCESS + i, getuid(), "no room");
	CHECK_EQ(said(&s), 20);
	tap_result("another user's messages: few are told, and all of others'");
	end(&s);
}

/* The last step does not have to finish with all files. */
static void last(void)
{
	struct scene s;
	struct sim sim;

	begin(&s, 0);
	crowd(&s, CROWD, STRANGER);
	sim_open(&sim, 2, 64u << 10, XSPROF_MODE_DISCARD, 0);
	sim_put(&sim, 0, sim_name(&sim, "honest"), 1, 1, false);
	opens = 0;
	CHECK_EQ(xsp_drain_finish(s.d, 0), 0);
	CHECK_EQ(opens, CROWD + 1);
	check_producers(&s, 1, 1);
	tap_result("the end: each file is opened once");
	end(&s);
}

int main(void)
{
	memset(nonsense, 0x55, sizeof(nonsense));
	own();
	full();
	complaints();
	if (geteuid()) {
		tap_skip("another user's files", "needs root");
		return tap_done();
	}
	stranger();
	too_many();
	folders();
	forgeries();
	last();
	return tap_done();
}
