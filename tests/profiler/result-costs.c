// SPDX-License-Identifier: GPL-2.0-only
/*
 * Results: estimated costs of ops, compared with values calculated by hand.
 */
#include "profiler/times.h"

static void costs(const char *name, const struct blob *args, uint64_t want)
{
	struct xsprof_result *r;
	uint64_t got;
	struct ops o;

	ops_begin(&o);
	ops_op(&o, TID, 2000, name, args);
	ops_end(&o, TID, 2010);
	r = ops_result(&o, NULL);
	got = xsprof_event_flops(must(r, name, 0));
	if (got != want)
		tap_wrong("%s: %llu flops, not %llu", name, (unsigned long long)got,
			  (unsigned long long)want);
	xsprof_result_free(r);
	ops_free(&o);
}

static void test_matrices(void)
{
	struct blob b = { 0 };

	/* 2 x 3 by 3 x 4: 2 * (2*3*4) */
	blob_tensor(&b, IN(0), 0, DIMS(2, 3));
	blob_tensor(&b, IN(1), 0, DIMS(3, 4));
	costs("aten::mm", &b, 48);
	costs("mm", &b, 48);
	costs("aten::mm.out", &b, 48);
	costs("aten::mmm", &b, 0);
	costs("aten::m", &b, 0);
	costs("aten::bmm", &b, 0);
	costs("aten::addmm", &b, 0);
	b = (struct blob){ 0 };
	/* What is added counts nothing: 2 * (5*6*7) */
	blob_tensor(&b, IN(0), 0, DIMS(7));
	blob_tensor(&b, IN(1), 0, DIMS(5, 6));
	blob_tensor(&b, IN(2), 0, DIMS(6, 7));
	costs("aten::addmm", &b, 420);
	costs("addmm", &b, 420);
	b = (struct blob){ 0 };
	/* Ten of 2 x 3 by 3 x 4 */
	blob_tensor(&b, IN(0), 0, DIMS(10, 2, 3));
	blob_tensor(&b, IN(1), 0, DIMS(10, 3, 4));
	costs("aten::bmm", &b, 480);
	b = (struct blob){ 0 };
	blob_tensor(&b, IN(0), 0, DIMS(10, 2, 4));
	blob_tensor(&b, IN(1), 0, DIMS(10, 2, 3));
	blob_tensor(&b, IN(2), 0, DIMS(10, 3, 4));
	costs("aten::baddbmm", &b, 480);
	costs("baddbmm", &b, 480);
	tap_result("products of matrices");

	b = (struct blob){ 0 };
	blob_tensor(&b, IN(0), 0, DIMS(2, 3, 4));
	blob_f64(&b, 1, 2);
	costs("aten::mul", &b, 24);
	costs("aten::add", &b, 24);
	costs("add.Tensor", &b, 24);
	costs("aten::sub", &b, 0);
	b = (struct blob){ 0 };
	blob_tensor(&b, IN(0), 0, 0, NULL);
	costs("aten::mul", &b, 1);
	b = (struct blob){ 0 };
	blob_i64(&b, 0, 5);
	costs("aten::mul", &b, 0);
	tap_result("elementwise ops");
}

static struct blob conv(int64_t stride, int64_t pad, int64_t dilation, int64_t groups, uint32_t nr)
{
	struct blob b = { 0 };

	/* 2 images of 3 channels, 8 x 10; 4 kernels of 3 x 5 */
	blob_tensor(&b, IN(0), 0, DIMS(2, 3, 8, 10));
	blob_tensor(&b, IN(1), 0, DIMS(4, 3, 3, 5));
	blob_put(&b, IN(2), XSPROF_ARG_NONE, 0, NULL, 0);
	blob_i64s(&b, 3, DIMS(stride, stride));
	blob_i64s(&b, 4, DIMS(pad, pad));
	blob_i64s(&b, 5, DIMS(dilation, dilation));
	if (nr > 6)
		blob_i64(&b, 6, groups);
	return b;
}

static void test_conv(void)
{
	struct blob b = conv(1, 0, 1, 1, 7);

	/* 6 x 6 results: 2 * 2 * 36 * 15 * 3 * 4 */
	costs("aten::conv2d", &b, 25920);
	costs("conv2d", &b, 25920);
	/* height (8+2-2-1)/2+1 = 4, width (10+2-4-1)/2+1 = 4: 2 * 2 * 16 * 15 * 12 */
	b = conv(2, 1, 1, 1, 7);
	costs("aten::conv2d", &b, 11520);
	/* height 8-4-1+1 = 4, width 10-8-1+1 = 2: 2 * 2 * 8 * 15 * 12 */
	b = conv(1, 0, 2, 1, 7);
	costs("aten::conv2d", &b, 5760);
	b = conv(1, 0, 1, 3, 7);
	costs("aten::conv2d", &b, 8640);
	/* No room, no stride, no groups, not given. */
	b = conv(1, 0, 5, 1, 7);
	costs("aten::conv2d", &b, 0);
	b = conv(0, 0, 1, 1, 7);
	costs("aten::conv2d", &b, 0);
	b = conv(1, -1, 1, 1, 7);
	costs("aten::conv2d", &b, 0);
	b = conv(1, 0, 1, 0, 7);
	costs("aten::conv2d", &b, 0);
	b = conv(1, 0, 1, 1, 6);
	costs("aten::conv2d", &b, 0);
	b = conv(INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, 7);
	costs("aten::conv2d", &b, 0);
	tap_result("convolutions");
}

static void test_odd(void)
{
	struct blob b = { 0 };

	/* 2^62 * 4 is too many for 64 bits. */
	blob_tensor(&b, IN(0), 0, DIMS(1ll << 62, 4));
	costs("aten::add", &b, 0);
	b = (struct blob){ 0 };
	blob_tensor(&b, IN(0), 0, DIMS(-2, -2));
	costs("aten::add", &b, 0);
	b = (struct blob){ 0 };
	blob_tensor(&b, IN(0), 0, DIMS(1ll << 40, 1ll << 20));
	blob_tensor(&b, IN(1), 0, DIMS(1ll << 20, 1ll << 40));
	costs("aten::mm", &b, 0);
	b = (struct blob){ 0 };
	blob_tensor(&b, IN(0), 0, DIMS(0, 3));
	blob_tensor(&b, IN(1), 0, DIMS(3, 4));
	costs("aten::mm", &b, 0);
	b = (struct blob){ 0 };
	blob_strided(&b, 0, 3, 2, XSPROF_TENSORF_SIZES | XSPROF_TENSORF_CUT,
		    (uint32_t[]){ 4, 5 }, 2);
	costs("aten::add", &b, 0);
	costs("aten::add", NULL, 0);
	costs("aten::conv2d", NULL, 0);
	tap_result("costs of what makes no sense");
}

int main(void)
{
	test_matrices();
	test_conv();
	test_odd();
	return tap_done();
}
