// SPDX-License-Identifier: GPL-2.0-only
/*
 * Losses and damage: each missing record is counted exactly once.
 */
#include <errno.h>

#include "decoder/builder.h"
#include "decoder/drain.h"
#include "common/tap.h"

/* Drops in the middle, at the end, of a lock ring, for lack of memory; and overwritten slots. */
static void test_losses(void)
{
	struct xsprof_trace_producer producer;
	struct xsprof_cap_ledger ledger;
	const struct taken *taken;
	struct ring r = { 0 };
	struct xsprof_trace *t;
	struct drained d;
	struct cap cap;

	cap_head(&cap, 2);
	ring_rec(&r, XSPROF_REC_INSTANT, 1, 3000, 1, 0);
	ring_rec(&r, XSPROF_REC_LOST, 0, 3010, 0, 7);
	ring_rec(&r, XSPROF_REC_INSTANT, 1, 3010, 1, 1);
	cap_ring(&cap, 0, 0, 0, &r);
	r.pos += 128;
	ring_rec(&r, XSPROF_REC_LOST, 0, 3020, 0, 7);	/* adds nothing */
	ring_rec(&r, XSPROF_REC_LOST, 0, 3021, 0, 9);
	ring_rec(&r, XSPROF_REC_INSTANT, 1, 3022, 1, 2);
	cap_ring(&cap, 0, 0, 0, &r);
	cap_ledger(&cap, 0, (struct xsprof_cap_ledger){ .ring = 0, .head = 300, .read = 6,
		   .skipped = 128, .bad = 10, .drops = 5 });
	cap_ledger(&cap, 0, (struct xsprof_cap_ledger){ .ring = 0, .head = 300, .read = 6,
		   .skipped = 128, .bad = 10, .drops = 20 });
	cap_ledger(&cap, 0, (struct xsprof_cap_ledger){ .ring = 2, .drops = 1, .busy = 3 });
	cap_exit(&cap, 0, (struct xsprof_cap_exit){ .how = XSPROF_HOW_KILLED, .status = 9,
		 .ticks = 4000, .nomem = 100, .late = 1000, .lived = 3700 });
	cap_end(&cap, 5000);
	drain(&d, cap_path(cap.data, cap.len), NULL, 10);
	CHECK_EQ(d.warnings, 0);
	CHECK_EQ(d.info.lost_records, 20 + 4 + 1100);
	CHECK_EQ(d.lost, 20 + 4 + 1100);
	CHECK_EQ(d.info.lost_slots, 128);
	CHECK_EQ(d.info.bad_slots, 10);
	CHECK_EQ(d.lost_slots, 138);
	CHECK_EQ(drained_count(&d, XSPROF_REC_INSTANT), 3);
	CHECK_EQ(drained_count(&d, XSPROF_EV_LOST), 7);
	taken = drained_at(&d, XSPROF_EV_LOST, 0);
	CHECK(taken && taken->ev.value == 7 && taken->ev.ns == 3010 && taken[1].ev.value == 1);
	taken = drained_at(&d, XSPROF_EV_LOST, 1);
	CHECK(taken && taken->ev.value == 128 && taken->ev.flags == XSPROF_EVF_SLOTS);
	taken = drained_at(&d, XSPROF_EV_LOST, 2);
	CHECK(taken && taken->ev.value == 2 && taken->ev.ns == 3021);
	taken = drained_at(&d, XSPROF_EV_LOST, 4);
	CHECK(taken && taken->ev.value == 11 && taken->ev.ns == 3022);
	taken = drained_at(&d, XSPROF_EV_EXIT, 0);
	CHECK(taken && taken->ev.value == ((uint64_t)XSPROF_HOW_KILLED << 32 | 9) &&
	      taken == &d.list[d.nr - 1]);
	drained_free(&d);
	if (xsprof_trace_open(cap_path(cap.data, cap.len), NULL, &t))
		tap_bail("open: %s", xsprof_trace_error(NULL));
	CHECK_EQ(xsprof_trace_get_producer(t, 0, &producer), 0);
	CHECK_EQ(producer.how, XSPROF_HOW_KILLED);
	CHECK_EQ(producer.status, 9);
	CHECK_EQ(producer.exit_ns, 4000);
	CHECK_EQ(producer.exit_within_ns, 300);
	CHECK_EQ(xsprof_trace_lived_ns(t, 0), 3700);
	CHECK_EQ(xsprof_trace_lived_ns(t, 1), 0);
	CHECK_EQ(producer.lost_records, 1124);
	CHECK_EQ(producer.ctl->pid, 4711);
	CHECK_EQ(producer.rings, 1);
	CHECK_EQ(xsprof_trace_get_producer(t, 1, &producer), -ENOENT);
	CHECK(!xsprof_trace_get_ledger(t, 0, 1, &ledger) && ledger.ring == 0 &&
	      ledger.drops == 20);
	CHECK_EQ(xsprof_trace_get_ledger(t, 0, 2, &ledger), -ENOENT);
	tap_result("losses");
	xsprof_trace_close(t);
	ring_free(&r);
	cap_free(&cap);
}

