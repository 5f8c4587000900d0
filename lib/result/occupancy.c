// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Occupancy: the share of a multiprocessor that a kernel can fill, from its launch and the device's
 * limits, as documented by NVIDIA.
 */
#include <stdlib.h>
#include <string.h>

#include "result/occupancy.h"

#define REGISTERS_UNIT	256u	/* allocation unit of registers, per warp */
#define PARTS		4u	/* partitions of a multiprocessor, each with its own registers */
#define SHARED_UNIT	128u	/* allocation unit of shared memory, bytes per block */
#define SHARED_OWN	1024u	/* shared memory reserved per block since 8.0 */

static bool number(const char *json, const char *key, uint64_t *value)
{
	const char *at = strstr(json, key);

	if (!at)
		return false;
	at = strchr(at, ':');
	*value = at ? strtoull(at + 1, NULL, 10) : 0;
	/* Values that no device has would overflow the calculation. */
	return *value && *value <= UINT32_MAX;
}

bool xsr_limits_read(const char *json, struct xsr_limits *l)
{
	memset(l, 0, sizeof(*l));
	return json && number(json, "\"warpSize\"", &l->warp) && l->warp <= 1024 &&
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

static uint64_t product(const struct xsprof_trace_arg *arg)
{
	size_t unit = arg->type == XSPROF_ARG_I32S ? 4 : 8;
	uint64_t n = 1;

	for (size_t at = 0; at + unit <= arg->len; at += unit) {
		int64_t v = 0;
		int32_t v32;

		memcpy(unit == 4 ? (void *)&v32 : (void *)&v, arg->str + at, unit);
		if (unit == 4)
			v = v32;
		n *= v > 0 ? (uint64_t)v : 1;
	}
	return n;
}

bool xsr_launch_read(const struct xsprof_trace *trace, struct xsr_walk walk,
		     struct xsr_launch *launch)
{
	struct xsprof_trace_arg arg;
	const char *key;
	bool list;

	memset(launch, 0, sizeof(*launch));
	while (xsr_walk_next(&walk, &arg)) {
		key = xsprof_trace_name(trace, walk.ev.producer, arg.key);
		list = arg.type == XSPROF_ARG_I32S || arg.type == XSPROF_ARG_I64S;
		if (list && !strcmp(key, "grid"))
			launch->blocks = product(&arg);
		else if (list && !strcmp(key, "block"))
			launch->threads = product(&arg);
		else if (arg.type == XSPROF_ARG_I64 && !strcmp(key, "registers per thread"))
			launch->registers = arg.u.u64;
		else if (arg.type == XSPROF_ARG_I64 && !strcmp(key, "shared memory"))
			launch->shared = arg.u.u64;
	}
	return launch->blocks && launch->threads;
}

double xsr_blocks_per_sm(const struct xsr_limits *l, const struct xsr_launch *k)
{
	return (double)k->blocks / (double)l->multiprocessors;
}

uint64_t xsr_warps_of_block(const struct xsr_limits *l, const struct xsr_launch *k)
{
	return (k->threads + l->warp - 1) / l->warp;
}

double xsr_occupancy(const struct xsr_limits *l, const struct xsr_launch *k)
{
	uint64_t warps, most, blocks, of_warp, own = l->major >= 8 ? SHARED_OWN : 0;
	double filled;

	/* Parameters that no device can run are not evaluated. */
	if (!k->blocks || !k->threads || l->threads < l->warp || k->threads > l->threads ||
	    k->registers > l->registers || k->shared > l->shared)
		return -1;
	warps = xsr_warps_of_block(l, k);
	most = l->threads / l->warp;
	blocks = least(l->blocks, most / warps);
	if (k->registers) {
		of_warp = up(k->registers * l->warp, REGISTERS_UNIT);
		blocks = least(blocks, l->registers / PARTS / of_warp * PARTS / warps);
	}
	if (k->shared || own)
		blocks = least(blocks, l->shared / up(k->shared + own, SHARED_UNIT));
	/* The grid may have fewer blocks than fit. */
	filled = xsr_blocks_per_sm(l, k);
	if (filled > (double)blocks)
		filled = (double)blocks;
	return filled * (double)warps * 100 / (double)most;
}
