// SPDX-License-Identifier: LGPL-2.1-only
/*
 * How a program that uses OpenCL comes here: the loader opens the libraries that OPENCL_LAYERS
 * names, asks each for its version, and hands it the table of functions below it for one of its
 * own.  Layers that the user had named are there as well.
 */
#include "gpu/opencl/local.h"

#define EXPORTED	__attribute__((visibility("default")))

EXPORTED int32_t clGetLayerInfo(uint32_t what, size_t size, void *value, size_t *len);
EXPORTED int32_t clInitLayer(uint32_t nr, void *const *next, uint32_t *nr_ours,
			     void *const **ours);
EXPORTED int32_t clInitLayerWithProperties(uint32_t nr, void *const *next, uint32_t *nr_ours,
					   void *const **ours, const intptr_t *properties);

static int32_t answer(const void *from, size_t n, size_t size, void *value, size_t *len)
{
	if (value && size < n)
		return CL_NOT_VALUE;
	if (value)
		memcpy(value, from, n);
	if (len)
		*len = n;
	return CL_OK;
}

int32_t clGetLayerInfo(uint32_t what, size_t size, void *value, size_t *len)
{
	static const char name[] = "xsprof";
	const uint32_t version = CL_LAYER_VERSION_1;

	if (what == CL_LAYER_VERSION)
		return answer(&version, sizeof(version), size, value, len);
	if (what == CL_LAYER_NAMED)
		return answer(name, sizeof(name), size, value, len);
	return CL_NOT_VALUE;
}

/* Return: CL_OK in any case, as a layer that does nothing does no harm. */
int32_t clInitLayer(uint32_t nr, void *const *next, uint32_t *nr_ours, void *const **ours)
{
	uint32_t n = nr < CL_SLOTS ? nr : CL_SLOTS;
	void *const *table;

	if (!next || !nr_ours || !ours)
		return CL_NOT_VALUE;
	table = opencl_start(next, n);
	*ours = table ? table : next;
	*nr_ours = table ? n : 0;
	return CL_OK;
}

/* Khronos' loader of 2026 and later calls this one, and unloads a layer that lacks it. */
int32_t clInitLayerWithProperties(uint32_t nr, void *const *next, uint32_t *nr_ours,
				  void *const **ours, const intptr_t *properties)
{
	(void)properties;
	return clInitLayer(nr, next, nr_ours, ours);
}
