/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Acts as the copies of NVTX in programs: the tables that a collector fills, and the functions by
 * which it asks for them.
 */
#ifndef TESTS_NVTX_COPY_H
#define TESTS_NVTX_COPY_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "gpu/nvtx/nvtx-abi.h"

#define SLOTS	17

struct copy {
	unsigned int	size[NVTX_MODULES];
	nvtx_slot	slot[NVTX_MODULES][SLOTS];
	nvtx_slot	*table[NVTX_MODULES][SLOTS];
};

static struct copy *now;	/* the copy whose tables are asked for */
static struct nvtx_callbacks callbacks;
static struct nvtx_version version;
static bool has_version;
static uint32_t told_version;
static int (*init)(nvtx_get_export get_export);

static void fresh(void)
{
}

static int get_module(uint32_t module, nvtx_slot ***table, unsigned int *size)
{
	if (module >= NVTX_MODULES || !now->size[module])
		return 0;
	*table = now->table[module];
	*size = now->size[module];
	return 1;
}

static void set_version(uint32_t v)
{
	told_version = v;
}

static const void *get_export(uint32_t id)
{
	if (id == NVTX_EXPORT_CALLBACKS)
		return &callbacks;
	return id == NVTX_EXPORT_VERSION && has_version ? &version : NULL;
}

/*
 * Every entry of a table points to a slot, also beyond its size, so that a write there is noticed.
 */
static void copy_reset(struct copy *c, const unsigned int *sizes)
{
	memcpy(c->size, sizes, sizeof(c->size));
	for (int m = 0; m < NVTX_MODULES; m++)
		for (int i = 0; i < SLOTS; i++) {
			c->slot[m][i] = fresh;
			c->table[m][i] = &c->slot[m][i];
		}
}

/* Returns the number of filled slots; -1 if one beyond the size is, or slot 0. */
static int filled(const struct copy *c, int module)
{
	int n = 0;

	for (unsigned int i = 0; i < SLOTS; i++) {
		if (c->slot[module][i] == fresh)
			continue;
		if (!i || i >= c->size[module])
			return -1;
		n++;
	}
	return n;
}

static int init_copy(struct copy *c)
{
	now = c;
	callbacks = (struct nvtx_callbacks){ sizeof(callbacks), get_module };
	version = (struct nvtx_version){ sizeof(version), 3, 0, set_version };
	return init(get_export);
}

static const unsigned int sizes3[NVTX_MODULES] = { 0, 16, 9, 15, 7, 16, 7 };
static const unsigned int sizes2[NVTX_MODULES] = { 0, 16, 9, 15, 7, 15, 0 };
static struct copy v3, v2, other;

#define F(type, copy, m, n)	((type)(copy)->slot[m][n])

#endif /* TESTS_NVTX_COPY_H */
