// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Kineto's API: a trace is prepared, started, stopped; thread names; and calls in a wrong order.
 * Owns the options of a prepared trace; session.c owns the session.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <xsprof/kineto.h>

#include "process/life.h"
#include "profiler/log.h"
#include "profiler/metadata.h"
#include "profiler/session.h"

#define VIOLATIONS	"invariant_violations"

static struct {
	pthread_mutex_t			lock;
	bool				prepared;
	uint32_t			activities;
	struct xsprof_profiler_config	config;
	struct xsprof_experimental	experimental;
	char				*text;		/* text of the options, NULL for none */
} kineto = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* In a forked child. */
static void forget(void)
{
	pthread_mutex_init(&kineto.lock, NULL);
	kineto.prepared = false;
}

__attribute__((constructor(102))) static void register_forget(void)
{
	static struct xsp_fork_hook hook = { .forget = forget };

	xsp_at_fork(&hook);
}

/* ---- a trace -------------------------------------------------------------------------------- */

/* Converts the options to text; NULL if there are none. Return: 0 or -errno. */
static int make_text(const struct xsprof_experimental *experimental, char **text)
{
	int len = xsprof_kineto_experimental_config(experimental, NULL, 0);

	*text = NULL;
	if (len < 0)
		return len == -ENODATA ? 0 : len;
	*text = malloc((size_t)len + 1);
	if (!*text)
		return -ENOMEM;
	xsprof_kineto_experimental_config(experimental, *text, (size_t)len + 1);
	return 0;
}

/* Called with the lock held. */
static int prepare(uint32_t activities, const struct xsprof_experimental *experimental)
{
	struct xsprof_profiler_config config = {
		.size = sizeof(config), .state = XSPROF_PROFILER_KINETO,
		.experimental = experimental,
	};
	char *text;
	int err = make_text(experimental, &text);

	if (!err)
		err = xsprof_prepare_profiler(&config, activities);
	if (!err)
		err = xsp_session_copy(&config, &kineto.config, &kineto.experimental);
	if (err) {
		free(text);
		return err;
	}
	/* A trace of Kineto's API covers the whole process. */
	kineto.experimental.all_threads = true;
	kineto.activities = activities;
	free(kineto.text);
	kineto.text = text;
	kineto.prepared = true;
	if (text)
		xsp_log(XSP_LOG_INFO, "trace: configuration: %s", text);
	if (kineto.experimental.nr_metrics)
		xsp_log(XSP_LOG_WARNING,
			"trace: metrics: no collector here measures any; ignored");
	return 0;
}

int xsprof_kineto_prepare_trace(bool cpu_only, uint32_t activities,
				const struct xsprof_experimental *experimental)
{
	int saved = errno, err;

	if (cpu_only)
		activities &= XSPROF_ACTIVITY(CPU);
	pthread_mutex_lock(&kineto.lock);
	err = prepare(activities, experimental);
	pthread_mutex_unlock(&kineto.lock);
	errno = saved;
	return err;
}

int xsprof_kineto_start_trace(void)
{
	int saved = errno, err = -ENODATA;

	pthread_mutex_lock(&kineto.lock);
	if (kineto.prepared)
		err = xsprof_enable_profiler(&kineto.config, kineto.activities, 0);
	if (!err) {
		kineto.prepared = false;
		if (kineto.text && xsprof_profiler_add_metadata("experimental_config",
								 kineto.text))
			xsp_log(XSP_LOG_WARNING, "trace: no memory to keep its configuration");
	}
	pthread_mutex_unlock(&kineto.lock);
	errno = saved;
	return err;
}

int xsprof_kineto_stop_trace(struct xsprof_result **result)
{
	return xsprof_disable_profiler(result);
}

/* ---- threads -------------------------------------------------------------------------------- */

struct xsprof_kineto_place xsprof_kineto_ids(void)
{
	return (struct xsprof_kineto_place){ .device = getpid(),
					     .resource = (int32_t)syscall(SYS_gettid) };
}

int xsprof_kineto_record_thread_info(void)
{
	int category = xsprof_category("profiler"), saved = errno;
	xsprof_name_t name = XSPROF_NAME_IN(category, "thread_info");
	struct xsprof_kineto_place ids = xsprof_kineto_ids();
	char comm[17] = "";

	if (!xsprof_wants(name))
		return -ENOENT;
	prctl(PR_GET_NAME, comm);
	xsprof_instant_args(name, (struct xsprof_kv[]){
		xsprof_namev(XSPROF_KEY_ACTIVITY, name),
		xsprof_i64(XSPROF_KEY_DEVICE, ids.device),
		xsprof_i64(XSPROF_KEY_RESOURCE, ids.resource),
		xsprof_u64(XSPROF_NAME_IN(category, "Pthread id"), (uintptr_t)pthread_self()),
		xsprof_str(XSPROF_NAME_IN(category, "Name"), comm),
	}, 5);
	errno = saved;
	return 0;
}

/* ---- what should not have been -------------------------------------------------------------- */

int xsprof_kineto_log_invariant_violation(const char *assertion, const char *error,
					  const char *profile_id, const char *group_profile_id)
{
	static const char *const keys[] = { "assertion", "error", "profile_id",
					    "group_profile_id" };
	const char *const given[] = { assertion, error, profile_id, group_profile_id };
	char *texts[4], *json = NULL;
	int saved = errno, err = 0, len;

	for (int i = 0; i < 4; i++) {
		texts[i] = xsp_json_string(given[i] ? given[i] : "");
		if (!texts[i])
			err = -ENOMEM;
	}
	if (!err) {
		xsp_log(XSP_LOG_ERROR, "invariant violated: %s: %s (profile %s, group %s)",
			texts[0], texts[1], texts[2], texts[3]);
		len = asprintf(&json, "{\"%s\": %s, \"%s\": %s, \"%s\": %s, \"%s\": %s}",
			       keys[0], texts[0], keys[1], texts[1], keys[2], texts[2], keys[3],
			       texts[3]);
		if (len < 0) {
			json = NULL;
			err = -ENOMEM;
		}
	}
	if (!err)
		err = xsp_session_metadata(VIOLATIONS, json, true);
	free(json);
	for (int i = 0; i < 4; i++)
		free(texts[i]);
	errno = saved;
	return err;
}
