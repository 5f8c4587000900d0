// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Names of ops and their numbers of arguments. An operator's schema lives as long as the operator:
 * its address is the key of a table that only grows. A later operator may get the same address, so
 * each lookup compares the text: a schema begins with its name, a string whose first word points to
 * the text. If it differs, libtorch is asked for the name of each op of that operator. The text of
 * an op without a schema is in memory that is reused.
 *
 * The layout of schemas is trusted after some hundred table lookups that agreed with the name that
 * libtorch returned for the op. If one disagrees, libtorch is asked for every name.
 */
#include <stdlib.h>
#include <string.h>

#include "collect/torch/inputs.h"

#define USER_SCOPE	7	/* at::RecordScope::USER_SCOPE */

#define PLACES	8192u	/* a power of two; PyTorch has about 3,000 operators */
#define NEAR	8u	/* slots probed */
#define ENOUGH	512u	/* lookups that are checked against libtorch */

static struct {
	uint64_t	schema;
	const char	*text;	/* copy of its name; NULL: not set yet */
	uint64_t	size;	/* bytes of its arguments */
	xsprof_name_t	name;
	uint32_t	arguments;
} names[PLACES];

xsprof_name_t torch_name_key;
static int torch_category;
static uint32_t confirmed;	/* lookups that agreed; ENOUGH: trusted */
static bool no_schema;
static bool old_strings;

void torch_names_init(int category)
{
	torch_category = category;
	torch_name_key = torch_user.name(0, "name");
}

static bool has_schema(const void *fn)
{
	return torch_u8(fn, torch_layout.fn_index) == 1;
}

static xsprof_name_t by_text(const void *fn, uint32_t *arguments)
{
	const char *text = torch_api.fn_name(fn);

	*arguments = has_schema(fn) && torch_api.nr_inputs ? (uint32_t)torch_api.nr_inputs(fn) :
		TORCH_ALL_INPUTS;
	/* Names of the program's own ranges (one per request, say) are unbounded. */
	if (torch_u8(fn, torch_layout.scope) == USER_SCOPE)
		return torch_user.name_of_many(torch_category, text);
	return torch_user.name(torch_category, text);
}

static xsprof_name_t confirm(const void *fn, xsprof_name_t name, uint32_t *arguments)
{
	uint32_t believed = *arguments;
	xsprof_name_t real = by_text(fn, arguments);

	if (real == name && believed == *arguments)
		__atomic_add_fetch(&confirmed, 1, __ATOMIC_RELAXED);
	else
		__atomic_store_n(&no_schema, true, __ATOMIC_RELAXED);
	return real;
}

/*
 * Offsets in a schema: the name's text, and, after the overload name, begin and end of the
 * arguments. A string has four words, the second is its length; in the old C++ ABI it has one word.
 */
#define TEXT	0
#define WORDS	10

static uint64_t size_of_arguments(const uint64_t *words)
{
	bool old = __atomic_load_n(&old_strings, __ATOMIC_RELAXED);
	const uint64_t *arguments = words + (old ? 2 : 8);

	return arguments[1] - arguments[0];
}

static bool is_still(uint32_t at, uint64_t schema, const char *text)
{
	const uint64_t *words = (const uint64_t *)schema;

	return !strcmp(text, (const char *)words[TEXT]) &&
	       names[at].size == size_of_arguments(words);
}

/* Not in the table: adds it in a slot that was never used. */
static __attribute__((cold)) void add(uint32_t at, const void *fn, uint64_t schema,
				      xsprof_name_t name, uint32_t arguments)
{
	const char *text = torch_api.fn_name(fn);
	uint64_t there = 0, words[WORDS];
	char *copy;

	if (!collect_peek(words, (const void *)schema, sizeof(words)) ||
	    words[TEXT] != (uintptr_t)text) {
		__atomic_store_n(&no_schema, true, __ATOMIC_RELAXED);
		return;
	}
	/* All threads store the same value. */
	__atomic_store_n(&old_strings, words[1] != strlen(text), __ATOMIC_RELAXED);
	copy = strdup(text);
	/* A slot is taken once and for good by one schema. */
	if (!copy || !__atomic_compare_exchange_n(&names[at].schema, &there, schema, false,
						  __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
		free(copy);
		return;
	}
	names[at].size = size_of_arguments(words);
	names[at].name = name;
	names[at].arguments = arguments;
	/* Release: a thread that sees the text also sees the rest. */
	__atomic_store_n(&names[at].text, copy, __ATOMIC_RELEASE);
}

static xsprof_name_t by_schema(const void *fn, uint64_t schema, uint32_t *arguments)
{
	uint32_t first = (uint32_t)((schema * 0x9e3779b97f4a7c15u) >> 32);
	xsprof_name_t name;

	for (uint32_t i = 0; i < NEAR; i++) {
		uint32_t at = (first + i) % PLACES;
		uint64_t there = __atomic_load_n(&names[at].schema, __ATOMIC_RELAXED);
		/* Acquire: pairs with the release in add(). */
		const char *text = __atomic_load_n(&names[at].text, __ATOMIC_ACQUIRE);

		if (there && there != schema)
			continue;
		if (!there) {
			name = by_text(fn, arguments);
			add(at, fn, schema, name, *arguments);
			return name;
		}
		if (!text || __builtin_expect(!is_still(at, schema, text), 0))
			break;
		*arguments = names[at].arguments;
		if (__builtin_expect(__atomic_load_n(&confirmed, __ATOMIC_RELAXED) < ENOUGH, 0))
			return confirm(fn, names[at].name, arguments);
		return names[at].name;
	}
	return by_text(fn, arguments);
}

xsprof_name_t torch_name(const void *fn, uint32_t *arguments)
{
	if (__builtin_expect(has_schema(fn) && !__atomic_load_n(&no_schema, __ATOMIC_RELAXED), 1))
		return by_schema(fn, torch_u64(fn, torch_layout.fn), arguments);
	return by_text(fn, arguments);
}
