// SPDX-License-Identifier: GPL-2.0-only
/*
 * The functions of PyTorch's kineto_shim, except activities: types and devices, options, traces
 * that are prepared, begun and stopped, and misuse.
 *
 *	shim [FOLDER]
 */
#include <sys/wait.h>

#include "profiler/ops.h"
#include "profiler/shim.h"

#define TYPE(x)	XSPROF_ACTIVITY_TYPE(x)

/* ---- types ---------------------------------------------------------------------------------- */

static void test_types(void)
{
	static const char *const metrics[] = { "a" };
	struct xsprof_experimental e = { .size = sizeof(e) };
	uint32_t cpu = TYPE(CPU_OP) | TYPE(CPU_INSTANT_EVENT) | TYPE(USER_ANNOTATION) |
		       TYPE(EXTERNAL_CORRELATION) | TYPE(XPU_RUNTIME) | TYPE(CUDA_RUNTIME) |
		       TYPE(CUDA_DRIVER) | TYPE(PYTHON_FUNCTION) | TYPE(PRIVATEUSE1_RUNTIME) |
		       TYPE(PRIVATEUSE1_DRIVER);
	uint32_t gpu = TYPE(GPU_MEMCPY) | TYPE(GPU_MEMSET) | TYPE(CONCURRENT_KERNEL);
	uint32_t cuda = gpu | TYPE(GPU_USER_ANNOTATION) | TYPE(CUDA_RUNTIME) | TYPE(CUDA_DRIVER);
	uint32_t comm = TYPE(COLLECTIVE_COMM);

	CHECK_EQ(xsprof_kineto_activity_types(XSPROF_ACTIVITY(CPU), NULL), cpu | comm);
	CHECK_EQ(xsprof_kineto_activity_types(XSPROF_ACTIVITY(CUDA), NULL), cuda | comm);
	CHECK_EQ(xsprof_kineto_activity_types(XSPROF_ACTIVITY(XPU), NULL),
		 gpu | TYPE(XPU_RUNTIME) | comm);
	CHECK_EQ(xsprof_kineto_activity_types(XSPROF_ACTIVITY(HPU), NULL), TYPE(HPU_OP) | comm);
	CHECK_EQ(xsprof_kineto_activity_types(XSPROF_ACTIVITY(MTIA), NULL),
		 TYPE(MTIA_CCP_EVENTS) | TYPE(MTIA_RUNTIME) | TYPE(MTIA_WORKLOADD) | comm);
	CHECK_EQ(xsprof_kineto_activity_types(XSPROF_ACTIVITY(PRIVATEUSE1), NULL),
		 gpu | TYPE(GPU_USER_ANNOTATION) | TYPE(PRIVATEUSE1_RUNTIME) |
		 TYPE(PRIVATEUSE1_DRIVER) | comm);
	CHECK_EQ(xsprof_kineto_activity_types(XSPROF_ACTIVITY(CPU) | XSPROF_ACTIVITY(CUDA), NULL),
		 cpu | cuda | comm);
	CHECK_EQ(xsprof_kineto_activity_types(0, NULL), 0);
	CHECK_EQ(xsprof_kineto_activity_types(1u << XSPROF_ACTIVITIES, NULL), 0);
	e.enable_cuda_sync_events = true;
	CHECK_EQ(xsprof_kineto_activity_types(XSPROF_ACTIVITY(CUDA), &e),
		 cuda | TYPE(CUDA_SYNC) | comm);
	CHECK_EQ(xsprof_kineto_activity_types(XSPROF_ACTIVITY(CPU), &e), cpu | comm);
	e.metrics = metrics;
	e.nr_metrics = 1;
	CHECK_EQ(xsprof_kineto_activity_types(XSPROF_ACTIVITY(CPU), &e),
		 TYPE(CUDA_PROFILER_RANGE));
	e.measure_per_kernel = true;
	CHECK_EQ(xsprof_kineto_activity_types(XSPROF_ACTIVITY(CPU), &e),
		 TYPE(CUDA_PROFILER_RANGE) | cpu);
	CHECK_EQ(xsprof_kineto_activity_types(XSPROF_ACTIVITY(CUDA), &e),
		 TYPE(CUDA_PROFILER_RANGE));
	tap_result("types of activities of each device");

	for (uint32_t i = 0; i < XSPROF_ACTIVITY_TYPES; i++)
		if (!xsprof_kineto_activity_name(i) || !*xsprof_kineto_activity_name(i))
			tap_wrong("type %u has no name", i);
	CHECK_STR(xsprof_kineto_activity_name(XSPROF_ACTIVITY_TYPE_CONCURRENT_KERNEL), "kernel");
	CHECK_STR(xsprof_kineto_activity_name(XSPROF_ACTIVITY_TYPE_PRIVATEUSE1_DRIVER),
		  "privateuse1_driver");
	CHECK(!xsprof_kineto_activity_name(XSPROF_ACTIVITY_TYPES));
	tap_result("each type has its name in traces");
}

