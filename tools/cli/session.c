// SPDX-License-Identifier: GPL-2.0-only
/*
 * Iterates over this user's sessions. Removes none with records of this boot that is younger than a
 * day.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/proc.h"
#include "cli/session.h"
#include "cli/tool.h"
#include "read/leftover.h"
#include "read/ring-device.h"
#include "text/escape.h"

#define KEEP_SECONDS	(24 * 3600)
/* A session being created has no lock yet. */
#define MAKING_SECONDS	60

int session_error(const char *object, int err)
{
	if (err == -ENOENT)
		return tool_error("%s: does not exist: mount a tmpfs there, or name another "
				  "folder in XSPROF_SHM_DIR", object);
	if (err == -EINVAL)
		return tool_error("XSPROF_SHM_DIR: '%s' %s", object, xsp_recording_strerror(err));
	return tool_error("%s: %s", object, xsp_recording_strerror(err));
}

void session_say_place(const struct xsp_recording *s)
{
	int len = strrchr(s->path, '/') - s->path, plain = len;

	while (plain && s->path[plain] != '.' && s->path[plain - 1] != '/')
		plain--;
	if (s->path[plain] == '.')
		tool_note("%.*s belongs to another user: using %.*s", plain, s->path, len,
			  s->path);
}

void session_say_sudo(void)
{
	const char *uid = getenv("SUDO_UID"), *base = getenv("XSPROF_SHM_DIR");
	struct dirent *entry;
	char path[PATH_MAX];
	bool any = false;
	uint64_t user;
	DIR *dir;

	if (geteuid() || !uid || tool_parse_u64(uid, &user) || !user)
		return;
	snprintf(path, sizeof(path), "%s/xsprof-%" PRIu64, base && *base ? base : "/dev/shm",
		 user);
	dir = opendir(path);
	if (!dir)
		return;
	while (!any && (entry = readdir(dir)))
		any = !strncmp(entry->d_name, "s.", 2);
	closedir(dir);
	if (any)
		tool_note("%s holds recordings of the user who called sudo; root sees only its "
			  "own: run this without sudo", path);
}

/* A living producer holds a lock on its file. */
static bool lives(int dirfd, const char *name)
{
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_len = 1 };
	bool locked;
	int fd;

	fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return false;
	locked = !fcntl(fd, F_GETLK, &lock) && lock.l_type != F_UNLCK;
	close(fd);
	return locked;
}

static void count_files(struct session_seen *seen)
{
	struct dirent *entry;
	DIR *dir;
	int fd;

	fd = openat(seen->s.dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(dir))) {
		if (strncmp(entry->d_name, "p.", 2))
			continue;
		seen->files++;
		seen->living += lives(seen->s.dirfd, entry->d_name);
	}
	closedir(dir);
}

/**
 * struct membership - counts a session's producers in the device
 * @cookie: the session
 * @seen: the result
 */
struct membership {
	uint64_t		cookie;
	struct session_seen	*seen;
};

static int count_one(void *data, const struct xsprof_info *info)
{
	struct membership *m = data;

	if (info->session != m->cookie)
		return 0;
	m->seen->producers++;
	m->seen->living += info->state == XSPROF_STATE_LIVE;
	return 0;
}

/* Records of a session attached to running processes are found by its capture. */
static void count_device(struct session_seen *seen)
{
	struct membership m = { xsp_recording_cookie(seen->name), seen };
	char text[8];
	int fd;

	fd = xsp_device_open();
	if (fd < 0)
		return;
	xsp_device_each(fd, 0, count_one, &m);
	close(fd);
	if (xsp_recording_fact(&seen->s, "attached", text, sizeof(text)) > 0)
		seen->producers++;
}

