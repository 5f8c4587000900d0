// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Interprets a request's text, and checks whether it can be served. Owns no state.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <xsprof/profiler.h>

#include "base/clock.h"
#include "ondemand/client.h"
#include "ondemand/kineto-env.h"
#include "ondemand/request.h"
#include "ondemand/trace-file.h"
#include "profiler/log.h"
#include "profiler/schedule.h"

#define DEFAULT_FILE	"libkineto_activities.json"

/* The default file name, in the folder for traces. */
static int default_file(struct xsp_request_plan *p)
{
	int n;

	if (*p->config.file)
		return 0;
	if (!xsp_kineto_env.trace_dir)
		return -ENOMEM;
	n = snprintf(p->config.file, sizeof(p->config.file), "%s/" DEFAULT_FILE,
		     xsp_kineto_env.trace_dir);
	return n < 0 || (size_t)n >= sizeof(p->config.file) ? -ENAMETOOLONG : 0;
}

static const char *when(struct xsp_request_plan *p)
{
	const struct xsp_kineto_config *c = &p->config;
	int64_t now;
	int err;

	if (!(c->snapshot ? c->snapshot_ms : c->duration_ms))
		return "its duration is 0";
	if (c->duration_ms > XSP_KINETO_DAY_MS || c->snapshot_ms > XSP_KINETO_DAY_MS ||
	    c->warmup_ms > XSP_KINETO_DAY_MS)
		return "its duration is more than a day";
	now = xsp_clock_ms(CLOCK_REALTIME);
	p->start = now;
	/* A request for this process only starts now. */
	if (p->from == XSP_DEMAND_BY_CTL && !c->start_ms)
		return NULL;
	err = xsp_kineto_config_start(c, now, &p->start);
	if (err == -ETIME)
		return "PROFILE_START_TIME is more than 10 s ago";
	return err ? "PROFILE_START_TIME is more than a day ahead" : NULL;
}

static const char *refusal(struct xsp_request_plan *p, int64_t iteration)
{
	const struct xsp_kineto_config *c = &p->config;

	if (!c->asked)
		return "the text requests no trace";
	if (!c->enabled)
		return "ACTIVITIES_ENABLED is false";
	if (c->snapshot && !xsp_client_has_memory())
		return "PROFILE_MEMORY: the program's client does not record memory";
	if (p->by_iteration)
		return !iteration ? "the program has executed no step yet: try again when it "
				    "trains, or request a duration" : NULL;
	return when(p);
}

/*
 * Does a session of the program exist at the start of the request? Known only if it starts now; a
 * later request is refused at its start time.
 */
static bool others_session(const struct xsp_request_plan *p)
{
	return p->from == XSP_DEMAND_BY_CTL && !xsp_client_is_custom() &&
	       (xsprof_is_profiler_enabled_in_main_thread() || xsp_schedule_runs());
}

/* Can the file be written? Return: 0, or a negative errno and @why. */
static int choose_place(struct xsp_request_plan *p, char *why)
{
	char reason[80];
	int err = default_file(p);

	p->pid = p->from == XSP_DEMAND_BY_CTL ? 0 : getpid();
	if (!err)
		err = xsp_trace_file_check(p->config.file, p->pid);
	if (!err)
		err = xsp_trace_file_path(p->config.file, p->pid, p->path, sizeof(p->path));
	if (err)
		snprintf(why, XSP_DEMAND_WHY, "%.300s: %s; %s", p->config.file,
			 strerror_r(-err, reason, sizeof(reason)),
			 p->pid ? "traces must be under KINETO_ONDEMAND_TRACE_DIR (/tmp/)" :
			 "the program must be able to write there: name another file");
	return err;
}

/**
 * xsp_request_file() - the file of a snapshot request, the only key in its text
 * @p: filled in
 * @text: not terminated
 * @len: its length
 * @why: reason of a refusal, XSP_DEMAND_WHY bytes
 *
 * Return: 0 or a negative errno.
 */
int xsp_request_file(struct xsp_request_plan *p, const char *text, size_t len, char *why)
{
	struct xsp_kineto_error error;
	int err;

	xsp_kineto_config_init(&p->config);
	err = xsp_kineto_config_parse(&p->config, text, len, &error);
	if (err)
		snprintf(why, XSP_DEMAND_WHY, "line %u of the request: %s", error.line,
			 error.what);
	return err ? err : choose_place(p, why);
}

/**
 * xsp_request_read() - interpret a request's text
 * @p: filled in; @p->from is set by the caller
 * @text: as received; not terminated
 * @len: its length
 * @iteration: current iteration of the program, 0 if it makes no steps
 * @why: reason of a refusal, XSP_DEMAND_WHY bytes
 *
 * Return: 0; -EBUSY: the program has a session of its own; else the reason of the refusal.
 */
int xsp_request_read(struct xsp_request_plan *p, const char *text, size_t len, int64_t iteration,
		     char *why)
{
	struct xsp_kineto_error error;
	const char *what;
	int err;

	err = xsp_kineto_config_base(&p->config, &error);
	if (err)
		xsp_log(XSP_LOG_WARNING, "KINETO_CONFIG: line %u: %s; the file is ignored",
			error.line, error.what);
	err = xsp_kineto_config_parse(&p->config, text, len, &error);
	if (err) {
		snprintf(why, XSP_DEMAND_WHY, "line %u of the request: %s", error.line,
			 error.what);
		return err;
	}
	if (p->config.unknown)
		xsp_log(XSP_LOG_WARNING, "on-demand: %u unknown keys or activity types of the "
			"request are ignored", p->config.unknown);
	p->by_iteration = xsp_kineto_config_by_iteration(&p->config);
	what = refusal(p, iteration);
	if (what) {
		snprintf(why, XSP_DEMAND_WHY, "%s", what);
		return -EINVAL;
	}
	if (others_session(p)) {
		snprintf(why, XSP_DEMAND_WHY, "%s", XSP_WHY_SESSION);
		return -EBUSY;
	}
	return choose_place(p, why);
}
