// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The threads of a capture while events are made: found by producer and thread id. build.c manages
 * their open ranges.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "result/build-local.h"

static struct xsr_thread *add(struct xsr_threads *t, uint64_t key)
{
	if (t->nr == t->room) {
		uint32_t room = t->room ? t->room * 2 : 16;
		void *list = realloc(t->list, room * sizeof(*t->list));

		if (!list)
			return NULL;
		t->list = list;
		t->room = room;
	}
	if (xsp_map_set(&t->map, key, (uint64_t)t->nr))
		return NULL;
	t->list[t->nr] = (struct xsr_thread){ .more = XSR_NONE };
	t->last_key = key;
	t->last = t->nr;
	return &t->list[t->nr++];
}

struct xsr_thread *xsr_thread_get(struct xsr_threads *t, uint32_t producer, uint32_t tid)
{
	uint64_t key = xsr_key(producer, tid);
	const uint64_t *found;

	if (t->last_key == key)
		return &t->list[t->last];
	found = xsp_map_get(&t->map, key);
	if (!found)
		return add(t, key);
	t->last_key = key;
	t->last = (uint32_t)*found;
	return &t->list[t->last];
}

void xsr_threads_free(struct xsr_threads *t)
{
	for (uint32_t i = 0; i < t->nr; i++) {
		free(t->list[i].open);
		free(t->list[i].pushed);
	}
	free(t->list);
	xsp_map_free(&t->map);
	*t = (struct xsr_threads){ 0 };
}

int xsr_push(uint32_t **list, uint32_t *nr, uint32_t *room, uint32_t index)
{
	if (*nr == *room) {
		uint32_t more = *room ? *room * 2 : 16;
		uint32_t *new = realloc(*list, more * sizeof(*new));

		if (!new)
			return -ENOMEM;
		*list = new;
		*room = more;
	}
	(*list)[(*nr)++] = index;
	return 0;
}
