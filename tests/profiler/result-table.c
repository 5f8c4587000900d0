// SPDX-License-Identifier: GPL-2.0-only
/*
 * Results: sums over events by name, shape, stack and device; as text; folded stacks.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profiler/ops.h"
#include "common/tap.h"

static struct xsprof_table *table(struct xsprof_result *r, uint32_t by, uint32_t sort)
{
	struct xsprof_table *t;

	if (xsprof_result_table(r, by, 2, sort, &t))
		tap_bail("xsprof_result_table: %s", xsprof_result_error(r));
	return t;
}

/* Returns the row of that name, number @nth. */
static const struct xsprof_table_row *row(const struct xsprof_table *t, const char *name,
					  unsigned int nth)
{
	for (size_t i = 0; i < xsprof_table_nr_rows(t); i++)
		if (!strcmp(xsprof_table_get_row(t, i)->name, name) && !nth--)
			return xsprof_table_get_row(t, i);
	tap_bail("there is no row %s", name);
}

static void tensor_op(struct ops *o, uint64_t ts, const char *name, int64_t size)
{
	struct blob b = { 0 };

	blob_tensor(&b, IN(0), ops_name(o, "float"), DIMS(size));
	ops_op(o, TID, ts, name, &b);
}

/*
 * linear 1000000 to 1100000
 *   mul of 10 elements, +20000 to +50000, allocates 512 and launches
 *     linear, +30000 to +40000, frees 12
 *   mul of 20 elements, +60000 to +70000, allocates 100 on a device
 */
static void program(struct ops *o)
{
	ops_begin(o);
	ops_op(o, TID, 1000000, "linear", NULL);
	tensor_op(o, 1020000, "aten::mul", 10);
	ops_memory(o, TID, 1025000, 512, 0, 1);
	ops_op(o, TID, 1030000, "linear", NULL);
	ops_memory(o, TID, 1035000, -12, 0, 1);
	ops_end(o, TID, 1040000);
	ops_end(o, TID, 1050000);
	tensor_op(o, 1060000, "aten::mul", 20);
	ops_memory(o, TID, 1065000, 100, XSPROF_DEVICE(1, 0), 1);
	ops_end(o, TID, 1070000);
	ops_end(o, TID, 1100000);
	ops_memory(o, TID, 1200000, 7, 0, 1);
	ops_gpu(o, 1500000, XSPROF_GPU_RUNTIME, "launch", 1, (struct xsprof_rec_gpu){
		.start = 1042000, .end = 1043000, .thread = TID });
	ops_gpu(o, 1500000, XSPROF_GPU_KERNEL, "kern", 1, (struct xsprof_rec_gpu){
		.start = 1300000, .end = 1305000, .device = 0 });
	ops_gpu(o, 1500000, XSPROF_GPU_RUNTIME, "launch", 2, (struct xsprof_rec_gpu){
		.start = 1032000, .end = 1033000, .thread = TID });
	ops_gpu(o, 1500000, XSPROF_GPU_KERNEL, "kern", 2, (struct xsprof_rec_gpu){
		.start = 1310000, .end = 1317000, .device = 1 });
}