static void push(void *data, const char *name)
{
	(void)data;
	(void)name;
}

static void pop(void *data)
{
	(void)data;
}

static void test_device_types(void)
{
	static const struct xsprof_profiler_backend backend = {
		.size = sizeof(backend), .range_push = push, .range_pop = pop,
	};
	uint32_t cuda = TYPE(GPU_MEMCPY) | TYPE(GPU_MEMSET) | TYPE(CONCURRENT_KERNEL) |
			TYPE(CUDA_SYNC) | TYPE(GPU_USER_ANNOTATION) | TYPE(CUDA_PROFILER_RANGE) |
			TYPE(CUDA_EVENT);
	uint32_t mtia = TYPE(MTIA_CCP_EVENTS) | TYPE(MTIA_WORKLOADD);

	for (int on = 0; on < 2; on++) {
		CHECK_EQ(xsprof_profiler_register_backend(on ? &backend : NULL), 0);
		for (uint32_t i = 0; i <= XSPROF_ACTIVITY_TYPES + 1; i++) {
			uint32_t bit = i < 32 ? 1u << i : 0, want = XSPROF_DEVICE_CPU;

			if (bit & cuda)
				want = on ? XSPROF_DEVICE_PRIVATEUSE1 : XSPROF_DEVICE_CUDA;
			else if (bit & mtia)
				want = on ? XSPROF_DEVICE_PRIVATEUSE1 : XSPROF_DEVICE_MTIA;
			else if (bit & TYPE(HPU_OP))
				want = XSPROF_DEVICE_HPU;
			if (xsprof_kineto_device_type(i) != want)
				tap_wrong("type %u: device %u, not %u", i,
					  xsprof_kineto_device_type(i), want);
		}
	}
	CHECK_EQ(xsprof_profiler_register_backend(NULL), 0);
	tap_result("the device of each type, and where a backend has registered");
}

/* ---- options -------------------------------------------------------------------------------- */

