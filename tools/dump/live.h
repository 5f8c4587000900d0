/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Live view: a capture in memory, written from the rings of producers while it is read. Records
 * stay in the rings, and neither producers nor recorders are affected.
 */
#ifndef XSPROF_LIVE_H
#define XSPROF_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include <xsprof/trace.h>

#include "cli/attach.h"
#include "drain/drain.h"

/**
 * struct live - state of a live view
 * @attach: the processes; none: all of this user
 * @fd: the capture, an anonymous file
 * @path: a path to open it
 * @cap: the capture
 * @drain: reads the rings
 * @walk_at: when to look for new producers of sessions next, CLOCK_MONOTONIC ns
 * @found: producers found in sessions
 * @dead: of these, those that have ended, which are shown too
 * @left: of these, those whose recorder is dead too, by the latest walk
 * @recorders: sessions with a living recorder, where more may come; by the latest walk
 * @nobody: no living producer was found
 * @freed: the part of the file before this offset is read and freed
 * @finished: no more data can come
 */
struct live {
	struct attach		attach;
	int			fd;
	char			path[64];
	struct xsp_cap		cap;
	struct xsp_drain	*drain;
	uint64_t		walk_at;
	uint32_t		found;
	uint32_t		dead;
	uint32_t		left;
	uint32_t		recorders;
	bool			nobody;
	uint64_t		freed;
	bool			finished;
};

/* Return: 0 with the present data in the capture, or an exit status after a message. */
int live_open(struct live *live);

/**
 * live_wait - wait for more data
 * @live: state
 * @trace: the reader of the capture
 * @wait: sleep until there is more data
 *
 * Return: false: no more data can come: all processes, or all named ones, have ended.
 */
bool live_wait(struct live *live, const struct xsprof_trace *trace, bool wait);

/* Ends the capture: no more data is needed. */
void live_finish(struct live *live);
void live_close(struct live *live);

#endif /* XSPROF_LIVE_H */