static void test_names(void)
{
	const struct xsprof_table_row *at;
	struct xsprof_result *r;
	struct xsprof_table *t;
	struct ops o;

	program(&o);
	r = ops_result(&o, NULL);
	t = table(r, XSPROF_BY_NAME, XSPROF_SORT_SELF_CPU);
	/* linear, aten::mul, launch, [memory], kern */
	CHECK_EQ(xsprof_table_nr_rows(t), 5);
	at = row(t, "linear", 0);
	CHECK_EQ(at->count, 2);
	CHECK_EQ(at->cpu_ns, 100000);		/* the inner is part of the outer */
	/* outer 100000 - 30000 - 10000, inner 10000 minus its launch of 1000 */
	CHECK_EQ(at->self_cpu_ns, 69000);
	CHECK_EQ(at->device_ns, 12000);
	CHECK_EQ(at->self_device_ns, 7000);
	CHECK_EQ(at->cpu_memory, 500);
	CHECK_EQ(at->self_cpu_memory, -12);
	CHECK_EQ(at->device_memory, 100);
	CHECK_EQ(at->self_device_memory, 0);
	CHECK_STR(at->shapes, "");
	at = row(t, "aten::mul", 0);
	CHECK_EQ(at->count, 2);
	CHECK_EQ(at->cpu_ns, 40000);
	/* 30000 - 10000 - 1000, and 10000 */
	CHECK_EQ(at->self_cpu_ns, 29000);
	CHECK_EQ(at->device_ns, 12000);
	CHECK_EQ(at->self_device_ns, 5000);
	CHECK_EQ(at->flops, 30);
	CHECK_EQ(at->cpu_memory, 500);
	CHECK_EQ(at->self_cpu_memory, 512);
	CHECK_EQ(at->self_device_memory, 100);
	at = row(t, "launch", 0);
	CHECK_EQ(at->count, 2);
	CHECK_EQ(at->self_cpu_ns, 2000);
	CHECK_EQ(at->device_ns, 0);
	at = row(t, "[memory]", 0);
	CHECK_EQ(at->count, 1);
	CHECK_EQ(at->cpu_memory, 7);
	CHECK_EQ(at->self_cpu_memory, 7);
	at = row(t, "kern", 0);
	CHECK_EQ(at->count, 2);
	CHECK_EQ(at->cpu_ns, 0);
	CHECK_EQ(at->self_device_ns, 12000);
	/* Sums: self times add up to all time; device time counts once. */
	at = xsprof_table_total(t);
	CHECK_EQ(at->count, 9);
	CHECK_EQ(at->self_cpu_ns, 100000);
	CHECK_EQ(at->self_device_ns, 12000);
	CHECK_EQ(at->flops, 30);
	CHECK_EQ(at->self_cpu_memory, 507);
	CHECK_EQ(at->self_device_memory, 100);
	CHECK(!xsprof_table_get_row(t, 5));
	xsprof_table_free(t);
	tap_result("by name");

	t = table(r, XSPROF_BY_DEVICE, XSPROF_SORT_SELF_DEVICE);
	CHECK_EQ(xsprof_table_nr_rows(t), 6);
	CHECK_EQ(row(t, "kern", 0)->self_device_ns, 7000);
	CHECK_EQ(row(t, "kern", 1)->self_device_ns, 5000);
	CHECK_EQ(xsprof_table_total(t)->self_device_ns, 12000);
	tap_result("by device");
	/* The result frees this one. */
	xsprof_result_free(r);
	ops_free(&o);
}

static void test_shapes(void)
{
	const struct xsprof_table_row *at;
	struct xsprof_result *r;
	struct xsprof_table *t;
	struct ops o;

	program(&o);
	r = ops_result(&o, NULL);
	t = table(r, XSPROF_BY_SHAPE, XSPROF_SORT_FLOPS);
	CHECK_EQ(xsprof_table_nr_rows(t), 6);
	at = xsprof_table_get_row(t, 0);
	CHECK_STR(at->name, "aten::mul");
	CHECK_STR(at->shapes, "[[20]]");
	CHECK_EQ(at->flops, 20);
	CHECK_EQ(at->self_cpu_ns, 10000);
	at = xsprof_table_get_row(t, 1);
	CHECK_STR(at->shapes, "[[10]]");
	CHECK_EQ(at->self_cpu_ns, 19000);
	CHECK_EQ(at->count, 1);
	xsprof_result_free(r);
	ops_free(&o);
	tap_result("by shape");
}

static void test_order(void)
{
	static const char *const first[] = {
		[XSPROF_SORT_SELF_CPU] = "linear", [XSPROF_SORT_CPU] = "linear",
		[XSPROF_SORT_SELF_DEVICE] = "kern", [XSPROF_SORT_DEVICE] = "aten::mul",
		[XSPROF_SORT_COUNT] = "aten::mul", [XSPROF_SORT_FLOPS] = "aten::mul",
		[XSPROF_SORT_MEMORY] = "aten::mul", [XSPROF_SORT_NAME] = "[memory]",
	};
	struct xsprof_result *r;
	struct xsprof_table *t = (void *)1;
	struct ops o;

	program(&o);
	r = ops_result(&o, NULL);
	for (uint32_t sort = 0; sort <= XSPROF_SORT_NAME; sort++) {
		t = table(r, XSPROF_BY_NAME, sort);
		CHECK_STR(xsprof_table_get_row(t, 0)->name, first[sort]);
		xsprof_table_free(t);
	}
	CHECK_EQ(xsprof_result_table(r, 8, 0, 0, &t), -EINVAL);
	CHECK(!t && *xsprof_result_error(r));
	CHECK_EQ(xsprof_result_table(r, 0, 0, XSPROF_SORT_NAME + 1, &t), -EINVAL);
	xsprof_table_free(NULL);
	t = table(r, 0, 0);
	CHECK_STR(xsprof_result_error(r), "");
	xsprof_result_free(r);
	ops_free(&o);
	tap_result("each order");
}

