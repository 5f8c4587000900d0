/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the recorder tells the command through its environment.
 */
#ifndef XSPROF_RECORD_ENV_H
#define XSPROF_RECORD_ENV_H

#include "record/options.h"

#define RECORD_ENV_MAX	36

/**
 * record_env - the variables of a recording
 * @opts: what the user wants
 * @session: path of the session
 * @env: gets up to RECORD_ENV_MAX strings and NULL; the caller frees each
 *
 * Return: 0 or -ENOMEM.
 */
int record_env(const struct record_options *opts, const char *session,
	       char *env[RECORD_ENV_MAX + 1]);

/* ---- what the files that make it share ------------------------------------------------------ */

/* env-add.c: one more of @n variables.  Return: 0 or -ENOMEM. */
int record_env_add(char **env, size_t *n, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* levelzero.c: those that have Level Zero and SYCL call the collector. */
int record_env_levelzero(const struct record_options *opts, char **env, size_t *n);

#endif /* XSPROF_RECORD_ENV_H */
