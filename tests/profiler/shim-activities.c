// SPDX-License-Identifier: GPL-2.0-only
/*
 * Activities that a program timed itself, and threads that it registers: what they become in a
 * trace.
 *
 *	shim-activities [FOLDER]
 */
#include <time.h>

#include "profiler/ops.h"
#include "profiler/shim.h"

static uint64_t real_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* ---- activities ----------------------------------------------------------------------------- */

static struct xsprof_kineto_activity activity(const char *name, uint32_t type, uint64_t start,
					      uint64_t end, uint64_t id)
{
	struct xsprof_kineto_place ids = xsprof_kineto_ids();

	return (struct xsprof_kineto_activity){
		.size = sizeof(struct xsprof_kineto_activity), .name = name, .type = type,
		.device = ids.device, .resource = ids.resource, .correlation_id = id,
		.start_ns = start, .end_ns = end,
	};
}

static int64_t add(struct xsprof_kineto_cpu_trace *t, const char *name, uint32_t type,
		   uint64_t start, uint64_t end, uint64_t id)
{
	struct xsprof_kineto_activity a = activity(name, type, start, end, id);

	return xsprof_kineto_add_cpu_activity(t, &a);
}

static void test_refused(void)
{
	struct { struct xsprof_kineto_activity a; uint64_t more; } big = { .more = 1 };
	struct xsprof_kineto_cpu_trace *t = xsprof_kineto_cpu_trace_new(NULL, 0);
	struct xsprof_kineto_activity a = activity("a", 0, 5, 4, 0);
	static char text[9000];

	CHECK_EQ(xsprof_kineto_cpu_trace_size(NULL), 0);
	xsprof_kineto_cpu_trace_free(NULL);
	CHECK_EQ(add(NULL, "a", 0, 1, 2, 0), -EINVAL);
	CHECK_EQ(xsprof_kineto_add_cpu_activity(t, NULL), -EINVAL);
	CHECK_EQ(xsprof_kineto_add_cpu_activity(t, &a), -EINVAL);
	CHECK_EQ(add(t, NULL, 0, 1, 2, 0), -EINVAL);
	CHECK_EQ(add(t, "a", XSPROF_ACTIVITY_TYPES, 1, 2, 0), -EINVAL);
	a.end_ns = 6;
	a.size--;
	CHECK_EQ(xsprof_kineto_add_cpu_activity(t, &a), -EINVAL);
	big.a = activity("a", 0, 5, 6, 0);
	big.a.size = sizeof(big);
	CHECK_EQ(xsprof_kineto_add_cpu_activity(t, &big.a), -E2BIG);
	CHECK_EQ(xsprof_kineto_cpu_trace_size(t), 0);
	big.more = 0;
	CHECK_EQ(xsprof_kineto_add_cpu_activity(t, &big.a), 0);
	CHECK_EQ(add(t, "i", XSPROF_ACTIVITY_TYPE_CPU_INSTANT_EVENT, 5, 0, 0), 1);
	CHECK_EQ(xsprof_kineto_cpu_trace_size(t), 2);
	tap_result("activities that are none");

	CHECK_EQ(xsprof_kineto_add_activity_metadata(NULL, 0, "k", "v"), -EINVAL);
	CHECK_EQ(xsprof_kineto_add_activity_metadata(t, -1, "k", "v"), -EINVAL);
	CHECK_EQ(xsprof_kineto_add_activity_metadata(t, 2, "k", "v"), -EINVAL);
	CHECK_EQ(xsprof_kineto_add_activity_metadata(t, 0, "", "v"), -EINVAL);
	CHECK_EQ(xsprof_kineto_add_activity_metadata(t, 0, NULL, "v"), -EINVAL);
	CHECK_EQ(xsprof_kineto_add_activity_metadata(t, 0, "k", NULL), -EINVAL);
	CHECK_EQ(xsprof_kineto_add_activity_metadata_json(t, 0, "k", "{"), -EINVAL);
	memset(text, 'x', sizeof(text) - 1);
	CHECK_EQ(xsprof_kineto_add_activity_metadata(t, 0, "k", text), -E2BIG);
	text[7900] = '\0';
	CHECK_EQ(xsprof_kineto_add_activity_metadata(t, 0, "k", text), 0);
	CHECK_EQ(xsprof_kineto_add_activity_metadata(t, 0, "k", text), -E2BIG);
	CHECK_EQ(xsprof_kineto_add_activity_metadata(t, 1, "k", text), 0);
	tap_result("metadata that is none, or too much");

	CHECK_EQ(xsprof_kineto_transfer_cpu_trace(NULL, 0), -EINVAL);
	CHECK_EQ(xsprof_kineto_transfer_cpu_trace(t, 0), -ENOENT);
	CHECK_EQ(xsprof_kineto_cpu_trace_size(t), 2);
	xsprof_kineto_cpu_trace_free(t);
	tap_result("no trace to be put into");
}

