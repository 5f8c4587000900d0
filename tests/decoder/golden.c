// SPDX-License-Identifier: GPL-2.0-only
/*
 * Captures whose every event is known beforehand: order, times, names, arguments, losses, and
 * that no way of storing or reading them makes a difference.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "decoder/builder.h"
#include "decoder/drain.h"
#include "common/tap.h"

#define RINGS	5
#define RECORDS	3000

static void names(struct cap *cap)
{
	struct cap arena = { 0 };

	cap_entry(&arena, XSPROF_ENTRY_CATEGORY, 1, 0, "net");
	cap_entry(&arena, XSPROF_ENTRY_NAME, 1, 0, "alpha");
	cap_entry(&arena, XSPROF_ENTRY_NAME, 1u << XSPROF_NAME_SHIFT | 2, 0, "b\xc3\xa9ta");
	cap_entry(&arena, XSPROF_ENTRY_THREAD, 1000, XSPROF_THREAD_GIVEN, "given");
	cap_entry(&arena, XSPROF_ENTRY_THREAD, 1001, 0, "old");
	cap_entry(&arena, XSPROF_ENTRY_FACT, 0, 0, "exe=/bin/a=b");
	cap_entry(&arena, XSPROF_ENTRY_FACT, 0, 0, "exe=/bin/c");
	cap_arena(cap, 0, 0, &arena);
	cap_free(&arena);
}

static void head(struct cap *cap, uint32_t rings)
{
	struct xsprof_ctl ctl = ctl_make(rings, 1, 1 << 20, XSPROF_MODE_DISCARD);
	struct xsprof_sync syncs[] = { sync_at(1000, 0), sync_at(1000000, 0),
				       sync_at(2000000, 0) };

	cap_begin(cap);
	cap_text(cap, XSPROF_CHUNK_HOST, "hostname=here\nkernel=6.1\n");
	cap_clock(cap, syncs, 3);
	cap_producer(cap, 0, 100, &ctl);
	names(cap);
}

/* Records dealt out to rings by chance, values 0, 1, 2... in the order of their times. */
static void dealt(struct cap *cap, unsigned int flags, unsigned int chunk, unsigned int rings)
{
	struct ring r[RINGS] = { 0 };
	uint32_t seed = 1;

	head(cap, RINGS);
	for (unsigned int i = 0; i < RECORDS; i++) {
		unsigned int k;
		uint8_t extra[200] = { 0 };

		seed = seed * 1103515245 + 12345;
		k = (seed >> 16) % rings;
		ring_put(&r[k], (struct xsprof_rec){ .tid = 1000 + k, .type = XSPROF_REC_INSTANT,
			 .ts = 2000 + i * 10, .name = 1, .value = i }, extra,
			 seed >> 20 & 1 ? (seed >> 24) % 200 : 0);
		if (r[k].len > chunk)
			cap_ring(cap, 0, k, flags, &r[k]);
	}
	for (unsigned int k = 0; k < rings; k++) {
		if (r[k].len)
			cap_ring(cap, 0, k, flags, &r[k]);
		ring_free(&r[k]);
	}
	cap_end(cap, 100000);
}

static void check_dealt(const struct drained *d, const char *what)
{
	uint64_t next = 0;

	CHECK_EQ(d->open, 0);
	CHECK_EQ(d->end, 0);
	CHECK_EQ(d->warnings, 0);
	CHECK_EQ(d->nr, RECORDS + 1);
	for (size_t i = 0; i < d->nr; i++) {
		const struct xsprof_event *ev = &d->list[i].ev;

		if (ev->type != XSPROF_REC_INSTANT)
			continue;
		CHECK_EQ(ev->value, next);
		CHECK_EQ(ev->ns, 2000 + next * 10);
		CHECK_EQ(ev->cpu, ev->tid - 1000);
		CHECK_EQ(ev->pid, 100);
		next++;
	}
	CHECK_EQ(next, RECORDS);
	tap_result("order and times: %s", what);
}

static void test_order(void)
{
	static const struct { const char *what; unsigned int flags, chunk; } v[] = {
		{ "plain", 0, 3000 },
		{ "one chunk a ring", 0, ~0u },
		{ "a chunk a record", 0, 0 },
		{ "zstd", CAP_ZSTD, 3000 },
		{ "columns", CAP_COLUMNS, 3000 },
		{ "zstd and columns", CAP_ZSTD | CAP_COLUMNS, 3000 },
	};
	static const size_t batches[] = { 0, 1, 7, 100 };

	for (size_t i = 0; i < sizeof(v) / sizeof(*v); i++) {
		struct cap cap;
		struct drained d;

		dealt(&cap, v[i].flags, v[i].chunk, RINGS);
		for (size_t b = 0; b < 4; b++) {
			drain(&d, cap_path(cap.data, cap.len), NULL, batches[b]);
			check_dealt(&d, v[i].what);
			drained_free(&d);
		}
		cap_free(&cap);
	}
}

