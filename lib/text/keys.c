// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The keys of a JSON object: see keys.h. They are few, and stored as 64-bit hashes: a collision
 * only causes a needless number.
 */
#include <stdlib.h>

#include "text/keys.h"

void xsp_keys_free(struct xsp_keys *keys)
{
	free(keys->v);
	*keys = (struct xsp_keys){ 0 };
}

/* FNV-1a. */
static uint64_t hash_more(uint64_t h, const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)s[i]) * 0x100000001b3ull;
	return h;
}

uint64_t xsp_keys_hash(const char *text, size_t len)
{
	return hash_more(0xcbf29ce484222325ull, text, len);
}

static struct xsp_key *find(const struct xsp_keys *keys, uint64_t hash)
{
	for (uint32_t i = 0; i < keys->n; i++)
		if (keys->v[i].hash == hash)
			return &keys->v[i];
	return NULL;
}

static void add(struct xsp_keys *keys, uint64_t hash)
{
	uint32_t room = keys->room ? 2 * keys->room : 32;
	struct xsp_key *v;

	if (keys->n == keys->room) {
		v = realloc(keys->v, room * sizeof(*v));
		if (!v)
			return;
		keys->v = v;
		keys->room = room;
	}
	keys->v[keys->n++] = (struct xsp_key){ .hash = hash, .next = 2 };
}

void xsp_keys_claim(struct xsp_keys *keys, uint64_t hash)
{
	if (!find(keys, hash))
		add(keys, hash);
}

uint32_t xsp_keys_next(struct xsp_keys *keys, uint64_t name)
{
	uint64_t hash;
	struct xsp_key *first = find(keys, name);
	char text[XSP_PUT_MAX + 4], *end;
	uint32_t number;

	if (!first) {
		add(keys, name);
		return 1;
	}
	do {
		number = first->next++;
		end = put_lit(put_u32(put_lit(text, " ("), number), ")");
		hash = hash_more(name, text, (size_t)(end - text));
	} while (find(keys, hash));
	add(keys, hash);
	return number;
}

uint32_t xsp_keys_take(struct xsp_keys *keys, const char *key, size_t len)
{
	return xsp_keys_next(keys, xsp_keys_hash(key + 1, len - 3));
}

/* The end of the string at @p. */
static const char *skip_string(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++)
		p += *p == '\\';
	return p < end ? p + 1 : end;
}

static const char *skip_value(const char *p, const char *end)
{
	uint32_t depth = 0;

	while (p < end && (depth || *p != ',')) {
		if (*p == '"') {
			p = skip_string(p, end);
			continue;
		}
		if (*p == '[' || *p == '{')
			depth++;
		else if (*p == ']' || *p == '}')
			depth--;
		p++;
	}
	return p;
}

bool xsp_keys_member(const char **at, const char *end, struct xsp_member *member)
{
	const char *p = *at;

	if (p < end && *p == ',')
		p++;
	if (p >= end || *p != '"')
		return false;
	member->key = p;
	p = skip_string(p, end);
	if (p == end)
		return false;
	member->value = p + 1;
	member->key_len = (size_t)(member->value - member->key);
	*at = skip_value(member->value, end);
	member->value_len = (size_t)(*at - member->value);
	return true;
}
