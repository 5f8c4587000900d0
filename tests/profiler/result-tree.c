// SPDX-License-Identifier: GPL-2.0-only
/*
 * Results: what becomes an event, nesting, durations, what is left out.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profiler/ops.h"
#include "profiler/times.h"
#include "common/tap.h"

static void test_nesting(void)
{
	static const char *const order[] = { "outer", "other", "inner", "range", "point", "whole",
					     "inner", "open", "late" };
	struct xsprof_result *r;
	struct ops o;
	event ev;

	nested(&o);
	r = ops_result(&o, NULL);
	CHECK_EQ(xsprof_result_nr_events(r), 9);
	for (unsigned int i = 0; i < 9 && xsprof_result_event(r, i); i++)
		CHECK_STR(xsprof_event_name(xsprof_result_event(r, i)), order[i]);
	CHECK(!xsprof_result_event(r, 9));
	/* 1000 minus inner 300, whole 200 and inner 100; inner 300 minus range 100. */
	check_times(must(r, "outer", 0), 2000, 3000, 400);
	check_times(must(r, "inner", 0), 2100, 2400, 200);
	check_times(must(r, "range", 0), 2200, 2300, 100);
	check_times(must(r, "whole", 0), 2500, 2700, 200);
	check_times(must(r, "other", 0), 2050, 2850, 800);
	check_times(must(r, "open", 0), 3100, 4000, 900);
	check_times(must(r, "point", 0), 2250, 2250, 0);
	CHECK(xsprof_event_unfinished(must(r, "open", 0)));
	CHECK(!xsprof_event_unfinished(must(r, "outer", 0)));
	/* The tree: roots in the order of begins, over all threads. */
	ev = xsprof_result_tree(r);
	CHECK(ev == must(r, "outer", 0));
	CHECK(xsprof_event_next(ev) == must(r, "other", 0));
	CHECK(xsprof_event_next(must(r, "other", 0)) == must(r, "open", 0));
	CHECK(xsprof_event_next(must(r, "open", 0)) == must(r, "late", 0));
	CHECK(!xsprof_event_next(must(r, "late", 0)) && !xsprof_event_parent(ev));
	ev = xsprof_event_child(ev);
	CHECK(ev == must(r, "inner", 0) && xsprof_event_parent(ev) == must(r, "outer", 0));
	CHECK(xsprof_event_next(ev) == must(r, "whole", 0));
	CHECK(xsprof_event_next(must(r, "whole", 0)) == must(r, "inner", 1));
	CHECK(xsprof_event_parent(must(r, "point", 0)) == must(r, "range", 0));
	CHECK(!xsprof_event_child(must(r, "other", 0)));
	/* Kinds, and their attributes. */
	CHECK_EQ(xsprof_event_kind(must(r, "outer", 0)), XSPROF_EVENT_OP);
	CHECK_EQ(xsprof_event_kind(must(r, "range", 0)), XSPROF_EVENT_ANNOTATION);
	CHECK_EQ(xsprof_event_kind(must(r, "whole", 0)), XSPROF_EVENT_ANNOTATION);
	CHECK_EQ(xsprof_event_kind(must(r, "point", 0)), XSPROF_EVENT_INSTANT);
	CHECK(xsprof_event_is_user_annotation(must(r, "range", 0)));
	CHECK(!xsprof_event_is_user_annotation(must(r, "outer", 0)));
	CHECK_EQ(xsprof_event_process_id(must(r, "outer", 0)), PID);
	CHECK_EQ(xsprof_event_start_thread_id(must(r, "other", 0)), 101);
	CHECK_EQ(xsprof_event_end_thread_id(must(r, "other", 0)), 101);
	CHECK_EQ(xsprof_event_device_resource_id(must(r, "other", 0)), 101);
	CHECK_EQ(xsprof_event_sequence_number(must(r, "range", 0)), -1);
	CHECK_STR(xsprof_event_shapes(must(r, "outer", 0)), "");
	CHECK_EQ(xsprof_event_nr_frames(must(r, "outer", 0)), 0);
	CHECK_STR(xsprof_event_frame(must(r, "outer", 0), 0), "");
	CHECK_STR(xsprof_result_error(r), "");
	xsprof_result_free(r);
	ops_free(&o);
	tap_result("what is inside what, and self times");
}

