/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The keys of a JSON object. Readers keep only one value of a repeated key, and a program may use
 * any key repeatedly: the first use has the key, the second "key (2)".
 */
#ifndef XSPROF_TEXT_KEYS_H
#define XSPROF_TEXT_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text/put.h"

/**
 * struct xsp_key - a key in use
 * @hash: hash of its text
 * @next: number to try for the next use
 */
struct xsp_key {
	uint64_t	hash;
	uint32_t	next;
};

/* All zeros: no key is used. */
struct xsp_keys {
	struct xsp_key	*v;
	uint32_t	n;
	uint32_t	room;
};

void xsp_keys_free(struct xsp_keys *keys);

/* Hash of the escaped text between the quotes. */
uint64_t xsp_keys_hash(const char *text, size_t len);
/* Marks a key as used, by the hash of its text. */
void xsp_keys_claim(struct xsp_keys *keys, uint64_t hash);
/*
 * @name is the hash of a key's text. Return: its number of uses in the object, including this one.
 * Without memory, repeated uses are not detected.
 */
uint32_t xsp_keys_next(struct xsp_keys *keys, uint64_t name);
/* The same for @key, `"name":`, @len bytes. */
uint32_t xsp_keys_take(struct xsp_keys *keys, const char *key, size_t len);

static inline void xsp_keys_clear(struct xsp_keys *keys)
{
	keys->n = 0;
}

/* Inserts the @number from xsp_keys_take() at @p, after `"name":`: `"name (2)":`. */
static inline char *xsp_keys_number(char *p, uint32_t number)
{
	if (__builtin_expect(number == 1, 1))
		return p;
	return put_lit(put_u32(put_lit(p - 2, " ("), number), ")\":");
}

/**
 * struct xsp_member - a key of an object with its value
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
 * The next of the members `"a":1,"b":[2]` at @at, which is advanced; a comma may precede it.
 * Return: false at @end, or if there is no member.
 */
bool xsp_keys_member(const char **at, const char *end, struct xsp_member *member);

#endif /* XSPROF_TEXT_KEYS_H */
