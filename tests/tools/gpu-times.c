// SPDX-License-Identifier: GPL-2.0-only
/*
 * Times in almost any order: total busy time, and whether ranges nest, each compared with a simple
 * algorithm. TAP.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/draw.h"
#include "common/tap.h"
#include "format/common/rows.h"
#include "report/gpu.h"

#define MOMENTS	4000000u
#define RANGES	1500u

/* @apart: how far they may be out of order; the pieces within that time fit into memory. */
static bool busy(uint32_t step, uint32_t apart, uint32_t longest)
{
	unsigned char *moments = calloc(MOMENTS, 1);
	struct gpu_busy *b = gpu_busy_new();
	uint64_t want = 0, got;

	for (uint32_t t = apart; t + longest < MOMENTS; t += draw(step)) {
		uint32_t begin = t - draw(apart), len = draw(longest);

		memset(moments + begin, 1, len);
		gpu_busy_add(b, begin, begin + len);
	}
	for (uint32_t i = 0; i < MOMENTS; i++)
		want += moments[i];
	got = gpu_busy_ns(b);
	gpu_busy_free(b);
	free(moments);
	if (got != want)
		printf("# got %llu, want %llu\n", (unsigned long long)got,
		       (unsigned long long)want);
	return got == want;
}

/* Each thread's pieces are in order, but come after those of the other threads. */
static bool busy_threads(uint32_t threads, uint32_t each)
{
	struct gpu_busy *b = gpu_busy_new();
	bool good;

	for (uint32_t round = 0; round < 5; round++)
		for (uint32_t t = 0; t < threads; t++)
			for (uint32_t i = 0; i < each; i++) {
				uint64_t at = ((uint64_t)round * each + i) * threads + t;

				gpu_busy_add(b, 10 * at, 10 * at + 6);
			}
	good = gpu_busy_ns(b) == 6ull * 5 * threads * each && !gpu_busy_late(b);
	gpu_busy_free(b);
	return good;
}

/* The moments of some times between two others that are in none of other times. */
static bool busy_beside(void)
{
	static unsigned char moments[MOMENTS];
	struct gpu_busy *b = gpu_busy_new(), *busy = gpu_busy_new(), *part = gpu_busy_new();
	uint64_t want = 0, got, want_part = 0, got_part;
	uint32_t first = UINT32_MAX, last = 0;

	for (uint32_t t = 50000; t < MOMENTS - 50000; t += draw(60)) {
		uint32_t len = 1 + draw(30);

		memset(moments + t, 1, len);
		gpu_busy_add(busy, t, t + len);
		first = t < first ? t : first;
		last = t + len;
	}
	for (uint32_t t = 0; t + 1000 < MOMENTS; t += draw(5000)) {
		uint32_t len = 1 + draw(999);

		for (uint32_t i = t; i < t + len; i++)
			moments[i] |= 2;
		gpu_busy_add(b, t, t + len);
	}
	for (uint32_t i = first; i < last; i++) {
		want += moments[i] == 2;
		want_part += moments[i] >> 1;
	}
	gpu_busy_join(part, b, first, last);
	got_part = gpu_busy_ns(part);
	got = gpu_busy_beside(b, busy, first, last);
	gpu_busy_free(b);
	gpu_busy_free(busy);
	gpu_busy_free(part);
	if (got != want || got_part != want_part)
		printf("# got %llu of %llu, want %llu of %llu\n", (unsigned long long)got,
		       (unsigned long long)got_part, (unsigned long long)want,
		       (unsigned long long)want_part);
	return got == want && got_part == want_part;
}

/* Of what is only a sum it is known how much is idle, not when. */
static bool busy_beside_old(void)
{
	struct gpu_busy *b = gpu_busy_new(), *busy = gpu_busy_new();
	const uint64_t n = 1000000, end = 10 * n - 5;
	uint64_t got;

	for (uint64_t i = 0; i < n; i++)
		gpu_busy_add(busy, 10 * i, 10 * i + 5);
	gpu_busy_add(b, 0, 1000);
	got = gpu_busy_beside(b, busy, 0, end);
	gpu_busy_add(b, 0, end);
	got = got == 1000 ? gpu_busy_beside(b, busy, 0, end) : 0;
	gpu_busy_free(b);
	gpu_busy_free(busy);
	return got == end - 5 * n;
}

