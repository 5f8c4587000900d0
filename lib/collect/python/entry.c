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
