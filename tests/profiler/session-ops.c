// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a profiling session records: which ops, what of each, and other records.
 */
#include "profiler/session-result.h"

/* ---- which ops ------------------------------------------------------------------------------ */

static void test_scopes(void)
{
	struct xsprof_result *r;

	CHECK_EQ(xsprof_enable_profiler(&config, XSPROF_ACTIVITY(CPU),
					XSPROF_OP(FUNCTION) | XSPROF_OP(USER_SCOPE)), 0);
	op("a", XSPROF_OP_FUNCTION, 0);
	op("b", XSPROF_OP_BACKWARD_FUNCTION, 0);
	op("c", XSPROF_OP_USER_SCOPE, 0);
	op("d", 77, 0);
	CHECK_EQ(xsprof_toggle_collection(false, 0), 0);
	op("e", XSPROF_OP_FUNCTION, 0);
	CHECK_EQ(xsprof_toggle_collection(true, XSPROF_ACTIVITY(CPU)), 0);
	op("f", XSPROF_OP_FUNCTION, 0);
	r = end();
	CHECK_EQ(r->n, 6);
	CHECK(!strcmp(r->ev[0].name, "a") && !strcmp(r->ev[2].name, "c") &&
	      !strcmp(r->ev[4].name, "f"));
	CHECK_EQ(r->ev[2].op.scope, XSPROF_OP_USER_SCOPE);
	free(r);
	tap_result("scopes that are not wanted, and a time switched off, are left out");
}

static void begin_op(const char *name)
{
	struct xsprof_op o = { .name = xsprof_name(name), .sequence = XSPROF_NO_SEQUENCE };

	xsprof_op_begin(&o);
}

static char heard[64];

static void hear_push(void *data, const char *name)
{
	CHECK(data == heard);
	strcat(heard, name);
}

static void hear_pop(void *data)
{
	CHECK(data == heard);
	strcat(heard, ".");
}

static const struct xsprof_profiler_backend hears = {
	.size = sizeof(hears), .range_push = hear_push, .range_pop = hear_pop, .data = heard,
};

/* An op ends while collection is off; then one begins. */
static void toggle_between(void)
{
	begin_op("a");
	CHECK_EQ(xsprof_toggle_collection(false, 0), 0);
	xsprof_op_end();
	xsprof_report_vulkan_event(xsprof_name("shader"), xsprof_now(), xsprof_now(), 1);
	CHECK_EQ(xsprof_toggle_collection(true, 0), 0);
	begin_op("b");
	xsprof_op_end();
	begin_op("c");
	CHECK_EQ(xsprof_toggle_collection(false, 0), 0);
	begin_op("left out");
	CHECK_EQ(xsprof_toggle_collection(true, 0), 0);
	xsprof_op_end();
	begin_op("d");
	xsprof_op_end();
	xsprof_op_end();
}

static void test_toggle(void)
{
	struct xsprof_profiler_config c = config;
	static const char *const name[] = { "a", "", "b", "", "c", "d", "", "" };
	struct xsprof_result *r;

	CHECK_EQ(begin(&config), 0);
	toggle_between();
	r = end();
	CHECK_EQ(r->n, 8);
	for (unsigned int i = 0; i < 8; i++) {
		CHECK_EQ(r->ev[i].is_op, *name[i] != 0);
		CHECK(!strcmp(r->ev[i].name, name[i]));
	}
	free(r);
	c.state = XSPROF_PROFILER_PRIVATEUSE1;
	CHECK_EQ(xsprof_profiler_register_backend(&hears), 0);
	CHECK_EQ(begin(&c), 0);
	toggle_between();
	CHECK_EQ(xsprof_disable_profiler(NULL), 0);
	CHECK_EQ(xsprof_profiler_register_backend(NULL), 0);
	if (strcmp(heard, "a.b.cd.."))
		tap_wrong("%s", heard);
	tap_result("ends of ops that began while it was off, or before, are of no other");
}

static void ends_earlier(void)
{
	struct xsprof_op left_out = { .name = xsprof_name("d"), .scope = 77 };

	begin_op("a");
	begin_op("b");
	xsprof_op_begin(&left_out);
	xsprof_emit_op_end_earlier(left_out.name);
	xsprof_emit_op_end_earlier(xsprof_name("b"));
	begin_op("c");
	xsprof_op_end();
	xsprof_op_end();
	xsprof_emit_op_end_earlier(xsprof_name("a"));	/* before the session */
}

