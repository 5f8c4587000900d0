/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the tests of kineto_shim's functions: a trace, and the lines of its file.
 */
#ifndef TESTS_PROFILER_SHIM_H
#define TESTS_PROFILER_SHIM_H

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xsprof/kineto.h>
#include <xsprof/result.h>

#include "common/tap.h"

/* ---- files ---------------------------------------------------------------------------------- */

static char path[4096];

/* The file is in the program's folder argument, or in /tmp. */
static void shim_path(int argc, char **argv)
{
	snprintf(path, sizeof(path), "%s/xsprof-shim-%d.json", argc > 1 ? argv[1] : "/tmp",
		 (int)getpid());
}

/* Returns the result's file as text; the caller frees it. */
static char *saved(struct xsprof_result *r)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f;

	unlink(path);
	CHECK_EQ(xsprof_result_save(r, path), 0);
	f = fopen(path, "r");
	if (!f || getdelim(&text, &len, 0, f) <= 0)
		tap_bail("%s: %s", path, strerror(errno));
	fclose(f);
	unlink(path);
	return text;
}

/* Returns the line with that event, number @nth; "" if there is none. Valid until the next call. */
static const char *event_line(const char *json, const char *what, const char *name,
			      unsigned int nth)
{
	static char line[20000];
	char wanted[300];
	const char *at;

	snprintf(wanted, sizeof(wanted), "\"%s\",\"name\":\"%s\"", what, name);
	for (at = json; (at = strstr(at, wanted)); at++) {
		if (nth--)
			continue;
		while (at > json && at[-1] != '\n')
			at--;
		snprintf(line, sizeof(line), "%.*s", (int)strcspn(at, "\n"), at);
		return line;
	}
	return "";
}

static void must_have(const char *line, const char *part)
{
	if (!strstr(line, part))
		tap_wrong("'%s' is not in '%.300s'", part, line);
}

__attribute__((unused)) static void must_not_have(const char *line, const char *part)
{
	if (strstr(line, part))
		tap_wrong("'%s' is in '%.300s'", part, line);
}

/* ---- a trace -------------------------------------------------------------------------------- */

static void start(void)
{
	int err = xsprof_kineto_prepare_trace(false, XSPROF_ACTIVITY(CPU) | XSPROF_ACTIVITY(CUDA),
					      NULL);

	CHECK_EQ(err, 0);
	err = xsprof_kineto_start_trace();
	if (err)
		tap_bail("no trace: %s", strerror(-err));
}

static struct xsprof_result *stop(void)
{
	struct xsprof_result *r = NULL;

	CHECK_EQ(xsprof_kineto_stop_trace(&r), 0);
	if (!r)
		tap_bail("no result");
	return r;
}

static void op(const char *name)
{
	struct xsprof_op o = { .name = xsprof_name(name), .sequence = XSPROF_NO_SEQUENCE };

	xsprof_op_begin(&o);
	xsprof_op_end();
}

__attribute__((unused)) static void *op_of_thread(void *name)
{
	op(name);
	return NULL;
}

__attribute__((unused)) static void in_thread(void *(*function)(void *data), void *data)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, function, data))
		tap_bail("no thread");
	pthread_join(thread, NULL);
}

#endif /* TESTS_PROFILER_SHIM_H */
