// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ids that a program pushed: which launches and device activities they link to the trace's ops and
 * annotations.
 *
 *	shim-ids [FOLDER]
 */
#include "profiler/ops.h"
#include "profiler/shim.h"

/* The records exist, whatever the order of pushes and pops. */
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
	launch(&o, 3000, 6, 7);			/* the op's again, no annotation's */
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

/* More open annotations than any trace has, each on two streams. */
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

/* Deeper nesting than any program has, and back; and invalid places. */
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
			/* Some of its parts are missing. */
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
	shim_path(argc, argv);
	test_pushed();
	test_links();
	test_annotations();
	test_odd();
	return tap_done();
}
