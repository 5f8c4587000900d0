// SPDX-License-Identifier: GPL-2.0-only
/*
 * The parts that are only arithmetic: checksum, columns, clock fit.
 */
#include <stdlib.h>
#include <string.h>

#include "base/columns.h"
#include "base/crc32c.h"
#include "base/plain.h"
#include "common/crc32c.h"
#include "common/tap.h"
#include "decode/clockfit.h"
#include "decoder/builder.h"
#include "drain/filter.h"
#include "text/escape.h"

/* Which of the device's producers are opened. */
static void test_filter(void)
{
	struct xsp_ended ended = { 0 };
	const uint64_t ids[] = { 1, 200 }, start = 500;
	const pid_t pid = 12;
	struct xsp_device_filter filter = { .session = 7, .ended = &ended };
	struct xsprof_info info = { .session = 7, .state = XSPROF_STATE_KILLED };

	for (uint64_t id = 1; id < 200; id++) {
		info.id = id;
		CHECK(xsp_device_wants(&filter, &info, 0));
		CHECK_EQ(xsp_ended_add(&ended, 0, id), 0);
		CHECK(!xsp_device_wants(&filter, &info, 0));
	}
	info.id = 1;
	CHECK(!xsp_device_wants(&filter, &info, 0));
	CHECK(!xsp_ended_has(&ended, 1, 1));
	filter = (struct xsp_device_filter){ .ids = ids, .nr_ids = 2, .ended = &ended };
	CHECK(!xsp_device_wants(&filter, &info, 0));
	info.id = 200;
	CHECK(xsp_device_wants(&filter, &info, 0));
	xsp_ended_free(&ended);
	CHECK(!xsp_ended_has(&ended, 0, 1));
	tap_result("a producer that one is through with is not taken up again");
	info = (struct xsprof_info){ .id = 1, .pid = 12, .start_time = 500 };
	filter = (struct xsp_device_filter){ .pids = &pid, .starts = &start, .nr_pids = 1 };
	CHECK(xsp_device_wants(&filter, &info, 0));
	info.start_time = 501;
	CHECK(!xsp_device_wants(&filter, &info, 0));
	filter.starts = NULL;
	CHECK(xsp_device_wants(&filter, &info, 0));
	tap_result("a process that got the number of another is not that");
}

static uint8_t *noise(size_t len)
{
	uint8_t *p = malloc(len);
	uint32_t seed = 99;

	if (!p)
		tap_bail("no memory");
	for (size_t i = 0; i < len; i++) {
		seed = seed * 1103515245 + 12345;
		p[i] = seed >> 16;
	}
	return p;
}

static void test_crc(void)
{
	uint8_t *p = noise(70000);

	CHECK_EQ(xsp_crc32c(0, "123456789", 9), 0xe3069283u);
	CHECK_EQ(xsp_crc32c_portable(0, "123456789", 9), 0xe3069283u);
	for (size_t len = 0; len < 69000; len += len < 300 ? 1 : 1237) {
		uint32_t want = crc32c(p + len % 9, len);

		CHECK_EQ(xsp_crc32c(0, p + len % 9, len), want);
		CHECK_EQ(xsp_crc32c_portable(0, p + len % 9, len), want);
		CHECK_EQ(xsp_crc32c(xsp_crc32c(0, p + len % 9, len / 3), p + len % 9 + len / 3,
				    len - len / 3), want);
	}
	tap_result("CRC-32C");
	free(p);
}

static void test_columns(void)
{
	uint8_t *in = noise(300 * 32 + 8), *out = malloc(300 * 32 + 8);
	uint8_t *back = malloc(300 * 32 + 8);

	for (size_t slots = 0; slots < 300; slots++) {
		const uint8_t *src = in + slots % 8;
		uint64_t before = 0;

		memset(back, 0xee, 300 * 32 + 8);
		xsp_columns_encode(out + 1, src, slots);
		xsp_columns_decode(back + 3, out + 1, slots);
		CHECK(!memcmp(back + 3, src, slots * 32));
		CHECK(back[2] == 0xee && back[3 + slots * 32] == 0xee);
		for (size_t i = 0; i < slots; i++) {
			uint64_t column[4], time;

			memcpy(column, src + i * 32, 32);
			time = column[1];
			column[1] -= before;
			before = time;
			for (int b = 0; b < 32; b++)
				CHECK_EQ(out[1 + b * slots + i],
					 (uint8_t)(column[b / 8] >> b % 8 * 8));
		}
	}
	tap_result("columns");
	free(in);
	free(out);
	free(back);
}

/* ---- the clock --------------------------------------------------------------------------- */

