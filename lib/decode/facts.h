/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Facts: what a process or the host says of itself, key=value.  All of them stay, in their order;
 * of one key the latest is found, in the same time however many there are.
 */
#ifndef XST_FACTS_H
#define XST_FACTS_H

#include <stddef.h>
#include <stdint.h>

#include "decode/texts.h"

#define XST_MAX_FACTS		65536u		/* of one process or of the host */
#define XST_FACT_BYTES		64u		/* that one takes beside its texts, at most */

struct xst_fact {
	const struct xst_text	*key;
	const struct xst_text	*value;
};

/**
 * struct xst_facts - facts of one process or of the host
 * @list: in their order
 * @nr: how many
 * @room: of @list
 * @seed: of the hashes
 * @places: of facts, by hashes of their keys, and of what stands at both ends of these; NULL for a
 *	few facts
 * @nr_places: how many there are, a power of two
 * @used: of them
 */
struct xst_facts {
	struct xst_fact	*list;
	uint32_t	nr;
	uint32_t	room;
	uint64_t	seed;
	uint32_t	*places;
	uint32_t	nr_places;
	uint32_t	used;
};

/* @s is "key=value".  Return: 0, -EINVAL when it is not, -E2BIG, -ENOMEM. */
int xst_facts_add(struct xst_facts *facts, struct xsp_pool *pool, const char *s, size_t len);
void xst_facts_free(struct xst_facts *facts);

/* The latest of that key, NULL for none. */
const char *xst_facts_get(const struct xst_facts *facts, const char *key);

/**
 * xst_facts_around - the latest whose key begins and ends so
 * @facts: of a process
 * @begin: of the key, up to its second dot: "stream.0."
 * @end: from its last dot, which is another: ".7"
 *
 * Return: its value, NULL for none.
 */
const char *xst_facts_around(const struct xst_facts *facts, const char *begin, const char *end);

#endif /* XST_FACTS_H */
