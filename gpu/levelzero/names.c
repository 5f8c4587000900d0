// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Names of functions, and the list of recorded ones.
 */
#include <stdio.h>

#include "gpu/common/start.h"
#include "gpu/levelzero/local.h"

#define FUNCTIONS	1024u		/* cached per group */
#define LAST_GROUP	8u

static xsprof_name_t calls[LAST_GROUP][FUNCTIONS];

/* Functions that submit work, wait for it, or take long. */
static const char *const recorded[] = {
	"zeCommandListAppend", "zeCommandListImmediateAppend", "zeCommandListHostSynchronize",
	"zeCommandQueueExecute", "zeCommandQueueSynchronize", "zeEventHostSynchronize",
	"zeFenceHostSynchronize", "zeDeviceSynchronize", "zeModuleCreate", "zeModuleDynamicLink",
	"zeMemAlloc", "zeMemFree", "zeVirtualMemMap", "zeVirtualMemUnmap", "zePhysicalMemCreate",
	"zePhysicalMemDestroy", "zeContextMakeMemoryResident", "zeContextEvictMemory",
};

int levelzero_category(void)
{
	static int category = -1;

	return gpu_category("levelzero", &category);
}

static bool is_recorded(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(recorded); i++)
		if (!strncmp(name, recorded[i], strlen(recorded[i])))
			return true;
	return false;
}

/* Enabling the view enables all calls; the first call enabled singly disables all others. */
void levelzero_choose_calls(void)
{
	const char *name;

	for (uint32_t i = 1; i < FUNCTIONS; i++) {
		name = NULL;
		if (!pti.get_name(PTI_GROUP_LEVELZERO, i, &name) && name && is_recorded(name))
			(void)pti.enable_call(1, PTI_GROUP_LEVELZERO, i);
	}
}

xsprof_name_t levelzero_call_name(uint32_t group, uint32_t function)
{
	bool keep = group < LAST_GROUP && function < FUNCTIONS;
	const char *name = NULL;
	xsprof_name_t is;
	char text[48];

	if (keep && calls[group][function])
		return calls[group][function];
	/* PTI has no name for it: use its number. */
	if (pti.get_name(group, function, &name) || !name) {
		snprintf(text, sizeof(text), "%s function %u",
			 group == PTI_GROUP_SYCL ? "SYCL" : "Level Zero", function);
		name = text;
	}
	is = xsprof_name_in(levelzero_category(), name);
	if (keep)
		calls[group][function] = is;
	return is;
}