static void never_back(const struct xst_fit *fit, uint64_t from, uint64_t to, uint64_t step)
{
	uint64_t before = 0;

	for (uint64_t x = from; x < to; x += step) {
		uint64_t ns = xst_fit_ns(fit, x);

		if (ns < before)
			tap_wrong("at %llu the time goes back by %llu ns", (unsigned long long)x,
				  (unsigned long long)(before - ns));
		before = ns;
	}
	CHECK(xst_fit_ns(fit, 0) <= xst_fit_ns(fit, from));
	CHECK(xst_fit_ns(fit, UINT64_MAX) >= before);
}

/* Ticks at the points convert to the points' times. */
static void test_points(void)
{
	struct xst_point points[100], copy[100];
	struct xst_fit fit;

	for (int i = 0; i < 100; i++) {
		/* 3 GHz, with the kernel adjusting by up to 50 ppm. */
		uint64_t mono = 5000000000ull + i * 1000000000ull;

		points[i] = (struct xst_point){
			.ticks = 77777777777ull + mono * 3 + (uint64_t)(i % 5) * 30000,
			.mono = mono, .boot = mono + 55, .window = 60,
		};
	}
	memcpy(copy, points, sizeof(points));
	CHECK_EQ(xst_fit_build(&fit, copy, 100, 0), 0);
	CHECK_EQ(fit.points, 100);
	CHECK_EQ(fit.refused, 0);
	for (int i = 0; i < 100; i++) {
		uint64_t ns = xst_fit_ns(&fit, points[i].ticks);

		CHECK(ns >= points[i].mono - 1 && ns <= points[i].mono);
	}
	CHECK(fit.freq > 2.999e9 && fit.freq < 3.001e9);
	/* Adjusted by 10 us from second to second: the bound must cover that, but not much more. */
	CHECK(fit.error_ns >= 10000 && fit.error_ns < 60000);
	never_back(&fit, points[0].ticks - 1000000000, points[99].ticks + 1000000000, 9999991);
	tap_result("a fit goes through its points");
	xst_fit_free(&fit);
}

static void test_exact(void)
{
	struct xst_point points[10];
	struct xst_fit fit;

	for (int i = 0; i < 10; i++)
		points[i] = (struct xst_point){ .ticks = 1000 + i * 1000000000ull,
						.mono = 1000 + i * 1000000000ull, .window = 100 };
	CHECK_EQ(xst_fit_build(&fit, points, 10, 0), 0);
	for (uint64_t x = 1000; x < 9000000000ull; x += 123456789)
		CHECK(xst_fit_ns(&fit, x) == x || xst_fit_ns(&fit, x) == x - 1);
	CHECK(fit.error_ns <= 52);
	CHECK_EQ(xst_fit_ns(&fit, 0), 0);
	CHECK(xst_fit_error(&fit, 19000000000ull) > fit.error_ns);
	tap_result("nanoseconds stay nanoseconds");
	xst_fit_free(&fit);
}

static void test_suspend(void)
{
	uint64_t hour = 3600ull * 1000000000;
	struct xst_point points[] = {
		{ .ticks = 2000000000, .mono = 1000000000, .boot = 1000000000, .window = 10 },
		{ .ticks = 4000000000, .mono = 2000000000, .boot = 2000000000, .window = 10 },
		{ .ticks = 6000000000 + 2 * hour, .mono = 3000000000, .boot = 3000000000 + hour,
		  .window = 10 },
		{ .ticks = 8000000000 + 2 * hour, .mono = 4000000000, .boot = 4000000000 + hour,
		  .window = 10 },
	};
	struct xst_fit fit;

	CHECK_EQ(xst_fit_build(&fit, points, 4, 0), 0);
	CHECK_EQ(fit.points, 4);
	CHECK(fit.freq > 1.99e9 && fit.freq < 2.01e9);
	/* A quarter of a second after the point before, and before the point after. */
	CHECK(llabs((long long)xst_fit_ns(&fit, 4500000000) - 2250000000ll) < 5);
	CHECK(llabs((long long)xst_fit_ns(&fit, 5500000000 + 2 * hour) - 2750000000ll) < 5);
	CHECK(llabs((long long)xst_fit_ns(&fit, 5000000000 + hour) - 2500000000ll) < 5);
	CHECK(fit.error_ns >= 500000000 && fit.error_ns < 510000000);
	never_back(&fit, 1, 9000000000 + 2 * hour, hour / 9999);
	tap_result("suspension");
	xst_fit_free(&fit);

	/* A counter that stops during suspend too. */
	points[2].ticks = 6000000000;
	points[3].ticks = 8000000000;
	CHECK_EQ(xst_fit_build(&fit, points, 4, 0), 0);
	CHECK(llabs((long long)xst_fit_ns(&fit, 5000000000) - 2500000000ll) < 5);
	CHECK(fit.error_ns < 1000);
	tap_result("suspension of a counter that stops");
	xst_fit_free(&fit);
}

