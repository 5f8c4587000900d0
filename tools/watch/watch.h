/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Watches ranges of given names in rings without a reader, and reports those that stay open too
 * long. It reads the records written since the last look, with its own cursors; it moves no tail,
 * and writes nothing.
 */
#ifndef XSPROF_WATCH_H
#define XSPROF_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "read/ring-file.h"

/**
 * struct watch_stall - a range that has been open too long; reported once
 * @name: its name
 * @tid: its thread
 * @open_ns: time since its begin
 * @unsure: slots were overwritten before they were read: its end may have been among them
 */
struct watch_stall {
	const char	*name;
	uint32_t	tid;
	uint64_t	open_ns;
	bool		unsure;
};

/**
 * struct watch - what to watch
 * @globs: names or shell patterns
 * @nr: number of @globs
 * @met: for each of @globs, set if a program has a matching name
 * @stall_ns: limit in ns
 * @stalled: called for each range found
 * @data: passed to @stalled
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

/* Creates the state of one producer. NULL: no memory. */
struct watched *watched_new(const struct watch *watch, const struct xsp_ring_file *rf);
void watched_free(struct watched *w);

/* Adds new names; to be called at the begin of a look. Return: 0 or -ENOMEM. */
int watched_names(struct watched *w);

/**
 * watched_look - read new records, and report ranges open for too long
 * @w: state of a producer
 *
 * Records of the time between two looks are handled at the second: a thread that changes its CPU
 * writes to another ring, and the order is known only up to the time that all rings have passed.
 *
 * Return: 0 or -errno; a ring that cannot be read is left out from then on.
 */
int watched_look(struct watched *w);

#endif /* XSPROF_WATCH_H */
