// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Queries of the program about its producer: how many records were written and lost; and flushing.
 * Changes nothing.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "process/backend.h"

#define PAUSE_MIN_NS	200000
#define PAUSE_MAX_NS	3000000

int xsprof_flush(int timeout_ms)
{
	uint64_t end = xsp_clock_ns(CLOCK_MONOTONIC) + (uint64_t)timeout_ms * 1000000;
	struct timespec pause = { .tv_nsec = PAUSE_MIN_NS };
	int err = errno, reader;

	if (!xsp_attached())
		return -ENOTCONN;
	/* A recorder lets a ring with few records wait; a flush does not. */
	reader = xsp_kept.backend->kick(true);
	errno = err;
	if (reader <= 0)
		return reader ? reader : -ENOTCONN;
	for (uint32_t k = 0; k < xsp_set.nr_rings + xsp_set.nl; k++) {
		uint64_t head;

		if (!xsp_ring_is_open(k))
			continue;
		head = __atomic_load_n(&xsp_ring(k)->head, __ATOMIC_ACQUIRE);
		/*
		 * the tail belongs to the reader; a wrong value only makes us return early or late
		 */
		while ((int64_t)(head - __atomic_load_n(xsp_ring_tail(xsp_ring(k)),
							__ATOMIC_ACQUIRE)) > 0) {
			if (timeout_ms >= 0 && xsp_clock_ns(CLOCK_MONOTONIC) >= end) {
				errno = err;
				return -ETIMEDOUT;
			}
			nanosleep(&pause, NULL);
			/* Double the pause: a long flush needs no frequent checks. */
			if (pause.tv_nsec < PAUSE_MAX_NS)
				pause.tv_nsec *= 2;
		}
	}
	errno = err;
	return 0;
}

static void add_ring(struct xsprof_stats *s, uint32_t k)
{
	struct xsprof_ring_writer *w = xsp_ring(k);
	uint64_t head = __atomic_load_n(&w->head, __ATOMIC_RELAXED);
	uint64_t grown = __atomic_load_n(&w->grown, __ATOMIC_RELAXED);

	s->slots += head;
	if (k >= xsp_set.nr_rings)
		s->lock_slots += head;
	s->lost += __atomic_load_n(&w->drops, __ATOMIC_RELAXED) +
		   __atomic_load_n(&w->busy, __ATOMIC_RELAXED);
	s->memory += xsp_set.data_off +
		     ((grown < xsp_set.size ? grown : xsp_set.size) << XSPROF_SLOT_SHIFT);
}

int xsprof_get_stats(struct xsprof_stats *stats)
{
	struct xsprof_stats s = { .size = sizeof(s) };
	size_t size;

	if (!stats || stats->size < sizeof(size_t))
		return -EINVAL;
	size = stats->size;
	s.lost = xsp_late();
	if (xsp_attached()) {
		s.attached = 1;
		s.backend = xsp_kept.backend->kind;
		s.clock = xsp_kept.clock;
		s.lost += xsp_set.arena->nomem + xsp_set.arena->late;
		s.names_missed = xsp_set.arena->missed;
		s.stacks_missed = __atomic_load_n(&xsp_stacks_missed, __ATOMIC_RELAXED);
		s.memory = xsp_set.ctl->arena_off + xsp_set.arena->used;
		for (uint32_t k = 0; k < xsp_set.nr_rings + xsp_set.nl; k++)
			if (xsp_ring_is_open(k))
				add_ring(&s, k);
	}
	if (size > sizeof(s)) {
		memset((char *)stats + sizeof(s), 0, size - sizeof(s));
		size = sizeof(s);
	}
	memcpy((char *)stats + sizeof(size_t), (char *)&s + sizeof(size_t),
	       size - sizeof(size_t));
	return 0;
}
