// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Set of finished producers: see ended.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "drain/ended.h"

bool xsp_ended_has(const struct xsp_ended *e, uint64_t dev, uint64_t ino)
{
	uint32_t i;

	for (i = 0; i < e->nr; i++)
		if (e->keys[i].ino == ino && e->keys[i].dev == dev)
			return true;
	return false;
}

int xsp_ended_add(struct xsp_ended *e, uint64_t dev, uint64_t ino)
{
	if (e->nr == e->room) {
		uint32_t room = e->room ? 2 * e->room : 64;
		void *keys = realloc(e->keys, room * sizeof(*e->keys));

		if (!keys)
			return -ENOMEM;
		e->keys = keys;
		e->room = room;
	}
	e->keys[e->nr++] = (struct xsp_ended_key){ dev, ino };
	return 0;
}

void xsp_ended_free(struct xsp_ended *e)
{
	free(e->keys);
	*e = (struct xsp_ended){ 0 };
}
