/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The live producers of a session by file name.
 */
#ifndef XSP_DRAIN_FILES_H
#define XSP_DRAIN_FILES_H

#include <stdint.h>

struct xsp_producer;

/**
 * struct xsp_files - a table; all zeros is empty
 * @at: buckets: lists of producers linked by ->same_place
 * @room: number of buckets, a power of two
 * @nr: number of producers
 * @seed: of the hashes
 */
struct xsp_files {
	struct xsp_producer	**at;
	uint32_t		room;
	uint32_t		nr;
	uint64_t		seed;
};

/* Return: the producer with that file, NULL: none. */
struct xsp_producer *xsp_files_find(const struct xsp_files *files, const char *name);

/* Reserves room for one more. Return: 0 or -ENOMEM. */
int xsp_files_reserve(struct xsp_files *files);

/* Adds a producer, for which room was reserved. */
void xsp_files_add(struct xsp_files *files, struct xsp_producer *p);

/* Removes a producer if it is in the table. */
void xsp_files_remove(struct xsp_files *files, const struct xsp_producer *p);
void xsp_files_free(struct xsp_files *files);

#endif /* XSP_DRAIN_FILES_H */
