/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Reads a producer's names, categories, threads and facts in place.
 */
#ifndef XSPROF_SNAPSHOT_ARENA_H
#define XSPROF_SNAPSHOT_ARENA_H

#include <stdint.h>

#include "read/ring-file.h"

/**
 * peek_arena - visit the existing entries
 * @rf: producer
 * @pos: byte to begin at: 0, or the result of an earlier call
 * @data: passed to @visit
 * @visit: called for each, its text terminated; a non-zero return ends the walk
 *
 * Return: the end of the entries; the result of @visit; -EBADMSG for an invalid arena; -errno.
 * @visit should return negative values, to tell them from the end.
 */
long peek_arena(const struct xsp_ring_file *rf, uint64_t pos, void *data,
		int (*visit)(void *data, const struct xsprof_entry *entry, const char *text));

#endif /* XSPROF_SNAPSHOT_ARENA_H */
