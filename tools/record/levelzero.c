// SPDX-License-Identifier: GPL-2.0-only
/*
 * The environment for recording programs with Level Zero and SYCL.
 *
 * A preloaded library sees a program initialise Level Zero. SYCL opens Level Zero itself, which
 * that library does not see; but SYCL loads the libraries listed in XPTI_SUBSCRIBERS before it
 * looks for devices.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/library.h"
#include "cli/tool.h"
#include "record/env.h"

/* Library of SYCL's runtime that loads subscribers. */
#define DISPATCHER	"libxptifw.so"

/* A value set by the user is kept. */
static int set(const char *variable, const char *value, char **env, size_t *n)
{
	const char *theirs = getenv(variable);

	return theirs && *theirs ? 0 : record_env_add(env, n, "%s=%s", variable, value);
}

/* Appends to the user's comma-separated list. */
static int subscribe(const char *path, char **env, size_t *n)
{
	const char *theirs = getenv("XPTI_SUBSCRIBERS");

	if (theirs && strstr(theirs, LIBRARY_LEVELZERO))
		return 0;
	return record_env_add(env, n, "XPTI_SUBSCRIBERS=%s%s%s", theirs && *theirs ? theirs : "",
			      theirs && *theirs ? "," : "", path);
}

int record_env_levelzero(const struct record_options *opts, char **env, size_t *n)
{
	char path[PATH_MAX];
	int err;

	if (!library_find(LIBRARY_LEVELZERO, path, sizeof(path)) || strchr(path, ',')) {
		if (!opts->quiet)
			tool_note("%s was not found beside xsprof, or its path contains a comma: "
				  "Level Zero is not recorded",
				  LIBRARY_LEVELZERO);
		return 0;
	}
	err = set("ZE_ENABLE_TRACING_LAYER", "1", env, n);
	if (!err)
		err = set("XPTI_TRACE_ENABLE", "1", env, n);
	if (!err)
		err = set("XPTI_FRAMEWORK_DISPATCHER", DISPATCHER, env, n);
	return err ? err : subscribe(path, env, n);
}