/* Older than all that is remembered: the sum does not change, and nothing crashes. */
static bool busy_late(void)
{
	struct gpu_busy *b = gpu_busy_new();
	bool good;

	for (uint64_t i = 0; i < 1000000; i++)
		gpu_busy_add(b, 10 * i, 10 * i + 5);
	good = gpu_busy_ns(b) == 5000000 && !gpu_busy_late(b);
	for (uint64_t i = 0; i < 1000; i++)
		gpu_busy_add(b, 7 * i, 7 * i + 3);
	good &= gpu_busy_ns(b) == 5000000 && gpu_busy_late(b) == 3000;
	gpu_busy_add(b, 0, 10000000);
	good &= gpu_busy_ns(b) + gpu_busy_late(b) >= 10000000 && gpu_busy_ns(b) <= 10000000;
	gpu_busy_free(b);
	return good;
}

struct pair {
	uint64_t	begin;
	uint64_t	end;
};

static bool crosses(const struct pair *a, const struct pair *b)
{
	if (a->begin == b->begin)
		return true;
	if (a->begin > b->begin)
		return crosses(b, a);
	return b->begin < a->end && b->end > a->end;
}

/* What a row accepted nests, and what it refused would not. */
static bool rows(uint32_t span, uint32_t longest)
{
	struct fmt_rows *r = fmt_rows_new();
	static struct pair taken[RANGES];
	uint32_t nr = 0, refused = 0;
	bool good = true;

	for (uint32_t i = 0; i < RANGES / 2; i++) {
		struct pair p = { .begin = 1 + draw(span) };
		bool fits = true, took;

		p.end = p.begin + 1 + draw(longest);
		for (uint32_t k = 0; k < nr; k++) {
			fits &= !crosses(&p, &taken[k]);
			/* An end and a begin at the same time keep their order. */
			fits &= taken[k].begin != p.end || taken[k].end <= p.end;
		}
		took = fmt_rows_take(r, 7, p.begin, p.end);
		good &= took == fits;
		if (took)
			taken[nr++] = p;
		refused += !took;
	}
	fmt_rows_free(r);
	return good && nr > 30 && refused > 30;
}

static bool rows_apart(void)
{
	struct fmt_rows *r = fmt_rows_new();
	bool good = fmt_rows_take(r, 1, 10, 20) && !fmt_rows_take(r, 1, 15, 25) &&
		    fmt_rows_take(r, 2, 15, 25) && fmt_rows_take(r, 1, 12, 15);

	/* More than are remembered: what is older than these is refused. */
	for (uint64_t i = 1; i < 50000; i++)
		good &= fmt_rows_take(r, 1, 100 * i, 100 * i + 50);
	good &= !fmt_rows_take(r, 1, 60, 70);
	/* And more tracks than rows. */
	for (uint64_t i = 0; i < 5000; i++)
		(void)fmt_rows_take(r, 1000 + i, 1, 2);
	good &= !fmt_rows_take(r, 999999, 1, 2) && fmt_rows_take(r, 2, 30, 40);
	fmt_rows_free(r);
	return good;
}

int main(void)
{
	bool good = true;

	tap_ok("busy: ranges in order", busy(40, 1, 30));
	tap_ok("busy: ranges out of order", busy(40, 60000, 30));
	tap_ok("busy: long ones around short ones", busy(300, 30000, 5000));
	tap_ok("busy: buffers of 16 threads, one behind the other", busy_threads(16, 4000));
	tap_ok("busy: older than what is remembered", busy_late());
	tap_ok("busy: the part of other times that is in none", busy_beside());
	tap_ok("busy: the same where times are only a sum", busy_beside_old());
	for (int i = 0; i < 20; i++)
		good &= rows(20000, 5 + (uint32_t)i * 40);
	tap_ok("rows: what nests is taken, and nothing else", good);
	tap_ok("rows: each track for itself; memory is bounded", rows_apart());
	return tap_done();
}