/* Equal to 100 us: the clocks differ. */
static void check_time(uint64_t is, uint64_t should)
{
	uint64_t off = is > should ? is - should : should - is;

	if (off > 100000)
		tap_wrong("a time is %llu ns off", (unsigned long long)off);
}

static void test_transfer(void)
{
	struct xsprof_kineto_place ids = xsprof_kineto_ids();
	struct xsprof_kineto_cpu_trace *t;
	char track[64], text[3001], *json;
	const struct xsprof_profiler_event *ev;
	struct xsprof_kineto_activity a;
	struct xsprof_result *r;
	uint64_t from, ms = 1000000;
	const char *line;
	int64_t n;

	CHECK_EQ(ids.device, getpid());
	CHECK_EQ(ids.resource, gettid());
	snprintf(track, sizeof(track), "\"pid\":%d,\"tid\":%d,", ids.device, ids.resource);
	memset(text, 'y', sizeof(text));
	text[3000] = '\0';
	start();
	from = real_ns();
	t = xsprof_kineto_cpu_trace_new("Test Profiler", from);
	usleep(30000);
	n = add(t, "aten::mm", XSPROF_ACTIVITY_TYPE_CPU_OP, from + 2 * ms, from + 9 * ms, 17);
	CHECK_EQ(n, 0);
	CHECK_EQ(xsprof_kineto_add_activity_metadata_json(t, n, "Input Dims", "[[2, 3], []]"), 0);
	CHECK_EQ(xsprof_kineto_add_activity_metadata(t, n, "Call \"stack\"", "a\nb\\"), 0);
	CHECK_EQ(xsprof_kineto_add_activity_metadata(t, n, "Long", text), 0);
	text[1] = text[0] = '"';
	text[2999] = '"';
	CHECK_EQ(xsprof_kineto_add_activity_metadata_json(t, n, "JSON", text + 1), 0);
	add(t, "aten::add", XSPROF_ACTIVITY_TYPE_CPU_OP, from + 3 * ms, from + 4 * ms, 18);
	add(t, "epoch", XSPROF_ACTIVITY_TYPE_USER_ANNOTATION, from + ms, from + 20 * ms, 7);
	add(t, "cudaLaunchKernel", XSPROF_ACTIVITY_TYPE_CUDA_RUNTIME, from + 5 * ms,
	    from + 6 * ms, 0);
	add(t, "[memory]", XSPROF_ACTIVITY_TYPE_CPU_INSTANT_EVENT, from + 7 * ms, 0, 0);
	add(t, "nn.Module: Net", XSPROF_ACTIVITY_TYPE_PYTHON_FUNCTION, from + ms, from + 15 * ms,
	    0);
	a = activity("gemm", XSPROF_ACTIVITY_TYPE_CONCURRENT_KERNEL, from + 8 * ms,
		     from + 10 * ms, 0);
	a.device = 3;
	a.resource = 7;
	xsprof_kineto_add_cpu_activity(t, &a);
	a = activity("away", XSPROF_ACTIVITY_TYPE_CPU_OP, from + 8 * ms, from + 10 * ms, 0);
	a.device = 77;
	a.resource = 4000000;
	xsprof_kineto_add_cpu_activity(t, &a);
	add(t, "long ago", XSPROF_ACTIVITY_TYPE_CPU_OP, 5, 6, 0);
	add(t, "never", XSPROF_ACTIVITY_TYPE_CPU_OP, UINT64_MAX - 1, UINT64_MAX, 0);
	CHECK_EQ(xsprof_kineto_cpu_trace_size(t), 10);
	CHECK_EQ(xsprof_kineto_transfer_cpu_trace(t, real_ns()), 0);
	CHECK_EQ(xsprof_kineto_cpu_trace_size(t), 0);
	xsprof_kineto_cpu_trace_free(t);
	r = stop();
	json = saved(r);
	line = event_line(json, "cpu_op", "aten::mm", 0);
	must_have(line, track);
	must_have(line, "\"External id\":17");
	must_have(line, "\"Input Dims\":[[2, 3], []]");
	must_have(line, "\"Call \\\"stack\\\"\":\"a\\nb\\\\\"");
	/* Strings that continue in other records come out unchanged. */
	text[0] = 'y';
	CHECK_EQ(strlen(line) > 5900, 1);
	text[1] = 'y';
	text[2999] = '\0';
	must_have(line, text);
	must_have(event_line(json, "user_annotation", "epoch", 0), "\"External id\":7");
	must_have(event_line(json, "cuda_runtime", "cudaLaunchKernel", 0), track);
	line = event_line(json, "cpu_instant_event", "[memory]", 0);
	must_have(line, "\"ph\":\"i\"");
	must_not_have(line, "\"dur\"");
	must_have(event_line(json, "python_function", "nn.Module: Net", 0), track);
	must_have(event_line(json, "kernel", "gemm", 0), "\"pid\":3,\"tid\":7,");
	must_have(event_line(json, "cpu_op", "away", 0), "\"pid\":77,\"tid\":4000000,");
	must_have(event_line(json, "Trace", "Test Profiler", 0), "\"Op count\":10");
	must_not_have(json, "\"long ago\"");
	must_not_have(json, "\"never\"");
	must_not_have(json, "\"activity\"");
	must_not_have(json, "\"resource\"");
	/* In the order in which they were added. */
	CHECK(strstr(json, "\"aten::mm\"") < strstr(json, "\"aten::add\"") &&
	      strstr(json, "\"aten::add\"") < strstr(json, "\"epoch\""));
	free(json);
	tap_result("each activity under its category, where it was");

	ev = ops_find(r, "aten::mm", 0);
	if (!ev)
		tap_bail("no event");
	CHECK_EQ(xsprof_event_kind(ev), XSPROF_EVENT_OP);
	CHECK_EQ(xsprof_event_correlation_id(ev), 17);
	CHECK_EQ(xsprof_event_start_thread_id(ev), gettid());
	CHECK_EQ(xsprof_event_sequence_number(ev), -1);
	check_time(xsprof_event_start_ns(ev), from + 2 * ms);
	check_time(xsprof_event_end_ns(ev), from + 9 * ms);
	check_time(xsprof_event_duration_ns(ev), 7 * ms);
	must_have(xsprof_event_kwargs(ev), "\"Input Dims\":[[2, 3], []]");
	must_not_have(xsprof_event_kwargs(ev), "activity");
	CHECK(xsprof_event_child(ev) && !strcmp(xsprof_event_name(xsprof_event_child(ev)),
						"aten::add"));
	CHECK_EQ(xsprof_event_kind(ops_find(r, "nn.Module: Net", 0)),
		 XSPROF_EVENT_PYTHON_FUNCTION);
	CHECK_EQ(xsprof_event_kind(ops_find(r, "cudaLaunchKernel", 0)), XSPROF_EVENT_RUNTIME);
	ev = ops_find(r, "gemm", 0);
	CHECK_EQ(xsprof_event_device_type(ev), XSPROF_DEVICE_CUDA);
	CHECK_EQ(xsprof_event_device_index(ev), 3);
	CHECK_EQ(xsprof_event_device_resource_id(ev), 7);
	CHECK_EQ(xsprof_event_duration_ns(ops_find(r, "[memory]", 0)), 0);
	CHECK_EQ(xsprof_event_process_id(ops_find(r, "away", 0)), 77);
	CHECK(!ops_find(r, "never", 0));
	xsprof_result_free(r);
	tap_result("activities as events, with their times");
}

