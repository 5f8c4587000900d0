// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Names of the functions with which programs use devices, in a Kineto trace.
 */
#include <ctype.h>

#include "export/kineto/local.h"

#define NR(list)	(sizeof(list) / sizeof((list)[0]))

static bool starts(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

bool xsr_call_launches(const char *name)
{
	static const char *const begins[] = {
		"cudaLaunch", "cudaGraphLaunch", "cudaMemcpy", "cudaMemset",
		"cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaStreamWaitEvent",
		"cudaEventSynchronize", "cuLaunch", "cuGraphLaunch", "cuMemcpy", "cuMemset",
		"cuStreamSynchronize", "cuCtxSynchronize", "cuStreamWaitEvent",
		"cuEventSynchronize", "hipLaunch", "hipExtLaunch", "hipExtModuleLaunch",
		"hipModuleLaunch", "hipGraphLaunch", "hipMemcpy", "hipMemset", "clEnqueue",
		"vkQueueSubmit", "zeCommand",
	};
	/* Of other interfaces it is not known which calls do. */
	static const char *const interfaces[] = { "cuda", "cu", "hip", "hsa_", "cl", "vk", "ze" };
	size_t i;

	for (i = 0; i < NR(begins); i++)
		if (starts(name, begins[i]))
			return true;
	for (i = 0; i < NR(interfaces); i++)
		if (starts(name, interfaces[i]) && (strchr(interfaces[i], '_') ||
						    isupper((uint8_t)name[strlen(interfaces[i])])))
			return false;
	return true;
}

char *xsr_call_put_name(const char *name, size_t len, char *p)
{
	size_t n = len;

	while (n && name[n - 1] >= '0' && name[n - 1] <= '9')
		n--;
	if (n < len && n > 2 && name[n - 1] == 'v' && name[n - 2] == '_')
		len = n - 2;
	return json_string(p, name, len < 1024 ? len : 1024, NULL);
}
