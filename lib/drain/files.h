/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The live producers of a session by the names of their files.
 */
#ifndef XSP_DRAIN_FILES_H
#define XSP_DRAIN_FILES_H

#include <stdint.h>

struct xsp_producer;

/**
 * struct xsp_files - a table; all zeros is empty
 * @at: lists of producers, by their ->same_place
 * @room: of them, a power of two
 * @nr: producers in it
 * @seed: of this table's hashes
 */
struct xsp_files {
	struct xsp_producer	**at;
	uint32_t		room;
	uint32_t		nr;
	uint64_t		seed;
};

/* The producer whose file has this name, NULL for none. */
struct xsp_producer *xsp_files_find(const struct xsp_files *files, const char *name);

/* Room for one more.  Return: 0 or -ENOMEM. */
int xsp_files_reserve(struct xsp_files *files);

/* Adds one, for which room was reserved. */
void xsp_files_add(struct xsp_files *files, struct xsp_producer *p);

/* Removes one, where it is there. */
void xsp_files_remove(struct xsp_files *files, const struct xsp_producer *p);
void xsp_files_free(struct xsp_files *files);

#endif /* XSP_DRAIN_FILES_H */
