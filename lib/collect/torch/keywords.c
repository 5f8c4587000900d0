// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Keyword values of ops: of _RecordFunctionFast, e.g. of kernels that Inductor calls. They are a
 * std::unordered_map<std::string, IValue> of libstdc++ in the RecordFunction, after its inputs.
 * layout.c finds the offset from empty maps; the first non-empty maps are read with collect_peek(),
 * which fails on unmapped memory, to verify the layout. If one differs, no keyword is read any more
 * in this process.
 *
 * Numbers and strings are recorded, and bools once lists.c knows their tag; of other values only
 * the presence.
 */
#include "collect/torch/inputs.h"

#define ENOUGH	16u	/* maps read with collect_peek() before the layout is trusted */
#define LONGEST	2048u	/* bytes of a key */
#define LAST_TAG 64u	/* upper bound of tags; there are about thirty */

/* Offsets in a node: next node, key, value, hash of the key. */
#define KEY	8
#define NODE	(KEY + sizeof(struct torch_text) + IVALUE_SIZE + 8)

static int torch_category;
static uint32_t seen;
static uint32_t text_tag;	/* tag of a string IValue; 0: not known yet */
static bool differs;

void torch_keywords_init(int category)
{
	torch_category = category;
}

static size_t value_at(void)
{
	return KEY + (torch_old_texts() ? sizeof(char *) : sizeof(struct torch_text));
}

/* @key: in a copy of the node at @at. */
static bool is_text(const char *key, const char *at)
{
	char copy[LONGEST];
	struct torch_text t;

	if (torch_old_texts()) {
		t.data = torch_ptr(key, 0);
		if (!collect_peek(&t.len, t.data - OLD_TEXT_LEN, sizeof(t.len)))
			return false;
	} else {
		memcpy(&t, key, sizeof(t));
		/* Short strings are stored inside the object. */
		if (t.len < sizeof(t.own))
			return t.data == at + KEY + offsetof(struct torch_text, own);
	}
	return t.len < LONGEST && collect_peek(copy, t.data, t.len + 1) && !copy[t.len];
}

static bool is_map(const char *map)
{
	const char *at = torch_ptr(map, TORCH_MAP_FIRST);
	size_t size = NODE - (torch_old_texts() ? sizeof(struct torch_text) - sizeof(char *) : 0);
	char node[NODE];

	for (uint64_t n = torch_u64(map, TORCH_MAP_NR); n; n--, at = torch_ptr(node, 0))
		if (!collect_peek(node, at, size) || !is_text(node + KEY, at) ||
		    torch_u32(node + value_at(), IVALUE_TAG) > LAST_TAG)
			return false;
	return !at;
}

/* Does the IValue's object have the class of strings? If so, its tag is that of strings. */
static bool is_string(const char *value, uint32_t tag)
{
	uint32_t known = __atomic_load_n(&text_tag, __ATOMIC_RELAXED);
	uint64_t class = 0;

	if (known || !TORCH_FOUND(text))
		return tag == known && known;
	if (!collect_peek(&class, torch_ptr(value, 0), sizeof(class)) ||
	    class != TORCH_FOUND(text_class))
		return false;
	__atomic_store_n(&text_tag, tag, __ATOMIC_RELAXED);
	return true;
}

static struct xsprof_kv kv_of(xsprof_name_t key, const char *value)
{
	bool lists = __atomic_load_n(&torch_lists, __ATOMIC_ACQUIRE) == TORCH_VERIFIED;
	uint32_t tag = torch_u32(value, IVALUE_TAG);
	struct xsprof_input text;
	double f64;

	switch (tag) {
	case TAG_NONE:
		return xsprof_str(key, "None");
	case TAG_TENSOR:
		return xsprof_str(key, "tensor");
	case TAG_INT:
		return xsprof_i64(key, (int64_t)torch_u64(value, 0));
	case TAG_DOUBLE:
		memcpy(&f64, value, sizeof(f64));
		return xsprof_f64(key, f64);
	}
	if (lists && tag == TORCH_FOUND(tag_bool))
		return xsprof_str(key, torch_u8(value, 0) ? "True" : "False");
	if (is_string(value, tag) && torch_string_read(value, &text))
		return xsprof_str(key, text.u.str);
	return xsprof_str(key, "object");
}

void torch_keywords_read(const void *fn, struct torch_keywords *to)
{
	const char *map = (const char *)fn + torch_layout.keywords, *key;

	to->nr = 0;
	if (__atomic_load_n(&differs, __ATOMIC_RELAXED))
		return;
	if (__atomic_load_n(&seen, __ATOMIC_RELAXED) < ENOUGH) {
		if (!is_map(map)) {
			if (!__atomic_exchange_n(&differs, true, __ATOMIC_RELAXED))
				collect_say("PyTorch: unexpected layout of ops' keyword values: "
					  "ops are recorded without them");
			return;
		}
		torch_strings_find();
		__atomic_add_fetch(&seen, 1, __ATOMIC_RELAXED);
	}
	for (const char *at = torch_ptr(map, TORCH_MAP_FIRST); at && to->nr < TORCH_KEYWORDS;
	     at = torch_ptr(at, 0)) {
		torch_text(at + KEY, &key);
		to->kv[to->nr++] = kv_of(torch_user.name_of_many(torch_category, key),
					 at + value_at());
	}
}
