// SPDX-License-Identifier: GPL-2.0-only
/*
 * Results: the inputs of ops, as JSON and by calls, compared with values worked out by hand.
 */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/ops.h"
#include "common/tap.h"

typedef const struct xsprof_profiler_event *event;

static struct ops o;
static uint64_t now;

static void start(void)
{
	ops_begin(&o);
	now = 2000;
}

static void op(const char *name, const struct blob *args)
{
	ops_op(&o, TID, now, name, args);
	ops_end(&o, TID, now + 10);
	now += 20;
}

static event only(struct xsprof_result *r)
{
	event ev = xsprof_result_event(r, 0);

	if (!ev)
		tap_bail("no event: %s", xsprof_result_error(r));
	return ev;
}

/* Converts what the calls return to the JSON that it must equal. */
static void put(char *to, const char *format, ...)
{
	size_t had = strlen(to);
	va_list ap;

	va_start(ap, format);
	vsnprintf(to + had, 8192 - had, format, ap);
	va_end(ap);
}

static void put_numbers(char *to, const int64_t *v, size_t nr)
{
	CHECK_EQ(v != NULL, nr != 0);
	put(to, *to ? ",[" : "[[");
	for (size_t i = 0; i < nr; i++)
		put(to, "%s%lld", i ? "," : "", (long long)v[i]);
	put(to, "]");
}

static void check_list(event ev, const char *shapes, const char *strides)
{
	char dims[8192] = "", steps[8192] = "", types[8192] = "", values[8192] = "";
	size_t nr = xsprof_event_nr_inputs(ev), n;
	const int64_t *v;

	for (size_t i = 0; i < nr; i++) {
		v = xsprof_event_input_dims(ev, i, &n);
		put_numbers(dims, v, n);
		/* The same array each time. */
		CHECK(v == xsprof_event_input_dims(ev, i, &n));
		v = xsprof_event_input_strides(ev, i, &n);
		put_numbers(steps, v, n);
		put(types, "%s\"%s\"", i ? "," : "[", xsprof_event_input_dtype(ev, i));
		put(values, i ? ",\"" : "[\"");
		for (const char *s = xsprof_event_input_concrete(ev, i); *s; s++)
			put(values, *s == '"' ? "\\%c" : "%c", *s);
		put(values, "\"");
	}
	CHECK(!xsprof_event_input_dims(ev, nr, &n) && !n);
	CHECK(!xsprof_event_input_strides(ev, SIZE_MAX, &n) && !n);
	CHECK_STR(xsprof_event_input_dtype(ev, nr), "");
	CHECK_STR(xsprof_event_input_concrete(ev, SIZE_MAX), "");
	CHECK_STR(nr ? strcat(dims, "]") : "", shapes);
	CHECK_STR(nr ? strcat(steps, "]") : "", strides);
	CHECK_STR(nr ? strcat(types, "]") : "", xsprof_event_dtypes(ev));
	CHECK_STR(nr ? strcat(values, "]") : "", xsprof_event_concrete_inputs(ev));
}

static void test_kinds(void)
{
	struct blob b = { 0 };
	struct xsprof_result *r;
	event ev;

	start();
	blob_tensor(&b, IN(0), ops_name(&o, "float"), DIMS(2, 3));
	blob_i64(&b, 1, -7);
	blob_f64(&b, 2, 1);
	blob_f64(&b, 3, 0.1);
	blob_put(&b, IN(4), XSPROF_ARG_BOOL, 1, NULL, 0);
	blob_i64s(&b, 5, DIMS(1, 1));
	blob_put(&b, IN(6), XSPROF_ARG_NONE, 0, NULL, 0);
	blob_put(&b, IN(7), XSPROF_ARG_NONE, ops_name(&o, "Device"), NULL, 0);
	blob_str(&b, IN(8), "a \"b\"");
	blob_put(&b, IN(9), XSPROF_ARG_F64S, 0, (double[]){ 0.5, 2 }, 16);
	blob_put(&b, IN(10), XSPROF_ARG_LIST, 2, NULL, 0);
	blob_tensor(&b, ITEM(0), ops_name(&o, "c10::BFloat16"), DIMS(4));
	blob_tensor(&b, ITEM(1), ops_name(&o, "c10::BFloat16"), 0, NULL);
	blob_tensor(&b, IN(11), 0, DIMS(5, 6, 7));
	blob_put(&b, IN(12), XSPROF_ARG_LIST, 2, NULL, 0);
	blob_put(&b, ITEM(0), XSPROF_ARG_BOOL, 1, NULL, 0);
	blob_put(&b, ITEM(1), XSPROF_ARG_BOOL, 0, NULL, 0);
	op("mix", &b);
	r = ops_result(&o, NULL);
	ev = only(r);
	CHECK_STR(xsprof_event_shapes(ev),
		  "[[2,3],[],[],[],[],[],[],[],[],[],[[4],[]],[5,6,7],[]]");
	CHECK_STR(xsprof_event_strides(ev), "[[],[],[],[],[],[],[],[],[],[],[[],[]],[],[]]");
	CHECK_STR(xsprof_event_dtypes(ev),
		  "[\"float\",\"Scalar\",\"Scalar\",\"Scalar\",\"Scalar\",\"ScalarList\",\"\","
		  "\"Device\",\"\",\"ScalarList\",\"TensorList\",\"\",\"ScalarList\"]");
	CHECK_STR(xsprof_event_concrete_inputs(ev),
		  "[\"\",\"-7\",\"1.\",\"0.10000000000000001\",\"True\",\"[1, 1]\",\"\",\"\","
		  "\"a \\\"b\\\"\",\"[0.5, 2.]\",\"\",\"\",\"[True, False]\"]");
	/* For a list of tensors the calls return only its name. */
	check_list(ev, "[[2,3],[],[],[],[],[],[],[],[],[],[],[5,6,7],[]]",
		   "[[],[],[],[],[],[],[],[],[],[],[],[],[]]");
	/* The same pointer each time, not another copy. */
	CHECK(xsprof_event_shapes(ev) == xsprof_event_shapes(ev));
	CHECK_STR(xsprof_event_kwargs(ev), "");
	CHECK_STR(xsprof_event_module(ev), "");
	xsprof_result_free(r);
	ops_free(&o);
	tap_result("each kind of input");
}

