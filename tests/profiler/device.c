// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sessions with a device measure ops with the device's own events.
 */
#include "profiler/saved.h"
#include "profiler/stubs.h"

/* Returns the first event of that name. */
static const struct xsprof_profiler_event *find(struct xsprof_result *r, const char *name)
{
	for (int64_t i = 0; i < xsprof_result_nr_events(r); i++)
		if (!strcmp(xsprof_event_name(xsprof_result_event(r, i)), name))
			return xsprof_result_event(r, i);
	tap_bail("there is no %s", name);
}

static int64_t elapsed(struct xsprof_result *r, const char *name)
{
	return xsprof_event_device_elapsed_ns(find(r, name));
}

static void test_none(void)
{
	struct xsprof_device_stubs bad = stubs;
	struct xsprof_result *r;

	CHECK_EQ(begin(XSPROF_PROFILER_KINETO_GPU_FALLBACK), -ENODEV);
	CHECK_EQ(begin(XSPROF_PROFILER_KINETO_PRIVATEUSE1_FALLBACK), -ENODEV);
	CHECK_EQ(begin(XSPROF_PROFILER_CUDA), 0);
	begin_op("op");
	xsprof_op_end();
	r = end();
	CHECK_EQ(elapsed(r, "op"), -1);
	CHECK_EQ(xsprof_event_cuda_elapsed_us(xsprof_result_event(r, 0)), -1);
	xsprof_result_free(r);
	bad.size = 8;
	CHECK_EQ(xsprof_register_device_stubs(&bad), -EINVAL);
	bad = stubs;
	bad.record = NULL;
	CHECK_EQ(xsprof_register_device_stubs(&bad), -EINVAL);
	bad = stubs;
	bad.range_pop = NULL;
	CHECK_EQ(xsprof_register_device_stubs(&bad), -EINVAL);
	CHECK_EQ(xsprof_register_device_stubs(&stubs), 0);
	CHECK_EQ(begin(XSPROF_PROFILER_KINETO_GPU_FALLBACK), -ENODEV);
	dev.devices = 2;
	dev.gone = true;
	CHECK_EQ(begin(XSPROF_PROFILER_KINETO_GPU_FALLBACK), -ENODEV);
	dev.gone = false;
	CHECK_EQ(begin(XSPROF_PROFILER_KINETO_PRIVATEUSE1_FALLBACK), -ENODEV);
	tap_result("no stubs, wrong ones, no device: refused");
}

/* outer takes 7 us, of which inner takes 4; both happen twice. */
static void nested(void)
{
	begin_op("outer");
	dev.us += 2;
	begin_op("inner");
	dev.us += 4;
	xsprof_op_end();
	dev.us += 1;
	xsprof_op_end();
}

static const struct xsprof_table_row *row(const struct xsprof_table *t, const char *name)
{
	for (size_t i = 0; i < xsprof_table_nr_rows(t); i++)
		if (!strcmp(xsprof_table_get_row(t, i)->name, name))
			return xsprof_table_get_row(t, i);
	tap_bail("no row of %s", name);
}

static void check_table(struct xsprof_result *r)
{
	struct xsprof_table *t;
	char *text;

	CHECK_EQ(xsprof_result_table(r, 0, 0, XSPROF_SORT_DEVICE, &t), 0);
	CHECK_EQ(row(t, "outer")->device_ns, 2 * 7250);
	CHECK_EQ(row(t, "outer")->self_device_ns, 2 * 3000);
	CHECK_EQ(row(t, "inner")->device_ns, 2 * 4250);
	CHECK_EQ(row(t, "inner")->self_device_ns, 2 * 4250);
	CHECK_EQ(xsprof_table_total(t)->self_device_ns, 2 * 7250);
	text = xsprof_table_text(t, 0);
	CHECK(text && strstr(text, "14.500us"));
	free(text);
	xsprof_table_free(t);
}

static void check_file(struct xsprof_result *r)
{
	const char *text = saved(r);

	CHECK(strstr(text, "\"[device elapsed]\""));
	CHECK(strstr(text, "\"Elapsed us\":7.25"));
}

static void test_times(uint32_t state)
{
	bool own = state == XSPROF_PROFILER_KINETO_PRIVATEUSE1_FALLBACK;
	const struct xsprof_profiler_event *ev;
	struct xsprof_result *r;

	memset(dev.heard, 0, sizeof(dev.heard));
	dev.waits = dev.recorded = 0;
	dev.runs_ops = true;
	begin_op("before");
	CHECK_EQ(begin(state), 0);
	CHECK_EQ(xsprof_register_device_stubs(NULL), -EBUSY);
	xsprof_op_end();
	nested();
	nested();
	begin_op("open");
	r = end();
	xsprof_op_end();
	dev.runs_ops = false;
	/* Each device was warmed up. */
	CHECK_EQ(dev.recorded, 2 + 4 * 2 + 1);
	CHECK_EQ(dev.waits, 2);
	CHECK(!strcmp(dev.heard, "__start_profile__stop_profile"));
	CHECK_EQ(elapsed(r, "outer"), 7250);
	CHECK_EQ(elapsed(r, "inner"), 4250);
	CHECK_EQ(elapsed(r, "open"), -1);
	/* Ops inside the device's own calls are not measured. */
	CHECK_EQ(elapsed(r, "inside"), -1);
	ev = find(r, "outer");
	CHECK_EQ(xsprof_event_cuda_elapsed_us(ev), own ? -1 : 7);
	CHECK_EQ(xsprof_event_privateuse1_elapsed_us(ev), own ? 7 : -1);
	CHECK_EQ(xsprof_event_device_type(ev), XSPROF_DEVICE_CPU);
	check_table(r);
	check_file(r);
	xsprof_result_free(r);
}