static void test_filters(void)
{
	uint32_t tids[] = { 7, 101 };
	struct xsprof_result_options opts = { .size = sizeof(opts), .tids = tids, .nr_tids = 2 };
	struct xsprof_result *r;
	struct ops o;

	nested(&o);
	r = ops_result(&o, &opts);
	tids[1] = 0;	/* the result has its own copy */
	CHECK_EQ(xsprof_result_nr_events(r), 2);
	check_times(must(r, "other", 0), 2050, 2850, 800);
	must(r, "late", 0);
	xsprof_result_free(r);
	ops_free(&o);
	tap_result("certain threads");

	nested(&o);
	opts = (struct xsprof_result_options){ .size = sizeof(opts), .pid = PID + 1 };
	r = ops_result(&o, &opts);
	CHECK_EQ(xsprof_result_nr_events(r), 0);
	CHECK(!xsprof_result_tree(r) && !xsprof_result_event(r, 0));
	xsprof_result_free(r);
	ops_free(&o);
	nested(&o);
	opts.pid = 4711;	/* the pid that the program sees */
	r = ops_result(&o, &opts);
	CHECK_EQ(xsprof_result_nr_events(r), 9);
	xsprof_result_free(r);
	ops_free(&o);
	tap_result("a certain process");

	ops_begin(&o);
	ops_op_as(&o, TID, 2000, "forward", XSPROF_OP_FUNCTION, 5, (struct xsprof_rec_op){
		  .sequence = 3, .forward_thread = 0, .correlation = 2 }, NULL);
	ops_op_as(&o, TID, 2100, "user", XSPROF_OP_USER_SCOPE, 6, (struct xsprof_rec_op){
		  .sequence = -1 }, NULL);
	ops_op_as(&o, TID, 2200, "backward", XSPROF_OP_BACKWARD_FUNCTION, 7, (struct xsprof_rec_op){
		  .sequence = 3, .forward_thread = 9, .correlation = 1 }, NULL);
	ops_end(&o, TID, 2300);
	ops_end(&o, TID, 2400);
	ops_end(&o, TID, 2500);
	opts = (struct xsprof_result_options){ .size = sizeof(opts),
		.scopes = XSPROF_OP(FUNCTION) | XSPROF_OP(BACKWARD_FUNCTION) };
	r = ops_result(&o, &opts);
	CHECK_EQ(xsprof_result_nr_events(r), 2);
	check_times(must(r, "forward", 0), 2000, 2500, 400);
	CHECK(xsprof_event_parent(must(r, "backward", 0)) == must(r, "forward", 0));
	CHECK_EQ(xsprof_event_forward_thread_id(must(r, "backward", 0)), 9);
	CHECK_EQ(xsprof_event_sequence_number(must(r, "backward", 0)), 3);
	CHECK_EQ(xsprof_event_record_function_id(must(r, "forward", 0)), 5);
	CHECK_EQ(xsprof_event_scope(must(r, "backward", 0)), XSPROF_OP_BACKWARD_FUNCTION);
	CHECK_EQ(xsprof_event_correlation_id(must(r, "forward", 0)), 2);
	xsprof_result_free(r);
	r = ops_result(&o, NULL);
	/* 1 and 2 are in use. */
	CHECK_EQ(xsprof_event_correlation_id(must(r, "user", 0)), 3);
	CHECK(xsprof_event_is_user_annotation(must(r, "user", 0)));
	xsprof_result_free(r);
	ops_free(&o);
	tap_result("certain scopes");
}

/* The engine's range around a node takes the numbers of its first inner op that has them. */
static void test_nodes(void)
{
	static const struct xsprof_rec_op none = { .sequence = -1 };
	static const char node[] = "autograd::engine::evaluate_function: MulBackward0";
	struct xsprof_result *r;
	struct ops o;

	ops_begin(&o);
	ops_op_as(&o, TID, 2000, node, XSPROF_OP_FUNCTION, 5, none, NULL);
	ops_op_as(&o, TID, 2100, "MulBackward0", XSPROF_OP_BACKWARD_FUNCTION, 6,
		  (struct xsprof_rec_op){ .sequence = 4, .forward_thread = 9 }, NULL);
	ops_op_as(&o, TID, 2200, "inner", XSPROF_OP_BACKWARD_FUNCTION, 7,
		  (struct xsprof_rec_op){ .sequence = 5, .forward_thread = 8 }, NULL);
	ops_end(&o, TID, 2300);
	ops_end(&o, TID, 2400);
	ops_op_as(&o, TID, 2500, "after", XSPROF_OP_BACKWARD_FUNCTION, 8,
		  (struct xsprof_rec_op){ .sequence = 6, .forward_thread = 7 }, NULL);
	ops_end(&o, TID, 2600);
	ops_end(&o, TID, 2700);
	r = ops_result(&o, NULL);
	CHECK_EQ(xsprof_event_sequence_number(must(r, node, 0)), 4);
	CHECK_EQ(xsprof_event_forward_thread_id(must(r, node, 0)), 9);
	CHECK_EQ(xsprof_event_sequence_number(must(r, "MulBackward0", 0)), 4);
	xsprof_result_free(r);
	ops_free(&o);
	tap_result("nodes of autograd");
}

