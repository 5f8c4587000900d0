// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a profiling session records: of which threads, which ops, how much of each, and what is
 * said where it cannot be.  The result is made here, from the capture as it is handed over.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <xsprof/result.h>
#include <xsprof/trace.h>

#include "../ring/tap.h"

#define EVENTS	4096u

/* What there was of a session, in the order of time. */
struct xsprof_result {
	struct xsprof_result_options opts;
	uint32_t	tids[64];
	char		key[32];
	char		value[64];
	struct {
		uint16_t	type;
		bool		is_op;
		uint32_t	tid;
		char		name[40];
		char		args[400];
		struct xsprof_trace_op op;
		size_t		frames;
		uint64_t	value;
	} ev[EVENTS];
	unsigned int	n;
	unsigned int	maps;
	unsigned int	left_out;
	unsigned int	lost;
};

static void take_args(struct xsprof_trace *t, const struct xsprof_event *ev, char *to, size_t size,
		      unsigned int *left_out)
{
	struct xsprof_trace_arg arg;
	size_t pos = 0, at = strlen(to);
	char text[200];

	while (xsprof_trace_args(ev, &pos, &arg)) {
		const char *key = xsprof_trace_name(t, ev->producer, arg.key);

		if (!strcmp(key, "left out"))
			*left_out += arg.u.u64;
		if (arg.type == XSPROF_ARG_I64)
			snprintf(text, sizeof(text), "%lld", (long long)arg.u.i64);
		else if (arg.type == XSPROF_ARG_BOOL)
			snprintf(text, sizeof(text), "%s", arg.u.u64 ? "true" : "false");
		else if (arg.type == XSPROF_ARG_F64)
			snprintf(text, sizeof(text), "%g", arg.u.f64);
		else if (arg.type == XSPROF_ARG_STR)
			snprintf(text, sizeof(text), "'%.*s'", (int)arg.len, arg.str);
		else
			xsprof_trace_arg_text(t, ev->producer, &arg, text, sizeof(text));
		at += snprintf(to + at, size - at, "%s%s=%s", at ? " " : "", key, text);
		/* The rest is counted still. */
		if (at >= size)
			at = size - 1;
	}
}

/* The library finds it in the program. */
int xsprof_result_open(const char *path, const struct xsprof_result_options *opts,
		       struct xsprof_result **result)
{
	struct xsprof_result *r = calloc(1, sizeof(*r));
	struct xsprof_trace *trace;
	const struct xsprof_event *ev;
	int err = xsprof_trace_open(path, NULL, &trace);

	if (err || !r)
		tap_bail("%s: %s", path, xsprof_trace_error(NULL));
	r->opts = *opts;
	memcpy(r->tids, opts->tids, opts->nr_tids * sizeof(r->tids[0]));
	if (opts->nr_metadata) {
		snprintf(r->key, sizeof(r->key), "%s", opts->keys[0]);
		snprintf(r->value, sizeof(r->value), "%s", opts->values[0]);
	}
	while ((err = xsprof_trace_next(trace, &ev)) > 0) {
		if (ev->type == XSPROF_EV_LOST)
			r->lost++;
		if (ev->type >= 0x80 || ev->ticks < opts->from_ticks || r->n == EVENTS)
			continue;
		/* At the end, for what is open then. */
		if (ev->type == XSPROF_REC_CONTROL)
			continue;
		if (ev->type == XSPROF_REC_ARGS && r->n) {
			take_args(trace, ev, r->ev[r->n - 1].args, sizeof(r->ev[0].args),
				  &r->left_out);
			continue;
		}
		r->ev[r->n].type = ev->type;
		r->ev[r->n].tid = ev->tid;
		r->ev[r->n].value = ev->value;
		snprintf(r->ev[r->n].name, sizeof(r->ev[0].name), "%s",
			 ev->name ? xsprof_trace_name(trace, ev->producer, ev->name) : "");
		r->ev[r->n].is_op = xsprof_trace_op(ev, &r->ev[r->n].op);
		if (r->ev[r->n].is_op && r->ev[r->n].op.stack)
			CHECK(xsprof_trace_stack(trace, ev->producer, r->ev[r->n].op.stack,
						 &r->ev[r->n].frames, NULL));
		take_args(trace, ev, r->ev[r->n].args, sizeof(r->ev[0].args), &r->left_out);
		r->n++;
	}
	CHECK_EQ(err, 0);
	while (xsprof_trace_map(trace, 0, r->maps))
		r->maps++;
	xsprof_trace_close(trace);
	*result = r;
	return 0;
}