static void test_config(void)
{
	static const char *const one[] = { "sm__cycles" }, *const two[] = { "a.sum", "b.avg" };
	static const char *const bad[] = { "a", "b,c" }, *const line[] = { "a\nX=1" };
	static const char *const none[] = { "" };
	struct xsprof_experimental e = { .size = sizeof(e), .metrics = one, .nr_metrics = 1 };
	struct { struct xsprof_experimental e; char more; } later = { .more = 1 };
	char text[200];
	int len;

	len = xsprof_kineto_experimental_config(&e, text, sizeof(text));
	CHECK_EQ(len, (int)strlen(text));
	CHECK_STR(text, "ACTIVITIES_WARMUP_PERIOD_SECS=0\nCUPTI_PROFILER_METRICS=sm__cycles\n"
			"CUPTI_PROFILER_ENABLE_PER_KERNEL=false\n");
	CHECK_EQ(xsprof_kineto_experimental_config(&e, NULL, 0), len);
	CHECK_EQ(xsprof_kineto_experimental_config(&e, text, 11), len);
	CHECK_STR(text, "ACTIVITIES");
	CHECK_EQ(xsprof_kineto_experimental_config(&e, text, 1), len);
	CHECK_STR(text, "");
	e.metrics = two;
	e.nr_metrics = 2;
	e.measure_per_kernel = true;
	e.custom = "k=v;w";
	xsprof_kineto_experimental_config(&e, text, sizeof(text));
	CHECK_STR(text, "ACTIVITIES_WARMUP_PERIOD_SECS=0\nCUPTI_PROFILER_METRICS=a.sum,b.avg\n"
			"CUPTI_PROFILER_ENABLE_PER_KERNEL=true\nCUSTOM_CONFIG=k=v;w\n");
	e.nr_metrics = 0;
	xsprof_kineto_experimental_config(&e, text, sizeof(text));
	CHECK_STR(text, "CUSTOM_CONFIG=k=v;w\n");
	tap_result("experimental options as text");

	e.custom = "a\nb";
	CHECK_EQ(xsprof_kineto_experimental_config(&e, text, sizeof(text)), -EINVAL);
	e.custom = NULL;
	CHECK_EQ(xsprof_kineto_experimental_config(&e, text, sizeof(text)), -ENODATA);
	CHECK_STR(text, "");
	CHECK_EQ(xsprof_kineto_experimental_config(NULL, text, sizeof(text)), -ENODATA);
	e.nr_metrics = 2;
	e.metrics = bad;
	CHECK_EQ(xsprof_kineto_experimental_config(&e, text, sizeof(text)), -EINVAL);
	e.nr_metrics = 1;
	e.metrics = line;
	CHECK_EQ(xsprof_kineto_experimental_config(&e, text, sizeof(text)), -EINVAL);
	e.metrics = none;
	CHECK_EQ(xsprof_kineto_experimental_config(&e, text, sizeof(text)), -EINVAL);
	e.metrics = NULL;
	CHECK_EQ(xsprof_kineto_experimental_config(&e, text, sizeof(text)), -EINVAL);
	e.metrics = one;
	CHECK_EQ(xsprof_kineto_experimental_config(&e, NULL, 5), -EINVAL);
	e.size = 3;
	CHECK_EQ(xsprof_kineto_experimental_config(&e, text, sizeof(text)), -EINVAL);
	later.e.size = sizeof(later);
	CHECK_EQ(xsprof_kineto_experimental_config(&later.e, text, sizeof(text)), -E2BIG);
	tap_result("options that are none");
}

/* ---- a trace -------------------------------------------------------------------------------- */

