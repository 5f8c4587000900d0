// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Names of ops. An operator's schema lives as long as the operator does: its address is the key of
 * a table that is only ever filled. Other ops have a text of their own, whose memory is used again.
 */
#include "collect/torch/local.h"

#define PLACES	8192u	/* a power of two; PyTorch has some 3,000 operators */
#define NEAR	8u	/* places looked at */

static struct {
	uint64_t	schema;
	xsprof_name_t	name;	/* 0: not there yet */
} names[PLACES];

static int torch_category;

void torch_names_init(int category)
{
	torch_category = category;
}

static xsprof_name_t by_schema(uint64_t schema)
{
	uint32_t first = (uint32_t)((schema * 0x9e3779b97f4a7c15u) >> 32);
	xsprof_name_t name;

	for (uint32_t i = 0; i < NEAR; i++) {
		uint64_t *at = &names[(first + i) % PLACES].schema, there = 0;
		xsprof_name_t *to = &names[(first + i) % PLACES].name;

		there = __atomic_load_n(at, __ATOMIC_RELAXED);
		/* Acquire: pairs with the release below; whoever sees the name may use it. */
		name = __atomic_load_n(to, __ATOMIC_ACQUIRE);
		if (__builtin_expect(there == schema && name, 1))
			return name;
		if (there && there != schema)
			continue;
		/* The first word of a schema is the text of its name, whatever std::string is. */
		name = torch_user.name(torch_category,
				       torch_ptr((const void *)(uintptr_t)schema, 0));
		/* A place is taken once: its name is that of one schema for good. */
		if (there == schema ||
		    __atomic_compare_exchange_n(at, &there, schema, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			__atomic_store_n(to, name, __ATOMIC_RELEASE);
		return name;
	}
	return torch_user.name(torch_category, torch_ptr((const void *)(uintptr_t)schema, 0));
}

xsprof_name_t torch_name(const void *fn)
{
	if (__builtin_expect(torch_u8(fn, torch_layout.fn_index) == 1, 1))
		return by_schema(torch_u64(fn, torch_layout.fn));
	return torch_user.name(torch_category, torch_api.fn_name(fn));
}