static void test_pipe(void)
{
	struct cap cap;
	struct drained d;
	int fds[2], saved = dup(0);

	dealt(&cap, 0, 3000, 1);
	if (pipe(fds) || saved < 0)
		tap_bail("pipe");
	if (!fork()) {
		size_t done = 0;

		close(fds[0]);
		while (done < cap.len)
			done += write(fds[1], cap.data + done,
				      cap.len - done < 999 ? cap.len - done : 999);
		_exit(0);
	}
	close(fds[1]);
	dup2(fds[0], 0);
	close(fds[0]);
	drain(&d, "-", NULL, 64);
	dup2(saved, 0);
	close(saved);
	CHECK_EQ(d.nr, RECORDS + 1);
	CHECK_EQ(d.info.size, cap.len);
	tap_result("a pipe");
	drained_free(&d);
	cap_free(&cap);
}

static void test_rewind_and_filter(void)
{
	struct xsprof_trace_filter filter = { sizeof(filter), 2000 + 500, 2000 + 1000 };
	struct xsprof_event evs[64];
	struct drained d = { 0 };
	struct xsprof_trace *t;
	struct cap cap;

	dealt(&cap, 0, 3000, RINGS);
	if (xsprof_trace_open(cap_path(cap.data, cap.len), NULL, &t))
		tap_bail("open: %s", xsprof_trace_error(NULL));
	CHECK(xsprof_trace_next_batch(t, evs, 64) > 0);
	CHECK_EQ(xsprof_trace_rewind(t), 0);
	drain_open(&d, t, 33);
	CHECK_EQ(d.nr, RECORDS + 1);
	drained_free(&d);
	CHECK_EQ(xsprof_trace_rewind(t), 0);
	CHECK_EQ(xsprof_trace_set_filter(t, &filter), 0);
	drain_open(&d, t, 33);
	CHECK_EQ(d.nr, 51);
	CHECK_EQ(d.list[0].ev.ns, 2500);
	CHECK_EQ(d.list[50].ev.ns, 3000);
	tap_result("rewind and filter");
	drained_free(&d);
	xsprof_trace_close(t);
	cap_free(&cap);
}

static void test_names(void)
{
	struct xsprof_cap_thread thread = { .tid = 1001, .comm = "newer" };
	struct xsprof_trace *t;
	const char *key, *value;
	struct cap cap;
	size_t len;

	head(&cap, 2);
	cap_chunk(&cap, (struct xsprof_chunk){ .type = XSPROF_CHUNK_THREADS }, 0, &thread,
		  sizeof(thread));
	thread = (struct xsprof_cap_thread){ .tid = 1000, .comm = "kernel's" };
	cap_chunk(&cap, (struct xsprof_chunk){ .type = XSPROF_CHUNK_THREADS }, 0, &thread,
		  sizeof(thread));
	cap_text(&cap, XSPROF_CHUNK_NOTE, "a note");
	cap_end(&cap, 5000);
	if (xsprof_trace_open(cap_path(cap.data, cap.len), NULL, &t))
		tap_bail("open: %s", xsprof_trace_error(NULL));
	CHECK(!strcmp(xsprof_trace_name(t, 0, 1), "alpha"));
	CHECK(!strcmp(xsprof_trace_name_len(t, 0, 1u << XSPROF_NAME_SHIFT | 2, &len),
		      "b\xc3\xa9ta"));
	CHECK_EQ(len, 5);
	CHECK(!strcmp(xsprof_trace_category(t, 0, 1u << XSPROF_NAME_SHIFT | 2), "net"));
	CHECK(!strcmp(xsprof_trace_category(t, 0, 1), "default"));
	CHECK(!strcmp(xsprof_trace_name(t, 0, 3), "?"));
	CHECK(!strcmp(xsprof_trace_name(t, 9, 1), "?"));
	CHECK(!strcmp(xsprof_trace_name(t, 0, XSPROF_NAME_FULL), "?"));
	CHECK(!strcmp(xsprof_trace_thread(t, 0, 1000), "given"));
	CHECK(!strcmp(xsprof_trace_thread(t, 0, 1001), "newer"));
	CHECK(!strcmp(xsprof_trace_thread(t, 0, 1002), ""));
	CHECK(!strcmp(xsprof_trace_fact(t, 0, "exe"), "/bin/c"));
	CHECK(!xsprof_trace_fact(t, 0, "none"));
	CHECK(!xsprof_trace_fact_at(t, 0, 0, &key, &value) && !strcmp(value, "/bin/a=b"));
	CHECK(!strcmp(xsprof_trace_host_fact(t, "kernel"), "6.1"));
	CHECK(!xsprof_trace_host_fact_at(t, 0, &key, &value) && !strcmp(key, "hostname"));
	CHECK_EQ(xsprof_trace_host_fact_at(t, 2, &key, &value), -ENOENT);
	CHECK(!strcmp(xsprof_trace_note(t, 0), "a note"));
	CHECK(!xsprof_trace_note(t, 1));
	tap_result("names, threads, facts, notes");
	xsprof_trace_close(t);
	cap_free(&cap);
}