static const struct xsprof_profiler_config config = {
	.size = sizeof(config), .state = XSPROF_PROFILER_KINETO,
};

static void op(const char *name, uint32_t scope, uint64_t id)
{
	struct xsprof_op o = {
		.name = xsprof_name(name), .scope = scope, .sequence = XSPROF_NO_SEQUENCE,
		.record_function_id = id,
	};

	xsprof_op_begin(&o);
	xsprof_op_end();
}

static int begin(const struct xsprof_profiler_config *c)
{
	return xsprof_enable_profiler(c, XSPROF_ACTIVITY(CPU), 0);
}

static struct xsprof_result *end(void)
{
	struct xsprof_result *result = NULL;

	CHECK_EQ(xsprof_disable_profiler(&result), 0);
	if (!result)
		tap_bail("no result");
	return result;
}

/* ---- a session ------------------------------------------------------------------------------ */

static void test_states(void)
{
	struct xsprof_profiler_config bad = config;
	struct xsprof_result *r;

	CHECK_EQ(xsprof_profiler_state(), XSPROF_PROFILER_DISABLED);
	CHECK_EQ(xsprof_disable_profiler(NULL), -ENOENT);
	CHECK_EQ(xsprof_toggle_collection(false, 0), -ENOENT);
	CHECK_EQ(xsprof_enable_profiler_in_child_thread(), -ENOENT);
	CHECK_EQ(begin(NULL), -EINVAL);
	bad.state = XSPROF_PROFILER_DISABLED;
	CHECK_EQ(begin(&bad), -EINVAL);
	bad.state = XSPROF_PROFILER_STATES;
	CHECK_EQ(begin(&bad), -EINVAL);
	bad = config;
	bad.size = 4;
	CHECK_EQ(begin(&bad), -EINVAL);
	CHECK_EQ(xsprof_enable_profiler(&config, 0, 0), -EINVAL);
	CHECK_EQ(xsprof_enable_profiler(&config, 1u << XSPROF_ACTIVITIES, 0), -EINVAL);
	CHECK_EQ(xsprof_enable_profiler(&config, 1, 1u << XSPROF_OP_SCOPES), -EINVAL);
	op("before", XSPROF_OP_FUNCTION, 0);

	CHECK_EQ(begin(&config), 0);
	CHECK_EQ(xsprof_profiler_state(), XSPROF_PROFILER_KINETO);
	CHECK(xsprof_is_profiler_enabled_in_main_thread());
	CHECK_EQ(begin(&config), -EBUSY);
	CHECK_EQ(xsprof_prepare_profiler(&config, 1), -EBUSY);
	op("mm", XSPROF_OP_FUNCTION, 7);
	r = end();
	CHECK_EQ(xsprof_profiler_state(), XSPROF_PROFILER_DISABLED);
	CHECK(!xsprof_is_profiler_enabled_in_main_thread());
	op("after", XSPROF_OP_FUNCTION, 0);
	CHECK_EQ(r->n, 2);
	CHECK(r->ev[0].is_op && !strcmp(r->ev[0].name, "mm"));
	CHECK_EQ(r->ev[0].op.record_function_id, 7);
	CHECK_EQ(r->ev[0].op.sequence, -1);
	CHECK_EQ(r->ev[0].tid, gettid());
	CHECK_EQ(r->ev[1].type, XSPROF_REC_END);
	CHECK_EQ(r->lost, 0);
	CHECK_EQ(r->opts.nr_tids, 1);
	CHECK_EQ(r->tids[0], gettid());
	free(r);
	tap_result("begun, refused a second time, ended: what lay between is recorded");
}

static void test_again(void)
{
	for (unsigned int i = 0; i < 20; i++) {
		struct xsprof_result *r;
		char name[20];
		uint64_t at[4];

		snprintf(name, sizeof(name), "op %u", i);
		at[0] = xsprof_now();
		CHECK_EQ(begin(&config), 0);
		at[1] = xsprof_now();
		op(name, XSPROF_OP_FUNCTION, i);
		at[2] = xsprof_now();
		r = end();
		at[3] = xsprof_now();
		/* By the clock that records are by, which the first session may have chosen. */
		CHECK(r->opts.from_ticks >= at[0] && r->opts.from_ticks <= at[1]);
		CHECK(r->opts.to_ticks >= at[2] && r->opts.to_ticks <= at[3]);
		CHECK_EQ(r->n, 2);
		CHECK(!strcmp(r->ev[0].name, name));
		free(r);
		op("between", XSPROF_OP_FUNCTION, 0);
	}
	tap_result("twenty sessions one after the other: each has its own");
}

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

