// SPDX-License-Identifier: GPL-2.0-only
/*
 * The names of a producer: finds the ids of watched names, and their texts. It reads the arena, and
 * no ring.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "read/peek-arena.h"
#include "watch/local.h"

static uint32_t *place(const struct watched *w, uint32_t *tab, uint32_t room, uint32_t name)
{
	uint32_t i = xsp_hash_place(name, w->seed, room);

	while (tab[i] && tab[i] != name)
		i = (i + 1) & (room - 1);
	return &tab[i];
}

bool watch_is_name(const struct watched *w, uint32_t name)
{
	return name && w->nr_names && *place(w, w->names, w->room_names, name);
}

static int add_name(struct watched *w, uint32_t name)
{
	if (!name || w->nr_names == WATCH_NAMES)
		return 0;
	if (2 * w->nr_names >= w->room_names) {
		uint32_t room = w->room_names ? 2 * w->room_names : 16, i;
		uint32_t *tab = calloc(room, sizeof(*tab));

		if (!tab)
			return -ENOMEM;
		for (i = 0; i < w->room_names; i++)
			if (w->names[i])
				*place(w, tab, room, w->names[i]) = w->names[i];
		free(w->names);
		w->names = tab;
		w->room_names = room;
	}
	if (!*place(w, w->names, w->room_names, name)) {
		*place(w, w->names, w->room_names, name) = name;
		w->nr_names++;
	}
	return 0;
}

static bool is_meant(const struct watched *w, const char *text)
{
	bool meant = false;
	uint32_t i;

	for (i = 0; i < w->watch->nr; i++) {
		if (strcmp(w->watch->globs[i], text) && fnmatch(w->watch->globs[i], text, 0))
			continue;
		meant = true;
		w->watch->met[i] = true;
	}
	return meant;
}

int watch_take_entry(void *data, const struct xsprof_entry *entry, const char *text)
{
	struct watched *w = data;

	if (entry->type != XSPROF_ENTRY_NAME || !is_meant(w, text))
		return 0;
	return add_name(w, entry->id);
}

struct wanted {
	uint32_t	name;
	char		*buf;
};

static int find_entry(void *data, const struct xsprof_entry *entry, const char *text)
{
	struct wanted *wanted = data;

	if (entry->type != XSPROF_ENTRY_NAME || entry->id != wanted->name)
		return 0;
	strcpy(wanted->buf, text);
	return -EEXIST;
}

const char *watch_text_of(const struct watched *w, uint32_t name, char *buf)
{
	struct wanted wanted = { name, buf };

	strcpy(buf, "?");
	peek_arena(w->rf, 0, &wanted, find_entry);
	return buf;
}
