/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finding the producers of this user, wherever their rings are: in sessions on tmpfs and in the
 * device.  It opens none of them.
 */
#ifndef XSPROF_SNAPSHOT_FIND_H
#define XSPROF_SNAPSHOT_FIND_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/attach.h"
#include "read/ring-device.h"

/**
 * struct found - a producer, while it is being looked at
 * @dirfd: its session
 * @name: its file in that, or what stands for it in messages
 * @path: of the session, or the device, for messages
 * @recorded: the session has a recorder that lives
 * @device: the device; -1 for a session's
 * @info: what that knows of it
 */
struct found {
	int				dirfd;
	const char			*name;
	const char			*path;
	bool				recorded;
	int				device;
	const struct xsprof_info	*info;
};

/**
 * find_producers - visit every producer
 * @who: of these processes, each marked when it is met; without any of all of ours, and with @all
 *	those of other users as well, as far as we may read them
 * @visit: called for each; a non-zero return ends the walk
 * @data: passed to it
 *
 * Return: 0, what @visit returned, or TOOL_FAILED after a message.
 */
int find_producers(struct attach *who,
		   int (*visit)(void *data, const struct found *found), void *data);

#endif /* XSPROF_SNAPSHOT_FIND_H */
