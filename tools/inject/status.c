// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads numbers in /proc/PID/status.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inject/local.h"

long target_status(pid_t pid, const char *word, int nr)
{
	char path[64], line[256];
	long value = -1;
	char *p;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, word, strlen(word)))
			continue;
		for (p = line + strlen(word); nr >= 0; nr--)
			value = strtol(p, &p, 10);
		break;
	}
	if (f)
		fclose(f);
	return value;
}
