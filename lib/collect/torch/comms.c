// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Metadata of collectives. Process groups report a collective to profilers as an op
 * "record_param_comms". Its arguments (name, group, ranks, elements, sequence number) are requested
 * with the function that PyTorch's own profiler calls, so that both get the same.
 *
 * The function returns a std::unordered_map<std::string, std::string> of libstdc++, which is walked
 * here. The first maps are read with collect_peek(), which fails on unmapped memory, to verify that
 * the layout is as expected.
 */
#include <stdlib.h>

#include "collect/torch/inputs.h"

#define OP	"record_param_comms"
#define ENOUGH	16u	/* maps read with collect_peek() before the layout is trusted */
#define LONGEST	2048u	/* bytes of a key or a value */

/* SaveNcclMetaConfig: shorten lists, include metadata; leave inputs and outputs out. */
static const bool config[32] = { true, true };

struct map {
	char		*buckets;
	uint64_t	nr_buckets;
	char		*first;
	uint64_t	nr;
	uint64_t	policy[2];
	char		*single;
};

struct node {
	struct node		*next;
	struct torch_text	key;
	struct torch_text	value;
};

static xsprof_name_t op_name;
static int torch_category;
static uint32_t seen;
static bool differs;

void torch_comms_init(int category)
{
	torch_category = category;
	op_name = torch_user.name(category, OP);
}

bool torch_is_comms(xsprof_name_t name)
{
	return name == op_name && !torch_names_full(name) && torch_api.save_meta &&
	       !__atomic_load_n(&differs, __ATOMIC_RELAXED);
}

static bool is_text(const struct torch_text *t, const struct node *node, const struct node *at)
{
	const char *own = (const char *)at + ((const char *)t->own - (const char *)node);
	char copy[LONGEST];

	if (t->len >= LONGEST)
		return false;
	/* Short strings are stored inside the object. */
	if (t->len < sizeof(t->own))
		return t->data == own;
	return collect_peek(copy, t->data, t->len + 1) && !copy[t->len];
}

static bool is_map(const struct map *map)
{
	const struct node *at = (const struct node *)map->first;
	struct node node;

	for (uint64_t n = map->nr; n; n--, at = node.next)
		if (!collect_peek(&node, at, sizeof(node)) || !is_text(&node.key, &node, at) ||
		    !is_text(&node.value, &node, at))
			return false;
	return !at;
}

static void free_text(struct torch_text *t)
{
	if (t->data != t->own)
		torch_api.free((void *)(uintptr_t)t->data);
}

static void free_map(struct map *map)
{
	struct node *next;

	for (struct node *node = (struct node *)map->first; node; node = next) {
		next = node->next;
		free_text(&node->key);
		free_text(&node->value);
		torch_api.free(node);
	}
	if (map->buckets != (char *)&map->single)
		torch_api.free(map->buckets);
}

/* Values are JSON: a number, a string, or a list, which is kept as text. */
static struct xsprof_kv kv_of(const struct node *node)
{
	xsprof_name_t key = torch_user.name(torch_category, node->key.data);
	const struct torch_text *v = &node->value;
	struct xsprof_kv kv = { .key = key, .type = XSPROF_ARG_STR };
	unsigned long long number;
	char *end;

	/* Hashes use all 64 bits; negative numbers have the same bits. */
	number = strtoull(v->data, &end, 10);
	if (v->len && end == v->data + v->len)
		return *v->data == '-' ? xsprof_i64(key, (int64_t)number) : xsprof_u64(key, number);
	kv.u.str = v->data;
	kv.len = v->len;
	if (v->len >= 2 && v->data[0] == '"' && v->data[v->len - 1] == '"') {
		kv.u.str++;
		kv.len -= 2;
	}
	return kv;
}

void torch_comms_read(const void *fn, struct torch_comms *comms)
{
	struct map *map = (struct map *)comms->map;

	comms->nr = 0;
	memset(comms->map, 0, sizeof(comms->map));
	torch_api.save_meta(map, fn, config);
	if (__atomic_load_n(&seen, __ATOMIC_RELAXED) < ENOUGH) {
		if (!is_map(map)) {
			if (!__atomic_exchange_n(&differs, true, __ATOMIC_RELAXED))
				collect_say("PyTorch: unexpected layout of collectives' metadata: "
					  "they are recorded without it");
			/*
			 * Leak the map: it is not what we expected, so it cannot be freed safely.
			 */
			memset(comms->map, 0, sizeof(comms->map));
			return;
		}
		__atomic_add_fetch(&seen, 1, __ATOMIC_RELAXED);
	}
	for (const struct node *node = (const struct node *)map->first;
	     node && comms->nr < TORCH_COMMS; node = node->next)
		comms->kv[comms->nr++] = kv_of(node);
}

void torch_comms_free(struct torch_comms *comms)
{
	struct map *map = (struct map *)comms->map;

	if (map->buckets)
		free_map(map);
}