/* Types that the trace does not include are left out. */
static void test_not_wanted(void)
{
	for (int cpu = 0; cpu < 2; cpu++) {
		uint32_t of = cpu ? XSPROF_ACTIVITY(CPU) : XSPROF_ACTIVITY(CUDA);
		struct xsprof_kineto_cpu_trace *t;
		struct xsprof_result *r;
		uint64_t now;
		char *json;

		CHECK_EQ(xsprof_kineto_prepare_trace(false, of, NULL), 0);
		CHECK_EQ(xsprof_kineto_start_trace(), 0);
		now = real_ns();
		usleep(2000);
		t = xsprof_kineto_cpu_trace_new(NULL, 0);
		add(t, "host", XSPROF_ACTIVITY_TYPE_CPU_OP, now + 9, now + 1000000, 0);
		add(t, "device", XSPROF_ACTIVITY_TYPE_GPU_MEMSET, now + 9, now + 1000000, 0);
		add(t, "call", XSPROF_ACTIVITY_TYPE_CUDA_RUNTIME, now + 9, now + 1000000, 0);
		CHECK_EQ(xsprof_kineto_transfer_cpu_trace(t, 0), 0);
		xsprof_kineto_cpu_trace_free(t);
		r = stop();
		json = saved(r);
		CHECK_EQ(!!strstr(json, "\"name\":\"host\""), cpu);
		CHECK_EQ(!!strstr(json, "\"name\":\"device\""), !cpu);
		CHECK(strstr(json, "\"name\":\"call\""));
		must_not_have(json, "Op count\":3");
		free(json);
		xsprof_result_free(r);
	}
	tap_result("a trace of the CPU alone, and of devices alone");
}

