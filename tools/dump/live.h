/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Looking on: a capture in memory that is written from what producers' rings show while it is
 * read.  Nothing is taken out of a ring, and nobody notices.
 */
#ifndef XSPROF_LIVE_H
#define XSPROF_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include <xsprof/trace.h>

#include "cli/attach.h"
#include "drain/drain.h"

/**
 * struct live - what is being looked at
 * @attach: which processes; none is all of this user
 * @fd: the capture, a file that nobody else sees
 * @path: under which it can be opened
 * @cap: the capture
 * @drain: looks into rings
 * @walk_at: when to look for new producers of sessions, CLOCK_MONOTONIC ns
 * @found: producers met in sessions
 * @dead: those that have ended, and are shown all the same
 * @left: of these, whose recorder is dead too: by the latest walk
 * @recorders: sessions whose recorder lives: more may come; by the latest walk
 * @nobody: there was none that lives
 * @freed: what lies before is read and given back
 * @finished: nothing more comes
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

/* Return: 0 with what there is now in the capture, or an exit status after a message. */
int live_open(struct live *live);

/**
 * live_wait - let more come
 * @live: it
 * @trace: reads the capture
 * @wait: there is nothing to show before more comes
 *
 * Return: false when nothing more comes: all processes, or all that were named, have ended.
 */
bool live_wait(struct live *live, const struct xsprof_trace *trace, bool wait);

/* Enough seen: the capture gets its end. */
void live_finish(struct live *live);
void live_close(struct live *live);

#endif /* XSPROF_LIVE_H */