static void test_stacks(void)
{
	struct xsprof_rec_op one = { .sequence = -1, .stack = 1 }, two = one;
	struct xsprof_result *r;
	struct xsprof_table *t;
	struct ops o;

	two.stack = 2;
	ops_begin(&o);
	ops_map(&o, "1000-2000 0 - /no such/file");
	ops_stack(&o, 1, (uint64_t[]){ 0x1010, 0x1020, 0x1030 }, 3, 0);
	ops_stack(&o, 2, (uint64_t[]){ 0x1010, 0x1020, 0x1040 }, 3, 0);
	ops_op_as(&o, TID, 2000, "op", 0, 0, one, NULL);
	ops_end(&o, TID, 2100);
	ops_op_as(&o, TID, 2200, "op", 0, 0, two, NULL);
	ops_end(&o, TID, 2500);
	ops_op(&o, TID, 2600, "op", NULL);
	ops_end(&o, TID, 2601);
	r = ops_result(&o, NULL);
	/* Both have the same two frames. */
	t = table(r, XSPROF_BY_STACK, 0);
	CHECK_EQ(xsprof_table_nr_rows(t), 2);
	CHECK_EQ(xsprof_table_get_row(t, 0)->self_cpu_ns, 400);
	CHECK_STR(xsprof_table_get_row(t, 0)->stack, "/no such/file+0x10\n/no such/file+0x20");
	CHECK_STR(xsprof_table_get_row(t, 1)->stack, "");
	xsprof_table_free(t);
	CHECK_EQ(xsprof_result_table(r, XSPROF_BY_STACK, 3, 0, &t), 0);
	CHECK_EQ(xsprof_table_nr_rows(t), 3);
	xsprof_result_free(r);
	ops_free(&o);
	tap_result("by stack");
}

static void test_text(void)
{
	char *text, *line;
	struct xsprof_result *r;
	struct xsprof_table *t;
	size_t width = 0;
	struct ops o;

	ops_begin(&o);
	ops_op(&o, TID, 1000000, "a\nb", NULL);
	ops_op(&o, TID, 1200000, "inner", NULL);
	ops_end(&o, TID, 1450000);
	ops_end(&o, TID, 2000000);
	r = ops_result(&o, NULL);
	t = table(r, 0, 0);
	text = xsprof_table_text(t, 0);
	if (!text)
		tap_bail("no memory");
	CHECK_STR(text,
		  "-----  ----------  ---------  -----------  ---------  ------------  ----------\n"
		  "Name   Self CPU %   Self CPU  CPU total %  CPU total  CPU time avg  # of Calls\n"
		  "-----  ----------  ---------  -----------  ---------  ------------  ----------\n"
		  "a?b        75.00%  750.000us      100.00%    1.000ms       1.000ms           1\n"
		  "inner      25.00%  250.000us       25.00%  250.000us     250.000us           1\n"
		  "-----  ----------  ---------  -----------  ---------  ------------  ----------\n"
		  "Self CPU time total: 1.000ms\n");
	free(text);
	text = xsprof_table_text(t, 1);
	CHECK(text && strstr(text, "a?b") && !strstr(text, "inner"));
	free(text);
	xsprof_result_free(r);
	ops_free(&o);
	program(&o);
	r = ops_result(&o, NULL);
	t = table(r, XSPROF_BY_SHAPE | XSPROF_BY_STACK | XSPROF_BY_DEVICE, 0);
	text = xsprof_table_text(t, 0);
	/* All columns, and they are aligned. */
	CHECK(text && strstr(text, "Self Device Mem") && strstr(text, "Total FLOPs"));
	CHECK(text && strstr(text, "Self device time total: 12.000us"));
	CHECK(text && strstr(text, "512 b") && strstr(text, "[[20]]"));
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		width = width ? width : strlen(line);
		CHECK(strlen(line) <= width);
	}
	free(text);
	xsprof_result_free(r);
	ops_free(&o);
	tap_result("as text");
}

/* Opens a name that is a link: another user may have made it, so it must not be followed. */
static void check_folded(struct xsprof_result *r, uint32_t what, const char *want)
{
	char to[] = "/tmp/xsprof-folded-XXXXXX", path[64], have[4096] = "";
	int fd = mkstemp(to);
	FILE *f;

	snprintf(path, sizeof(path), "%s.link", to);
	if (fd < 0 || symlink(to, path))
		tap_bail("%s: %s", path, strerror(errno));
	CHECK_EQ(xsprof_result_save_stacks(r, path, what), 0);
	CHECK_EQ(read(fd, have, sizeof(have)), 0);
	f = fopen(path, "r");
	if (!f || fread(have, 1, sizeof(have) - 1, f) == 0)
		tap_wrong("nothing is in %s", path);
	CHECK_STR(have, want);
	if (f)
		fclose(f);
	close(fd);
	unlink(to);
	unlink(path);
}

