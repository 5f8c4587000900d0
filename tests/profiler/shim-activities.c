// SPDX-License-Identifier: GPL-2.0-only
/*
 * Activities that a program timed itself, ids that it pushed, threads that it makes known: what
 * they are in a trace.
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

/* Is it there to 100 us?  Clocks are what differs. */
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
	/* Strings that go on from record to record come out as they went in. */
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
	/* As they were added. */
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

/* The types that a trace is not of are left out of it. */
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

/* So many do not fit a ring. */
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
	/* And once more, what there is after it. */
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

/* A session of one thread has what others give for it. */
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
	/* Its track is named although there is nothing on it. */
	snprintf(want, sizeof(want), "\"thread %d (", gettid());
	must_have(json, want);
	must_not_have(json, "\"cpu_instant_event\"");
	free(json);
	CHECK_EQ(xsprof_result_nr_events(r), 1);
	xsprof_result_free(r);
	tap_result("threads are known by their numbers and names");
}

/* ---- ids ------------------------------------------------------------------------------------ */

/* The records are there, in whichever order they are pushed and popped. */
static void test_pushed(void)
{
	struct xsprof_result *r;

	xsprof_kineto_pop_correlation_id();
	xsprof_kineto_pop_user_correlation_id();
	start();
	xsprof_kineto_push_correlation_id(5);
	xsprof_kineto_push_user_correlation_id(6);
	xsprof_kineto_pop_correlation_id();
	xsprof_kineto_pop_user_correlation_id();
	xsprof_kineto_pop_correlation_id();
	op("inside");
	r = stop();
	CHECK_EQ(xsprof_result_nr_events(r), 1);
	xsprof_result_free(r);
	tap_result("ids pushed and popped, also where there are none");
}

static void launch(struct ops *o, uint64_t ts, uint64_t correlation, uint32_t stream)
{
	struct xsprof_rec_gpu call = { .start = ts - 5, .end = ts - 1 };
	struct xsprof_rec_gpu kernel = { .start = ts + 5000, .end = ts + 5010,
					 .stream = stream };

	ops_args(o, XSPROF_REC_GPU, TID, ts, ops_name(o, "cudaLaunchKernel"), XSPROF_GPU_RUNTIME,
		 correlation, &call.start, sizeof(call) - sizeof(call.rec), NULL);
	ops_gpu(o, ts + 1, XSPROF_GPU_KERNEL, "gemm", correlation, kernel);
}

static void note(struct ops *o, uint64_t ts, const char *type, const char *name, uint64_t id)
{
	struct blob b = { 0 };

	blob_put(&b, XSPROF_KEY_ACTIVITY, XSPROF_ARG_NAME, ops_name(o, type), NULL, 0);
	blob_put(&b, XSPROF_KEY_DEVICE, XSPROF_ARG_I64, PID, NULL, 0);
	blob_put(&b, XSPROF_KEY_RESOURCE, XSPROF_ARG_I64, TID, NULL, 0);
	ops_args(o, XSPROF_REC_SPAN, TID, ts, ops_name(o, name), 0, id,
		 (uint64_t[]){ 2000, 4000, 0, 0 }, 32, &b);
}