/* One ends while it is off; then one begins. */
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

/* ---- threads -------------------------------------------------------------------------------- */

static void *child(void *join)
{
	if (join)
		CHECK_EQ(xsprof_enable_profiler_in_child_thread(), 0);
	CHECK_EQ(xsprof_profiler_state(), join ? XSPROF_PROFILER_KINETO :
						 XSPROF_PROFILER_DISABLED);
	op(join ? "joined" : "apart", XSPROF_OP_FUNCTION, 0);
	if (join) {
		CHECK_EQ(xsprof_enable_profiler_in_child_thread(), -EALREADY);
		CHECK_EQ(xsprof_disable_profiler_in_child_thread(), 0);
		CHECK_EQ(xsprof_disable_profiler_in_child_thread(), -ENOENT);
		op("left", XSPROF_OP_FUNCTION, 0);
	}
	return NULL;
}

static void run_children(void)
{
	pthread_t a, b;

	if (pthread_create(&a, NULL, child, (void *)&config) ||
	    pthread_create(&b, NULL, child, NULL))
		tap_bail("no threads");
	pthread_join(a, NULL);
	pthread_join(b, NULL);
}

static void test_threads(void)
{
	struct xsprof_result *r;

	CHECK_EQ(begin(&config), 0);
	run_children();
	op("mine", XSPROF_OP_FUNCTION, 0);
	r = end();
	CHECK_EQ(r->n, 4);
	CHECK(!strcmp(r->ev[0].name, "joined") && !strcmp(r->ev[2].name, "mine"));
	CHECK_EQ(r->opts.nr_tids, 2);
	free(r);
	tap_result("of the threads that join, until they leave");
}

static void *all_child(void *unused)
{
	(void)unused;
	CHECK_EQ(xsprof_profiler_state(), XSPROF_PROFILER_KINETO);
	op("any", XSPROF_OP_FUNCTION, 0);
	return NULL;
}