/* An arena cut into chunks at every byte gives the same names. */
static void test_arena_pieces(void)
{
	struct cap arena = { 0 };

	for (int i = 1; i <= 20; i++) {
		char text[32];

		snprintf(text, sizeof(text), "name %*d", i % 9, i);
		cap_entry(&arena, XSPROF_ENTRY_NAME, i, 0, text);
	}
	for (size_t piece = 1; piece < 70; piece++) {
		struct xsprof_trace *t;
		struct cap cap;

		cap_begin(&cap);
		for (size_t at = 0; at < arena.len; at += piece) {
			struct cap part = { arena.data + at, arena.len - at, 0 };

			if (part.len > piece)
				part.len = piece;
			cap_arena(&cap, 0, at, &part);
		}
		if (xsprof_trace_open(cap_path(cap.data, cap.len), NULL, &t))
			tap_bail("open: %s", xsprof_trace_error(NULL));
		for (int i = 1; i <= 20; i++) {
			char text[32];

			snprintf(text, sizeof(text), "name %*d", i % 9, i);
			CHECK(!strcmp(xsprof_trace_name(t, 0, i), text));
		}
		xsprof_trace_close(t);
		cap_free(&cap);
	}
	tap_result("an arena in pieces");
	cap_free(&arena);
}

static size_t put_arg(uint8_t *at, uint32_t key, uint8_t type, uint64_t value, const char *s)
{
	struct xsprof_arg arg = { .key = key, .type = type, .len = s ? strlen(s) : 0,
				  .value = value };

	memcpy(at, &arg, sizeof(arg));
	if (s)
		memcpy(at + sizeof(arg), s, arg.len);
	return sizeof(arg) + ((arg.len + 15u) & ~15u);
}

static void test_args(void)
{
	struct xsprof_trace_arg arg;
	uint8_t extra[224] = { 0 };
	const struct taken *taken;
	struct xsprof_event ev;
	struct ring r = { 0 };
	struct drained d;
	struct cap cap;
	size_t pos = 0, n = 0;

	head(&cap, 1);
	n += put_arg(extra + n, 1, XSPROF_ARG_I64, -5, NULL);
	n += put_arg(extra + n, 2, XSPROF_ARG_STR, 0, "seventeen letters");
	n += put_arg(extra + n, 3, XSPROF_ARG_F64, 0x3ff8000000000000ull, NULL);
	ring_put(&r, (struct xsprof_rec){ .type = XSPROF_REC_BEGIN, .tid = 1, .ts = 3000,
		 .size = XSPROF_RECF_MORE << 4 }, extra, n);
	ring_put(&r, (struct xsprof_rec){ .type = XSPROF_REC_ARGS, .tid = 1, .ts = 3000 }, extra,
		 put_arg(extra, 4, XSPROF_ARG_BOOL, 1, NULL));
	/* One whose string is longer than the record. */
	put_arg(extra, 4, XSPROF_ARG_STR, 0, "x");
	((struct xsprof_arg *)extra)->len = 100;
	ring_put(&r, (struct xsprof_rec){ .type = XSPROF_REC_END, .tid = 1, .ts = 3001 }, extra,
		 32);
	cap_ring(&cap, 0, 0, 0, &r);
	cap_end(&cap, 5000);
	drain(&d, cap_path(cap.data, cap.len), NULL, 3);
	taken = drained_at(&d, XSPROF_REC_BEGIN, 0);
	if (taken) {
		ev = taken->ev;
		ev.rec = (const struct xsprof_rec *)taken->rec;
		CHECK(xsprof_trace_args(&ev, &pos, &arg) && arg.key == 1 && arg.u.i64 == -5);
		CHECK(xsprof_trace_args(&ev, &pos, &arg) && arg.len == 17 &&
		      !memcmp(arg.str, "seventeen letters", 17));
		CHECK(xsprof_trace_args(&ev, &pos, &arg) && arg.u.f64 == 1.5);
		CHECK(!xsprof_trace_args(&ev, &pos, &arg));
	}
	taken = drained_at(&d, XSPROF_REC_ARGS, 0);
	if (taken) {
		ev = taken->ev;
		ev.rec = (const struct xsprof_rec *)taken->rec;
		CHECK_EQ(touch_args(&ev), 1);
	}
	taken = drained_at(&d, XSPROF_REC_END, 0);
	if (taken) {
		ev = taken->ev;
		ev.rec = (const struct xsprof_rec *)taken->rec;
		CHECK_EQ(touch_args(&ev), 0);
	}
	tap_result("arguments");
	drained_free(&d);
	ring_free(&r);
	cap_free(&cap);
}