static void test_links(void)
{
	struct xsprof_result *r;
	struct ops o;
	char *json;

	ops_begin(&o);
	ops_op_as(&o, TID, 2000, "op", 0, 0, (struct xsprof_rec_op){ .sequence = -1,
		  .correlation = 55 }, NULL);
	launch(&o, 2100, 1, 7);			/* the op's */
	ops_rec(&o, XSPROF_REC_CORR_PUSH, TID, 2200, NULL, 0, 70);
	ops_rec(&o, XSPROF_REC_CORR_PUSH, TID, 2201, NULL, 1, 7001);
	launch(&o, 2300, 2, 7);			/* 70's, inside the op */
	ops_rec(&o, XSPROF_REC_CORR_PUSH, TID, 2400, NULL, 0, 71);
	ops_rec(&o, XSPROF_REC_CORR_PUSH, TID, 2401, NULL, 1, 7002);
	launch(&o, 2500, 3, 8);			/* 71's and 7002's */
	ops_rec(&o, XSPROF_REC_CORR_POP, TID, 2600, NULL, 1, 0);
	ops_rec(&o, XSPROF_REC_CORR_POP, TID, 2601, NULL, 0, 0);
	launch(&o, 2700, 4, 7);			/* 70's and 7001's again */
	ops_op_as(&o, TID, 2750, "inner", 0, 0, (struct xsprof_rec_op){ .sequence = -1,
		  .correlation = 56 }, NULL);
	launch(&o, 2800, 5, 9);			/* the inner op's, and 7001's */
	ops_end(&o, TID, 2850);
	ops_rec(&o, XSPROF_REC_CORR_POP, TID, 2900, NULL, 1, 0);
	ops_rec(&o, XSPROF_REC_CORR_POP, TID, 2901, NULL, 0, 0);
	launch(&o, 3000, 6, 7);			/* the op's again, nobody's annotation */
	ops_rec(&o, XSPROF_REC_CORR_PUSH, TID, 3100, NULL, 1, 7003);
	launch(&o, 3200, 7, 7);			/* of an annotation that never comes */
	ops_end(&o, TID, 3300);
	note(&o, 9000, "cpu_op", "pushed", 70);
	note(&o, 9001, "user_annotation", "epoch", 7001);
	note(&o, 9002, "user_annotation", "batch", 7002);
	note(&o, 9003, "somebody's \"own\"", "other", 0);
	r = ops_result(&o, NULL);
	json = saved(r);
	for (unsigned int i = 0; i < 7; i++) {
		static const unsigned int ids[] = { 55, 70, 71, 70, 56, 55, 55 };
		char want[60];

		snprintf(want, sizeof(want), "\"External id\":%u,\"correlation\":%u", ids[i],
			 i + 1);
		must_have(event_line(json, "cuda_runtime", "cudaLaunchKernel", i), want);
		snprintf(want, sizeof(want), "\"External id\":%u,", ids[i]);
		must_have(event_line(json, "kernel", "gemm", i), want);
	}
	tap_result("a launch belongs to the innermost op, whether it was pushed or recorded");

	must_have(event_line(json, "gpu_user_annotation", "epoch", 0),
		  "\"tid\":7,\"ts\":");
	/* 412 ns, in steps of 1/4096 us. */
	must_have(event_line(json, "gpu_user_annotation", "epoch", 0), "\"dur\":0.412109375,");
	must_have(event_line(json, "gpu_user_annotation", "epoch", 0), "\"External id\":7001");
	must_have(event_line(json, "gpu_user_annotation", "epoch", 1), "\"tid\":9,\"ts\":");
	CHECK_STR(event_line(json, "gpu_user_annotation", "epoch", 2), "");
	must_have(event_line(json, "gpu_user_annotation", "batch", 0), "\"External id\":7002");
	CHECK_STR(event_line(json, "gpu_user_annotation", "batch", 1), "");
	must_have(event_line(json, "somebody's \\\"own\\\"", "other", 0), "\"ph\":\"X\"");
	free(json);
	tap_result("what devices did for an annotation, whose name came later");

	CHECK_EQ(xsprof_event_linked_correlation_id(ops_find(r, "gemm", 1)), 70);
	CHECK_EQ(xsprof_event_linked_correlation_id(ops_find(r, "gemm", 2)), 71);
	CHECK_EQ(xsprof_event_linked_correlation_id(ops_find(r, "gemm", 0)), 55);
	xsprof_result_free(r);
	ops_free(&o);
	tap_result("the same of events");
}

