/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Facts: key=value statements of a process or the host. All are kept in order; a lookup finds the
 * latest of a key, in constant time.
 */
#ifndef XST_FACTS_H
#define XST_FACTS_H

#include <stddef.h>
#include <stdint.h>

#include "decode/texts.h"

#define XST_MAX_FACTS		65536u		/* per process, and for the host */
#define XST_FACT_BYTES		64u		/* maximum per fact in addition to its texts */

struct xst_fact {
	const struct xst_text	*key;
	const struct xst_text	*value;
};

/**
 * struct xst_facts - facts of one process or of the host
 * @list: facts in order
 * @nr: number of facts
 * @room: capacity of @list
 * @seed: of the hashes
 * @places: index by hashes of keys; NULL for few facts
 * @nr_places: size of the index, a power of two
 * @used: used entries of the index
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

/* The latest value of that key, NULL for none. */
const char *xst_facts_get(const struct xst_facts *facts, const char *key);

#endif /* XST_FACTS_H */
