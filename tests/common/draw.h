/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random numbers: the same on every machine for one seed.
 */
#ifndef XSP_TEST_DRAW_H
#define XSP_TEST_DRAW_H

#include <stdint.h>

static uint64_t draw_seed;

/* Return: 31 bits. */
static inline uint32_t draw_from(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33);
}

/* Return: a number below @n. */
static inline uint32_t draw(uint32_t n)
{
	return draw_from(&draw_seed) % n;
}

#endif /* XSP_TEST_DRAW_H */
