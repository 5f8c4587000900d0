// SPDX-License-Identifier: GPL-2.0-only
/*
 * Adds a variable to the environment of a recorded command.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "record/env.h"

int record_env_add(char **env, size_t *n, const char *fmt, ...)
{
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&env[*n], fmt, ap);
	va_end(ap);
	if (len < 0) {
		env[*n] = NULL;
		return -ENOMEM;
	}
	env[++*n] = NULL;
	return 0;
}
