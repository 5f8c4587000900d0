/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a recording's rings are: the choice of --backend, and what is said of it.
 */
#ifndef XSPROF_RECORD_DEVICE_H
#define XSPROF_RECORD_DEVICE_H

#include "drain/drain.h"
#include "record/options.h"

/**
 * record_device_open - the device, where it is wanted and there
 * @opts: what was asked for
 * @fd: set to it, -1 for none
 *
 * Return: 0, or TOOL_USAGE after a message: it is needed and not to be had.
 */
int record_device_open(struct record_options *opts, int *fd);

/**
 * record_device_add - give it to the drain
 * @opts: what was asked for
 * @session: path of the session
 * @fd: of record_device_open(), taken over
 * @drain: drain
 *
 * Return: 0 or -errno.
 */
int record_device_add(const struct record_options *opts, const char *session, int fd,
		      struct xsp_drain *drain);

/* Says where rings are, once: @said keeps what was said.  @all: also where all are in the tmpfs. */
void record_device_say(const struct xsp_drain_stats *stats, bool all, uint32_t *said);

#endif /* XSPROF_RECORD_DEVICE_H */
