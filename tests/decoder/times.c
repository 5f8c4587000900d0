// SPDX-License-Identifier: GPL-2.0-only
/*
 * Times of events with known clock readings: begins and ends, a time that goes backwards, a growing
 * file, and producers with different clocks.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "decoder/builder.h"
#include "decoder/drain.h"
#include "common/tap.h"

#define RECORDS	3000

static void test_times(void)
{
	struct xsprof_rec_span span = { .begin = 2500, .end = 2600 };
	struct xsprof_rec_gpu gpu = { .start = 2700, .end = 2650 };
	const struct taken *taken;
	struct ring r = { 0 };
	struct drained d;
	struct cap cap;

	cap_head(&cap, 1);
	ring_rec(&r, XSPROF_REC_COMPLETE, 1, 3000, 1, 400);
	ring_rec(&r, XSPROF_REC_COMPLETE, 1, 3001, 1, 1ull << 63);
	ring_put(&r, (struct xsprof_rec){ .type = XSPROF_REC_SPAN, .ts = 3002 }, &span.begin, 32);
	ring_put(&r, (struct xsprof_rec){ .type = XSPROF_REC_GPU, .ts = 3003 }, &gpu.start, 64);
	ring_put(&r, (struct xsprof_rec){ .type = XSPROF_REC_INSTANT, .ts = 3004, .cpu = 77,
		 .size = XSPROF_RECF_CPU << 4 }, NULL, 0);
	cap_ring(&cap, 0, 1, 0, &r);
	cap_end(&cap, 5000);
	drain(&d, cap_path(cap.data, cap.len), NULL, 10);
	taken = drained_at(&d, XSPROF_REC_COMPLETE, 0);
	CHECK(taken && taken->ev.begin_ns == 2600 && taken->ev.end_ns == 3000);
	taken = drained_at(&d, XSPROF_REC_COMPLETE, 1);
	CHECK(taken && taken->ev.begin_ns == 0 && taken->ev.end_ns == 3001);
	taken = drained_at(&d, XSPROF_REC_SPAN, 0);
	CHECK(taken && taken->ev.begin_ns == 2500 && taken->ev.end_ns == 2600);
	CHECK(taken && taken->ev.cpu == -1);
	taken = drained_at(&d, XSPROF_REC_GPU, 0);
	CHECK(taken && taken->ev.begin_ns == 2700 && taken->ev.end_ns == 2700);
	taken = drained_at(&d, XSPROF_REC_INSTANT, 0);
	CHECK(taken && taken->ev.cpu == 77);
	tap_result("begins, ends and CPUs");
	drained_free(&d);
	ring_free(&r);
	cap_free(&cap);
}

static void test_back(void)
{
	struct ring r = { 0 };
	struct drained d;
	struct cap cap;

	cap_head(&cap, 1);
	ring_rec(&r, XSPROF_REC_INSTANT, 1, 3000, 1, 0);
	ring_rec(&r, XSPROF_REC_INSTANT, 1, 2990, 1, 1);
	ring_rec(&r, XSPROF_REC_INSTANT, 1, 3001, 1, 2);
	cap_ring(&cap, 0, 0, 0, &r);
	cap_end(&cap, 5000);
	drain(&d, cap_path(cap.data, cap.len), NULL, 10);
	CHECK_EQ(d.nr, 4);
	CHECK(d.list[2].ev.ns == 3000 && d.list[2].ev.ticks == 2990 &&
	      d.list[2].ev.flags == XSPROF_EVF_BACK);
	CHECK(d.list[3].ev.ns == 3001 && !d.list[3].ev.flags);
	CHECK_EQ(d.warnings, 1);
	tap_result("a time that goes back");
	drained_free(&d);
	ring_free(&r);
	cap_free(&cap);
}

/* Writes like a recorder: once a second drains all rings, then reads the clocks. */
static void rounds(struct cap *cap)
{
	const uint64_t start = 3000000, step = 10000000;
	struct ring r[2] = { 0 };

	cap_head(cap, 2);
	for (unsigned int i = 0; i < RECORDS; i++) {
		ring_rec(&r[i / 3 % 2], XSPROF_REC_INSTANT, 1, start + i * step, 1, i);
		if (i % 100 == 99) {
			struct xsprof_sync sync = sync_at(start + i * step + 500, 0);

			/* The later half first: older records come later in the file. */
			cap_ring(cap, 0, 1, 0, &r[1]);
			cap_ring(cap, 0, 0, 0, &r[0]);
			cap_clock(cap, &sync, 1);
		}
	}
	ring_free(&r[0]);
	ring_free(&r[1]);
	cap_end(cap, start + RECORDS * step);
}

