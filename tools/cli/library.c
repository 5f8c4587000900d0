// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds our libraries: beside the tool, in the build tree or installed; else at the configured
 * path. Loads none.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/library.h"

bool library_find(const char *name, char *path, size_t size)
{
	static const char *const places[] = { "/../lib/", "/" };
	char exe[PATH_MAX], plain[PATH_MAX + 64], real[PATH_MAX];
	ssize_t n;
	size_t i;

	n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	exe[n < 0 ? 0 : n] = '\0';
	if (strrchr(exe, '/'))
		*strrchr(exe, '/') = '\0';
	for (i = 0; n > 0 && i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(plain, sizeof(plain), "%s%s%s", exe, places[i], name);
		if (!access(plain, R_OK) && realpath(plain, real) && strlen(real) < size) {
			strcpy(path, real);
			return true;
		}
	}
#ifdef XSPROF_LIBDIR
	snprintf(path, size, "%s/%s", XSPROF_LIBDIR, name);
	return !access(path, R_OK);
#else
	return false;
#endif
}
