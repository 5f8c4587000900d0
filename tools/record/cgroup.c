// SPDX-License-Identifier: GPL-2.0-only
/*
 * The limit of a memory cgroup: see cgroup.h. Supports v1 and v2 at their usual mount points. Does
 * not report usage: most of it may be page cache.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/proc.h"
#include "record/cgroup.h"

#define MOUNT		"/sys/fs/cgroup"
#define NO_LIMIT	(1ull << 60)	/* v1: almost 2^63 means none */

/*
 * The smallest limit on the path from a group up to the mount point. In a container the group
 * itself may be mounted there, and its path from the host's root does not exist.
 */
static uint64_t least(const char *mount, const char *group, const char *file)
{
	char path[PATH_MAX], name[PATH_MAX + 64], text[32];
	uint64_t least = UINT64_MAX, limit;
	char *end, *after;

	if (snprintf(path, sizeof(path), "%s%s", mount, group) >= (int)sizeof(path))
		return UINT64_MAX;
	for (end = path + strlen(path); end; end = strrchr(path + strlen(mount), '/')) {
		*end = '\0';
		snprintf(name, sizeof(name), "%s/%s", path, file);
		if (xsp_proc_line(name, text, sizeof(text)) <= 0)
			continue;
		limit = strtoull(text, &after, 10);
		/* "max" is not a number. */
		if (after != text && limit < least)
			least = limit;
	}
	return least;
}

/* Does the comma-separated list contain @word? */
static int has_word(const char *list, const char *word)
{
	size_t n;

	for (; *list; list += n + (list[n] == ',')) {
		n = strcspn(list, ",");
		if (n == strlen(word) && !memcmp(list, word, n))
			return 1;
	}
	return 0;
}

uint64_t cgroup_memory_limit(void)
{
	char text[PATH_MAX + 64], *controllers, *group;
	uint64_t limit = UINT64_MAX;
	FILE *f = fopen("/proc/self/cgroup", "re");

	while (f && fgets(text, sizeof(text), f)) {
		text[strcspn(text, "\n")] = '\0';
		controllers = strchr(text, ':');
		group = controllers ? strchr(controllers + 1, ':') : NULL;
		if (!group)
			continue;
		*controllers++ = *group++ = '\0';
		if (!*controllers)
			limit = least(MOUNT, group, "memory.max");
		else if (has_word(controllers, "memory"))
			limit = least(MOUNT "/memory", group, "memory.limit_in_bytes");
		if (limit < NO_LIMIT)
			break;
	}
	if (f)
		fclose(f);
	return limit < NO_LIMIT ? limit : UINT64_MAX;
}
