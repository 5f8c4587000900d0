// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Converts slots of a capture chunk to the COLUMNS form and back.
 *
 * Works on tiles of 64 slots, one cache line of each of the 32 byte columns: the columns of a chunk
 * are a power of two apart, so 32 streams written a few bytes at a time would all map to one cache
 * set. Allocates nothing and cannot fail.
 */
#include "base/columns.h"

#include <stdint.h>
#include <string.h>

#define SLOT	32u		/* bytes of a slot, and so byte columns */
#define TILE	64u		/* slots in a tile */
#define TIME	1u		/* the 64-bit column that is stored as differences */

#define SWAP(a, b, shift, mask)						\
	do {								\
		uint64_t t_ = ((a) >> (shift) ^ (b)) & (mask);		\
									\
		(b) ^= t_;						\
		(a) ^= t_ << (shift);					\
	} while (0)

/* Compilers unroll differently at -O2, which makes a factor of three here. */
#define UNROLL	_Pragma("GCC unroll 8")

/* Transposes 8 x 8 bytes: byte j of x[i] becomes byte i of x[j]. Its own inverse. */
static inline void transpose8(uint64_t x[8])
{
	UNROLL
	for (int i = 0; i < 4; i++)
		SWAP(x[i], x[i + 4], 32, 0x00000000ffffffffULL);
	UNROLL
	for (int i = 0; i < 8; i += i & 1 ? 3 : 1)
		SWAP(x[i], x[i + 2], 16, 0x0000ffff0000ffffULL);
	UNROLL
	for (int i = 0; i < 8; i += 2)
		SWAP(x[i], x[i + 1], 8, 0x00ff00ff00ff00ffULL);
}

static void encode_tile(uint8_t tile[SLOT][TILE], const uint8_t *src, uint64_t *time)
{
	for (unsigned int s = 0; s < TILE; s += 8) {
		UNROLL
		for (unsigned int c = 0; c < 4; c++) {
			uint64_t x[8];

			UNROLL
			for (unsigned int i = 0; i < 8; i++)
				memcpy(&x[i], src + (s + i) * SLOT + c * 8, 8);
			if (c == TIME) {
				uint64_t last = x[7];

				UNROLL
				for (unsigned int i = 7; i; i--)
					x[i] -= x[i - 1];
				x[0] -= *time;
				*time = last;
			}
			transpose8(x);
			UNROLL
			for (unsigned int k = 0; k < 8; k++)
				memcpy(&tile[c * 8 + k][s], &x[k], 8);
		}
	}
}

static void decode_tile(uint8_t *dst, uint8_t tile[SLOT][TILE], uint64_t *time)
{
	for (unsigned int s = 0; s < TILE; s += 8) {
		UNROLL
		for (unsigned int c = 0; c < 4; c++) {
			uint64_t x[8];

			UNROLL
			for (unsigned int k = 0; k < 8; k++)
				memcpy(&x[k], &tile[c * 8 + k][s], 8);
			transpose8(x);
			if (c == TIME) {
				x[0] += *time;
				UNROLL
				for (unsigned int i = 1; i < 8; i++)
					x[i] += x[i - 1];
				*time = x[7];
			}
			UNROLL
			for (unsigned int i = 0; i < 8; i++)
				memcpy(dst + (s + i) * SLOT + c * 8, &x[i], 8);
		}
	}
}

void xsp_columns_encode(void *dst, const void *src, size_t slots)
{
	uint8_t tile[SLOT][TILE] __attribute__((aligned(64)));
	const uint8_t *in = src;
	uint64_t time = 0;
	uint8_t *out = dst;

	for (size_t at = 0; at < slots; at += TILE) {
		size_t n = slots - at < TILE ? slots - at : TILE;
		uint8_t part[TILE * SLOT];

		if (n < TILE) {
			memset(part, 0, sizeof(part));
			memcpy(part, in + at * SLOT, n * SLOT);
		}
		encode_tile(tile, n < TILE ? part : in + at * SLOT, &time);
		for (unsigned int c = 0; c < SLOT; c++)
			memcpy(out + c * slots + at, tile[c], n);
	}
}

void xsp_columns_decode(void *dst, const void *src, size_t slots)
{
	uint8_t tile[SLOT][TILE] __attribute__((aligned(64)));
	const uint8_t *in = src;
	uint64_t time = 0;
	uint8_t *out = dst;

	memset(tile, 0, sizeof(tile));
	for (size_t at = 0; at < slots; at += TILE) {
		size_t n = slots - at < TILE ? slots - at : TILE;
		uint8_t part[TILE * SLOT];

		for (unsigned int c = 0; c < SLOT; c++)
			memcpy(tile[c], in + c * slots + at, n);
		decode_tile(n < TILE ? part : out + at * SLOT, tile, &time);
		if (n < TILE)
			memcpy(out + at * SLOT, part, n * SLOT);
	}
}