static void test_steps(void)
{
	struct xsprof_result *r;
	struct ops o;

	ops_begin(&o);
	ops_rec(&o, XSPROF_REC_STEP, TID, 2000, "ProfilerStep", 0, 7);
	ops_op(&o, TID, 2100, "a", NULL);
	ops_end(&o, TID, 2300);
	ops_rec(&o, XSPROF_REC_STEP, TID, 3000, "ProfilerStep", 0, 8);
	ops_op(&o, TID, 3100, "b", NULL);
	ops_end(&o, TID, 3500);
	r = ops_result(&o, NULL);
	check_times(must(r, "ProfilerStep#7", 0), 2000, 3000, 800);
	check_times(must(r, "ProfilerStep#8", 0), 3000, 3500, 100);
	CHECK(!xsprof_event_unfinished(must(r, "ProfilerStep#7", 0)));
	CHECK(xsprof_event_unfinished(must(r, "ProfilerStep#8", 0)));
	CHECK(xsprof_event_parent(must(r, "b", 0)) == must(r, "ProfilerStep#8", 0));
	CHECK_EQ(xsprof_event_kind(must(r, "ProfilerStep#7", 0)), XSPROF_EVENT_ANNOTATION);
	xsprof_result_free(r);
	ops_free(&o);
	tap_result("steps");
}

static void test_overlaps(void)
{
	struct xsprof_result *r;
	struct ops o;

	ops_begin(&o);
	ops_rec(&o, XSPROF_REC_ASYNC_BEGIN, TID, 2000, "async", 0, 1);
	ops_op(&o, TID, 2100, "op", NULL);
	ops_rec(&o, XSPROF_REC_ASYNC_END, 101, 2150, "async", 0, 1);
	ops_op(&o, TID, 2200, "in", NULL);
	ops_end(&o, TID, 2250);
	ops_end(&o, TID, 2300);
	/* One begins before op and reaches into it; one begins in op and ends after it. */
	ops_span(&o, TID, 2400, ops_name(&o, "before"), 2050, 2240, 1);
	ops_span(&o, TID, 2400, ops_name(&o, "behind"), 2280, 2350, 2);
	ops_span(&o, TID, 2400, ops_name(&o, "inside"), 2110, 2190, 3);
	r = ops_result(&o, NULL);
	CHECK_EQ(xsprof_result_nr_events(r), 6);
	/* 200 minus in 50 and inside 80. */
	check_times(must(r, "op", 0), 2100, 2300, 70);
	CHECK(!xsprof_event_parent(must(r, "op", 0)));
	CHECK(xsprof_event_is_async(must(r, "before", 0)));
	CHECK(xsprof_event_is_async(must(r, "behind", 0)));
	CHECK(!xsprof_event_is_async(must(r, "inside", 0)));
	CHECK(xsprof_event_parent(must(r, "inside", 0)) == must(r, "op", 0));
	CHECK(xsprof_event_next(must(r, "inside", 0)) == must(r, "in", 0));
	CHECK(!xsprof_event_parent(must(r, "before", 0)));
	CHECK(xsprof_event_is_async(must(r, "async", 0)));
	check_times(must(r, "async", 0), 2000, 2150, 150);
	CHECK_EQ(xsprof_event_start_thread_id(must(r, "async", 0)), TID);
	CHECK_EQ(xsprof_event_end_thread_id(must(r, "async", 0)), 101);
	CHECK(xsprof_result_tree(r) == must(r, "op", 0));
	xsprof_result_free(r);
	ops_free(&o);
	tap_result("ranges that overlap");
}

