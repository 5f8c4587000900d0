// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Files of Python code objects: which belong to packages, and how their paths are shown.
 */
#include <stddef.h>
#include <string.h>

#include "collect/common/python-file.h"

const char *python_file_shown(const char *file)
{
	static const char *const folders[] = { "/site-packages/", "/dist-packages/" };
	const char *at;

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		at = strstr(file, folders[i]);
		if (at)
			return at + strlen(folders[i]);
	}
	return file;
}

bool python_file_is_foreign(const char *file)
{
	return python_file_shown(file) != file || strstr(file, "/lib/python3") ||
	       strstr(file, "/lib64/python3") ||
	       !strncmp(file, "<frozen ", 8);
}