static void test_earlier(void)
{
	struct xsprof_profiler_config c = config;
	static const char *const name[] = { "a", "b", "b", "c", "", "", "a" };
	struct xsprof_result *r;

	CHECK_EQ(begin(&config), 0);
	ends_earlier();
	r = end();
	CHECK_EQ(r->n, 7);
	for (unsigned int i = 0; i < 7; i++)
		CHECK(!strcmp(r->ev[i].name, name[i]));
	free(r);
	*heard = '\0';
	c.state = XSPROF_PROFILER_PRIVATEUSE1;
	CHECK_EQ(xsprof_profiler_register_backend(&hears), 0);
	CHECK_EQ(begin(&c), 0);
	ends_earlier();
	CHECK_EQ(xsprof_disable_profiler(NULL), 0);
	CHECK_EQ(xsprof_profiler_register_backend(NULL), 0);
	if (strcmp(heard, "ab.c.."))
		tap_wrong("%s", heard);
	tap_result("an op that ended earlier is taken off, here and where it is given away");
}

static int pushed, popped;

static void count_push(void *data, const char *name)
{
	(void)data;
	(void)name;
	pushed++;
}

static void count_pop(void *data)
{
	(void)data;
	popped++;
}

static void test_deep(void)
{
	static const struct xsprof_profiler_backend counts = {
		.size = sizeof(counts), .range_push = count_push, .range_pop = count_pop,
	};
	struct xsprof_profiler_config c = config;

	c.state = XSPROF_PROFILER_PRIVATEUSE1;
	CHECK_EQ(xsprof_profiler_register_backend(&counts), 0);
	CHECK_EQ(begin(&c), 0);
	for (unsigned int i = 0; i < 3; i++) {
		for (unsigned int k = 0; k < 200; k++)
			begin_op("deep");
		for (unsigned int k = 0; k < 200; k++)
			xsprof_op_end();
		CHECK_EQ(pushed, 200 * (i + 1));
		CHECK_EQ(popped, 200 * (i + 1));
	}
	CHECK_EQ(xsprof_disable_profiler(NULL), 0);
	CHECK_EQ(xsprof_profiler_register_backend(NULL), 0);
	tap_result("deep ops are given away to the last");
}

/* ---- what is kept of an op ------------------------------------------------------------------ */

static void full_op(void)
{
	static const int64_t sizes[4] = { 2, 3, 4, 5 }, strides[4] = { 60, 20, 5, 1 };
	static const int64_t wide[2] = { 1ll << 40, -1 }, list[3] = { 1, -2, 3 };
	struct xsprof_tensor t = { .sizes = sizes, .strides = strides, .ndim = 4,
				   .dtype = xsprof_name("float"), .id = 9, .storage_id = 8,
				   .offset = 7, .numel = 120, .itemsize = 4 };
	struct xsprof_tensor two[2] = { t, { .sizes = wide, .ndim = 2 } };
	struct xsprof_input in[] = {
		{ .kind = XSPROF_INPUT_TENSOR, .u.tensor = &t },
		{ .kind = XSPROF_INPUT_TENSORS, .n = 2, .u.tensor = two },
		{ .kind = XSPROF_INPUT_I64, .u.i64 = -5 },
		{ .kind = XSPROF_INPUT_F64, .u.f64 = 0.5 },
		{ .kind = XSPROF_INPUT_BOOL, .u.i64 = 1 },
		{ .kind = XSPROF_INPUT_STR, .u.str = "mean" },
		{ .kind = XSPROF_INPUT_I64S, .n = 3, .u.i64s = list },
		{ .kind = XSPROF_INPUT_NONE },
		{ .kind = XSPROF_INPUT_OTHER, .u.type = xsprof_name("Generator") },
	};
	struct xsprof_kv kv[] = { xsprof_i64(xsprof_name("groups"), 4) };
	struct xsprof_op o = {
		.name = xsprof_name("conv2d"), .scope = XSPROF_OP_BACKWARD_FUNCTION,
		.sequence = 33, .forward_thread = 44, .record_function_id = 55,
		.inputs = in, .nr_inputs = sizeof(in) / sizeof(in[0]), .kwargs = kv, .nr_kwargs = 1,
		.module = "net.encoder.0",
	};

	xsprof_op_begin(&o);
	xsprof_op_end();
}

