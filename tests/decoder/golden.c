// SPDX-License-Identifier: GPL-2.0-only
/*
 * Captures with known events: order, names and arguments, which are the same for every way of
 * storing and reading them.
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

/* Distributes records over the rings at random, with values 0, 1, 2... in the order of times. */
static void dealt(struct cap *cap, unsigned int flags, unsigned int chunk, unsigned int rings)
{
	struct ring r[RINGS] = { 0 };
	uint32_t seed = 1;

	cap_head(cap, RINGS);
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

	cap_head(&cap, 2);
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
	CHECK(!strcmp(xsprof_trace_thread_given(t, 0, 1000), "given"));
	CHECK(!strcmp(xsprof_trace_thread_given(t, 0, 1001), ""));
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

/* An arena cut at any byte into chunks gives the same names. */
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

	cap_head(&cap, 1);
	n += put_arg(extra + n, 1, XSPROF_ARG_I64, -5, NULL);
	n += put_arg(extra + n, 2, XSPROF_ARG_STR, 0, "seventeen letters");
	n += put_arg(extra + n, 3, XSPROF_ARG_F64, 0x3ff8000000000000ull, NULL);
	ring_put(&r, (struct xsprof_rec){ .type = XSPROF_REC_BEGIN, .tid = 1, .ts = 3000,
		 .size = XSPROF_RECF_MORE << 4 }, extra, n);
	ring_put(&r, (struct xsprof_rec){ .type = XSPROF_REC_ARGS, .tid = 1, .ts = 3000 }, extra,
		 put_arg(extra, 4, XSPROF_ARG_BOOL, 1, NULL));
	/* An argument whose string is longer than the record. */
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

int main(void)
{
	test_order();
	test_pipe();
	test_rewind_and_filter();
	test_names();
	test_arena_pieces();
	test_args();
	return tap_done();
}
