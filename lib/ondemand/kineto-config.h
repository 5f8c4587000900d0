/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Kineto's configuration text: lines KEY=VALUE, as handed out by dynolog and in
 * /etc/libkineto.conf. Documentation/ondemand.rst describes the keys.
 */
#ifndef XSP_KINETO_CONFIG_H
#define XSP_KINETO_CONFIG_H

#include <limits.h>

#include "base/own.h"

#define XSP_KINETO_TEXT_MAX	65536	/* maximum size of a text */
#define XSP_KINETO_VALUE_MAX	1024	/* maximum size of a value, except the file's name */
#define XSP_KINETO_DAY_MS	86400000ll
#define XSP_KINETO_LATE_MS	10000ll	/* a start longer ago than this is refused */
#define XSP_KINETO_LEAD_MS	2000ll	/* delay of the warm-up of a request without a start time */

/**
 * struct xsp_kineto_config - a parsed text
 * @enabled: ACTIVITIES_ENABLED
 * @asked: it has a key that makes it a request: a file, a duration, a number of iterations
 * @shapes: PROFILE_REPORT_INPUT_SHAPES
 * @memory: PROFILE_PROFILE_MEMORY
 * @stack: PROFILE_WITH_STACK
 * @flops: PROFILE_WITH_FLOPS
 * @modules: PROFILE_WITH_MODULES
 * @snapshot: PROFILE_MEMORY: a snapshot of memory in place of a trace
 * @sync_events: ACTIVITIES_DISPLAY_CUDA_SYNC_WAIT_EVENTS
 * @activities: XSPROF_ACTIVITY() of ACTIVITY_TYPES, 0 if absent
 * @warmup_iterations: ACTIVITIES_WARMUP_ITERATIONS
 * @iterations: ACTIVITIES_ITERATIONS
 * @warmup_ms: ACTIVITIES_WARMUP_PERIOD_SECS
 * @duration_ms: ACTIVITIES_DURATION_SECS or _MSECS, the later of the two
 * @snapshot_ms: PROFILE_MEMORY_DURATION_MSECS
 * @poll_ms: ON_DEMAND_CONFIG_UPDATE_INTERVAL_SECS
 * @start_ms: PROFILE_START_TIME, since 1970; 0 for soon
 * @start_iteration: PROFILE_START_ITERATION, -1 for none
 * @roundup: PROFILE_START_ITERATION_ROUNDUP, 0 for none
 * @gpu_buffer_mb: ACTIVITIES_MAX_GPU_BUFFER_SIZE_MB
 * @ignored: lines with known keys that have no effect here
 * @unknown: lines with unknown keys, and unknown activity types
 * @file: ACTIVITIES_LOG_FILE, verbatim
 * @metrics: CUPTI_PM_SAMPLING_METRICS
 * @trace_id: REQUEST_TRACE_ID
 * @group_id: REQUEST_GROUP_TRACE_ID
 * @custom: CUSTOM_CONFIG
 */
struct xsp_kineto_config {
	bool		enabled;
	bool		asked;
	bool		shapes;
	bool		memory;
	bool		stack;
	bool		flops;
	bool		modules;
	bool		snapshot;
	bool		sync_events;
	uint32_t	activities;
	uint32_t	warmup_iterations;
	uint32_t	iterations;
	int64_t		warmup_ms;
	int64_t		duration_ms;
	int64_t		snapshot_ms;
	int64_t		poll_ms;
	int64_t		start_ms;
	int64_t		start_iteration;
	int64_t		roundup;
	int64_t		gpu_buffer_mb;
	uint32_t	ignored;
	uint32_t	unknown;
	char		file[PATH_MAX];
	char		metrics[XSP_KINETO_VALUE_MAX];
	char		trace_id[XSP_KINETO_VALUE_MAX];
	char		group_id[XSP_KINETO_VALUE_MAX];
	char		custom[XSP_KINETO_VALUE_MAX];
};

/**
 * struct xsp_kineto_error - why a text was refused
 * @line: line number from 1 on; 0: not about a line
 * @what: the reason
 */
struct xsp_kineto_error {
	unsigned int	line;
	const char	*what;
};

void xsp_kineto_config_init(struct xsp_kineto_config *c) XSP_HIDDEN;
int xsp_kineto_config_parse(struct xsp_kineto_config *c, const char *text, size_t len,
			    struct xsp_kineto_error *error) XSP_HIDDEN;
int xsp_kineto_config_base(struct xsp_kineto_config *c, struct xsp_kineto_error *error)
	XSP_HIDDEN;
bool xsp_kineto_config_by_iteration(const struct xsp_kineto_config *c) XSP_HIDDEN;
int xsp_kineto_config_start(const struct xsp_kineto_config *c, int64_t now_ms, int64_t *start_ms)
	XSP_HIDDEN;

#endif /* XSP_KINETO_CONFIG_H */
