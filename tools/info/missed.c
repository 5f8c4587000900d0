// SPDX-License-Identifier: GPL-2.0-only
/*
 * What collectors could not record, and say so: how it looks.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/refused.h"
#include "info/local.h"
#include "text/escape.h"
#include "text/json.h"

void info_missed_print(const struct info *info)
{
	struct refused at = { 0 };
	const char *text;
	uint32_t pid;

	while ((text = refused_next(&at, info->source.trace, &pid))) {
		printf("%-16s", "not recorded");
		xsp_escape_print(stdout, text, strlen(text));
		printf(" (process %u)\n", pid);
	}
	for (uint32_t i = 0; i < info->missed.nr; i++) {
		printf("%-16s%" PRIu64 " ", "not recorded", info->missed.v[i].n);
		xsp_escape_print(stdout, info->missed.v[i].text, strlen(info->missed.v[i].text));
		printf(" (process %u)\n", missed_pid(&info->missed.v[i], info->source.trace));
	}
	if (info->missed.full)
		printf("%-16smore than is listed here: there are too many counts\n",
		       "not recorded");
}

void info_missed_json(const struct info *info)
{
	struct refused at = { 0 };
	const char *text, *sep = "";
	uint32_t pid;

	fputs(",\n\"not_recorded\":[", stdout);
	for (uint32_t i = 0; i < info->missed.nr; i++) {
		printf("%s{\"pid\":%u,\"n\":%" PRIu64 ",\"what\":", i ? "," : "",
		       missed_pid(&info->missed.v[i], info->source.trace), info->missed.v[i].n);
		xsp_json_print(stdout, info->missed.v[i].text, strlen(info->missed.v[i].text));
		putchar('}');
	}
	printf("],\n\"not_recorded_more\":%s,\n\"refused\":[",
	       info->missed.full ? "true" : "false");
	for (; (text = refused_next(&at, info->source.trace, &pid)); sep = ",") {
		printf("%s{\"pid\":%u,\"why\":", sep, pid);
		xsp_json_print(stdout, text, strlen(text));
		putchar('}');
	}
	putchar(']');
}
