/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A writer and a reader of rings, written only from abi.h: the device's guarantees must not depend
 * on the library. Records are numbered, and all words of a record derive from its number, so that a
 * torn one is recognized. Walks over rings; dev.h has the mappings.
 */
#ifndef KMOD_RING_H
#define KMOD_RING_H

#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "dev.h"
#include "env.h"

#define RING_SEQ_BITS	40
#define RING_SEQ_MASK	((1ull << RING_SEQ_BITS) - 1)
#define RING_WORDS	(XSPROF_SLOT_SIZE / 8)
#define RING_NAME	0x7u

static inline uint64_t ring_tag(unsigned int stream, uint64_t seq)
{
	return (uint64_t)(stream + 1) << RING_SEQ_BITS | seq;
}

static inline uint64_t ring_word(uint64_t tag, unsigned int i)
{
	return env_mix(tag + i * 0x123456789abcdefull);
}

static inline uint64_t ring_ticks(uint32_t clock)
{
	struct timespec ts;

#if defined(__x86_64__)
	if (clock == XSPROF_CLOCK_TSC) {
		_mm_lfence();
		return __rdtsc();
	}
#elif defined(__aarch64__)
	if (clock == XSPROF_CLOCK_CNTVCT) {
		uint64_t t;

		__asm__ __volatile__("isb\n\tmrs %0, cntvct_el0" : "=r" (t) : : "memory");
		return t;
	}
#endif
	(void)clock;
	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static inline uint64_t *ring_slot(const struct dev *d, uint32_t k, uint64_t pos)
{
	return dev_data(d, k) + (pos & (d->ring_size / XSPROF_SLOT_SIZE - 1)) * RING_WORDS;
}

static inline unsigned int ring_rec_type(const uint64_t *s)
{
	return s[0] >> 32 & 0xff;
}

static inline unsigned int ring_rec_slots(const uint64_t *s)
{
	return s[0] >> 40 & 0xf;
}

static inline uint64_t ring_rec_header(unsigned int type, unsigned int slots, uint32_t tid)
{
	return tid | (uint64_t)type << 32 | (uint64_t)slots << 40;
}

/*
 * Publish record @seq of @stream, or count a drop.  The ring is the caller's alone.
 * Return: false when it was dropped.
 */
__attribute__((unused)) static bool ring_put(struct dev *d, uint32_t k, unsigned int stream,
					     uint64_t seq, unsigned int slots)
{
	struct xsprof_ring_writer *w = dev_writer(d, k);
	uint64_t size = d->ring_size / XSPROF_SLOT_SIZE, tag = ring_tag(stream, seq);
	uint64_t drops = w->drops + __atomic_load_n(&w->busy, __ATOMIC_RELAXED);
	uint64_t head = w->head, at = head + (drops != w->reported), ts, *s;
	uint64_t tail = __atomic_load_n(&dev_reader(d, k)->tail, __ATOMIC_ACQUIRE);

	if (at % XSPROF_BLOCK_SLOTS + slots > XSPROF_BLOCK_SLOTS)
		at = (at | (XSPROF_BLOCK_SLOTS - 1)) + 1;
	if (d->mode == XSPROF_MODE_DISCARD && at + slots - tail > size) {
		__atomic_store_n(&w->drops, w->drops + 1, __ATOMIC_RELEASE);
		return false;
	}
	/* OVERWRITE: the head before must be seen before these slots change. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	ts = ring_ticks(d->clock);
	if (drops != w->reported) {
		s = ring_slot(d, k, head++);
		s[0] = ring_rec_header(XSPROF_REC_LOST, 1, 0);
		s[1] = ts;
		s[2] = 0;
		s[3] = drops;
	}
	if (head != at) {
		s = ring_slot(d, k, head);
		s[0] = ring_rec_header(XSPROF_REC_PAD, at - head, 0);
		s[1] = ts;
		s[2] = s[3] = 0;
	}
	s = ring_slot(d, k, at);
	s[0] = ring_rec_header(XSPROF_REC_INSTANT, slots, stream);
	s[1] = ts;
	s[2] = RING_NAME;
	s[3] = tag;
	for (unsigned int i = RING_WORDS; i < slots * RING_WORDS; i++)
		s[i] = ring_word(tag, i);
	/* The one truth: a reader's acquire of it sees all of the above. */
	__atomic_store_n(&w->head, at + slots, __ATOMIC_RELEASE);
	w->reported = drops;
	return true;
}

/*
 * The same for threads that share the lock rings: the first that is free, from @hint on.
 * Return: the ring, or -1 when all stayed busy: counted in the ring of @hint.
 */
__attribute__((unused)) static int ring_put_locked(struct dev *d, uint32_t hint,
						   unsigned int stream, uint64_t seq,
						   unsigned int slots)
{
	for (unsigned int i = 0; i < 64 * d->nl; i++) {
		uint32_t k = d->nr + (hint + i) % d->nl, none = 0;
		struct xsprof_ring_writer *w = dev_writer(d, k);

		if (!__atomic_compare_exchange_n(&w->lock, &none, stream + 1, false,
						 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
			if (i % d->nl == d->nl - 1)
				sched_yield();
			continue;
		}
		ring_put(d, k, stream, seq, slots);
		__atomic_store_n(&w->lock, 0, __ATOMIC_RELEASE);
		return (int)k;
	}
	__atomic_add_fetch(&dev_writer(d, d->nr + hint % d->nl)->busy, 1, __ATOMIC_RELAXED);
	return -1;
}

/**
 * struct ring_cursor - how far one ring has been read
 * @at: the next slot
 * @records: whole records that were taken, LOST and PAD left out
 * @lost: what LOST records told of
 * @skipped: slots that were overwritten before they were read
 * @torn: records that are not whole
 * @back: records older than the one before
 * @last: time of the record before
 */
struct ring_cursor {
	uint64_t	at;
	uint64_t	records;
	uint64_t	lost;
	uint64_t	skipped;
	uint64_t	torn;
	uint64_t	back;
	uint64_t	last;
};

typedef void (*ring_take_fn)(void *arg, uint32_t k, uint64_t at, const uint64_t *slot,
			     unsigned int slots);

static inline bool ring_whole(const uint64_t *s, unsigned int n)
{
	if (ring_rec_type(s) != XSPROF_REC_INSTANT || s[2] != RING_NAME ||
	    (uint32_t)s[0] != (s[3] >> RING_SEQ_BITS) - 1)
		return false;
	for (unsigned int i = RING_WORDS; i < n * RING_WORDS; i++)
		if (s[i] != ring_word(s[3], i))
			return false;
	return true;
}

/* What a record must be to be whole: ours here, another writer's in a program that says so. */
static bool (*ring_check)(const uint64_t *s, unsigned int n) = ring_whole;

/* To the first block that an OVERWRITE ring's writer leaves alone; @floor: trusted from there. */
static inline void ring_skip(struct ring_cursor *c, uint64_t floor)
{
	uint64_t to = (floor + XSPROF_BLOCK_SLOTS - 1) & ~(uint64_t)(XSPROF_BLOCK_SLOTS - 1);

	c->skipped += to - c->at;
	c->at = to;
}

/*
 * Take what is published from @c on, at most @most slots.  DISCARD trusts all below head;
 * OVERWRITE what the writer cannot have touched since.  The caller stores tail.
 */
__attribute__((unused)) static void ring_take(struct dev *d, uint32_t k, struct ring_cursor *c,
					      uint64_t most, ring_take_fn fn, void *arg)
{
	uint64_t size = d->ring_size / XSPROF_SLOT_SIZE, stop = c->at + most, head, floor;
	uint64_t copy[XSPROF_RECORD_SLOTS * RING_WORDS];
	volatile struct xsprof_ring_writer *w = dev_writer(d, k);

	if (stop < c->at)
		stop = UINT64_MAX;
	for (head = __atomic_load_n(&w->head, __ATOMIC_ACQUIRE); c->at < head && c->at < stop;) {
		uint64_t room = XSPROF_BLOCK_SLOTS - c->at % XSPROF_BLOCK_SLOTS, n;

		if (room > XSPROF_RECORD_SLOTS)
			room = XSPROF_RECORD_SLOTS;
		if (room > head - c->at)
			room = head - c->at;
		memcpy(copy, ring_slot(d, k, c->at), room * XSPROF_SLOT_SIZE);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		head = __atomic_load_n(&w->head, __ATOMIC_ACQUIRE);
		floor = d->mode == XSPROF_MODE_OVERWRITE && head + XSPROF_OVERWRITE_MARGIN > size ?
			head + XSPROF_OVERWRITE_MARGIN - size : 0;
		if (c->at < floor) {
			ring_skip(c, floor);
			continue;
		}
		n = ring_rec_slots(copy);
		if (!n || n > room || (ring_rec_type(copy) != XSPROF_REC_PAD &&
				       ring_rec_type(copy) != XSPROF_REC_LOST &&
				       !ring_check(copy, n))) {
			c->torn++;
			c->at = (c->at | (XSPROF_BLOCK_SLOTS - 1)) + 1;
			continue;
		}
		c->back += copy[1] < c->last;
		c->last = copy[1];
		if (ring_rec_type(copy) == XSPROF_REC_LOST)
			c->lost = copy[3];
		else if (ring_rec_type(copy) != XSPROF_REC_PAD)
			c->records++;
		if (fn)
			fn(arg, k, c->at, copy, n);
		c->at += n;
	}
}

/* What ring @k has dropped so far. */
static inline uint64_t ring_drops(const struct dev *d, uint32_t k)
{
	volatile struct xsprof_ring_writer *w = dev_writer(d, k);

	return __atomic_load_n(&w->drops, __ATOMIC_ACQUIRE) +
	       __atomic_load_n(&w->busy, __ATOMIC_ACQUIRE);
}

static inline void ring_tail_set(struct dev *d, uint32_t k, uint64_t at)
{
	__atomic_store_n(&dev_reader(d, k)->tail, at, __ATOMIC_RELEASE);
}

#endif /* KMOD_RING_H */
