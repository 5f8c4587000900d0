// SPDX-License-Identifier: GPL-2.0-only
/*
 * Losses reported by collectors: counters "not recorded: ...".
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "info/local.h"
#include "text/json.h"

static const char prefix[] = "not recorded: ";

/* The latest value is the total; causes beyond the limit are left out; there are few. */
void info_missed_event(struct info *info, const struct xsprof_event *ev)
{
	const char *text;
	uint32_t i = 0;

	if (ev->type != XSPROF_REC_COUNTER_I64)
		return;
	while (i < info->nr_missed && (info->missed[i].producer != ev->producer ||
				       info->missed[i].name != ev->name))
		i++;
	if (i == info->nr_missed) {
		text = xsprof_trace_name(info->source.trace, ev->producer, ev->name);
		if (i == INFO_MISSED || strncmp(text, prefix, sizeof(prefix) - 1))
			return;
		info->missed[i].producer = ev->producer;
		info->missed[i].name = ev->name;
		info->missed[i].text = text + sizeof(prefix) - 1;
		info->nr_missed++;
	}
	info->missed[i].n = ev->value;
}

static uint32_t pid_of(const struct info *info, uint32_t producer)
{
	struct xsprof_trace_producer p = { 0 };

	return xsprof_trace_get_producer(info->source.trace, producer, &p) < 0 ? 0 : p.pid;
}

void info_missed_print(const struct info *info)
{
	for (uint32_t i = 0; i < info->nr_missed; i++)
		printf("%-16s%" PRIu64 " %s (process %u)\n", "not recorded", info->missed[i].n,
		       info->missed[i].text, pid_of(info, info->missed[i].producer));
}

void info_missed_json(const struct info *info)
{
	fputs(",\n\"not_recorded\":[", stdout);
	for (uint32_t i = 0; i < info->nr_missed; i++) {
		printf("%s{\"pid\":%u,\"n\":%" PRIu64 ",\"what\":", i ? "," : "",
		       pid_of(info, info->missed[i].producer), info->missed[i].n);
		xsp_json_print(stdout, info->missed[i].text, strlen(info->missed[i].text));
		putchar('}');
	}
	putchar(']');
}