static void test_all_threads(void)
{
	struct xsprof_experimental all = { .size = sizeof(all), .all_threads = true };
	struct xsprof_profiler_config c = config;
	struct xsprof_result *r;
	pthread_t a;

	c.experimental = &all;
	CHECK_EQ(begin(&c), 0);
	if (pthread_create(&a, NULL, all_child, NULL))
		tap_bail("no threads");
	pthread_join(a, NULL);
	r = end();
	CHECK_EQ(r->n, 2);
	CHECK_EQ(r->opts.nr_tids, 0);
	CHECK(r->opts.config->experimental->all_threads);
	free(r);
	tap_result("of all threads");
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
	CHECK_EQ(r->opts.nr_metadata, 2);
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

/* More than is kept of an op: it says how much is missing. */
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
	/* Whole; two cut; no room for the fourth and what comes behind it; one of which is cut. */
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

/* No compiler sees through it. */
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
	/* The program, the C library and ours at least. */
	CHECK(r->maps >= 3);
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

/* Whoever comes first begins a session, whoever finds one joins it, and anybody may end it. */
static void *storm(void *data)
{
	unsigned int *began = data;

	for (unsigned int i = 0; i < 50; i++) {
		struct xsprof_result *r = NULL;
		int err = begin(&config);

		if (err && err != -EBUSY)
			tap_wrong("enable: %s", strerror(-err));
		if (!err)
			__atomic_add_fetch(began, 1, __ATOMIC_RELAXED);
		else
			(void)xsprof_enable_profiler_in_child_thread();
		op("storm", XSPROF_OP_FUNCTION, i);
		(void)xsprof_profiler_state();
		(void)xsprof_disable_profiler_in_child_thread();
		if (err)
			continue;
		err = xsprof_disable_profiler(i % 2 ? &r : NULL);
		if (err)
			tap_wrong("disable: %s", strerror(-err));
		free(r);
	}
	return NULL;
}

static void test_storm(void)
{
	pthread_t thread[32];
	unsigned int began = 0;

	for (unsigned int i = 0; i < 32; i++)
		if (pthread_create(&thread[i], NULL, storm, &began))
			tap_bail("no threads");
	for (unsigned int i = 0; i < 32; i++)
		pthread_join(thread[i], NULL);
	CHECK(began > 0);
	CHECK_EQ(xsprof_disable_profiler(NULL), -ENOENT);
	CHECK_EQ(begin(&config), 0);
	free(end());
	tap_result("32 threads that begin, join, leave and end sessions");
}

/* ---- schedules ------------------------------------------------------------------------------ */

static unsigned int ready_calls, ready_ops[8];

static void ready(void *data, struct xsprof_result *r)
{
	unsigned int n = 0;

	CHECK(data == &ready_calls);
	for (unsigned int i = 0; i < r->n; i++) {
		if (!r->ev[i].is_op)
			continue;
		n++;
		if (ready_calls < 8)
			ready_ops[ready_calls] = ready_ops[ready_calls] * 100 +
				(unsigned int)r->ev[i].op.record_function_id;
	}
	CHECK(n > 0);
	ready_calls++;
	free(r);
}

static void test_schedule(void)
{
	struct xsprof_schedule schedule = { .size = sizeof(schedule), .skip_first = 1, .wait = 1,
					    .warmup = 1, .active = 2, .repeat = 2 };

	CHECK_EQ(xsprof_schedule_profiler(&config, 1, 0, &schedule, ready, &ready_calls), 0);
	CHECK_EQ(begin(&config), -EBUSY);
	/* 0 skipped, 1 waits, 2 warms up, 3 and 4 count; 5, 6, 7 and 8 the same; 9 is over. */
	for (unsigned int step = 0; step < 12; step++) {
		op("work", XSPROF_OP_FUNCTION, step);
		CHECK_EQ(xsprof_profiler_step(), 0);
	}
	CHECK_EQ(ready_calls, 2);
	CHECK_EQ(ready_ops[0], 304);
	CHECK_EQ(ready_ops[1], 708);
	CHECK_EQ(xsprof_disable_profiler(NULL), 0);
	CHECK_EQ(xsprof_disable_profiler(NULL), -ENOENT);
	schedule.active = 0;
	CHECK_EQ(xsprof_schedule_profiler(&config, 1, 0, &schedule, ready, NULL), -EINVAL);
	CHECK_EQ(begin(&config), 0);
	free(end());
	tap_result("a schedule: skipped, waiting, warming up, recorded, twice");
}

/* ---- fork ----------------------------------------------------------------------------------- */

static void test_fork(void)
{
	struct xsprof_result *r;
	int status;
	pid_t pid;

	CHECK_EQ(begin(&config), 0);
	op("parent", XSPROF_OP_FUNCTION, 0);
	pid = fork();
	if (!pid) {
		op("child", XSPROF_OP_FUNCTION, 0);
		_exit(xsprof_is_profiler_enabled_in_main_thread() ||
		      xsprof_disable_profiler(NULL) != -ENOENT);
	}
	if (waitpid(pid, &status, 0) != pid)
		tap_bail("fork: %s", strerror(errno));
	CHECK_EQ(status, 0);
	op("parent", XSPROF_OP_FUNCTION, 0);
	r = end();
	CHECK_EQ(r->n, 4);
	CHECK(!strcmp(r->ev[2].name, "parent"));
	free(r);
	tap_result("a forked child has no session, and its parent goes on");
}

/* ---- not at all ----------------------------------------------------------------------------- */

/* With XSPROF_BACKEND=none. */
static int test_none(void)
{
	struct xsprof_profiler_config c = config;

	CHECK_EQ(xsprof_prepare_profiler(&c, 1), -EPERM);
	CHECK_EQ(begin(&c), -EPERM);
	CHECK(!xsprof_is_profiler_enabled_in_main_thread());
	CHECK_EQ(xsprof_op_wanted, 0);
	c.state = XSPROF_PROFILER_ITT;
	CHECK_EQ(begin(&c), 0);
	CHECK_EQ(xsprof_disable_profiler(NULL), 0);
	tap_result("where nothing is to be recorded a session is refused that would");
	return tap_done();
}

/* The program dies in its session. */
static int be_killed(void)
{
	if (begin(&config))
		return 1;
	for (unsigned int i = 0; i < 100; i++)
		op("last words", XSPROF_OP_FUNCTION, i);
	return raise(SIGKILL);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "killed"))
		return be_killed();
	if (argc > 1 && !strcmp(argv[1], "none"))
		return test_none();
	test_states();
	test_again();
	test_scopes();
	test_toggle();
	test_deep();
	test_threads();
	test_all_threads();
	test_details();
	test_limits();
	test_stacks();
	test_memory();
	test_schedule();
	test_storm();
	/* What a child leaves as it was is a leak to whoever counts. */
	if (argc < 2 || strcmp(argv[1], "alone"))
		test_fork();
	return tap_done();
}