static void test_trace(void)
{
	static const char *const metrics[] = { "sm__cycles" };
	struct xsprof_experimental e = { .size = sizeof(e), .metrics = metrics, .nr_metrics = 1 };
	struct xsprof_result *r = (void *)1;
	char *json;

	CHECK_EQ(xsprof_kineto_start_trace(), -ENODATA);
	CHECK_EQ(xsprof_kineto_stop_trace(&r), -ENOENT);
	CHECK(!r);
	CHECK_EQ(xsprof_kineto_prepare_trace(false, 0, NULL), -EINVAL);
	CHECK_EQ(xsprof_kineto_prepare_trace(true, XSPROF_ACTIVITY(CUDA), NULL), -EINVAL);
	CHECK_EQ(xsprof_kineto_prepare_trace(false, 1u << XSPROF_ACTIVITIES, NULL), -EINVAL);
	e.size = 1;
	CHECK_EQ(xsprof_kineto_prepare_trace(false, XSPROF_ACTIVITY(CPU), &e), -EINVAL);
	e.size = sizeof(e);
	CHECK_EQ(xsprof_kineto_start_trace(), -ENODATA);
	CHECK_EQ(xsprof_kineto_prepare_trace(true, XSPROF_ACTIVITY(CPU) | XSPROF_ACTIVITY(CUDA),
					     &e), 0);
	op("before");
	CHECK_EQ(xsprof_kineto_start_trace(), 0);
	CHECK_EQ(xsprof_profiler_state(), XSPROF_PROFILER_KINETO);
	CHECK_EQ(xsprof_kineto_start_trace(), -ENODATA);
	CHECK_EQ(xsprof_kineto_prepare_trace(false, XSPROF_ACTIVITY(CPU), NULL), -EBUSY);
	op("mine");
	in_thread(op_of_thread, (void *)"theirs");
	CHECK_EQ(xsprof_profiler_add_metadata("key", "one"), 0);
	CHECK_EQ(xsprof_profiler_add_metadata("key", "two"), 0);
	CHECK_EQ(xsprof_profiler_add_metadata_json("json", "{\"a\":[1]}"), 0);
	r = stop();
	op("after");
	json = saved(r);
	CHECK_EQ(xsprof_result_save(r, path), -EALREADY);
	must_have(event_line(json, "cpu_op", "mine", 0), "\"ph\":\"X\"");
	must_have(event_line(json, "cpu_op", "theirs", 0), "\"ph\":\"X\"");
	must_not_have(json, "\"before\"");
	must_not_have(json, "\"after\"");
	must_have(json, "\"key\": \"two\"");
	must_not_have(json, "\"one\"");
	must_have(json, "\"json\": {\"a\":[1]}");
	must_have(json, "CUPTI_PROFILER_METRICS=sm__cycles");
	free(json);
	xsprof_result_free(r);
	CHECK_EQ(xsprof_kineto_start_trace(), -ENODATA);
	tap_result("prepared, begun, stopped, and in no other order");

	for (int i = 0; i < 5; i++) {
		start();
		op("again");
		r = stop();
		CHECK_EQ(xsprof_result_nr_events(r), 1);
		xsprof_result_free(r);
	}
	CHECK_EQ(xsprof_kineto_stop_trace(NULL), -ENOENT);
	start();
	CHECK_EQ(xsprof_kineto_stop_trace(NULL), 0);
	tap_result("one trace after the other");
}

static void test_fork(void)
{
	int status;
	pid_t pid;

	CHECK_EQ(xsprof_kineto_prepare_trace(true, XSPROF_ACTIVITY(CPU), NULL), 0);
	pid = fork();
	if (!pid)
		_exit(xsprof_kineto_start_trace() != -ENODATA ||
		      xsprof_kineto_record_thread_info() != -ENOENT ||
		      xsprof_kineto_stop_trace(NULL) != -ENOENT);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		tap_bail("fork: %s", strerror(errno));
	CHECK_EQ(status, 0);
	CHECK_EQ(xsprof_kineto_start_trace(), 0);
	CHECK_EQ(xsprof_kineto_stop_trace(NULL), 0);
	tap_result("what was prepared is not a forked child's");
}

/* ---- messages ------------------------------------------------------------------------------- */

/* Checks what @function writes to standard error. */
static void check_log(void (*function)(void), const char *want)
{
	int pipes[2], old = dup(STDERR_FILENO);
	char text[2000];
	ssize_t n;

	if (old < 0 || pipe(pipes) || dup2(pipes[1], STDERR_FILENO) < 0)
		tap_bail("pipe: %s", strerror(errno));
	function();
	dup2(old, STDERR_FILENO);
	close(old);
	close(pipes[1]);
	n = read(pipes[0], text, sizeof(text) - 1);
	close(pipes[0]);
	text[n > 0 ? n : 0] = '\0';
	CHECK_STR(text, want);
}

static void violate(void)
{
	CHECK_EQ(xsprof_kineto_log_invariant_violation("a == b", "a is \"1\"", "p1", "g1"),
		 xsprof_is_profiler_enabled_in_main_thread() ? 0 : -ENOENT);
}

static void unknown_type(void)
{
	CHECK_EQ(xsprof_kineto_device_type(1000), XSPROF_DEVICE_CPU);
}

static void prepare_metrics(void)
{
	static const char *const metrics[] = { "m" };
	struct xsprof_experimental e = { .size = sizeof(e), .metrics = metrics, .nr_metrics = 1 };

	CHECK_EQ(xsprof_kineto_prepare_trace(true, XSPROF_ACTIVITY(CPU), &e), 0);
}

