// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Public functions of a session that depend on the schedule, and its metadata. session.c owns the
 * session, schedule.c the schedule.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/metadata.h"
#include "profiler/schedule.h"
#include "profiler/session.h"
#include "text/json-valid.h"

int xsprof_enable_profiler(const struct xsprof_profiler_config *config, uint32_t activities,
			   uint32_t scopes)
{
	int saved = errno, err = xsp_schedule_runs() ? -EBUSY :
				 xsp_session_begin(config, activities, scopes);

	errno = saved;
	return err;
}

int xsprof_disable_profiler(struct xsprof_result **result)
{
	struct xsp_finish finish = { 0 };
	int saved = errno, err = xsp_schedule_end(), ended = xsp_session_end(result, &finish);

	/* A waiting schedule has no session; a running session was requested from outside. */
	err = ended == -ENOENT || (ended == -EBUSY && !err) ? err : ended;
	ended = result ? xsp_session_finish(*result, &finish) : 0;
	err = err ? err : ended;
	errno = saved;
	return err;
}

static int give(const char *key, char *json)
{
	int err = json ? xsp_session_metadata(key, json, false) : -ENOMEM;

	if (err)
		free(json);
	return err;
}

int xsprof_profiler_add_metadata(const char *key, const char *value)
{
	int saved = errno, err;

	if (!key || !*key || !value)
		return -EINVAL;
	err = give(key, xsp_json_string(value));
	errno = saved;
	return err;
}

int xsprof_profiler_add_metadata_json(const char *key, const char *json)
{
	int saved = errno, err;

	if (!key || !*key || !json || !xsp_json_valid(json))
		return -EINVAL;
	err = give(key, strdup(json));
	errno = saved;
	return err;
}
