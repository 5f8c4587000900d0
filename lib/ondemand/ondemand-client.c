// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The library's own client, used if the program has registered none: records all threads in a
 * session and saves it in the format of PyTorch's profiler or, for memory requests, of PyTorch's
 * memory viewer. Owns the session's configuration.
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

/* Written by prepare, start, stop and save, in this order, one at a time. */
static struct xsprof_profiler_config config;
static struct xsprof_experimental experimental;
static char metrics[XSP_KINETO_VALUE_MAX];
static const char *metric[METRICS_MAX];

static uint32_t activities(void)
{
	uint32_t set = xsp_request_config()->activities;

	/* GPU activities come from their collector: none of them is unwanted. */
	return set ? set : XSPROF_ACTIVITY(CPU) | XSPROF_ACTIVITY(CUDA);
}

/* Splits "a, b" into names. Those beyond the capacity are left out. */
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

/* Set when a trace is prepared. */
static struct xsp_result_functions results;

/*
 * Errors of the recording are in @result, if there is one. The trace has the name of the request:
 * @path is only its temporary place.
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
	/* Fail now rather than after the recording. */
	err = xsp_result_find(&results);
	return err ? err : xsprof_prepare_profiler(&config, activities());
}

static int start(void *data)
{
	(void)data;
	return xsprof_enable_profiler(&config, activities(), SCOPES);
}

/*
 * Stops recording. The session's end, which reads everything, is left to the library's thread: this
 * may be the program's thread between two iterations.
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
	/* Ops are recorded too, to identify allocations by the ops around them. */
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