/* KINETO_LOG_LEVEL is @level. */
static void test_violations(int level)
{
	static const char said[] = "xsprof: invariant violated: \"a == b\": \"a is \\\"1\\\"\" "
				   "(profile \"p1\", group \"g1\")\n";
	struct xsprof_result *r;
	char *json;

	check_log(violate, level <= 4 ? said : "");
	check_log(unknown_type, level <= 2 ? "xsprof: activity type 1000: unknown; treated as a "
					     "CPU activity\n" : "");
	check_log(prepare_metrics, level <= 2 ? "xsprof: trace: metrics: no collector here "
						"measures any; ignored\n" : "");
	start();
	check_log(violate, level <= 4 ? said : "");
	CHECK_EQ(xsprof_kineto_log_invariant_violation(NULL, NULL, NULL, NULL), 0);
	r = stop();
	json = saved(r);
	must_have(json, "\"invariant_violations\": [{\"assertion\": \"a == b\", "
			"\"error\": \"a is \\\"1\\\"\", \"profile_id\": \"p1\", "
			"\"group_profile_id\": \"g1\"},{\"assertion\": \"\", \"error\": \"\", "
			"\"profile_id\": \"\", \"group_profile_id\": \"\"}],");
	free(json);
	xsprof_result_free(r);
	start();
	CHECK_EQ(xsprof_profiler_add_metadata_json("invariant_violations", "[]"), 0);
	CHECK_EQ(xsprof_kineto_log_invariant_violation("", "", "", ""), -EEXIST);
	CHECK_EQ(xsprof_kineto_stop_trace(NULL), 0);
	tap_result("what should not have been is logged, and in the trace");
}

static void test_too_many(void)
{
	static char text[60001];
	unsigned int n = 0;
	int err = 0;

	memset(text, 'x', sizeof(text) - 1);
	start();
	while (!err && n < 1000) {
		err = xsprof_kineto_log_invariant_violation(text, "", "", "");
		n += !err;
	}
	CHECK_EQ(err, -E2BIG);
	CHECK(n > 10 && n < 20);
	CHECK_EQ(xsprof_kineto_stop_trace(NULL), 0);
	tap_result("and no more of it than fits");
}

/* Step numbers go on from trace to trace: so this is the last test that counts events. */
static void test_steps(void)
{
	struct xsprof_result *r;
	char *json;

	start();
	CHECK_EQ(xsprof_profiler_step(), 0);
	CHECK_EQ(xsprof_profiler_step(), 0);
	r = stop();
	json = saved(r);
	must_have(event_line(json, "user_annotation", "ProfilerStep#1", 0), "\"ph\":\"X\"");
	must_have(event_line(json, "user_annotation", "ProfilerStep#2", 0), "\"finished\"");
	free(json);
	xsprof_result_free(r);
	tap_result("steps");
}

/* So long that the file's buffer is flushed between a name and its number. */
static void test_long_steps(void)
{
	static char text[4001];
	struct xsprof_result *r;
	unsigned int n = 0;
	char *json, want[20];
	struct ops o;

	memset(text, 'n', sizeof(text) - 1);
	ops_begin(&o);
	cap_entry(&o.arena, XSPROF_ENTRY_NAME, 900, 0, text);
	for (unsigned int i = 0; i < 600; i++)
		ops_args(&o, XSPROF_REC_STEP, TID, 2000 + i, 900, 0, i, NULL, 0, NULL);
	r = ops_result(&o, NULL);
	json = saved(r);
	for (; n < 600; n++) {
		snprintf(want, sizeof(want), "nnn#%u\",", n);
		if (!strstr(json, want))
			break;
	}
	CHECK_EQ(n, 600);
	must_not_have(json, "nnn\"");
	free(json);
	xsprof_result_free(r);
	ops_free(&o);
	tap_result("steps with the longest names");
}

int main(int argc, char **argv)
{
	const char *level = getenv("KINETO_LOG_LEVEL");

	shim_path(argc, argv);
	test_types();
	test_device_types();
	test_config();
	test_trace();
	test_fork();
	test_violations(level ? atoi(level) : 100);
	if (!level || atoi(level) > 4)
		test_too_many();
	test_steps();
	test_long_steps();
	return tap_done();
}
