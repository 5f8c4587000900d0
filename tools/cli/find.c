// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds producers in the sessions and the device. The caller decides what to do with them.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file-name.h"
#include "cli/find.h"
#include "cli/session.h"
#include "cli/tool.h"

/**
 * struct walk - state of a search
 * @who: processes to look for
 * @fd: the device
 * @visit: callback
 * @data: passed to it
 * @visited: number of producers visited
 * @status: result of @visit
 */
struct walk {
	struct attach	*who;
	int		fd;
	int		(*visit)(void *data, const struct found *found);
	void		*data;
	uint64_t	visited;
	int		status;
};

static bool is_named(struct attach *who, uint32_t pid)
{
	bool named = false;
	uint32_t i;

	/* It may be listed twice. */
	for (i = 0; i < who->nr; i++) {
		if ((uint32_t)who->pids[i] == pid)
			who->met[i] = named = true;
	}
	return named;
}

/* p.PID.START.SEQ; the control page states the same. */
static bool is_wanted(struct attach *who, const char *name)
{
	return xsp_file_is(name, 'p') &&
	       (!who->nr || is_named(who, strtoul(name + 2, NULL, 10)));
}

static int walk_session(void *data, struct session_seen *seen)
{
	struct walk *walk = data;
	struct found found = {
		.dirfd = seen->s.dirfd,
		.path = seen->s.path,
		.recorded = seen->alive,
		.device = -1,
	};
	struct dirent *entry;
	DIR *dir;
	int fd, err;

	if (seen->name[0] != 's' || !seen->producers || !seen->same_boot)
		return 0;
	fd = openat(seen->s.dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	while (!walk->status && (entry = readdir(dir))) {
		if (!is_wanted(walk->who, entry->d_name))
			continue;
		found.name = entry->d_name;
		walk->visited++;
		walk->status = walk->visit(walk->data, &found);
	}
	closedir(dir);
	return walk->status ? 1 : 0;
}

static int walk_info(void *data, const struct xsprof_info *info)
{
	struct walk *walk = data;
	char name[64];
	struct found found = {
		.dirfd = -1,
		.name = name,
		.path = XSPROF_DEVICE_PATH,
		.device = walk->fd,
		.info = info,
	};

	if (walk->who->nr ? !is_named(walk->who, info->pid) :
			    !walk->who->all && info->uid != getuid())
		return 0;
	snprintf(name, sizeof(name), "process %u (%.15s)", info->pid, info->comm);
	walk->visited++;
	walk->status = walk->visit(walk->data, &found);
	return walk->status;
}

/* Without the module there are none. */
static int walk_device(struct walk *walk)
{
	int err;

	walk->fd = xsp_device_open();
	if (walk->fd == -ENOENT || walk->fd == -ENODEV || walk->fd == -ENXIO)
		return 0;
	if (walk->fd < 0) {
		tool_note("%s: %s", XSPROF_DEVICE_PATH, xsp_device_strerror(walk->fd));
		return 0;
	}
	err = xsp_device_each(walk->fd, 0, walk_info, walk);
	close(walk->fd);
	if (err < 0 && !walk->status)
		return tool_error("%s: %s", XSPROF_DEVICE_PATH, strerror(-err));
	return walk->status;
}

int find_producers(struct attach *who,
		   int (*visit)(void *data, const struct found *found), void *data)
{
	struct walk walk = { .who = who, .visit = visit, .data = data };
	char user[XSP_RECORDING_PATH];
	const char *object;
	int err;

	err = xsp_recording_user_dir(user, false, &object);
	/* The first recording creates the folder: without it there are no sessions. */
	if (err && !(err == -ENOENT && object == user))
		return session_error(object, err);
	if (!err)
		err = session_each(walk_session, &walk);
	else
		err = 0;
	if (err < 0)
		return tool_error("%s: %s", user, strerror(-err));
	if (!walk.status)
		walk.status = walk_device(&walk);
	if (!walk.status && !walk.visited)
		session_say_sudo();
	return walk.status;
}