static int add_json(const char *text)
{
	return xsprof_profiler_add_metadata_json("surrogates", text);
}

static void check_surrogates(void)
{
	static const char *const bad[] = {
		"\"\\ud800\"", "\"\\udbFF.\"", "\"\\udc00\"", "\"\\uDFFF\\ud800\"",
		"\"\\ud800\\ud800\"", "\"\\ud800\\u0041\"", "\"\\ud800\\n\"", "\"\\ud800\\udc0\"",
		"{\"\\ud800\":1}",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_EQ(add_json(bad[i]), -EINVAL);
	CHECK_EQ(add_json("\"\\uD83D\\ude00\\ud7ff\\ue000\""), 0);
}

static void test_details(void)
{
	struct xsprof_profiler_config c = config;
	struct xsprof_result *r;

	c.report_input_shapes = true;
	c.with_modules = true;
	c.trace_id = "abc";
	CHECK_EQ(begin(&c), 0);
	CHECK_EQ(xsprof_profiler_add_metadata("k", "a\"b\n\xff"), 0);
	CHECK_EQ(xsprof_profiler_add_metadata_json("j", "{\"a\":[1,-2.5e3,null]} "), 0);
	CHECK_EQ(xsprof_profiler_add_metadata_json("j", "{\"a\":[1,}"), -EINVAL);
	CHECK_EQ(xsprof_profiler_add_metadata_json("j", "01"), -EINVAL);
	CHECK_EQ(xsprof_profiler_add_metadata_json("j", ""), -EINVAL);
	CHECK_EQ(xsprof_profiler_add_metadata_json("j", "\"\xff\""), -EINVAL);
	CHECK_EQ(xsprof_profiler_add_metadata_json("j", "{} {}"), -EINVAL);
	check_surrogates();
	full_op();
	r = end();
	CHECK_EQ(r->n, 2);
	CHECK_EQ(r->ev[0].op.sequence, 33);
	CHECK_EQ(r->ev[0].op.forward_thread, 44);
	CHECK_EQ(r->ev[0].op.record_function_id, 55);
	CHECK_EQ(r->ev[0].op.scope, XSPROF_OP_BACKWARD_FUNCTION);
	if (strcmp(r->ev[0].args, "input 0=float[2, 3, 4, 5] input 1=2 of: "
		   "item 0=float[2, 3, 4, 5] item 1=tensor[1099511627776, -1] input 2=-5 "
		   "input 3=0.5 input 4=true input 5='mean' input 6=[1, -2, 3] input 7=None "
		   "input 8=Generator groups=4 module='net.encoder.0'"))
		tap_wrong("%s", r->ev[0].args);
	CHECK_EQ(r->opts.nr_metadata, 3);
	CHECK(!strcmp(r->key, "k") && !strcmp(r->value, "\"a\\\"b\\n\xef\xbf\xbd\""));
	free(r);
	tap_result("inputs of every kind, numbers, modules, metadata");

	CHECK_EQ(begin(&config), 0);
	full_op();
	r = end();
	CHECK_EQ(r->n, 2);
	CHECK(!strcmp(r->ev[0].args, "groups=4"));
	CHECK_EQ(r->ev[0].op.sequence, 33);
	CHECK_EQ(r->opts.nr_metadata, 0);
	free(r);
	tap_result("what was not asked for is not kept");
}

/* More than an op can keep: the op says how much is missing. */
static void test_limits(void)
{
	static char text[XSPROF_TEXT_MAX + 2];
	static int64_t list[XSPROF_TEXT_MAX / 8 + 1];
	struct xsprof_input in[5] = {
		{ .kind = XSPROF_INPUT_STR, .u.str = text },
		{ .kind = XSPROF_INPUT_I64S, .n = XSPROF_TEXT_MAX / 8 + 1, .u.i64s = list },
		{ .kind = XSPROF_INPUT_I64S, .n = XSPROF_TEXT_MAX / 8, .u.i64s = list },
		{ .kind = XSPROF_INPUT_I64S, .n = XSPROF_TEXT_MAX / 8, .u.i64s = list },
		{ .kind = XSPROF_INPUT_I64, .u.i64 = 5 },
	};
	struct xsprof_kv kv = xsprof_i64(xsprof_name("groups"), 4);
	struct xsprof_op o = {
		.name = xsprof_name("big"), .sequence = XSPROF_NO_SEQUENCE, .inputs = in,
		.kwargs = &kv, .nr_kwargs = 1, .module = "net",
	};
	/* Whole; two cut; no room for the fourth and the following, of which one is cut. */
	static const unsigned int nr[] = { 0, 2, 5, 5 }, lost[] = { 0, 2, 6, 6 };
	struct xsprof_profiler_config c = config;
	struct xsprof_result *r;

	memset(text, 'x', sizeof(text) - 1);
	c.report_input_shapes = c.with_modules = true;
	for (unsigned int i = 0; i < 4; i++) {
		CHECK_EQ(begin(&c), 0);
		o.nr_inputs = nr[i];
		in[3].n += i == 3;
		xsprof_op_begin(&o);
		xsprof_op_end();
		r = end();
		CHECK_EQ(r->left_out, lost[i]);
		free(r);
	}
	tap_result("what is too much of an op is counted in it");
}

static void deep(unsigned int n);

/* Keeps the compiler from inlining. */
static void (*volatile deeper)(unsigned int n) = deep;

static void deep(unsigned int n)
{
	if (n)
		deeper(n - 1);
	else
		op("deep", XSPROF_OP_FUNCTION, 0);
	__asm__ volatile("" ::: "memory");
}

static void test_stacks(void)
{
	struct xsprof_profiler_config c = config;
	struct xsprof_result *r;

	c.with_stack = true;
	CHECK_EQ(begin(&c), 0);
	for (volatile unsigned int i = 0; i < 4; i++)
		deeper(i < 3 ? 10 : 20);
	r = end();
	CHECK_EQ(r->n, 8);
	CHECK(r->ev[0].op.stack != 0);
	CHECK_EQ(r->ev[2].op.stack, r->ev[0].op.stack);
	CHECK_EQ(r->ev[4].op.stack, r->ev[0].op.stack);
	CHECK(r->ev[6].op.stack != r->ev[0].op.stack);
	CHECK(r->ev[0].frames > 10);
	CHECK_EQ(r->ev[6].frames, r->ev[0].frames + 10);
	/* At least the program's mapping; code that is in no stack has none. */
	CHECK(r->maps >= 1);
	free(r);
	tap_result("stacks, each once");
}

static void test_memory(void)
{
	struct xsprof_profiler_config c = config;
	struct xsprof_result *r;

	c.profile_memory = true;
	for (int on = 1; on >= 0; on--) {
		c.profile_memory = on;
		CHECK_EQ(begin(&c), 0);
		xsprof_report_memory_usage(&c, 512, 1024, 4096, XSPROF_DEVICE(1, 2));
		xsprof_report_memory_usage(&c, -512, 512, 4096, XSPROF_DEVICE(1, 2));
		xsprof_report_out_of_memory(1 << 30, 512, 4096, XSPROF_DEVICE(1, 2));
		xsprof_report_vulkan_event(xsprof_name("shader"), xsprof_now(), xsprof_now(), 1);
		r = end();
		CHECK_EQ(r->n, on ? 4 : 1);
		if (on) {
			CHECK_EQ(r->ev[0].type, XSPROF_REC_ALLOC);
			CHECK_EQ(r->ev[0].value, (uintptr_t)&c);
			CHECK_EQ(r->ev[1].type, XSPROF_REC_FREE);
			CHECK(!strcmp(r->ev[2].name, "[OutOfMemory]"));
		}
		CHECK_EQ(r->ev[r->n - 1].type, XSPROF_REC_SPAN);
		free(r);
	}
	tap_result("memory, where it is asked for; shaders");
}

int main(void)
{
	test_scopes();
	test_toggle();
	test_earlier();
	test_deep();
	test_details();
	test_limits();
	test_stacks();
	test_memory();
	return tap_done();
}