/* Records that found no room in the file: EXIT has the count of a process, END that of all. */
static void test_no_room(void)
{
	static const struct { uint64_t exit, end, own, all; } v[] = {
		{ 0, 0, 5, 5 },
		{ 30, 0, 35, 35 },	/* END found no room either */
		{ 30, 35, 35, 35 },
		{ 30, 50, 35, 50 },	/* some belong to no known process */
		{ 0, 50, 5, 50 },	/* files of older recorders: no count in EXIT */
	};

	for (size_t i = 0; i < sizeof(v) / sizeof(*v); i++) {
		struct xsprof_cap_end end = { .ticks = 5000, .lost_records = v[i].end };
		struct xsprof_trace_producer producer;
		const struct taken *taken;
		struct xsprof_trace *t;
		struct ring r = { 0 };
		struct drained d;
		struct cap cap;

		cap_head(&cap, 1);
		ring_rec(&r, XSPROF_REC_INSTANT, 1, 3000, 1, 0);
		cap_ring(&cap, 0, 0, 0, &r);
		cap_ledger(&cap, 0, (struct xsprof_cap_ledger){ .ring = 0, .head = 41, .read = 1,
			   .unsaved = 40, .drops = 5 });
		cap_exit(&cap, 0, (struct xsprof_cap_exit){ .how = XSPROF_HOW_EXITED,
			 .ticks = 4000, .unsaved = v[i].exit });
		if (v[i].end)
			cap_chunk(&cap, (struct xsprof_chunk){ .type = XSPROF_CHUNK_END,
				  .producer = XSPROF_NO_PRODUCER }, 0, &end, sizeof(end));
		drain(&d, cap_path(cap.data, cap.len), NULL, 10);
		CHECK_EQ(d.info.lost_records, v[i].all);
		CHECK_EQ(d.lost, 5);
		/* Where they are missing they are reported as slots. */
		taken = drained_at(&d, XSPROF_EV_LOST, 0);
		CHECK_EQ(d.lost_slots, v[i].all > 5 ? 40 : 0);
		CHECK(taken && taken->ev.ns == 3000);
		drained_free(&d);
		if (xsprof_trace_open(cap_path(cap.data, cap.len), NULL, &t))
			tap_bail("open: %s", xsprof_trace_error(NULL));
		CHECK_EQ(xsprof_trace_get_producer(t, 0, &producer), 0);
		CHECK_EQ(producer.lost_records, v[i].own);
		xsprof_trace_close(t);
		ring_free(&r);
		cap_free(&cap);
	}
	tap_result("no room in the file");
}

/* Bytes that are no record: decoding continues at the next block, and skipped slots are counted. */
static void test_bad_records(void)
{
	static const struct { uint8_t size, type; unsigned int bad; } v[] = {
		{ 0, XSPROF_REC_INSTANT, 118 },	/* no size */
		{ 9, XSPROF_REC_INSTANT, 118 },	/* too long */
		{ 15, XSPROF_REC_INSTANT, 118 },
		{ 1, XSPROF_REC_INVALID, 118 },
		{ 1, XSPROF_REC_SPAN, 1 },	/* shorter than its type */
		{ 2, XSPROF_REC_GPU, 2 },
	};

	for (size_t i = 0; i < sizeof(v) / sizeof(*v); i++) {
		struct xsprof_rec bad = { .type = v[i].type, .size = v[i].size, .ts = 2100 };
		struct ring r = { 0 };
		struct drained d;
		struct cap cap;

		cap_head(&cap, 1);
		for (int n = 0; n < 300; n++) {
			ring_rec(&r, XSPROF_REC_INSTANT, 1, 2000 + n, 1, n);
			if (n == 9)
				ring_raw(&r, &bad, sizeof(bad));
		}
		cap_ring(&cap, 0, 0, 0, &r);
		cap_end(&cap, 5000);
		drain(&d, cap_path(cap.data, cap.len), NULL, 10);
		CHECK_EQ(d.info.bad_slots, v[i].bad);
		CHECK_EQ(d.nr, 1 + 301 - v[i].bad);
		CHECK_EQ(d.warnings, 1);
		tap_result("a bad record of type 0x%x and size %u", v[i].type, v[i].size);
		drained_free(&d);
		ring_free(&r);
		cap_free(&cap);
	}
}

static void test_unknown(void)
{
	struct ring r = { 0 };
	struct drained d;
	struct cap cap;

	cap_head(&cap, 1);
	cap_chunk(&cap, (struct xsprof_chunk){ .type = 99 }, 0, "new", 3);
	ring_rec(&r, XSPROF_REC_INSTANT, 1, 3000, 1, 0);
	ring_put(&r, (struct xsprof_rec){ .type = 0x70, .ts = 3001 }, "more", 5);
	ring_rec(&r, XSPROF_REC_INSTANT, 1, 3002, 1, 1);
	cap_ring(&cap, 0, 0, 0, &r);
	cap_end(&cap, 5000);
	drain(&d, cap_path(cap.data, cap.len), NULL, 10);
	CHECK_EQ(drained_count(&d, XSPROF_REC_INSTANT), 2);
	CHECK_EQ(d.nr, 3);
	CHECK_EQ(d.warnings, 2);
	CHECK_EQ(d.info.bad_slots, 0);
	CHECK_EQ(d.info.bad_chunks, 0);
	tap_result("unknown chunks and records");
	drained_free(&d);
	ring_free(&r);
	cap_free(&cap);
}

int main(void)
{
	test_losses();
	test_no_room();
	test_bad_records();
	test_unknown();
	return tap_done();
}
