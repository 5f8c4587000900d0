/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Cache of names in an output's form: escaping a name costs more than the rest of its event.
 * Limited to a fixed amount of memory: when it is used up, the cache is cleared.
 */
#ifndef XSPROF_OUT_NAMES_H
#define XSPROF_OUT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <xsprof/trace.h>

#include "base/hash.h"
#include "text/escape.h"

/* The longest text of an arena entry, and its longest escaped form. */
#define XSP_NAME_BYTES	65535u
#define XSP_SCRATCH	(2 * (XSP_ESCAPE_MAX + 2) * XSP_NAME_BYTES + 256)

/**
 * struct xsp_name - a name, valid until the next xsp_names_get() of the same cache
 * @text: in the output's form
 * @len: bytes of @text
 * @match: free for the user; 0 in a new entry
 */
struct xsp_name {
	uint64_t	key;
	const char	*text;
	uint32_t	len;
	uint8_t		match;
};

struct xsp_names;

/* Writes the text of a name at @p, which has XSP_SCRATCH bytes. Return: its end. */
typedef char *(*xsp_name_build)(const struct xsprof_trace *trace, uint32_t producer,
				uint32_t name, char *p);

int xsp_names_new(const struct xsprof_trace *trace, xsp_name_build build, size_t memory,
		  struct xsp_names **names);
void xsp_names_free(struct xsp_names *names);
struct xsp_name *xsp_names_find(struct xsp_names *names, uint64_t key);

#define XSP_NAMES_BITS	14

struct xsp_names {
	const struct xsprof_trace	*trace;
	xsp_name_build			build;
	size_t				used;
	size_t				size;
	unsigned int			count;
	char				*arena;
	char				*scratch;
	struct xsp_name			once;
	struct xsp_name			table[1u << XSP_NAMES_BITS];
};

static inline unsigned int xsp_names_slot(uint64_t key)
{
	return xsp_hash_slot(key, XSP_NAMES_BITS);
}

static inline struct xsp_name *xsp_names_get(struct xsp_names *names, uint32_t producer,
					     uint32_t name)
{
	uint64_t key = (uint64_t)producer << 32 | name;
	struct xsp_name *entry = &names->table[xsp_names_slot(key)];

	if (__builtin_expect(entry->key == key && entry->text, 1))
		return entry;
	return xsp_names_find(names, key);
}

#endif /* XSPROF_OUT_NAMES_H */