static void test_folded(void)
{
	struct xsprof_result *r;
	struct ops o;

	program(&o);
	ops_map(&o, "1000-2000 0 - /a;b");
	ops_stack(&o, 1, (uint64_t[]){ 0x1010, 0x1020 }, 2, 5);
	ops_op_as(&o, 101, 1600000, "deep", 0, 0, (struct xsprof_rec_op){ .sequence = -1,
		  .stack = 1 }, NULL);
	ops_end(&o, 101, 1603999);
	r = ops_result(&o, NULL);
	check_folded(r, XSPROF_STACKS_CPU,
		     "[5 more];/a:b+0x20;/a:b+0x10;deep 3\n"
		     "linear 60\n"
		     "linear;aten::mul 29\n"
		     "linear;aten::mul;launch 1\n"
		     "linear;aten::mul;linear 9\n"
		     "linear;aten::mul;linear;launch 1\n");
	check_folded(r, XSPROF_STACKS_DEVICE,
		     "linear;aten::mul 5\n"
		     "linear;aten::mul;linear 7\n");
	CHECK_EQ(xsprof_result_save_stacks(r, "/nonexistent/x", 0), -ENOENT);
	CHECK(strstr(xsprof_result_error(r), "/nonexistent/x"));
	CHECK_EQ(xsprof_result_save_stacks(r, "/dev/null", 2), -EINVAL);
	CHECK_EQ(xsprof_result_save_stacks(r, "/dev/full", 0), -ENOSPC);
	xsprof_result_free(r);
	ops_free(&o);
	tap_result("folded stacks");
}

/* Records were lost inside the second "add", so also inside the step around it. */
static void test_uncertain(void)
{
	const struct xsprof_table_row *at;
	struct xsprof_result *r;
	struct xsprof_table *t;
	struct ops o;
	char *text;

	ops_begin(&o);
	for (unsigned int i = 0; i < 2; i++) {
		uint64_t ts = 1000000 + i * 1000000;

		ops_op(&o, TID, ts, "step", NULL);
		ops_op(&o, TID, ts + 10000, "add", NULL);
		if (i)
			ops_rec(&o, XSPROF_REC_LOST, 0, ts + 20000, NULL, 0, 3);
		ops_end(&o, TID, ts + 30000 + i * 500000);
		ops_op(&o, TID, ts + 600000, "mul", NULL);
		ops_end(&o, TID, ts + 610000);
		ops_end(&o, TID, ts + 700000);
	}
	r = ops_result(&o, NULL);
	CHECK(!xsprof_event_uncertain(ops_find(r, "add", 0)));
	CHECK(xsprof_event_uncertain(ops_find(r, "add", 1)));
	CHECK(!xsprof_event_uncertain(ops_find(r, "mul", 1)));
	t = table(r, XSPROF_BY_NAME, XSPROF_SORT_CPU);
	at = row(t, "add", 0);
	CHECK_EQ(at->count, 2);
	CHECK_EQ(at->uncertain, 1);
	CHECK_EQ(at->cpu_ns, 20000);
	CHECK_EQ(at->self_cpu_ns, 20000);
	at = row(t, "step", 0);
	CHECK_EQ(at->uncertain, 1);
	CHECK_EQ(at->cpu_ns, 700000);
	CHECK_EQ(at->self_cpu_ns, 670000);
	at = row(t, "mul", 0);
	CHECK_EQ(at->uncertain, 0);
	CHECK_EQ(at->cpu_ns, 20000);
	CHECK_EQ(xsprof_table_total(t)->uncertain, 2);
	CHECK_EQ(xsprof_table_total(t)->self_cpu_ns, 710000);
	text = xsprof_table_text(t, 0);
	CHECK(text && strstr(text, "Uncertain"));
	/* The mean is that of the certain call. */
	CHECK(text && strstr(text, "700.000us"));
	free(text);
	xsprof_table_free(t);
	xsprof_result_free(r);
	ops_free(&o);
	tap_result("ranges across a loss count, without their times");
}

int main(void)
{
	test_names();
	test_shapes();
	test_order();
	test_stacks();
	test_text();
	test_folded();
	test_uncertain();
	return tap_done();
}