/* Ops without a time: while toggled off, of an unwanted scope, of a device that fails. */
static void test_left_out(void)
{
	struct xsprof_profiler_config config = { .size = sizeof(config),
						 .state = XSPROF_PROFILER_KINETO_GPU_FALLBACK };
	struct xsprof_op user = { .name = xsprof_name("user"), .sequence = -1,
				  .scope = XSPROF_OP_USER_SCOPE };
	struct xsprof_result *r;

	CHECK_EQ(xsprof_enable_profiler(&config, XSPROF_ACTIVITY(CPU), XSPROF_OP(FUNCTION)), 0);
	begin_op("a");
	xsprof_op_begin(&user);
	dev.us += 1;
	begin_op("b");
	CHECK_EQ(xsprof_toggle_collection(false, 0), 0);
	begin_op("left out");
	CHECK_EQ(xsprof_toggle_collection(true, 0), 0);
	dev.us += 1;
	xsprof_op_end();
	dev.us += 1;
	xsprof_op_end();
	xsprof_op_end();
	dev.fails = true;
	begin_op("c");
	xsprof_op_end();
	dev.fails = false;
	begin_op("d");
	dev.fails = true;
	xsprof_op_end();
	dev.fails = false;
	begin_op("e");
	dev.us += 1;
	xsprof_emit_op_end_earlier(xsprof_name("e"));
	xsprof_op_end();
	r = end();
	CHECK_EQ(xsprof_result_nr_events(r), 5);
	CHECK_EQ(elapsed(r, "a"), 4250);
	CHECK_EQ(elapsed(r, "b"), 2250);
	CHECK_EQ(elapsed(r, "c"), -1);
	CHECK_EQ(elapsed(r, "d"), -1);
	CHECK_EQ(elapsed(r, "e"), -1);
	xsprof_result_free(r);
	tap_result("ops without a time are in nobody's way");
}

/* An op that is open at the end of a session is not in the next, whatever measures it. */
static void test_open(void)
{
	static const uint32_t states[] = { XSPROF_PROFILER_KINETO,
					   XSPROF_PROFILER_KINETO_GPU_FALLBACK };
	struct xsprof_result *r;

	for (unsigned int i = 0; i < 2; i++) {
		CHECK_EQ(begin(states[i]), 0);
		begin_op("around");
		r = end();
		CHECK_EQ(xsprof_result_nr_events(r), 1);
		CHECK(xsprof_event_unfinished(find(r, "around")));
		xsprof_result_free(r);
		xsprof_op_end();
		CHECK_EQ(begin(states[i]), 0);
		begin_op("next");
		xsprof_op_end();
		r = end();
		CHECK_EQ(xsprof_result_nr_events(r), 1);
		CHECK(!xsprof_event_unfinished(find(r, "next")));
		xsprof_result_free(r);
	}
	tap_result("an op that is open at the end of a session is not of the next");
}

static void test_ranges(void)
{
	memset(dev.heard, 0, sizeof(dev.heard));
	CHECK_EQ(begin(XSPROF_PROFILER_PRIVATEUSE1), 0);
	nested();
	CHECK_EQ(xsprof_disable_profiler(NULL), 0);
	CHECK(!strcmp(dev.heard, "outerinner.."));
	tap_result("state PRIVATEUSE1 gives ops to the stubs where nobody else has them");
}

int main(void)
{
	struct xsprof_device_stubs own = stubs;

	test_none();
	test_times(XSPROF_PROFILER_KINETO_GPU_FALLBACK);
	tap_result("KINETO_GPU_FALLBACK: times of ops, sums of them, in files");
	test_times(XSPROF_PROFILER_CUDA);
	tap_result("the same in state CUDA");
	test_left_out();
	test_open();
	CHECK_EQ(xsprof_register_device_stubs(NULL), 0);
	own.device_type = XSPROF_DEVICE_PRIVATEUSE1;
	CHECK_EQ(xsprof_register_device_stubs(&own), 0);
	CHECK_EQ(begin(XSPROF_PROFILER_KINETO_GPU_FALLBACK), -ENODEV);
	test_times(XSPROF_PROFILER_KINETO_PRIVATEUSE1_FALLBACK);
	tap_result("KINETO_PRIVATEUSE1_FALLBACK");
	test_ranges();
	return tap_done();
}
