// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Appends names, threads and facts to the producer's arena for readers. Owns how much of the arena
 * has memory; uses the lock of the names (names.c).
 */
#include <errno.h>
#include <string.h>

#include "ring/backend.h"

/* Bytes of the arena's first step; later steps double, up to a limit. */
#define XSP_ARENA_FIRST		(4u << 10)
#define XSP_ARENA_STEP		(64u << 10)

static uint64_t backed;		/* bytes of the arena's entries with memory behind them */
static uint64_t of_threads;	/* bytes of threads' entries, without names they gave themselves */
static uint64_t of_others;	/* those of them with names that other threads gave */

/* Starts a new producer's arena, which lacks @missed names from the start. */
void xsp_arena_begin(uint64_t missed)
{
	backed = 0;
	of_threads = of_others = 0;
	xsp_set.arena->missed = missed;
}

/* Writes an entry to @to, which has @size bytes, as from xsp_entry_size(@len). */
void xsp_entry_write(char *to, uint16_t type, uint32_t id, uint32_t aux, const char *text,
		     size_t len, uint32_t size)
{
	struct xsprof_entry e = {
		.size = size, .type = type, .text_len = len, .id = id, .aux = aux,
	};

	memcpy(to, &e, sizeof(e));
	memcpy(to + sizeof(e), text, len);
	memset(to + sizeof(e) + len, 0, size - sizeof(e) - len);
}

/* Size of an entry whose text has @len bytes. */
uint32_t xsp_entry_size(size_t len)
{
	return (uint32_t)((sizeof(struct xsprof_entry) + len + 7) & ~7ull);
}

/*
 * Each thread that comes and goes leaves entries that are useless to later ones: reserve half of
 * the room for names and facts. Names by others leave half of that half to starts of threads: a
 * thread without a start is taken for the last one of its number.
 */
static bool too_many_threads(uint32_t size, bool by_other)
{
	uint64_t half = xsp_set.arena_room / 2;

	if (size > half - of_threads || (by_other && size > half / 2 - of_others))
		return true;
	of_threads += size;
	if (by_other)
		of_others += size;
	return false;
}

/*
 * @limited: one of any number of threads: see above. @since: start time, in a thread's first entry;
 * else 0.
 */
static int add(uint16_t type, uint32_t id, uint32_t aux, const char *text, size_t len,
	       bool limited, uint64_t since)
{
	struct xsprof_arena *arena = xsp_set.arena;
	uint64_t used, room;
	uint32_t size;

	if (!arena)
		return -ENOTCONN;
	if (len > XSPROF_TEXT_MAX)
		len = XSPROF_TEXT_MAX;
	size = xsp_entry_size(len) + (since ? sizeof(since) : 0);
	used = arena->used;
	room = xsp_set.arena_room;
	if (used > room || size > room - used ||
	    (limited && too_many_threads(size, aux & XSPROF_THREAD_OTHER)))
		goto full;
	while (used + size > backed) {
		uint64_t step = backed ? backed : XSP_ARENA_FIRST;

		if (step > XSP_ARENA_STEP)
			step = XSP_ARENA_STEP;
		if (step > room - backed)
			step = room - backed;
		if (xsp_kept.backend->grow((char *)(arena + 1) - xsp_set.base + backed,
					    step) < 0)
			goto full;
		backed += step;
	}
	xsp_entry_write((char *)(arena + 1) + used, type, id, aux, text, len, size);
	if (since)
		memcpy((char *)(arena + 1) + used + size - sizeof(since), &since, sizeof(since));
	/*
	 * Stored last, so that a process killed at any point leaves a valid arena; pairs with the
	 * reader's acquire of @used.
	 */
	__atomic_store_n(&arena->used, used + size, __ATOMIC_RELEASE);
	return 0;
full:
	__atomic_store_n(&arena->missed, arena->missed + 1, __ATOMIC_RELAXED);
	return -ENOSPC;
}

/**
 * xsp_arena_add() - append an entry to the producer's arena
 * @type: enum xsprof_entry_type
 * @id: see struct xsprof_entry
 * @aux: see struct xsprof_entry
 * @text: text
 * @len: its bytes; cut after XSPROF_TEXT_MAX
 *
 * Called with the lock of the names held.
 *
 * Return: 0; -ENOTCONN no producer; -ENOSPC the arena, or its share for threads, is full; counted.
 */
int xsp_arena_add(uint16_t type, uint32_t id, uint32_t aux, const char *text, size_t len)
{
	return add(type, id, aux, text, len, false, 0);
}

/* A thread's name from the kernel. @since: when it began, as far as we know; 0: unknown. */
int xsp_arena_add_thread(uint32_t tid, const char *comm, size_t len, uint64_t since)
{
	return add(XSPROF_ENTRY_THREAD, tid, since ? XSPROF_THREAD_NEW : 0, comm, len, true, since);
}

/* A name that a library gives one of the program's threads. Return: as xsp_arena_add(). */
int xsp_arena_name_thread(uint32_t tid, const char *name, size_t len)
{
	return add(XSPROF_ENTRY_THREAD, tid, XSPROF_THREAD_GIVEN | XSPROF_THREAD_OTHER, name, len,
		   true, 0);
}
