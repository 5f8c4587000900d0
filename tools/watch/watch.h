/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Watching ranges of certain names in rings that nobody reads: which of them stay open too long.
 * It peeks at what is new since its last look, by cursors of its own; it moves no tail, and
 * writes nothing.
 */
#ifndef XSPROF_WATCH_H
#define XSPROF_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "read/ring-file.h"

/**
 * struct watch_stall - a range that has been open too long; told of once
 * @name: its name
 * @tid: thread that is in it
 * @open_ns: for how long
 * @unsure: slots were overwritten unseen since it began: its end may have been among them
 */
struct watch_stall {
	const char	*name;
	uint32_t	tid;
	uint64_t	open_ns;
	bool		unsure;
};

/**
 * struct watch - what is watched for
 * @globs: names, or patterns as of a shell
 * @nr: how many
 * @met: of each, set where a program has such a name
 * @stall_ns: how long is too long
 * @stalled: called for each range found
 * @data: passed to it
 */
struct watch {
	const char *const	*globs;
	uint32_t		nr;
	bool			*met;
	uint64_t		stall_ns;
	void			(*stalled)(void *data, const struct watch_stall *stall);
	void			*data;
};

struct watched;

/* The state of one producer.  NULL: no memory. */
struct watched *watched_new(const struct watch *watch, const struct xsp_ring_file *rf);
void watched_free(struct watched *w);

/* The names that are new; a look begins with it.  Return: 0 or -ENOMEM. */
int watched_names(struct watched *w);

/**
 * watched_look - what is new, and what has been open too long
 * @w: a producer
 *
 * Records of the time between two looks are taken in at the second: a thread that changes CPU
 * writes to another ring, and only what all rings are past is in order.
 *
 * Return: 0 or -errno; a ring that cannot be read is left out from then on.
 */
int watched_look(struct watched *w);

#endif /* XSPROF_WATCH_H */