static int look(struct session_seen *seen, const char *user, const char *name)
{
	char path[XSP_RECORDING_PATH + 256], boot[64], ours[64];
	struct stat st;
	int err;

	memset(seen, 0, sizeof(*seen));
	snprintf(path, sizeof(path), "%s/%.200s", user, name);
	err = xsp_recording_open(&seen->s, path);
	if (err)
		return err;
	seen->name = name;
	seen->alive = xsp_recording_alive(&seen->s) == 1;
	/* If either is unknown, assume the same boot. */
	seen->same_boot = xsp_recording_fact(&seen->s, "boot", boot, sizeof(boot)) < 0 ||
			  xsp_proc_line("/proc/sys/kernel/random/boot_id", ours,
					sizeof(ours)) < 0 ||
			  !strcmp(boot, ours);
	if (!fstat(seen->s.dirfd, &st))
		seen->age = time(NULL) - st.st_mtime;
	count_files(seen);
	seen->producers = seen->files;
	if (seen->same_boot)
		count_device(seen);
	return 0;
}

int session_each(int (*visit)(void *data, struct session_seen *seen), void *data)
{
	char user[XSP_RECORDING_PATH];
	struct session_seen seen;
	struct dirent *entry;
	const char *object;
	int err;
	DIR *dir;

	err = xsp_recording_user_dir(user, false, &object);
	if (err)
		return err;
	dir = opendir(user);
	if (!dir)
		return -errno;
	while (!err && (entry = readdir(dir))) {
		if (strncmp(entry->d_name, "s.", 2) && strncmp(entry->d_name, "n.", 2))
			continue;
		if (look(&seen, user, entry->d_name))
			continue;
		err = visit(data, &seen);
		xsp_recording_close(&seen.s);
	}
	closedir(dir);
	return err;
}

/**
 * struct cleaning - what session_clean() finds
 * @left: sessions with records
 * @name: of the first of these
 * @recorded: its command and capture
 */
struct cleaning {
	unsigned int	left;
	char		name[256];
	char		recorded[512];
};

/* "COMMAND, into FILE", as in `xsprof list`; a program that profiles itself has no file. */
static void describe(struct cleaning *c, const struct session_seen *seen)
{
	char command[2048] = "?", output[PATH_MAX] = "memory", shown[2][XSP_ESCAPE_MAX * 64];
	size_t len;

	xsp_recording_fact(&seen->s, "command", command, sizeof(command));
	xsp_recording_fact(&seen->s, "output", output, sizeof(output));
	*xsp_escape_text(shown[0], command, strnlen(command, 63)) = '\0';
	/* The end of a long path says more than its begin. */
	len = strlen(output);
	*xsp_escape_text(shown[1], output + (len > 63 ? len - 63 : 0), len > 63 ? 63 : len) = '\0';
	snprintf(c->name, sizeof(c->name), "%s", seen->name);
	if (!strcmp(command, XSP_PROFILED)) {
		strcpy(c->recorded, "a program's profile of itself");
		return;
	}
	snprintf(c->recorded, sizeof(c->recorded), "%.200s, into %s%.250s", shown[0],
		 len > 63 ? "..." : "", shown[1]);
}

static int clean_one(void *data, struct session_seen *seen)
{
	struct cleaning *c = data;

	if (seen->alive)
		return 0;
	if (seen->name[0] == 'n') {
		if (seen->age > MAKING_SECONDS)
			xsp_recording_remove(&seen->s);
		return 0;
	}
	if (!seen->producers || !seen->same_boot ||
	    (seen->age > KEEP_SECONDS && !seen->living)) {
		/*
		 * Take the lock, so that no other process uses it; a running recovery keeps its
		 * lock.
		 */
		if (!xsp_recording_adopt(&seen->s))
			xsp_recording_remove(&seen->s);
		return 0;
	}
	if (!c->left++)
		describe(c, seen);
	return 0;
}

void session_clean(bool quiet)
{
	struct cleaning c = { 0 };
	char more[64] = "";

	/* Recordings of programs themselves can still be completed: they are reported. */
	xsp_leftover_free(false);
	session_each(clean_one, &c);
	if (!c.left || quiet)
		return;
	if (c.left > 1)
		snprintf(more, sizeof(more), "; %u more: 'xsprof list'", c.left - 1);
	tool_note("records of an unfinished recording are in memory: %s: 'xsprof recover %s' saves "
		  "them, with --delete removes them%s", c.recorded, c.name, more);
}
