// SPDX-License-Identifier: GPL-2.0-only
/*
 * The limit of a memory cgroup: see cgroup.h.  Both kinds of cgroups, mounted where they always
 * are.  It never says how much of that is in use: most of it may be files that the kernel drops.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/proc.h"
#include "record/cgroup.h"

#define MOUNT		"/sys/fs/cgroup"
#define NO_LIMIT	(1ull << 60)	/* of the older kind: almost 2^63 */

/*
 * The least on the way from a group up to what is mounted; of a container that may be its own
 * group, whose path from the machine's root is not there.
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
		/* "max" is no number. */
		if (after != text && limit < least)
			least = limit;
	}
	return least;
}

/* Is @word one of a list with commas? */
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
