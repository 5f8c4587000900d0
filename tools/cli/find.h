/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds the producers of this user: in sessions on tmpfs and in the device. Opens none of them.
 */
#ifndef XSPROF_SNAPSHOT_FIND_H
#define XSPROF_SNAPSHOT_FIND_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/attach.h"
#include "read/ring-device.h"

/**
 * struct found - a producer during a visit
 * @dirfd: folder of its session
 * @name: its file in the session, or its name for messages
 * @path: path of the session, or of the device, for messages
 * @recorded: the session has a living recorder
 * @device: the device; -1 for a producer of a session
 * @info: the device's information about it
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
 * @who: the processes, each marked when it is found; if empty, all producers of ours and, with
 *	@all, those of other users that we may read
 * @visit: called for each; a non-zero return ends the walk
 * @data: passed to it
 *
 * Return: 0, what @visit returned, or TOOL_FAILED after a message.
 */
int find_producers(struct attach *who,
		   int (*visit)(void *data, const struct found *found), void *data);

#endif /* XSPROF_SNAPSHOT_FIND_H */
