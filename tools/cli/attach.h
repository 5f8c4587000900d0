/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The running processes given by -p and -a, and whether they can be read. Requires the kernel
 * module: rings on tmpfs exist only for a recorder that was there first.
 */
#ifndef XSPROF_ATTACH_H
#define XSPROF_ATTACH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "drain/drain.h"

/**
 * struct attach - running processes
 * @pids: pids, NULL for none
 * @starts: their start times, as in /proc/PID/stat
 * @met: find_producers() has found rings of it
 * @nr: number of @pids
 * @all: all processes that we may see
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

/*
 * Parses "12" or "12,13"; may be called several times. Return: -1, or TOOL_USAGE after a message.
 */
int attach_take(struct attach *a, const char *verb, const char *list);

/* The options as text, for a session's facts. */
void attach_text(const struct attach *a, char *buf, size_t size);

/**
 * attach_device - open the device for -p or -a
 * @a: the processes
 * @fd: set to the descriptor, for xsp_drain_add_device()
 * @consume: consume their records
 *
 * Return: 0, or TOOL_USAGE after a message: no device, no such producer, or another recorder reads
 * it.
 */
int attach_device(struct attach *a, int *fd, bool consume);

/* A filter that selects them. */
struct xsp_device_filter attach_filter(const struct attach *a);

/* Have all named processes ended? Always false with -a. */
bool attach_ended(const struct attach *a, const struct xsp_drain *d);

/*
 * Reports processes that find_producers() has not found. Return: 0, or TOOL_FAILED after a message.
 */
int attach_check_met(const struct attach *a);

void attach_free(struct attach *a);

#endif /* XSPROF_ATTACH_H */
