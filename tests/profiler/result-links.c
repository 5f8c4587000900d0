// SPDX-License-Identifier: GPL-2.0-only
/*
 * Results: which op a runtime call belongs to, and which device activities belong to which call.
 */
#include "profiler/times.h"

/* Writes an op, runtime calls inside it, and what they launched. */
static void launches(struct ops *o)
{
	ops_begin(o);
	ops_op(o, TID, 2000, "outer", NULL);
	ops_op_as(o, TID, 2100, "op", 0, 0, (struct xsprof_rec_op){ .sequence = -1,
		  .correlation = 55 }, NULL);
	ops_end(o, TID, 2300);
	ops_end(o, TID, 2400);
	ops_op(o, 101, 2410, "elsewhere", NULL);
	ops_rec(o, XSPROF_REC_CORR_PUSH, 101, 2420, NULL, 0, 55);
	ops_rec(o, XSPROF_REC_CORR_POP, 101, 2440, NULL, 0, 0);
	ops_end(o, 101, 2450);
	ops_gpu(o, 5000, XSPROF_GPU_RUNTIME, "cudaLaunchKernel", 900, (struct xsprof_rec_gpu){
		.start = 2150, .end = 2160, .thread = TID });
	ops_gpu(o, 5000, XSPROF_GPU_DRIVER, "cuLaunchKernel", 900, (struct xsprof_rec_gpu){
		.start = 2152, .end = 2155, .thread = TID });
	ops_gpu(o, 5000, XSPROF_GPU_KERNEL, "gemm", 900, (struct xsprof_rec_gpu){
		.start = 2500, .end = 2600, .device = 3, .stream = 7, .context = 1 });
	ops_gpu(o, 5000, XSPROF_GPU_RUNTIME, "cudaMemcpyAsync", 901, (struct xsprof_rec_gpu){
		.start = 2425, .end = 2435, .thread = 101 });
	ops_gpu(o, 5000, XSPROF_GPU_MEMCPY, "copy", 901, (struct xsprof_rec_gpu){
		.start = 2700, .end = 2710, .bytes = 4096, .stream = 8 });
	ops_gpu(o, 5000, XSPROF_GPU_KERNEL, "direct", 55, (struct xsprof_rec_gpu){
		.start = 2800, .end = 2801 });
	ops_gpu(o, 5000, XSPROF_GPU_KERNEL, "stray", 999, (struct xsprof_rec_gpu){
		.start = 2900, .end = 2901 });
}

/* If nothing is left out, the tree is the one in which links were found. */
static void test_calls(void)
{
	struct xsprof_result *r;
	struct ops o;

	ops_begin(&o);
	ops_op(&o, TID, 2000, "op", NULL);
	ops_end(&o, TID, 2100);
	ops_gpu(&o, 3000, XSPROF_GPU_DRIVER, "cuLaunchKernel", 1, (struct xsprof_rec_gpu){
		.start = 2020, .end = 2030, .thread = TID });
	ops_gpu(&o, 3000, XSPROF_GPU_RUNTIME, "cudaLaunchKernel", 1, (struct xsprof_rec_gpu){
		.start = 2010, .end = 2050, .thread = TID });
	r = ops_result(&o, NULL);
	CHECK_EQ(xsprof_result_nr_events(r), 3);
	check_times(must(r, "op", 0), 2000, 2100, 60);
	check_times(must(r, "cudaLaunchKernel", 0), 2010, 2050, 30);
	check_times(must(r, "cuLaunchKernel", 0), 2020, 2030, 10);
	CHECK(xsprof_event_parent(must(r, "cuLaunchKernel", 0)) ==
	      must(r, "cudaLaunchKernel", 0));
	xsprof_result_free(r);
	ops_free(&o);
	tap_result("calls in calls");
}

static void test_links(void)
{
	uint32_t tids[] = { TID };
	struct xsprof_result_options opts = { .size = sizeof(opts), .tids = tids, .nr_tids = 1 };
	struct xsprof_result *r;
	struct ops o;
	event ev;

	launches(&o);
	r = ops_result(&o, NULL);
	CHECK_EQ(xsprof_result_nr_events(r), 10);
	ev = must(r, "cudaLaunchKernel", 0);
	check_times(ev, 2150, 2160, 7);
	CHECK(xsprof_event_child(ev) == must(r, "cuLaunchKernel", 0));
	CHECK_EQ(xsprof_event_kind(ev), XSPROF_EVENT_RUNTIME);
	CHECK(xsprof_event_parent(ev) == must(r, "op", 0));
	CHECK_EQ(xsprof_event_correlation_id(ev), 900);
	CHECK_EQ(xsprof_event_linked_correlation_id(ev), 55);
	CHECK_EQ(xsprof_event_start_thread_id(ev), TID);
	check_times(must(r, "op", 0), 2100, 2300, 190);
	ev = must(r, "gemm", 0);
	CHECK_EQ(xsprof_event_kind(ev), XSPROF_EVENT_KERNEL);
	CHECK_EQ(xsprof_event_linked_correlation_id(ev), 55);
	CHECK_EQ(xsprof_event_device_type(ev), XSPROF_DEVICE_CUDA);
	CHECK_EQ(xsprof_event_device_index(ev), 3);
	CHECK_EQ(xsprof_event_device_resource_id(ev), 7);
	CHECK(!xsprof_event_parent(ev) && !xsprof_event_next(ev));
	check_times(ev, 2500, 2600, 100);
	ev = must(r, "copy", 0);
	CHECK_EQ(xsprof_event_nbytes(ev), 4096);
	CHECK_EQ(xsprof_event_linked_correlation_id(ev), 55);
	CHECK_EQ(xsprof_event_linked_correlation_id(must(r, "direct", 0)), 55);
	CHECK_EQ(xsprof_event_linked_correlation_id(must(r, "stray", 0)), 0);
	CHECK_EQ(xsprof_event_device_resource_id(must(r, "op", 0)), TID);
	xsprof_result_free(r);
	/* Only one thread: without the other's call and what it launched. */
	r = ops_result(&o, &opts);
	CHECK(ops_find(r, "gemm", 0) && !ops_find(r, "copy", 0) && !ops_find(r, "elsewhere", 0));
	CHECK_EQ(xsprof_event_linked_correlation_id(must(r, "gemm", 0)), 55);
	xsprof_result_free(r);
	opts = (struct xsprof_result_options){ .size = sizeof(opts),
		.activities = XSPROF_ACTIVITY(CUDA) };
	r = ops_result(&o, &opts);
	CHECK(!ops_find(r, "op", 0) && !ops_find(r, "outer", 0));
	CHECK_EQ(xsprof_result_nr_events(r), 7);
	CHECK_EQ(xsprof_event_linked_correlation_id(must(r, "gemm", 0)), 55);
	xsprof_result_free(r);
	opts.activities = XSPROF_ACTIVITY(CPU);
	r = ops_result(&o, &opts);
	CHECK_EQ(xsprof_result_nr_events(r), 3);
	check_times(must(r, "op", 0), 2100, 2300, 200);
	xsprof_result_free(r);
	ops_free(&o);
	tap_result("what was launched by what");
}

int main(void)
{
	test_links();
	test_calls();
	return tap_done();
}
