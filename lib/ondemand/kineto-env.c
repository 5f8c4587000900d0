// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Environment variables for traces on demand. Read at the start of the program, and when it calls
 * xsprof_ondemand_init(), in the calling thread: the library's own thread must not read an
 * environment that the program may change meanwhile.
 *
 * secure_getenv(): a program with more privileges than its caller ignores its environment.
 */
#include <stdlib.h>
#include <string.h>

#include "ondemand/kineto-env.h"
#include "profiler/log.h"

struct xsp_kineto_env xsp_kineto_env = { .daemon_uid = (uid_t)-1 };

static void text_from(const char *name, const char *otherwise, char **to)
{
	const char *s = secure_getenv(name);

	if (!s || !*s)
		s = otherwise;
	if (s && *to && !strcmp(s, *to))
		return;
	free(*to);
	*to = s ? strdup(s) : NULL;
}

/* A decimal number, or @otherwise. */
static int64_t number_from(const char *name, int64_t max, int64_t otherwise)
{
	const char *s = secure_getenv(name);
	int64_t v = 0;

	if (!s || !*s)
		return otherwise;
	for (; *s; s++) {
		if (*s < '0' || *s > '9' || v > (max - (*s - '0')) / 10)
			return otherwise;
		v = v * 10 + (*s - '0');
	}
	return v;
}

/* Called while no thread of the library reads it. */
void xsp_kineto_env_read(void)
{
	const char *uid = secure_getenv("XSPROF_DAEMON_UID");
	const char *demand = secure_getenv("XSPROF_ONDEMAND");
	bool off = demand && !strcmp(demand, "0");
	struct xsp_kineto_env *e = &xsp_kineto_env;

	text_from("KINETO_CONFIG", "/etc/libkineto.conf", &e->config);
	text_from("KINETO_ONDEMAND_TRACE_DIR", "/tmp/", &e->trace_dir);
	text_from("KINETO_IPC_SOCKET_DIR", NULL, &e->socket_dir);
	e->job = number_from("SLURM_JOB_ID", INT64_MAX, 0);
	e->gpu = number_from("LOCAL_RANK", 65535, 0);
	e->any_uid = uid && !strcmp(uid, "any");
	e->daemon_uid = (uid_t)number_from("XSPROF_DAEMON_UID", UINT32_MAX - 1, (uid_t)-1);
	e->ask_first = demand && !strcmp(demand, "dynolog");
	e->ask = e->ask_first || (secure_getenv("KINETO_USE_DAEMON") && !off);
	e->listen = demand && *demand && !off;
	xsp_log_set((int)number_from("KINETO_LOG_LEVEL", 9, XSP_LOG_SILENT));
}

/* After the constructor in process/life.c, before that of ondemand.c. */
__attribute__((constructor(102))) static void read_at_start(void)
{
	xsp_kineto_env_read();
}