static void test_times(void)
{
	struct xsprof_rec_span span = { .begin = 2500, .end = 2600 };
	struct xsprof_rec_gpu gpu = { .start = 2700, .end = 2650 };
	const struct taken *taken;
	struct ring r = { 0 };
	struct drained d;
	struct cap cap;

	head(&cap, 1);
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

/* Drops in the middle, at the end, of a lock ring, for want of memory; and slots overwritten. */
static void test_losses(void)
{
	struct xsprof_trace_producer producer;
	struct xsprof_cap_ledger ledger;
	const struct taken *taken;
	struct ring r = { 0 };
	struct xsprof_trace *t;
	struct drained d;
	struct cap cap;

	head(&cap, 2);
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

/* Records that found no room in the file: whose they were EXIT tells, and END how many in all. */
static void test_no_room(void)
{
	static const struct { uint64_t exit, end, own, all; } v[] = {
		{ 0, 0, 5, 5 },
		{ 30, 0, 35, 35 },	/* not even END found room */
		{ 30, 35, 35, 35 },
		{ 30, 50, 35, 50 },	/* of some it is not known whose they were */
		{ 0, 50, 5, 50 },	/* so in files of recorders that did not tell */
	};

	for (size_t i = 0; i < sizeof(v) / sizeof(*v); i++) {
		struct xsprof_cap_end end = { .ticks = 5000, .lost_records = v[i].end };
		struct xsprof_trace_producer producer;
		const struct taken *taken;
		struct xsprof_trace *t;
		struct ring r = { 0 };
		struct drained d;
		struct cap cap;

		head(&cap, 1);
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
		/* Where they are missing, as slots. */
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

static void test_back(void)
{
	struct ring r = { 0 };
	struct drained d;
	struct cap cap;

	head(&cap, 1);
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

/* Bytes that are no record: the next block goes on, and what was passed is counted. */
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

		head(&cap, 1);
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

	head(&cap, 1);
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

/* As a recorder writes: all rings are drained, then the clocks are read, once a second. */
static void rounds(struct cap *cap)
{
	const uint64_t start = 3000000, step = 10000000;
	struct ring r[2] = { 0 };

	head(cap, 2);
	for (unsigned int i = 0; i < RECORDS; i++) {
		ring_rec(&r[i / 3 % 2], XSPROF_REC_INSTANT, 1, start + i * step, 1, i);
		if (i % 100 == 99) {
			struct xsprof_sync sync = sync_at(start + i * step + 500, 0);

			/* The later half first: what is older comes later in the file. */
			cap_ring(cap, 0, 1, 0, &r[1]);
			cap_ring(cap, 0, 0, 0, &r[0]);
			cap_clock(cap, &sync, 1);
		}
	}
	ring_free(&r[0]);
	ring_free(&r[1]);
	cap_end(cap, start + RECORDS * step);
}

/* A file that grows while it is followed. */
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
		/* Not more than three rounds behind what the file holds. */
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

/* Producers with different counters stand on one time. */
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
	test_order();
	test_pipe();
	test_rewind_and_filter();
	test_names();
	test_arena_pieces();
	test_args();
	test_times();
	test_losses();
	test_no_room();
	test_back();
	test_bad_records();
	test_unknown();
	test_follow();
	test_two_clocks();
	return tap_done();
}
