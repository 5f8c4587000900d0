// SPDX-License-Identifier: GPL-2.0-only
/*
 * What collectors could not record, and say so: how it looks.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "info/local.h"
#include "text/json.h"

static uint32_t pid_of(const struct info *info, uint32_t producer)
{
	struct xsprof_trace_producer p = { 0 };

	return xsprof_trace_get_producer(info->source.trace, producer, &p) < 0 ? 0 : p.pid;
}

void info_missed_print(const struct info *info)
{
	for (uint32_t i = 0; i < info->missed.nr; i++)
		printf("%-16s%" PRIu64 " %s (process %u)\n", "not recorded", info->missed.v[i].n,
		       info->missed.v[i].text, pid_of(info, info->missed.v[i].producer));
}

void info_missed_json(const struct info *info)
{
	fputs(",\n\"not_recorded\":[", stdout);
	for (uint32_t i = 0; i < info->missed.nr; i++) {
		printf("%s{\"pid\":%u,\"n\":%" PRIu64 ",\"what\":", i ? "," : "",
		       pid_of(info, info->missed.v[i].producer), info->missed.v[i].n);
		xsp_json_print(stdout, info->missed.v[i].text, strlen(info->missed.v[i].text));
		putchar('}');
	}
	putchar(']');
}
