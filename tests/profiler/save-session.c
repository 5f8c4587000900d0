// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs a session and saves its result: ops with every kind of input, memory, steps.
 *
 *	save-session DIR	writes DIR/session.json, .pickle, .et, .timeline
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <xsprof/result.h>

#define GPU	XSPROF_DEVICE(XSPROF_DEVICE_CUDA, 0)

static char text[3000];

/* The timeline has microseconds: memory freed in the microsecond of its allocation is not in it. */
static void pass_microseconds(void)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < 3000);
}

static void one_op(void)
{
	static const int64_t sizes[] = { 2, 3 }, strides[] = { 3, 1 }, list[] = { 1, 2, 3 };
	static const double reals[] = { 1.5, NAN };
	const struct xsprof_tensor tensor = {
		.sizes = sizes, .strides = strides, .ndim = 2, .dtype = xsprof_name("float"),
		.device = GPU, .itemsize = 4, .id = 5, .storage_id = 6, .numel = 6,
	};
	const struct xsprof_tensor two[] = { tensor, tensor };
	const struct xsprof_input inputs[] = {
		{ .kind = XSPROF_INPUT_TENSOR, .u.tensor = &tensor },
		{ .kind = XSPROF_INPUT_TENSORS, .n = 2, .u.tensor = two },
		{ .kind = XSPROF_INPUT_I64, .u.i64 = -7 },
		{ .kind = XSPROF_INPUT_F64, .u.f64 = 2 },
		{ .kind = XSPROF_INPUT_BOOL, .u.i64 = 1 },
		{ .kind = XSPROF_INPUT_STR, .u.str = "a \"word\"" },
		{ .kind = XSPROF_INPUT_I64S, .n = 3, .u.i64s = list },
		{ .kind = XSPROF_INPUT_F64S, .n = 2, .u.f64s = reals },
		{ .kind = XSPROF_INPUT_NONE },
		{ .kind = XSPROF_INPUT_OTHER, .u.str = "Generator" },
		{ .kind = XSPROF_INPUT_STR, .u.str = text },
	};
	const struct xsprof_op op = {
		.name = xsprof_name("aten::mm"), .sequence = 4, .record_function_id = 9,
		.nr_inputs = sizeof(inputs) / sizeof(inputs[0]), .inputs = inputs,
		.module = "net.encoder",
	};

	xsprof_op_begin(&op);
	xsprof_report_memory_usage((void *)0x1000, 512, 512, 1024, GPU);
	pass_microseconds();
	xsprof_report_memory_usage((void *)0x1000, -512, 0, 1024, GPU);
	xsprof_op_end();
}

static int must(int ret, const char *what)
{
	if (ret)
		fprintf(stderr, "save-session: %s: %s\n", what, strerror(-ret));
	return ret != 0;
}

/* An earlier session, whose last step was open at its end. */
static int before(const struct xsprof_profiler_config *config)
{
	struct xsprof_result *result = NULL;
	int failed = must(xsprof_enable_profiler(config, XSPROF_ACTIVITY(CPU), 0), "enable");

	failed |= must(xsprof_profiler_step(), "step");
	one_op();
	failed |= must(xsprof_disable_profiler(&result), "disable");
	xsprof_result_free(result);
	return failed;
}

/* Return: how many steps the result has. */
static int steps_of(struct xsprof_result *result)
{
	int n = 0;

	for (int64_t i = 0; i < xsprof_result_nr_events(result); i++)
		n += !strncmp(xsprof_event_name(xsprof_result_event(result, i)),
			      "ProfilerStep#", 13);
	return n;
}

/* A shader does not belong to the thread that reported it. */
static int has_shader(struct xsprof_result *result)
{
	for (int64_t i = 0; i < xsprof_result_nr_events(result); i++) {
		const struct xsprof_profiler_event *ev = xsprof_result_event(result, i);

		if (!strcmp(xsprof_event_name(ev), "shader"))
			return xsprof_event_kind(ev) == XSPROF_EVENT_VULKAN &&
			       xsprof_event_device_resource_id(ev) == 3 &&
			       !xsprof_event_start_thread_id(ev);
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct xsprof_profiler_config config = {
		.size = sizeof(config), .state = XSPROF_PROFILER_KINETO,
		.report_input_shapes = true, .profile_memory = true, .with_stack = true,
		.with_modules = true, .trace_id = "0123456789ABCDEF",
	};
	const char *dir = argc == 2 ? argv[1] : ".";
	struct xsprof_result *result = NULL;
	char path[4096];
	uint64_t begin;
	int failed, i;

	memset(text, 'x', sizeof(text) - 1);
	failed = before(&config);
	failed |= must(xsprof_enable_profiler(&config, XSPROF_ACTIVITY(CPU), 0), "enable");
	failed |= must(xsprof_profiler_add_metadata("who", "a \"name\""), "metadata");
	failed |= must(xsprof_profiler_add_metadata_json("ids", "[1, {}]"), "metadata");
	failed |= must(xsprof_profiler_add_metadata_json("distributedInfo",
							 "{\"backend\":\"a:b\\\":c\",\"rank\":3}"),
		       "metadata");
	/* The schema version cannot be overwritten, but the host name can. */
	failed |= must(xsprof_profiler_add_metadata("schemaVersion", "none"), "metadata");
	failed |= must(xsprof_profiler_add_metadata("host_name", "a host"), "metadata");
	for (i = 0; i < 3; i++) {
		must(xsprof_profiler_step(), "step");
		one_op();
	}
	xsprof_report_out_of_memory(1 << 20, 5, 6, GPU);
	xsprof_report_out_of_memory(INT64_MIN, 5, 6, GPU);
	begin = xsprof_now();
	xsprof_report_vulkan_event(xsprof_name("shader"), begin, xsprof_now(), 3);
	failed |= must(xsprof_disable_profiler(&result), "disable");
	if (!result)
		return 1;
	if (steps_of(result) != 3) {
		fprintf(stderr, "save-session: %d steps, not 3\n", steps_of(result));
		failed = 1;
	}
	if (!has_shader(result)) {
		fprintf(stderr, "save-session: no shader of queue 3\n");
		failed = 1;
	}
	snprintf(path, sizeof(path), "%s/session.json", dir);
	failed |= must(xsprof_result_save(result, path), path);
	snprintf(path, sizeof(path), "%s/session.pickle", dir);
	failed |= must(xsprof_result_save_memory_snapshot(result, path), path);
	snprintf(path, sizeof(path), "%s/session.et", dir);
	failed |= must(xsprof_result_save_execution_trace(result, path), path);
	snprintf(path, sizeof(path), "%s/session.timeline", dir);
	failed |= must(xsprof_result_save_memory_timeline(result, path, GPU), path);
	xsprof_result_free(result);
	return failed;
}
