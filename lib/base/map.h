/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * A map from numbers other than 0 to numbers. Keys from hostile files cannot trigger its worst
 * case, and large keys cost no more than small ones.
 */
#ifndef XSP_MAP_H
#define XSP_MAP_H

#include <stddef.h>
#include <stdint.h>

struct xsp_map {
	uint64_t	seed;
	uint64_t	*keys;
	uint64_t	*values;
	size_t		room;
	size_t		used;
};

/* NULL: not found; valid until the next xsp_map_set(). */
uint64_t *xsp_map_get(const struct xsp_map *map, uint64_t key);
/* Return: 0, -EINVAL for key 0, -ENOMEM. */
int xsp_map_set(struct xsp_map *map, uint64_t key, uint64_t value);
void xsp_map_free(struct xsp_map *map);

#endif /* XSP_MAP_H */