static void test_cut_tensors(void)
{
	uint8_t both = XSPROF_TENSORF_SIZES | XSPROF_TENSORF_STRIDES;
	struct blob b = { 0 };
	struct xsprof_result *r;
	event ev;

	start();
	blob_strided(&b, 0, 2, 2, both, (uint32_t[]){ 8, 9, 9, 1 }, 4);
	/* Two of three dimensions; none of two; sizes alone; more dimensions than bytes. */
	blob_strided(&b, 1, 3, 2, both | XSPROF_TENSORF_CUT, (uint32_t[]){ 4, 5, 30, 6 }, 4);
	blob_strided(&b, 2, 2, 0, 0, NULL, 0);
	blob_strided(&b, 3, 1, 1, XSPROF_TENSORF_SIZES | XSPROF_TENSORF_CUT, (uint32_t[]){ 3 }, 1);
	blob_strided(&b, 4, 8, 8, both, (uint32_t[]){ 1, 2 }, 2);
	blob_strided(&b, 5, 2, 3, both, (uint32_t[]){ 1, 2, 3, 4, 5, 6 }, 6);
	/* Arguments without a number before them. */
	blob_i64(&b, 8, 1);
	blob_i64(&b, 3, 2);
	op("cut", &b);
	r = ops_result(&o, NULL);
	ev = only(r);
	CHECK_STR(xsprof_event_shapes(ev), "[[8,9],[4,5,-1],[-1,-1],[3],[],[],[],[],[]]");
	CHECK_STR(xsprof_event_strides(ev), "[[9,1],[30,6,-1],[],[],[],[],[],[],[]]");
	CHECK_STR(xsprof_event_dtypes(ev),
		  "[\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"Scalar\"]");
	CHECK_STR(xsprof_event_concrete_inputs(ev),
		  "[\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"1\"]");
	check_list(ev, xsprof_event_shapes(ev), xsprof_event_strides(ev));
	xsprof_result_free(r);
	ops_free(&o);
	tap_result("tensors that are cut, or make no sense");
}

/* Arguments in many records; strings and arrays that continue in the next record. */
static void test_long(void)
{
	struct blob b = { 0 };
	struct xsprof_result *r;
	char want[4096] = "[", *at = want + 1;
	int64_t list[40];
	event ev;

	start();
	for (int i = 0; i < 40; i++)
		list[i] = i;
	blob_i64s(&b, 0, 10, list);
	blob_put(&b, IN(0), XSPROF_ARG_I64S, 0, list + 10, 160);
	blob_put(&b, IN(0), XSPROF_ARG_I64S, 0, list + 30, 80);
	/* Mark them as continuations. */
	b.data[b.starts[1] + 5] = b.data[b.starts[2] + 5] = XSPROF_ARGF_CONT;
	for (int i = 1; i < 300; i++)
		blob_i64(&b, i < 255 ? i : 255, i);
	blob_str(&b, XSPROF_KEY_MODULE, "net.enc");
	blob_str(&b, XSPROF_KEY_MODULE, "oder.0");
	b.data[b.starts[b.nr - 1] + 5] = XSPROF_ARGF_CONT;
	blob_str(&b, ops_name(&o, "note"), "caf\xc3\xa9 \x01\xff\n");
	blob_put(&b, ops_name(&o, "alpha"), XSPROF_ARG_F64, 0x3fe0000000000000, NULL, 0);
	blob_put(&b, ops_name(&o, "nan"), XSPROF_ARG_F64, 0x7ff8000000000000, NULL, 0);
	blob_put(&b, ops_name(&o, "flag"), XSPROF_ARG_BOOL, 0, NULL, 0);
	blob_put(&b, ops_name(&o, "list"), XSPROF_ARG_LIST, 1000, NULL, 0);
	blob_put(&b, ITEM(0), XSPROF_ARG_I64, 1, NULL, 0);
	blob_put(&b, ITEM(1), XSPROF_ARG_NONE, 0, NULL, 0);
	blob_put(&b, ops_name(&o, "ptr"), XSPROF_ARG_PTR, 255, NULL, 0);
	blob_put(&b, ops_name(&o, "last"), XSPROF_ARG_LIST, 3, NULL, 0);
	blob_tensor(&b, ITEM(0), ops_name(&o, "float"), DIMS(2));
	op("long", &b);
	r = ops_result(&o, NULL);
	ev = only(r);
	for (int i = 0; i < 40; i++)
		at += sprintf(at, "%s%d", i ? ", " : "\"[", i);
	at += sprintf(at, "]\"");
	for (int i = 1; i < 300; i++)
		at += sprintf(at, ",\"%d\"", i);
	strcpy(at, "]");
	CHECK_STR(xsprof_event_concrete_inputs(ev), want);
	CHECK_EQ(xsprof_event_nr_inputs(ev), 300);
	check_list(ev, xsprof_event_shapes(ev), xsprof_event_strides(ev));
	CHECK_STR(xsprof_event_module(ev), "net.encoder.0");
	CHECK_STR(xsprof_event_kwargs(ev), "{\"note\":\"caf\xc3\xa9 \\u0001\xef\xbf\xbd\\n\","
		  "\"alpha\":0.5,\"nan\":\"NaN\",\"flag\":false,\"list\":[1,null],"
		  "\"ptr\":\"0xff\",\"last\":[\"float[2]\"]}");
	xsprof_result_free(r);
	ops_free(&o);
	tap_result("hundreds of inputs, and further arguments");
}