/* More than fit into a ring. */
static void test_many(void)
{
	struct xsprof_kineto_cpu_trace *t = xsprof_kineto_cpu_trace_new("Many", 0);
	const unsigned int nr = 150000;
	struct xsprof_result *r;
	uint64_t now;
	char *json;

	start();
	now = real_ns();
	usleep(20000);
	for (unsigned int i = 0; i < nr; i++)
		if (add(t, "one", XSPROF_ACTIVITY_TYPE_CPU_OP, now + i, now + i + 1, i + 1) != i)
			tap_bail("no memory");
	CHECK_EQ(xsprof_kineto_transfer_cpu_trace(t, real_ns()), 0);
	/* Once more, with an activity added after the first transfer. */
	CHECK_EQ(add(t, "late", XSPROF_ACTIVITY_TYPE_CPU_OP, now + 5, now + 6, 0), 0);
	CHECK_EQ(xsprof_kineto_transfer_cpu_trace(t, real_ns()), 0);
	xsprof_kineto_cpu_trace_free(t);
	r = stop();
	CHECK_EQ(xsprof_result_nr_events(r), nr + 1);
	json = saved(r);
	must_have(json, "\"xsprof_lost_records\": 0,");
	must_have(json, "\"xsprof_lost_slots\": 0,");
	must_have(event_line(json, "cpu_op", "late", 0), "\"ph\":\"X\"");
	free(json);
	xsprof_result_free(r);
	tap_result("%u activities at once: none is lost", nr);
}

static void *transfer(void *data)
{
	struct xsprof_kineto_cpu_trace *t = xsprof_kineto_cpu_trace_new(NULL, 0);
	uint64_t now = real_ns();

	(void)data;
	usleep(1000);
	add(t, "from afar", XSPROF_ACTIVITY_TYPE_CPU_OP, now, now + 1000, 0);
	CHECK_EQ(xsprof_kineto_transfer_cpu_trace(t, 0), 0);
	xsprof_kineto_cpu_trace_free(t);
	pthread_setname_np(pthread_self(), "a \"thread\"");
	CHECK_EQ(xsprof_kineto_record_thread_info(), 0);
	return NULL;
}

/* A session of one thread also gets activities that other threads add. */
static void test_sessions(void)
{
	struct xsprof_profiler_config config = { .size = sizeof(config),
						 .state = XSPROF_PROFILER_CPU };
	struct xsprof_kineto_cpu_trace *t = xsprof_kineto_cpu_trace_new(NULL, 0);
	struct xsprof_result *r;
	char *json;

	CHECK_EQ(xsprof_enable_profiler(&config, XSPROF_ACTIVITY(CPU), 0), 0);
	in_thread(transfer, NULL);
	in_thread(op_of_thread, (void *)"not joined");
	r = stop();
	CHECK_EQ(xsprof_result_nr_events(r), 1);
	json = saved(r);
	must_have(event_line(json, "cpu_op", "from afar", 0), "\"ph\":\"X\"");
	must_not_have(json, "not joined");
	free(json);
	xsprof_result_free(r);
	config.state = XSPROF_PROFILER_ITT;
	CHECK_EQ(xsprof_enable_profiler(&config, XSPROF_ACTIVITY(CPU), 0), 0);
	CHECK_EQ(xsprof_kineto_transfer_cpu_trace(t, 0), -ENODATA);
	r = (void *)1;
	CHECK_EQ(xsprof_disable_profiler(&r), 0);
	CHECK(!r);
	xsprof_kineto_cpu_trace_free(t);
	tap_result("activities of whichever thread, in a session of one, and of none");
}

static void test_threads(void)
{
	char want[200], *json;
	struct xsprof_result *r;
	const char *line;

	CHECK_EQ(xsprof_kineto_record_thread_info(), -ENOENT);
	start();
	CHECK_EQ(xsprof_kineto_record_thread_info(), 0);
	in_thread(transfer, NULL);
	r = stop();
	json = saved(r);
	line = strstr(json, "\"name\":\"thread_info\"");
	CHECK(line);
	snprintf(want, sizeof(want), "\"pid\":%d,\"tid\":%d,", getpid(), gettid());
	must_have(line ? line : "", want);
	snprintf(want, sizeof(want), "{\"System thread id\":%d,\"Pthread id\":%llu,\"Name\":\"",
		 gettid(), (unsigned long long)pthread_self());
	must_have(line ? line : "", want);
	must_have(json, "\"Name\":\"a \\\"thread\\\"\"}}");
	/* Its track has a name although it is empty. */
	snprintf(want, sizeof(want), "\"thread %d (", gettid());
	must_have(json, want);
	must_not_have(json, "\"cpu_instant_event\"");
	free(json);
	CHECK_EQ(xsprof_result_nr_events(r), 1);
	xsprof_result_free(r);
	tap_result("threads are known by their numbers and names");
}

int main(int argc, char **argv)
{
	shim_path(argc, argv);
	test_refused();
	test_transfer();
	test_not_wanted();
	test_many();
	test_sessions();
	test_threads();
	return tap_done();
}
