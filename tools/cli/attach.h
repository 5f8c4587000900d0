/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which running processes are meant by -p and -a, and whether they can be read.  It needs the
 * kernel module: rings on tmpfs are made for a recorder that is there first.
 */
#ifndef XSPROF_ATTACH_H
#define XSPROF_ATTACH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "drain/drain.h"

/**
 * struct attach - running processes
 * @pids: by number, NULL for none
 * @starts: when each was started, as /proc/PID/stat has it
 * @met: it has rings that find_producers() saw
 * @nr: how many
 * @all: all that we may see
 */
struct attach {
	pid_t		*pids;
	uint64_t	*starts;
	bool		*met;
	uint32_t	nr;
	bool		all;
};

static inline bool attach_on(const struct attach *a)
{
	return a->all || a->nr;
}

/* "12" or "12,13": may be given several times.  Return: -1, or TOOL_USAGE after a message. */
int attach_take(struct attach *a, const char *verb, const char *list);

/* The text of the options, for a session's facts. */
void attach_text(const struct attach *a, char *buf, size_t size);

/**
 * attach_device - open the device for -p or -a
 * @a: which
 * @fd: set to it, for xsp_drain_add_device()
 * @consume: their records are to be taken out
 *
 * Return: 0, or TOOL_USAGE after a message: no device, no such producer, one that another
 * recorder reads.
 */
int attach_device(struct attach *a, int *fd, bool consume);

/* The filter that means them. */
struct xsp_device_filter attach_filter(const struct attach *a);

/* Have all processes that were named ended?  Never so with -a. */
bool attach_ended(const struct attach *a, const struct xsp_drain *d);

/* Says which of them find_producers() has not met.  Return: 0, or TOOL_FAILED after a message. */
int attach_check_met(const struct attach *a);

void attach_free(struct attach *a);

#endif /* XSPROF_ATTACH_H */
