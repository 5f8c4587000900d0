// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The library's own client, used where the program has registered none: it records all threads in
 * a session and saves it in the format of PyTorch's profiler; where memory is asked for, in the
 * format of PyTorch's memory viewer.  Owns the session's configuration.
 *
 * libxsprof-trace makes and writes results; profiler/result-library.c finds or loads it.
 */
#include <errno.h>
#include <string.h>

#include <xsprof/profiler.h>

#include "ondemand/ondemand-client.h"
#include "ondemand/request.h"
#include "profiler/result-library.h"
#include "profiler/session.h"

#define METRICS_MAX	64

#define SCOPES	(XSPROF_OP(FUNCTION) | XSPROF_OP(USER_SCOPE) | XSPROF_OP(BACKWARD_FUNCTION))

/* Written in the order prepare, start, stop, save, by one of them at a time. */
static struct xsprof_profiler_config config;
static struct xsprof_experimental experimental;
static char metrics[XSP_KINETO_VALUE_MAX];
static const char *metric[METRICS_MAX];

static uint32_t activities(void)
{
	uint32_t set = xsp_request_config()->activities;

	/* A GPU's come from its collector, and there is none that would not be wanted. */
	return set ? set : XSPROF_ACTIVITY(CPU) | XSPROF_ACTIVITY(CUDA);
}

/* "a, b": a list of names.  Those beyond the room are left out. */
static size_t split_metrics(const char *list)
{
	char *next, *one;
	size_t n = 0;

	strcpy(metrics, list);
	one = strtok_r(metrics, ", \t", &next);
	for (; one && n < METRICS_MAX; one = strtok_r(NULL, ", \t", &next))
		metric[n++] = one;
	return n;
}

/* Written when a trace is prepared. */
static struct xsp_result_functions results;

/*
 * What went wrong with the recording is said in @result, as far as there is one.  The trace is
 * called as the request has it: @path is where it is until it is whole.
 */
static int write_trace(int err, struct xsprof_result *result, const char *path, const char *name)
{
	uint64_t events = 0;

	if (!result)
		return err ? err : -ENODATA;
	err = results.save(result, path, name, &events);
	results.free(result);
	return err ? err : events ? 0 : -ENODATA;
}

/* ---- a trace ---- */

static int prepare(void *data, bool shapes, bool memory, bool stack, bool flops, bool modules)
{
	const struct xsp_kineto_config *c = xsp_request_config();
	int err;

	(void)data;
	experimental = (struct xsprof_experimental){
		.size = sizeof(experimental),
		.metrics = metric,
		.nr_metrics = split_metrics(c->metrics),
		.enable_cuda_sync_events = c->sync_events,
		.all_threads = true,
		.custom = *c->custom ? c->custom : NULL,
	};
	config = (struct xsprof_profiler_config){
		.size = sizeof(config),
		.state = XSPROF_PROFILER_KINETO_ONDEMAND,
		.report_input_shapes = shapes,
		.profile_memory = memory,
		.with_stack = stack,
		.with_flops = flops,
		.with_modules = modules,
		.experimental = &experimental,
		.trace_id = *c->trace_id ? c->trace_id : NULL,
	};
	/* Better now than when all is recorded. */
	err = xsp_result_find(&results);
	return err ? err : xsprof_prepare_profiler(&config, activities());
}

static int start(void *data)
{
	(void)data;
	return xsprof_enable_profiler(&config, activities(), SCOPES);
}

/*
 * Nothing more is recorded from here on.  The session's end, which reads all of it, is the
 * library's thread's to make: here the program's own may be between two iterations.
 */
static int stop(void *data)
{
	(void)data;
	return xsprof_toggle_collection(false, 0);
}

static int save(void *data, const char *path)
{
	struct xsprof_result *result = NULL;
	int err = xsprof_disable_profiler(path ? &result : NULL);

	(void)data;
	return path ? write_trace(err, result, path, xsp_request_file_name()) : 0;
}

static int snapshot(void *data, const char *path)
{
	struct xsprof_result *result;
	int err = xsp_session_so_far(&result);

	(void)data;
	return write_trace(err, result, path, xsp_request_file_name());
}

/* ---- memory ---- */

static int start_memory(void *data)
{
	(void)data;
	config.profile_memory = true;
	/* The ops around an allocation are what it is told by: they are recorded too. */
	return xsprof_enable_profiler(&config, XSPROF_ACTIVITY(CPU), SCOPES);
}

static int stop_memory(void *data)
{
	(void)data;
	return xsprof_disable_profiler(NULL);
}

static int export_memory(void *data, const char *path)
{
	struct xsprof_result *result;
	int err = xsp_session_so_far(&result);

	(void)data;
	if (!result)
		return err ? err : -ENODATA;
	err = results.save_memory ? results.save_memory(result, path) : -ENOSYS;
	results.free(result);
	return err;
}

const struct xsprof_client xsp_default_client = {
	.size = sizeof(xsp_default_client),
	.prepare = prepare,
	.start = start,
	.stop = stop,
	.save = save,
	.start_memory_profile = start_memory,
	.stop_memory_profile = stop_memory,
	.export_memory_profile = export_memory,
	.snapshot = snapshot,
};
