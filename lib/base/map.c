// SPDX-License-Identifier: LGPL-2.1-only
/*
 * A map of numbers: see map.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/map.h"

static size_t find_key(const struct xsp_map *map, uint64_t key)
{
	size_t at = xsp_hash_mix(key ^ map->seed) & (map->room - 1);

	while (map->keys[at] && map->keys[at] != key)
		at = (at + 1) & (map->room - 1);
	return at;
}

uint64_t *xsp_map_get(const struct xsp_map *map, uint64_t key)
{
	size_t at;

	if (!map->room || !key)
		return NULL;
	at = find_key(map, key);
	return map->keys[at] ? &map->values[at] : NULL;
}

static int grow_map(struct xsp_map *map)
{
	struct xsp_map new = { .seed = map->seed, .room = map->room ? map->room * 2 : 64,
			       .used = map->used };

	if (!map->room)
		new.seed = xsp_hash_seed(map);
	new.keys = calloc(new.room, sizeof(*new.keys));
	new.values = calloc(new.room, sizeof(*new.values));
	if (!new.keys || !new.values) {
		free(new.keys);
		free(new.values);
		return -ENOMEM;
	}
	for (size_t i = 0; i < map->room; i++) {
		size_t at;

		if (!map->keys[i])
			continue;
		at = find_key(&new, map->keys[i]);
		new.keys[at] = map->keys[i];
		new.values[at] = map->values[i];
	}
	free(map->keys);
	free(map->values);
	*map = new;
	return 0;
}

int xsp_map_set(struct xsp_map *map, uint64_t key, uint64_t value)
{
	size_t at;

	if (!key)
		return -EINVAL;
	if (map->used >= map->room / 4 * 3 && grow_map(map))
		return -ENOMEM;
	at = find_key(map, key);
	map->used += !map->keys[at];
	map->keys[at] = key;
	map->values[at] = value;
	return 0;
}

void xsp_map_free(struct xsp_map *map)
{
	free(map->keys);
	free(map->values);
	*map = (struct xsp_map){ 0 };
}
