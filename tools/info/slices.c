// SPDX-License-Identifier: GPL-2.0-only
/*
 * Devices that are slices of a GPU (MIG), by the collector's descriptions.
 */
#include <stdio.h>
#include <string.h>

#include "info/local.h"
#include "text/escape.h"

/* The value of @key up to a character of @ends, at most @size - 1 bytes.  Return: it is there. */
static bool find(const char *facts, const char *key, const char *ends, char *to, size_t size)
{
	const char *at = strstr(facts, key);
	size_t len;

	if (!at)
		return false;
	at += strlen(key);
	len = strcspn(at, ends);
	if (len >= size)
		return false;
	memcpy(to, at, len);
	to[len] = '\0';
	return true;
}

static void print(const struct info *info, uint32_t producer, const char *number,
		  const char *facts)
{
	struct xsprof_trace_producer p = { 0 };
	char gpu[16], compute[16], whole[64], uuid[64];

	if (!find(facts, "\"gpuInstance\": ", ",}", gpu, sizeof(gpu)) ||
	    !find(facts, "\"computeInstance\": ", ",}", compute, sizeof(compute)) ||
	    !find(facts, "\"gpuUuid\": \"", "\"", whole, sizeof(whole)) ||
	    !find(facts, "\"uuid\": \"", "\"", uuid, sizeof(uuid)))
		return;
	(void)xsprof_trace_get_producer(info->source.trace, producer, &p);
	printf("%-16sdevice ", "slice");
	xsp_escape_print(stdout, number, strlen(number));
	printf(" (process %u) is GPU instance ", p.pid);
	xsp_escape_print(stdout, gpu, strlen(gpu));
	fputs(", compute instance ", stdout);
	xsp_escape_print(stdout, compute, strlen(compute));
	fputs(" of ", stdout);
	xsp_escape_print(stdout, whole, strlen(whole));
	fputs(": ", stdout);
	xsp_escape_print(stdout, uuid, strlen(uuid));
	putchar('\n');
}

void info_slices_print(const struct info *info)
{
	static const char prefix[] = "device.";
	const char *key, *value;

	for (uint32_t p = 0; p < info->all.producers; p++)
		for (uint32_t i = 0; !xsprof_trace_fact_at(info->source.trace, p, i, &key, &value);
		     i++)
			if (!strncmp(key, prefix, sizeof(prefix) - 1))
				print(info, p, key + sizeof(prefix) - 1, value);
}
