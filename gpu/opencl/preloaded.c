// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Entry point for programs whose OpenCL loader has no layers: the preloaded library exports the
 * functions under their own names, and calls the collector's in their place.
 */
#include "gpu/opencl/local.h"

#define EXPORTED	__attribute__((visibility("default")))

EXPORTED void *const *xsprof_opencl_begin(void *(*find)(void *loader, const char *name),
					  void *loader);

/*
 * @find gives the functions of a @loader.  Return: what to call in their place, by their numbers,
 * or NULL: the collector sees what it is to see without that.
 */
void *const *xsprof_opencl_begin(void *(*find)(void *loader, const char *name), void *loader)
{
	static const struct {
		uint32_t	slot;
		const char	*name;
	} functions[] = {
#define FUNCTION(name, number)	{ CL_##name, "cl" #name },
		CL_ASKED(FUNCTION)
		CL_TAKEN(FUNCTION)
#undef FUNCTION
	};
	void *next[CL_SLOTS] = { NULL };

	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		next[functions[i].slot] = find(loader, functions[i].name);
	return opencl_start(next, CL_SLOTS);
}
