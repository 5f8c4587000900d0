// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Entries of threads, from either source: reported by the threads themselves (threads.c) or read
 * from Python's memory (seen.c).
 */
#include "collect/python/sample.h"

struct python_entry *python_entry_own(void)
{
	return python_late ? python_seen_own() : python_thread_own();
}

struct python_entry *python_entry_holder(void)
{
	return python_late ? python_seen_holder() : python_thread_holder();
}

bool python_entry_holds(const struct python_entry *entry, const void *state)
{
	return python_late ? python_seen_holds(state) : entry->turn & 1;
}

bool python_entry_stands(const struct python_entry *entry, uint32_t turn,
			 const struct python_reading *reading)
{
	return python_late ? python_seen_stands(entry, reading) :
	       __atomic_load_n(&entry->turn, __ATOMIC_RELAXED) == turn;
}

bool python_entry_read(struct python_entry *entry, uint32_t turn, struct python_reading *reading,
		       const struct native_stack *native, uint32_t unloads, xsprof_name_t *name,
		       uint32_t *stack)
{
	const void *state = __atomic_load_n(&entry->state, __ATOMIC_RELAXED);

	if (python_late)
		python_seen_reads(entry);
	if (!state || !python_read_frames(reading, state))
		return false;
	/* Did it hold the GIL meanwhile? The words of the frames are loaded before its turn. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (!python_entry_stands(entry, turn, reading))
		return false;
	*stack = python_stack_of(reading, native, unloads, name);
	return true;
}