/* Texts many times as large as a record: a buffer has to grow, a list is written in pieces. */
static void test_large(void)
{
	static char want[128 << 10], ones[160];
	struct blob b = { 0 };
	struct xsprof_result *r;
	int64_t list[20];
	char *at = want;
	int n = 0;

	start();
	memset(ones, 1, sizeof(ones));
	for (int i = 0; i < 75; i++) {
		blob_put(&b, ops_name(&o, "big"), XSPROF_ARG_STR, 0, ones, sizeof(ones));
		if (i)
			b.data[b.starts[b.nr - 1] + 5] = XSPROF_ARGF_CONT;
	}
	op("string", &b);
	r = ops_result(&o, NULL);
	at += sprintf(at, "{\"big\":\"");
	for (int i = 0; i < 75 * 160; i++)
		at += sprintf(at, "\\u0001");
	strcpy(at, "\"}");
	CHECK(!strcmp(xsprof_event_kwargs(only(r)), want));
	xsprof_result_free(r);
	ops_free(&o);

	start();
	memset(&b, 0, sizeof(b));
	at = want + sprintf(want, "[\"[");
	for (int i = 0; i < 90; i++) {
		for (int j = 0; j < 20; j++, n++) {
			list[j] = n - 900;
			at += sprintf(at, "%s%d", n ? ", " : "", n - 900);
		}
		blob_i64s(&b, 0, 20, list);
		if (i)
			b.data[b.starts[b.nr - 1] + 5] = XSPROF_ARGF_CONT;
	}
	strcpy(at, "]\"]");
	op("list", &b);
	r = ops_result(&o, NULL);
	CHECK(!strcmp(xsprof_event_concrete_inputs(only(r)), want));
	at[1] = '\0';
	CHECK(!strcmp(xsprof_event_input_concrete(only(r), 0), want + 2));
	xsprof_result_free(r);
	ops_free(&o);
	tap_result("texts of many times what a record holds");
}

static void test_wanted(void)
{
	struct xsprof_profiler_config config = { .size = sizeof(config), .state = 6 };
	struct xsprof_result_options opts = { .size = sizeof(opts), .config = &config };
	struct blob b = { 0 };
	struct xsprof_result *r;

	start();
	blob_tensor(&b, IN(0), 0, DIMS(2, 3));
	blob_str(&b, XSPROF_KEY_MODULE, "net");
	op("aten::add", &b);
	for (unsigned int what = 0; what < 8; what++) {
		config.report_input_shapes = what & 1;
		config.with_flops = what & 2;
		config.with_modules = what & 4;
		r = ops_result(&o, &opts);
		CHECK_STR(xsprof_event_shapes(only(r)), what & 1 ? "[[2,3]]" : "");
		CHECK_STR(xsprof_event_dtypes(only(r)), what & 1 ? "[\"\"]" : "");
		check_list(only(r), what & 1 ? "[[2,3]]" : "", what & 1 ? "[[]]" : "");
		CHECK_EQ(xsprof_event_flops(only(r)), what & 2 ? 6 : 0);
		CHECK_STR(xsprof_event_module(only(r)), what & 4 ? "net" : "");
		xsprof_result_free(r);
	}
	ops_free(&o);
	tap_result("only what the configuration asks for");
}

int main(void)
{
	test_kinds();
	test_cut_tensors();
	test_long();
	test_large();
	test_wanted();
	return tap_done();
}