/* A file that grows while it is read. */
static void test_follow(void)
{
	struct xsprof_trace_options opts = { .size = sizeof(opts), .flags = XSPROF_TRACE_FOLLOW };
	char path[] = "/tmp/xsprof-follow-XXXXXX";
	struct drained d = { 0 };
	struct xsprof_trace *t;
	int fd = mkstemp(path);
	uint64_t next = 0;
	struct cap cap;

	rounds(&cap);
	if (fd < 0 || write(fd, cap.data, 1000) != 1000 || xsprof_trace_open(path, &opts, &t))
		tap_bail("follow: %s", xsprof_trace_error(NULL));
	for (size_t at = 1000; at < cap.len;) {
		size_t n = cap.len - at < 777 ? cap.len - at : 777;

		drain_open(&d, t, 50);
		CHECK_EQ(d.end, -EAGAIN);
		/* At most three rounds behind the end of the file. */
		CHECK(d.nr + 500 > at / 40);
		if (write(fd, cap.data + at, n) != (ssize_t)n)
			tap_bail("write");
		at += n;
	}
	drain_open(&d, t, 50);
	CHECK_EQ(d.end, 0);
	CHECK_EQ(d.nr, RECORDS + 1);
	for (size_t i = 0; i < d.nr; i++) {
		if (!d.list[i].ev.rec)
			continue;
		CHECK_EQ(d.list[i].ev.value, next);
		CHECK(!d.list[i].ev.flags);
		next++;
	}
	CHECK_EQ(next, RECORDS);
	tap_result("a file that grows");
	drained_free(&d);
	xsprof_trace_close(t);
	unlink(path);
	close(fd);
	cap_free(&cap);
}

/* Producers with different counters share one time line. */
static void test_two_clocks(void)
{
	struct xsprof_ctl tsc = ctl_make(1, 0, 1 << 20, XSPROF_MODE_DISCARD);
	struct xsprof_ctl raw = tsc;
	struct xsprof_sync syncs[] = { sync_at(1000, 500000), sync_at(900000000, 500000) };
	struct ring r = { 0 };
	struct drained d;
	struct cap cap;

	raw.clock.kind = raw.attach.kind = XSPROF_CLOCK_MONO_RAW;
	raw.attach.ticks = raw.attach.mono_raw;
	tsc.attach.ticks += 500000;
	cap_begin(&cap);
	cap_clock(&cap, syncs, 2);
	cap_producer(&cap, 0, 1, &tsc);
	cap_producer(&cap, 1, 2, &raw);
	for (int i = 0; i < 100; i += 2)
		ring_rec(&r, XSPROF_REC_INSTANT, 1, 500000 + 3000 + i * 10, 1, i);
	cap_ring(&cap, 0, 0, 0, &r);
	r.pos = 0;
	for (int i = 1; i < 100; i += 2)
		ring_rec(&r, XSPROF_REC_INSTANT, 1, 7 + 3000 + i * 10, 1, i);
	cap_ring(&cap, 1, 0, 0, &r);
	cap_exit(&cap, 1, (struct xsprof_cap_exit){ .how = XSPROF_HOW_EXITED, .ticks = 5007 });
	cap_end(&cap, 10000);
	drain(&d, cap_path(cap.data, cap.len), NULL, 50);
	CHECK_EQ(d.nr, 103);
	for (size_t i = 0, next = 0; i < d.nr; i++) {
		if (!d.list[i].ev.rec)
			continue;
		CHECK_EQ(d.list[i].ev.value, next);
		CHECK(llabs((long long)d.list[i].ev.ns - (long long)(3000 + next * 10)) < 2);
		next++;
	}
	CHECK(llabs((long long)d.list[102].ev.ns - 5000) < 2);
	CHECK_EQ(d.info.clock_kind, XSPROF_CLOCK_TSC);
	CHECK(llabs((long long)d.info.first_ns - 3000) < 2);
	CHECK(llabs((long long)d.info.last_ns - 3990) < 2);
	tap_result("two kinds of clocks");
	drained_free(&d);
	ring_free(&r);
	cap_free(&cap);
}

int main(void)
{
	test_times();
	test_back();
	test_follow();
	test_two_clocks();
	return tap_done();
}