static void test_memory(void)
{
	struct xsprof_profiler_config config = { .size = sizeof(config), .state = 6 };
	struct xsprof_result_options opts = { .size = sizeof(opts), .config = &config };
	struct blob args = { 0 };
	struct xsprof_result *r;
	struct ops o;
	event ev;

	ops_begin(&o);
	ops_category(&o, 2, "profiler");
	ops_category(&o, 3, "vulkan");
	ops_op(&o, TID, 2000, "op", NULL);
	ops_memory(&o, TID, 2010, 512, XSPROF_DEVICE(1, 2), 0x1000);
	ops_memory(&o, TID, 2020, -256, XSPROF_DEVICE(0, 0), 0x2000);
	blob_put(&args, ops_name(&o, "Bytes"), XSPROF_ARG_U64, 77, NULL, 0);
	blob_put(&args, ops_name(&o, "Total Allocated"), XSPROF_ARG_U64, 88, NULL, 0);
	blob_put(&args, ops_name(&o, "Total Reserved"), XSPROF_ARG_U64, 99, NULL, 0);
	blob_put(&args, ops_name(&o, "Device"), XSPROF_ARG_U64, XSPROF_DEVICE(1, 3), NULL, 0);
	ops_args(&o, XSPROF_REC_INSTANT, TID, 2030, ops_name_in(&o, 2, "[OutOfMemory]"), 0, 0,
		 NULL, 0, &args);
	ops_end(&o, TID, 2100);
	ops_span(&o, TID, 2200, ops_name_in(&o, 3, "shader"), 2050, 2150, 5);
	r = ops_result(&o, NULL);
	ev = must(r, "[memory]", 0);
	CHECK_EQ(xsprof_event_kind(ev), XSPROF_EVENT_MEMORY);
	CHECK_EQ(xsprof_event_nbytes(ev), 512);
	CHECK_EQ(xsprof_event_address(ev), 0x1000);
	CHECK_EQ(xsprof_event_total_allocated(ev), 4096);
	CHECK_EQ(xsprof_event_total_reserved(ev), 8192);
	CHECK_EQ(xsprof_event_device_type(ev), 1);
	CHECK_EQ(xsprof_event_device_index(ev), 2);
	CHECK(xsprof_event_parent(ev) == must(r, "op", 0));
	CHECK_EQ(xsprof_event_nbytes(must(r, "[memory]", 1)), -256);
	ev = must(r, "[OutOfMemory]", 0);
	CHECK_EQ(xsprof_event_kind(ev), XSPROF_EVENT_OUT_OF_MEMORY);
	CHECK_EQ(xsprof_event_nbytes(ev), 77);
	CHECK_EQ(xsprof_event_total_allocated(ev), 88);
	CHECK_EQ(xsprof_event_total_reserved(ev), 99);
	CHECK_EQ(xsprof_event_device_index(ev), 3);
	ev = must(r, "shader", 0);
	CHECK_EQ(xsprof_event_kind(ev), XSPROF_EVENT_VULKAN);
	check_times(ev, 2050, 2150, 100);
	CHECK(!xsprof_event_parent(ev) && !xsprof_event_is_async(ev));
	check_times(must(r, "op", 0), 2000, 2100, 100);
	xsprof_result_free(r);
	r = ops_result(&o, &opts);
	CHECK(!ops_find(r, "[memory]", 0) && !ops_find(r, "[OutOfMemory]", 0));
	xsprof_result_free(r);
	ops_free(&o);
	tap_result("memory, the lack of it, shaders");
}

static void test_open(void)
{
	struct xsprof_result_options opts = { .size = sizeof(opts), .from_ns = 5, .to_ns = 4 };
	struct { struct xsprof_result_options o; uint64_t more; } large = {
		.o.size = sizeof(large), .more = 1 };
	struct xsprof_result *r = (void *)1;
	struct ops o;

	CHECK_EQ(xsprof_result_open("/nonexistent/x", NULL, &r), -ENOENT);
	CHECK(!r);
	CHECK_EQ(xsprof_result_open("/dev/null", NULL, &r), -EINVAL);
	nested(&o);
	cap_end(&o.cap, 1);
	CHECK_EQ(xsprof_result_open(cap_path(o.cap.data, o.cap.len), &opts, &r), -EINVAL);
	CHECK_EQ(xsprof_result_open(cap_path(o.cap.data, o.cap.len), &large.o, &r), -E2BIG);
	xsprof_result_free(NULL);
	ops_free(&o);
	tap_result("what is no capture, and options that make no sense");
}

/* A thousand nested records, and as many nested by their times alone. */
static void test_deep(void)
{
	unsigned int depth = 0, most = 3000;
	struct xsprof_result *r;
	struct ops o;

	ops_begin(&o);
	for (unsigned int i = 0; i < most; i++)
		ops_op(&o, TID, 10000 + i, "deep", NULL);
	for (unsigned int i = 0; i < most; i++)
		ops_end(&o, TID, 20000 + i);
	for (unsigned int i = 0; i < most; i++)
		ops_rec(&o, XSPROF_REC_COMPLETE, TID, 50000 + i, "whole", 0, 2 * i + 1);
	r = ops_result(&o, NULL);
	CHECK_EQ(xsprof_result_nr_events(r), 2 * most);
	for (event ev = xsprof_result_tree(r); ev; ev = xsprof_event_child(ev))
		depth++;
	CHECK_EQ(depth, most);
	depth = 0;
	for (event ev = xsprof_event_next(xsprof_result_tree(r)); ev; ev = xsprof_event_child(ev))
		depth++;
	CHECK_EQ(depth, most);
	check_times(must(r, "deep", 0), 10000, 20000 + most - 1, 2);
	xsprof_result_free(r);
	ops_free(&o);
	tap_result("thousands in one another");
}

int main(void)
{
	test_nesting();
	test_filters();
	test_nodes();
	test_steps();
	test_overlaps();
	test_memory();
	test_open();
	test_deep();
	return tap_done();
}