/* More annotations at once than any trace has, each on two streams. */
static void test_annotations(void)
{
	const unsigned int nr = 5000;
	struct xsprof_result *r;
	unsigned int n = 0;
	struct ops o;
	char *json;

	ops_begin(&o);
	for (unsigned int i = 0; i < nr; i++) {
		ops_rec(&o, XSPROF_REC_CORR_PUSH, TID, 2000 + 100 * i, NULL, 1, 1000 + i);
		launch(&o, 2010 + 100 * i, 2 * i + 1, 7);
		launch(&o, 2020 + 100 * i, 2 * i + 2, 8);
		ops_rec(&o, XSPROF_REC_CORR_POP, TID, 2030 + 100 * i, NULL, 1, 0);
	}
	for (unsigned int i = 0; i < nr; i++)
		note(&o, 1000000 + i, "user_annotation", "epoch", 1000 + i);
	r = ops_result(&o, NULL);
	json = saved(r);
	for (const char *at = json; (at = strstr(at, "\"gpu_user_annotation\"")); at++)
		n++;
	CHECK_EQ(n, 2 * nr);
	for (unsigned int i = 0; i < nr; i += 499) {
		char want[40];

		snprintf(want, sizeof(want), "\"External id\":%u}", 1000 + i);
		must_have(json, want);
	}
	free(json);
	xsprof_result_free(r);
	ops_free(&o);
	tap_result("%u annotations on two streams", nr);
}

/* As deep as nobody goes, and back; and places that are none. */
static void test_odd(void)
{
	struct xsprof_result *r;
	struct ops o;
	char *json;

	ops_begin(&o);
	for (unsigned int i = 0; i < 10000; i++)
		ops_rec(&o, XSPROF_REC_CORR_PUSH, TID, 2000 + i, NULL, i & 3, i + 1);
	for (unsigned int i = 0; i < 10000; i++)
		ops_rec(&o, XSPROF_REC_CORR_POP, TID, 12000 + i, NULL, i & 3, 0);
	ops_rec(&o, XSPROF_REC_CORR_PUSH, TID, 23000, NULL, 0, 99);
	launch(&o, 23100, 1, 7);
	for (int i = 0; i < 6; i++) {
		static const int64_t places[] = { 0, -1, INT64_MIN, INT64_MAX, 1ll << 32, 70000 };
		static const char *const types[] = { "cpu_op", "kernel", "Trace", "thread_info" };

		for (int k = 0; k < 8; k++) {
			struct blob b = { 0 };

			blob_put(&b, XSPROF_KEY_ACTIVITY, XSPROF_ARG_NAME,
				 ops_name(&o, types[k & 3]), NULL, 0);
			blob_put(&b, XSPROF_KEY_DEVICE, XSPROF_ARG_I64, (uint64_t)places[i],
				 NULL, 0);
			/* Not all of it is there. */
			if (k != 5)
				blob_put(&b, XSPROF_KEY_RESOURCE, XSPROF_ARG_I64,
					 (uint64_t)places[5 - i], NULL, 0);
			blob_put(&b, ops_name(&o, "bad"), XSPROF_ARG_STR, 0, "{\"a\":", 5);
			b.data[b.starts[b.nr - 1] + 5] = XSPROF_ARGF_JSON;
			blob_put(&b, ops_name(&o, "good"), XSPROF_ARG_STR, 0, "{\"a\":1}", 7);
			b.data[b.starts[b.nr - 1] + 5] = XSPROF_ARGF_JSON;
			ops_args(&o, k < 4 ? XSPROF_REC_SPAN : XSPROF_REC_INSTANT, TID, 24000,
				 ops_name(&o, "odd"), 0, 0, (uint64_t[]){ 3000, 2000, 0, 0 },
				 k < 4 ? 32 : 0, &b);
		}
	}
	r = ops_result(&o, NULL);
	json = saved(r);
	must_have(event_line(json, "kernel", "gemm", 0), "\"External id\":99");
	must_have(event_line(json, "cpu_op", "odd", 0),
		  "\"bad\":\"{\\\"a\\\":\",\"good\":{\"a\":1}");
	must_have(event_line(json, "kernel", "odd", 1), "\"pid\":-1,\"tid\":4294967296,");
	CHECK(xsprof_result_nr_events(r) > 10);
	free(json);
	xsprof_result_free(r);
	ops_free(&o);
	tap_result("ids without an end, places that are none, JSON that is none");
}

int main(int argc, char **argv)
{
	snprintf(path, sizeof(path), "%s/xsprof-shim-%d.json", argc > 1 ? argv[1] : "/tmp",
		 (int)getpid());
	test_refused();
	test_transfer();
	test_not_wanted();
	test_many();
	test_sessions();
	test_threads();
	test_pushed();
	test_links();
	test_annotations();
	test_odd();
	return tap_done();
}
