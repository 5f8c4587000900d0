/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The environment of a recorded command.
 */
#ifndef XSPROF_RECORD_ENV_H
#define XSPROF_RECORD_ENV_H

#include "record/options.h"

#define RECORD_ENV_MAX	36

/**
 * record_env - builds the environment variables of the recorded program
 * @opts: options
 * @session: path of the session
 * @env: gets up to RECORD_ENV_MAX strings and NULL; the caller frees each
 *
 * Return: 0 or -ENOMEM.
 */
int record_env(const struct record_options *opts, const char *session,
	       char *env[RECORD_ENV_MAX + 1]);

/* ---- what the files that make it share ------------------------------------------------------ */

/* env-add.c: adds a variable to @n. Return: 0 or -ENOMEM. */
int record_env_add(char **env, size_t *n, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* levelzero.c: lets programs with Level Zero and SYCL call the collector. */
int record_env_levelzero(const struct record_options *opts, char **env, size_t *n);

#endif /* XSPROF_RECORD_ENV_H */
