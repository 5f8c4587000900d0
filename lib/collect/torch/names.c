// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Names of ops, and how many arguments they have. An operator's schema lives as long as the
 * operator does: its address is the key of a table that is only ever filled. Other ops have a text
 * of their own, whose memory is used again.
 *
 * That what is read there is a schema's address is believed after some hundred answers of the table
 * that libtorch's own name of the op has confirmed. If one differs, each name is asked for.
 */
#include "collect/torch/inputs.h"

#define PLACES	8192u	/* a power of two; PyTorch has some 3,000 operators */
#define NEAR	8u	/* places looked at */
#define ENOUGH	512u	/* answers that are looked at */

static struct {
	uint64_t	schema;
	xsprof_name_t	name;	/* 0: not there yet */
	uint32_t	arguments;
} names[PLACES];

xsprof_name_t torch_name_key;
static int torch_category;
static uint32_t confirmed;	/* answers; ENOUGH: it is believed */
static bool no_schema;

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
	*arguments = has_schema(fn) && torch_api.nr_inputs ? (uint32_t)torch_api.nr_inputs(fn) :
		TORCH_ALL_INPUTS;
	return torch_user.name(torch_category, torch_api.fn_name(fn));
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

static xsprof_name_t by_schema(const void *fn, uint64_t schema, uint32_t *arguments)
{
	uint32_t first = (uint32_t)((schema * 0x9e3779b97f4a7c15u) >> 32);
	xsprof_name_t name;

	for (uint32_t i = 0; i < NEAR; i++) {
		uint64_t *at = &names[(first + i) % PLACES].schema, there = 0;
		xsprof_name_t *to = &names[(first + i) % PLACES].name;
		uint32_t *nr = &names[(first + i) % PLACES].arguments;

		there = __atomic_load_n(at, __ATOMIC_RELAXED);
		/* Acquire: pairs with the release below; a thread that sees the name may use it. */
		name = __atomic_load_n(to, __ATOMIC_ACQUIRE);
		if (__builtin_expect(there == schema && name, 1)) {
			*arguments = __atomic_load_n(nr, __ATOMIC_RELAXED);
			if (__builtin_expect(__atomic_load_n(&confirmed, __ATOMIC_RELAXED) <
					     ENOUGH, 0))
				return confirm(fn, name, arguments);
			return name;
		}
		if (there && there != schema)
			continue;
		name = by_text(fn, arguments);
		/* A place is taken once: its name is that of one schema for good. */
		if (there == schema ||
		    __atomic_compare_exchange_n(at, &there, schema, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED)) {
			__atomic_store_n(nr, *arguments, __ATOMIC_RELAXED);
			__atomic_store_n(to, name, __ATOMIC_RELEASE);
		}
		return name;
	}
	return by_text(fn, arguments);
}

xsprof_name_t torch_name(const void *fn, uint32_t *arguments)
{
	if (__builtin_expect(has_schema(fn) && !__atomic_load_n(&no_schema, __ATOMIC_RELAXED), 1))
		return by_schema(fn, torch_u64(fn, torch_layout.fn), arguments);
	return by_text(fn, arguments);
}
