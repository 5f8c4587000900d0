/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The backend of a recording: the choice by --backend, and messages about it.
 */
#ifndef XSPROF_RECORD_DEVICE_H
#define XSPROF_RECORD_DEVICE_H

#include "drain/drain.h"
#include "record/options.h"

/**
 * record_device_open - open the device, if it is wanted and present
 * @opts: options
 * @fd: set to the descriptor, -1 for none
 *
 * Return: 0, or TOOL_USAGE after a message: it is required but not available.
 */
int record_device_open(struct record_options *opts, int *fd);

/**
 * record_device_add - add the device to the drain
 * @opts: what was asked for
 * @session: path of the session
 * @fd: from record_device_open(), taken over
 * @drain: drain
 *
 * Return: 0 or -errno.
 */
int record_device_add(const struct record_options *opts, const char *session, int fd,
		      struct xsp_drain *drain);

/* Reports the backend once: @said keeps what was reported. @all: also if all rings are on tmpfs. */
void record_device_say(const struct xsp_drain_stats *stats, bool all, uint32_t *said);

#endif /* XSPROF_RECORD_DEVICE_H */
