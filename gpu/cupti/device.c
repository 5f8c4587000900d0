// SPDX-License-Identifier: LGPL-2.1-only
/*
 * What is known of devices, stated as facts of the process, and which device a context is on.
 */
#include <stdio.h>

#include "gpu/cupti/local.h"

#define CONTEXTS	1024u

/* Context ids count from 1 in a process: of two in one place the newer one is wanted. */
static struct {
	uint32_t	context;
	uint32_t	device;
} contexts[CONTEXTS];

void cupti_context_is(uint32_t context, uint32_t device)
{
	contexts[context % CONTEXTS].context = context;
	contexts[context % CONTEXTS].device = device;
}

bool cupti_device_of(uint32_t context, uint32_t *device)
{
	uint32_t i = context % CONTEXTS;

	*device = contexts[i].device;
	return context && contexts[i].context == context;
}

/* In the words of Kineto's "deviceProperties". */
void cupti_device(const struct cupti_device *d)
{
	char key[32], text[1024], name[256] = "", uuid[40], *p = uuid;
	size_t n = 0;

	for (const char *c = d->name ? d->name : ""; *c && n < sizeof(name) - 1; c++)
		if (*c >= ' ' && *c < 0x7f && *c != '"' && *c != '\\')
			name[n++] = *c;
	for (size_t i = 0; i < sizeof(d->uuid); i++)
		p += sprintf(p, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x",
			     d->uuid[i]);
	snprintf(key, sizeof(key), "device.%u", d->id);
	snprintf(text, sizeof(text),
		 "{\"id\": %u, \"name\": \"%s\", \"uuid\": \"GPU-%s\", "
		 "\"totalGlobalMem\": %llu, \"computeMajor\": %u, "
		 "\"computeMinor\": %u, \"maxThreadsPerBlock\": %u, "
		 "\"maxThreadsPerMultiprocessor\": %u, \"regsPerBlock\": %u, \"warpSize\": %u, "
		 "\"sharedMemPerBlock\": %u, \"numSms\": %u, \"regsPerMultiprocessor\": %u, "
		 "\"sharedMemPerMultiprocessor\": %u, \"maxBlocksPerMultiprocessor\": %u, "
		 "\"memoryBandwidth\": %llu, \"clockRate\": %u, \"l2CacheSize\": %u}",
		 d->id, name, uuid, (unsigned long long)d->memory, d->major, d->minor,
		 d->threads_per_block, d->warps_per_sm * d->warp, d->registers_per_block, d->warp,
		 d->shared_per_block, d->multiprocessors, d->registers_per_sm, d->shared_per_sm,
		 d->blocks_per_sm, (unsigned long long)d->bandwidth * 1000, d->clock, d->l2);
	(void)xsprof_fact(key, text);
}
