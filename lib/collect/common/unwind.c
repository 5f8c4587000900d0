// SPDX-License-Identifier: LGPL-2.1-only
/*
 * How a frame's caller is found: rules of the unwind information that compilers write for each
 * function (.eh_frame), as far as they are of the stack pointer and the frame pointer. Owns a table
 * of the rules that were read. It takes no lock and allocates nothing once it was made.
 *
 * Other rules (of signal frames, of code that has another register as its base) are none: a walk
 * ends there, and says so.
 */
#include <stdlib.h>

#include "collect/common/dwarf.h"

#define SLOTS		(1u << 15)	/* of the table, a power of two */
#define NEAR		16u		/* slots looked at */
#define BUSY		1u		/* a slot that gets its rule now */
#define UNLOADS_MAX	UINT16_MAX	/* beyond, nothing is kept */
#define ADDRESS_BITS	48

/* 0: the slot is free; else the address, and above it how often code had been unloaded. */
static struct slot {
	uint64_t	key;
	uint64_t	rule;
} *slots;

#ifndef DLFO_STRUCT_HAS_EH_DBASE
/* As in glibc 2.35, for a build with an older one's headers. */
struct dl_find_object {
	unsigned long long	dlfo_flags;
	void			*dlfo_map_start, *dlfo_map_end;
	void			*dlfo_link_map;
	void			*dlfo_eh_frame;
	unsigned long long	more[8];
};
#endif

/* glibc has it from 2.35 on. Unlike dl_iterate_phdr() it takes no lock. */
extern int _dl_find_object(void *address, struct dl_find_object *found) __attribute__((weak));

static bool find_object(uintptr_t ip, struct dl_find_object *found)
{
	return !_dl_find_object((void *)ip, found);
}

bool unwind_object(const void *inside, uintptr_t *start, uintptr_t *end)
{
	struct dl_find_object found;

	if (!_dl_find_object || !find_object((uintptr_t)inside, &found))
		return false;
	*start = (uintptr_t)found.dlfo_map_start;
	*end = (uintptr_t)found.dlfo_map_end;
	return true;
}

bool unwind_init(void)
{
	if (_dl_find_object && !slots)
		slots = calloc(SLOTS, sizeof(*slots));
	return slots;
}

uintptr_t unwind_function(uintptr_t ip)
{
	struct dl_find_object found;

	if (!_dl_find_object || !find_object(ip - 1, &found) || !found.dlfo_eh_frame)
		return 0;
	return dwarf_function(&(struct elf_object){ (uintptr_t)found.dlfo_map_start,
						    (uintptr_t)found.dlfo_map_end },
			      found.dlfo_eh_frame, ip - 1);
}

static struct unwind_rule read_rule(uintptr_t ip)
{
	struct unwind_rule rule = { .kind = UNWIND_UNKNOWN };
	struct dl_find_object found;

	if (find_object(ip, &found) && found.dlfo_eh_frame) {
		const struct elf_object object = {
			(uintptr_t)found.dlfo_map_start, (uintptr_t)found.dlfo_map_end,
		};

		rule = dwarf_rule(&object, found.dlfo_eh_frame, ip);
	}
	return rule;
}

_Static_assert(sizeof(struct unwind_rule) == sizeof(uint64_t), "a rule is one word");

/* Takes a free slot: it is this address's for good.  Where there is none it is read each time. */
static __attribute__((cold, noinline)) struct unwind_rule add(uintptr_t ip, uint64_t key,
							      struct slot *slot)
{
	/* A return address is behind the call, which may be the last of its function. */
	struct unwind_rule rule = read_rule(ip - 1);
	uint64_t word, there = 0;

	if (!slot || !__atomic_compare_exchange_n(&slot->key, &there, BUSY, false,
						  __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return rule;
	memcpy(&word, &rule, sizeof(word));
	slot->rule = word;
	/* Release: a thread that sees the key sees the rule. */
	__atomic_store_n(&slot->key, key, __ATOMIC_RELEASE);
	return rule;
}

struct unwind_rule unwind_rule(uintptr_t ip, uint32_t unloads)
{
	uint64_t key = (uint64_t)unloads << ADDRESS_BITS | ip, there;
	uint32_t at = (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 40);
	struct unwind_rule rule;
	struct slot *slot = NULL;

	if (__builtin_expect(unloads >= UNLOADS_MAX || ip >> ADDRESS_BITS, 0))
		return add(ip, 0, NULL);
	for (uint32_t i = 0; i < NEAR; i++) {
		slot = &slots[(at + i) % SLOTS];
		there = __atomic_load_n(&slot->key, __ATOMIC_ACQUIRE);
		if (there == key) {
			memcpy(&rule, &slot->rule, sizeof(rule));
			return rule;
		}
		if (!there)
			return add(ip, key, slot);
	}
	return add(ip, 0, NULL);
}
