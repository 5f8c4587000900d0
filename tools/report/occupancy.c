// SPDX-License-Identifier: GPL-2.0-only
/*
 * How much of a multiprocessor a kernel can fill, by what its launch asks for and what the device
 * has, as NVIDIA documents it.
 */
#include <stdlib.h>
#include <string.h>

#include "report/gpu.h"

#define REGISTERS_UNIT	256u	/* of a warp, that are given out at once */
#define PARTS		4u	/* of a multiprocessor, each with registers of its own */
#define SHARED_UNIT	128u	/* bytes of a block, likewise */
#define SHARED_OWN	1024u	/* that the system takes of each block from 8.0 on */

static bool number(const char *json, const char *key, uint64_t *value)
{
	const char *at = strstr(json, key);

	if (!at)
		return false;
	at = strchr(at, ':');
	*value = at ? strtoull(at + 1, NULL, 10) : 0;
	return *value;
}

bool gpu_limits_read(const char *json, struct gpu_limits *l)
{
	memset(l, 0, sizeof(*l));
	return json && number(json, "\"warpSize\"", &l->warp) &&
	       number(json, "\"numSms\"", &l->multiprocessors) &&
	       number(json, "\"maxThreadsPerMultiprocessor\"", &l->threads) &&
	       number(json, "\"regsPerMultiprocessor\"", &l->registers) &&
	       number(json, "\"sharedMemPerMultiprocessor\"", &l->shared) &&
	       number(json, "\"maxBlocksPerMultiprocessor\"", &l->blocks) &&
	       number(json, "\"computeMajor\"", &l->major);
}

static uint64_t up(uint64_t n, uint64_t unit)
{
	return (n + unit - 1) / unit * unit;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

double gpu_occupancy(const struct gpu_limits *l, const struct gpu_launch *k)
{
	uint64_t warps, most, blocks, of_warp, own = l->major >= 8 ? SHARED_OWN : 0;
	double filled;

	if (!k->blocks || !k->threads || !l->warp || l->threads < l->warp)
		return -1;
	warps = (k->threads + l->warp - 1) / l->warp;
	most = l->threads / l->warp;
	blocks = least(l->blocks, most / warps);
	if (k->registers) {
		of_warp = up(k->registers * l->warp, REGISTERS_UNIT);
		blocks = least(blocks, l->registers / PARTS / of_warp * PARTS / warps);
	}
	if (k->shared || own)
		blocks = least(blocks, l->shared / up(k->shared + own, SHARED_UNIT));
	/* A grid may have fewer blocks than there is room for. */
	filled = (double)k->blocks / (double)l->multiprocessors;
	if (filled > (double)blocks)
		filled = (double)blocks;
	return filled * (double)warps * 100 / (double)most;
}
