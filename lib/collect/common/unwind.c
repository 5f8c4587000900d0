// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Finds a frame's caller by the unwind rules that compilers write for each function (.eh_frame), as
 * far as they are based on the stack pointer and the frame pointer. Owns the table of rules read so
 * far. Takes no lock, and allocates nothing after the table was made.
 *
 * Other rules (signal frames, code with another base register) are unknown: a walk ends there with
 * a note.
 */
#include <stdlib.h>

#include "collect/common/dwarf.h"

#define SLOTS		(1u << 15)	/* size of the table, a power of two */
#define NEAR		16u		/* slots probed */
#define BUSY		1u		/* the slot is being filled */
#define UNLOADS_MAX	UINT16_MAX	/* beyond this, no rule is kept */
#define ADDRESS_BITS	48

/* @key: 0: free; else the address, with the number of unloads above it. */
static struct slot {
	uint64_t	key;
	uint64_t	rule;
} *slots;

#ifndef DLFO_STRUCT_HAS_EH_DBASE
/* As in glibc 2.35, for builds with older headers. */
struct dl_find_object {
	unsigned long long	dlfo_flags;
	void			*dlfo_map_start, *dlfo_map_end;
	void			*dlfo_link_map;
	void			*dlfo_eh_frame;
	unsigned long long	more[8];
};
#endif

/* glibc 2.35 and later. Takes no lock, unlike dl_iterate_phdr(). */
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

/*
 * Reads the rule and stores it in a free slot, for good. Without a free slot it is read each time.
 */
static __attribute__((cold, noinline)) struct unwind_rule add(uintptr_t ip, uint64_t key,
							      struct slot *slot)
{
	/* A return address may be beyond the function, if the call is its last instruction. */
	struct unwind_rule rule = read_rule(ip - 1);
	uint64_t word, there = 0;

	if (!slot || !__atomic_compare_exchange_n(&slot->key, &there, BUSY, false,
						  __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return rule;
	memcpy(&word, &rule, sizeof(word));
	slot->rule = word;
	/* Release: a thread that sees the key also sees the rule. */
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
