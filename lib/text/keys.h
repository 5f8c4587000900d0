/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The keys of one JSON object.  Readers keep one value of a key that is there twice, and a program
 * may give any key, as often as it likes: the first has the key, the next is "key (2)".
 */
#ifndef XSPROF_TEXT_KEYS_H
#define XSPROF_TEXT_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text/put.h"

/**
 * struct xsp_key - a key that is taken
 * @hash: of its text
 * @next: the number to try for the next of that key
 */
struct xsp_key {
	uint64_t	hash;
	uint32_t	next;
};

/* All zero: none is taken. */
struct xsp_keys {
	struct xsp_key	*v;
	uint32_t	n;
	uint32_t	room;
};

void xsp_keys_free(struct xsp_keys *keys);

/* Of the text between the quotes, as it is escaped. */
uint64_t xsp_keys_hash(const char *text, size_t len);
/* A key that the object has, by the hash of its text. */
void xsp_keys_claim(struct xsp_keys *keys, uint64_t hash);
/*
 * @name is the hash of a key's text.  Return: which of that name it is in the object, 1 for the
 * first.  Without memory a later one of the name is not known to be one.
 */
uint32_t xsp_keys_next(struct xsp_keys *keys, uint64_t name);
/* Likewise of @key, `"name":`, @len bytes. */
uint32_t xsp_keys_take(struct xsp_keys *keys, const char *key, size_t len);

static inline void xsp_keys_clear(struct xsp_keys *keys)
{
	keys->n = 0;
}

/* At @p, behind `"name":`, of the @number that xsp_keys_take() gave: `"name (2)":`. */
static inline char *xsp_keys_number(char *p, uint32_t number)
{
	if (__builtin_expect(number == 1, 1))
		return p;
	return put_lit(put_u32(put_lit(p - 2, " ("), number), ")\":");
}

/**
 * struct xsp_member - a key of an object, and what it has there
 * @key: `"name":`
 * @value: JSON
 */
struct xsp_member {
	const char	*key;
	size_t		key_len;
	const char	*value;
	size_t		value_len;
};

/*
 * The next of the members `"a":1,"b":[2]` at @at, which is moved on; a comma may stand before it.
 * Return: false at @end, or where there is no member.
 */
bool xsp_keys_member(const char **at, const char *end, struct xsp_member *member);

#endif /* XSPROF_TEXT_KEYS_H */
