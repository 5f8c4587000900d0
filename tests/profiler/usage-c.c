// SPDX-License-Identifier: GPL-2.0-only
/*
 * The example program of other profilers' documentation, in C.
 *
 *	usage-c FOLDER		writes FOLDER/c_trace.json
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <xsprof/profiler.h>
#include <xsprof/result.h>

static void work(void)
{
	static const int64_t sizes[] = { 2, 3 };
	const struct xsprof_tensor tensor = { .sizes = sizes, .ndim = 2 };
	const struct xsprof_input input = { .kind = XSPROF_INPUT_TENSOR, .u.tensor = &tensor };
	const struct xsprof_op outer = {
		.name = XSPROF_NAME("aten::linear"), .nr_inputs = 1, .inputs = &input,
	};
	const struct xsprof_op inner = { .name = XSPROF_NAME("aten::addmm") };

	for (int i = 0; i < 10; i++) {
		xsprof_op_begin(&outer);
		xsprof_op_begin(&inner);
		xsprof_op_end();
		xsprof_op_end();
	}
}

static int used(const char *folder)
{
	/* Configure the profiler */
	const struct xsprof_profiler_config config = {
		.size = sizeof(config),
		.state = XSPROF_PROFILER_KINETO,
		.report_input_shapes = true,
		.profile_memory = true,
		.with_stack = true,
	};
	struct xsprof_result *result = NULL;
	char path[4096];
	int ops = 0, ret = 0;

	/* Start profiling */
	if (xsprof_enable_profiler(&config, XSPROF_ACTIVITY(CPU), 0))
		return 1;

	work();

	/* Stop and get results */
	if (xsprof_disable_profiler(&result) || !result)
		return 2;

	/* Save the trace */
	snprintf(path, sizeof(path), "%s/c_trace.json", folder);
	if (xsprof_result_save(result, path) || xsprof_result_save(result, path) != -EALREADY)
		ret = 3;

	/* Access events */
	for (int64_t i = 0; i < xsprof_result_nr_events(result); i++) {
		const struct xsprof_profiler_event *event = xsprof_result_event(result, i);

		printf("# %s: %" PRIu64 " ns\n", xsprof_event_name(event),
		       xsprof_event_duration_ns(event));
		ops += !strncmp(xsprof_event_name(event), "aten::", 6);
	}
	if (ops != 20)
		ret = 4;
	xsprof_result_free(result);
	return ret;
}

int main(int argc, char **argv)
{
	int err;

	if (argc != 2)
		return 2;
	err = used(argv[1]);
	printf("%s 5 the usual program, in C: %d\n", err ? "not ok" : "ok", err);
	return err;
}
