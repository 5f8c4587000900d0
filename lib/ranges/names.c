// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Cache of names in an output's form: see names.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ranges/names.h"

int xsp_names_new(const struct xsprof_trace *trace, xsp_name_build build, size_t memory,
		  struct xsp_names **out)
{
	struct xsp_names *names = calloc(1, sizeof(*names));

	if (!names)
		return -ENOMEM;
	names->trace = trace;
	names->build = build;
	names->size = memory;
	names->arena = malloc(memory);
	names->scratch = malloc(XSP_SCRATCH);
	if (!names->arena || !names->scratch) {
		xsp_names_free(names);
		return -ENOMEM;
	}
	*out = names;
	return 0;
}

void xsp_names_free(struct xsp_names *names)
{
	if (!names)
		return;
	free(names->arena);
	free(names->scratch);
	free(names);
}

static void forget(struct xsp_names *names)
{
	memset(names->table, 0, sizeof(names->table));
	names->count = 0;
	names->used = 0;
}

/* A name missing so far may come with a later chunk: do not cache it. */
static bool unknown(const struct xsp_names *names, uint64_t key)
{
	uint32_t producer = (uint32_t)(key >> 32), name = (uint32_t)key;

	return (name & XSPROF_NAME_MASK) != 0 &&
	       !strcmp(xsprof_trace_name(names->trace, producer, name), "?");
}

struct xsp_name *xsp_names_find(struct xsp_names *names, uint64_t key)
{
	unsigned int mask = (1u << XSP_NAMES_BITS) - 1, i = xsp_names_slot(key);
	struct xsp_name *entry;
	size_t len;

	for (; names->table[i].text; i = (i + 1) & mask)
		if (names->table[i].key == key)
			return &names->table[i];
	len = (size_t)(names->build(names->trace, (uint32_t)(key >> 32), (uint32_t)key,
				    names->scratch) - names->scratch);
	if (len > names->size / 16 || unknown(names, key)) {
		names->once = (struct xsp_name){ key, names->scratch, (uint32_t)len, 0 };
		return &names->once;
	}
	if (names->count > mask / 4 * 3 || names->used + len > names->size) {
		forget(names);
		i = xsp_names_slot(key);
	}
	entry = &names->table[i];
	*entry = (struct xsp_name){ key, names->arena + names->used, (uint32_t)len, 0 };
	memcpy(names->arena + names->used, names->scratch, len);
	names->used += len;
	names->count++;
	return entry;
}