static void test_few(void)
{
	struct xst_point one = { .ticks = 3000000000, .mono = 1000000000, .window = 3000 };
	struct xst_point two[] = { one, { .ticks = 6000000000, .mono = 2000000000 } };
	struct xst_point near[] = { one, { .ticks = 3000300100, .mono = 1000100000 } };
	struct xst_fit fit;

	CHECK_EQ(xst_fit_build(&fit, NULL, 0, 0), 0);
	CHECK_EQ(xst_fit_ns(&fit, 12345), 12345);
	CHECK_EQ(fit.error_ns, UINT64_MAX);
	xst_fit_free(&fit);

	CHECK_EQ(xst_fit_build(&fit, &one, 1, 3e9), 0);
	CHECK(llabs((long long)xst_fit_ns(&fit, 6000000000) - 2000000000ll) < 5);
	CHECK(xst_fit_error(&fit, 6000000000) >= 500000);
	CHECK(xst_fit_error(&fit, 3000000000) < 1000);
	xst_fit_free(&fit);

	CHECK_EQ(xst_fit_build(&fit, &one, 1, 0), 0);
	CHECK_EQ(fit.error_ns, UINT64_MAX);
	xst_fit_free(&fit);

	CHECK_EQ(xst_fit_build(&fit, two, 2, 0), 0);
	CHECK(fit.error_ns >= 250000 && fit.error_ns < 300000);
	xst_fit_free(&fit);

	/* The slope of two close points means nothing: use the given frequency. */
	CHECK_EQ(xst_fit_build(&fit, near, 2, 3e9), 0);
	CHECK(llabs((long long)xst_fit_ns(&fit, 303000000000) - 101000000000ll) < 100000);
	xst_fit_free(&fit);
	tap_result("two points, one, none");
}

/* Extreme values. */
static void test_wild(void)
{
	uint64_t x = 88172645463325252ull;

	for (int round = 0; round < 3000; round++) {
		struct xst_point points[12];
		struct xst_fit fit;
		uint64_t before = 0;

		for (int i = 0; i < 12; i++) {
			uint64_t *word = (uint64_t *)&points[i];

			for (int k = 0; k < 4; k++) {
				x ^= x << 13;
				x ^= x >> 7;
				x ^= x << 17;
				word[k] = x >> (round % 3 ? x % 64 : 0);
			}
			if (round % 2) {
				points[i].ticks = i * 1000000 + points[i].ticks % 1000;
				points[i].mono = i * 1000000 + points[i].mono % 100000;
			}
		}
		CHECK_EQ(xst_fit_build(&fit, points, 12, (double)(x % 5000000000)), 0);
		for (int shift = 63; shift >= 0; shift--) {
			uint64_t ns = xst_fit_ns(&fit, UINT64_MAX >> shift);

			CHECK(ns >= before);
			before = ns;
		}
		xst_fit_free(&fit);
	}
	tap_result("wild points");
}

/* Encodes @code as UTF-8, even if it is not valid, such as a surrogate. */
static size_t utf8(char *p, unsigned int code)
{
	static const unsigned int lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

	if (n == 1) {
		*p = (char)code;
		return 1;
	}
	for (size_t i = n; --i; code >>= 6)
		p[i] = (char)(0x80 | (code & 0x3f));
	p[0] = (char)(lead[n] | code);
	return n;
}

/* Escaping and replacing let the same characters pass. */
static void test_plain(void)
{
	unsigned int through = 0;

	for (unsigned int code = 0; code < 0x110800; code++) {
		char text[4], plain[4], escaped[4 * XSP_ESCAPE_MAX];
		size_t n = utf8(text, code), len;
		bool same;

		memcpy(plain, text, n);
		xsp_plain(plain, n);
		len = (size_t)(xsp_escape_text(escaped, text, n) - escaped);
		same = len == n && !memcmp(escaped, text, n);
		/* A backslash is printed; in an escaped text it is doubled. */
		if (same != !memcmp(plain, text, n) && code != '\\')
			tap_wrong("U+%04X: %sescaped, %sreplaced", code, same ? "not " : "",
				  memcmp(plain, text, n) ? "" : "not ");
		through += same;
	}
	CHECK(through > 0x100000 && through < 0x110000);
	tap_result("one list of characters that are not printed");
}

int main(void)
{
	test_plain();
	test_crc();
	test_filter();
	test_columns();
	test_points();
	test_exact();
	test_suspend();
	test_few();
	test_wild();
	return tap_done();
}
