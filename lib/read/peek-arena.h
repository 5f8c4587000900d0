/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * A producer's names, categories, threads and facts, looked at where they stand.
 */
#ifndef XSPROF_SNAPSHOT_ARENA_H
#define XSPROF_SNAPSHOT_ARENA_H

#include <stdint.h>

#include "read/ring-file.h"

/**
 * peek_arena - visit the entries that there are now
 * @rf: producer
 * @pos: byte to begin at, 0 or what an earlier call returned
 * @data: passed to @visit
 * @visit: called for each, its text terminated; a non-zero return ends the walk
 *
 * Return: where the entries end; what @visit returned; -EBADMSG, they do not hold together;
 * -errno.  What @visit returns should be negative, to be told from the former.
 */
long peek_arena(const struct xsp_ring_file *rf, uint64_t pos, void *data,
		int (*visit)(void *data, const struct xsprof_entry *entry, const char *text));

#endif /* XSPROF_SNAPSHOT_ARENA_H */
