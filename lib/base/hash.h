/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Hash functions for numbers and texts, for the tables of all folders. Only the hash of texts is
 * fixed: FNV-1a, by which the kernel module identifies a recording. The values of the others must
 * not be stored.
 */
#ifndef XSP_HASH_H
#define XSP_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "base/own.h"

#define XSP_HASH_TEXT	0xcbf29ce484222325ull	/* xsp_hash_bytes() of no bytes */

/* A random seed for a table: colliding texts cannot be chosen. */
uint64_t xsp_hash_seed(const void *of);

/* Mixes all bits of @x into each bit of the result. */
static inline uint64_t xsp_hash_mix(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ull;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ull;
	return x ^ x >> 32;
}

/*
 * Index in a table of 2^n slots, @room, whose keys others choose: without the seed they could
 * choose keys with the same index.
 */
static inline uint32_t xsp_hash_place(uint32_t key, uint64_t seed, uint32_t room)
{
	return (uint32_t)xsp_hash_mix(key ^ seed) & (room - 1);
}

/* Random in each process, once it is set: before the first table, as a key must have one hash. */
extern uint64_t xsp_hash_secret XSP_HIDDEN;
/* Sets it once. It is a constructor; other constructors that make tables call it first. */
void xsp_hash_begin(void) XSP_HIDDEN;

#define XSP_HASH_PLACE	20u

/*
 * Hash of an ordered pair, which identifies it: without the secret, a process cannot choose a
 * number that has the same hash as a number of another process. The upper XSP_HASH_PLACE bits do
 * not depend on the secret: tables in which a new key replaces an old one use them as the index, so
 * that outputs are the same in each run.
 */
static inline uint64_t xsp_hash_pair(uint64_t a, uint64_t b)
{
	uint64_t h = a * 0x9e3779b97f4a7c15ull, place;

	h ^= h >> 32;
	place = xsp_hash_mix(h ^ b) >> (64 - XSP_HASH_PLACE) << (64 - XSP_HASH_PLACE);
	return place | xsp_hash_mix(h ^ xsp_hash_mix(b ^ xsp_hash_secret)) >> XSP_HASH_PLACE;
}

/* Index among 2^@bits, at most XSP_HASH_PLACE, for a key by xsp_hash_pair(). */
static inline uint32_t xsp_hash_pair_place(uint64_t key, unsigned int bits)
{
	return (uint32_t)(key >> (64 - bits));
}

/*
 * A flow's id is unique within its process only. Viewers have one space of ids, and store them in
 * doubles: returns a number of 53 bits, the same in every output.
 */
static inline uint64_t xsp_hash_flow(uint32_t producer, uint64_t id)
{
	uint64_t h = id * 0x9e3779b97f4a7c15ull + producer;

	h ^= h >> 32;
	h *= 0xd6e8feb86659fd93ull;
	h ^= h >> 29;
	return h >> 11;
}

/* Index among 2^@bits by one multiplication: for lookups made for every event. */
static inline uint32_t xsp_hash_slot(uint64_t key, unsigned int bits)
{
	return (uint32_t)(key * 0x9e3779b97f4a7c15ull >> (64 - bits));
}

/* FNV-1a, starting from XSP_HASH_TEXT or from the hash of preceding bytes. */
static inline uint64_t xsp_hash_bytes(uint64_t h, const void *bytes, size_t len)
{
	const unsigned char *p = bytes;

	for (size_t i = 0; i < len; i++)
		h = (h ^ p[i]) * 0x100000001b3ull;
	return h;
}

#endif /* XSP_HASH_H */
