// SPDX-License-Identifier: GPL-2.0-only
/*
 * Small captures of arguments that continue in other records, of ranges without length, of spans
 * that overlap, and of arrows.
 */
#include <stdbool.h>
#include <string.h>

#include "tools/capture.h"

/* Writes a record whose only argument is a string. */
static void put_piece(struct cap_ring *r, uint64_t t, uint8_t type, uint32_t name, uint8_t flags,
		      bool more, const char *text)
{
	struct {
		struct xsprof_rec	rec;
		struct xsprof_arg	arg;
		char			text[16];
	} w = {
		.rec = cap_head(t, type, 90, name, 0, 0),
		.arg = { .key = 2, .type = XSPROF_ARG_STR, .flags = flags },
	};

	w.arg.len = (uint16_t)strlen(text);
	memcpy(w.text, text, w.arg.len);
	w.rec.size = more ? XSPROF_RECF_MORE << 4 : 0;
	cap_record(r, &w, sizeof(w) / XSPROF_SLOT_SIZE);
}

/* Instants with a string in three records; in two; with the rest missing; cut. */
void cap_make_long(void)
{
	struct cap_ring r;

	cap_host("hostname=long\n");
	cap_clock(T(0), T(10000));
	cap_producer(0, 90, T(0));
	cap_name(0, 1, "note");
	cap_name(0, 2, "text");
	cap_arena(0);
	cap_ring_open(&r, 0, 0, 64);
	cap_event(&r, T(1), XSPROF_REC_BEGIN, 90, 2, 0, 0);
	put_piece(&r, T(2), XSPROF_REC_INSTANT, 1, 0, true, "one, \"");
	cap_event(&r, T(2), XSPROF_REC_INSTANT, 91, 2, 0, 0);
	put_piece(&r, T(2), XSPROF_REC_ARGS, 0, XSPROF_ARGF_CONT, true, "two\", ");
	put_piece(&r, T(2), XSPROF_REC_ARGS, 0, XSPROF_ARGF_CONT, false, "three");
	put_piece(&r, T(3), XSPROF_REC_INSTANT, 1, 0, true, "four, ");
	put_piece(&r, T(3), XSPROF_REC_ARGS, 0, XSPROF_ARGF_CONT, false, "five");
	put_piece(&r, T(4), XSPROF_REC_INSTANT, 1, 0, true, "six, ");
	cap_event(&r, T(5), XSPROF_REC_END, 90, 0, 0, 0);
	put_piece(&r, T(6), XSPROF_REC_INSTANT, 1, 0, true, "seven, ");
	put_piece(&r, T(7), XSPROF_REC_INSTANT, 1, 0, true, "eight, ");
	put_piece(&r, T(7), XSPROF_REC_ARGS, 0, XSPROF_ARGF_CONT | XSPROF_ARGF_CUT, false, "ni");
	cap_ring_close(&r, 0);
	cap_end(T(1001));
}

/*
 * Ranges without length: alone, with arguments of their begin, of their end and of both, within
 * another, beside one with a length, of a process that has ended. A span that is written after them
 * and began before puts the events out of time order in the file.
 */
void cap_make_empty(void)
{
	struct xsprof_rec_span span = { .begin = T(5), .end = T(190) };
	static const char *const names[] = {
		"outer", "plain", "begin", "end", "both", "around", "inside", "long", "last",
		"span",
	};
	struct cap_ring r;
	uint32_t i;

	cap_host("hostname=empty\n");
	cap_clock(T(0), T(10000));
	cap_producer(0, 90, T(0));
	for (i = 0; i < 10; i++)
		cap_name(0, i + 1, names[i]);
	cap_arena(0);
	cap_ring_open(&r, 0, 0, 64);
	cap_event(&r, T(10), XSPROF_REC_BEGIN, 90, 1, 0, 0);
	cap_event(&r, T(20), XSPROF_REC_BEGIN, 90, 2, 0, 0);
	cap_event(&r, T(20), XSPROF_REC_END, 90, 0, 0, 0);
	put_piece(&r, T(30), XSPROF_REC_BEGIN, 3, 0, false, "b");
	cap_event(&r, T(30), XSPROF_REC_END, 90, 0, 0, 0);
	cap_event(&r, T(40), XSPROF_REC_BEGIN, 90, 4, 0, 0);
	put_piece(&r, T(40), XSPROF_REC_ARGS, 0, 0, false, "e");
	cap_event(&r, T(40), XSPROF_REC_END, 90, 0, 0, 0);
	put_piece(&r, T(50), XSPROF_REC_BEGIN, 5, 0, false, "b");
	put_piece(&r, T(50), XSPROF_REC_ARGS, 0, 0, false, "e");
	cap_event(&r, T(50), XSPROF_REC_END, 90, 0, 0, 0);
	/* All at once: in another thread, the inner one, the outer one. */
	cap_event(&r, T(60), XSPROF_REC_BEGIN, 90, 6, 0, 0);
	cap_event(&r, T(60), XSPROF_REC_BEGIN, 91, 8, 0, 0);
	cap_event(&r, T(60), XSPROF_REC_BEGIN, 90, 7, 0, 0);
	cap_event(&r, T(60), XSPROF_REC_INSTANT, 91, 2, 0, 0);
	cap_event(&r, T(60), XSPROF_REC_END, 90, 0, 0, 0);
	cap_event(&r, T(60), XSPROF_REC_END, 90, 0, 0, 0);
	cap_event(&r, T(70), XSPROF_REC_END, 91, 0, 0, 0);
	cap_event(&r, T(80), XSPROF_REC_END, 90, 0, 0, 0);
	span.rec = cap_head(T(190), XSPROF_REC_SPAN, 92, 10, 0, 0);
	cap_record(&r, &span, 2);
	put_piece(&r, T(200), XSPROF_REC_BEGIN, 9, 0, false, "b");
	cap_ring_close(&r, 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, T(200));
	cap_end(T(1001));
}

/* @n of them, one after the other. */
void cap_make_empties(uint32_t n)
{
	struct cap_ring r;

	cap_host("hostname=empties\n");
	cap_clock(T(0), T(1000 + n));
	cap_producer(0, 90, T(0));
	cap_name(0, 1, "range");
	cap_name(0, 2, "key");
	cap_arena(0);
	cap_ring_open(&r, 0, 0, 1024);
	for (uint32_t i = 0; i < n; i++) {
		put_piece(&r, T(10 + i), XSPROF_REC_BEGIN, 1, 0, false, &"0123456789"[i % 10]);
		cap_event(&r, T(10 + i), XSPROF_REC_END, 90, 0, 0, 0);
	}
	cap_ring_close(&r, 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, T(20 + n));
	cap_end(T(30 + n));
}

static void put_span(struct cap_ring *r, uint32_t tid, uint64_t begin, uint64_t end)
{
	struct xsprof_rec_span span = { .begin = T(begin), .end = T(end) };

	span.rec = cap_head(T(end), XSPROF_REC_SPAN, tid, 1, 0, 0);
	cap_record(r, &span, 2);
}

/*
 * Spans of thread 90 cover 10 to 150 us and 300 to 310, those of 91 cover 1000 to 2000; a hundred
 * of these are separate until the last one joins them.
 */
void cap_make_cover(void)
{
	struct cap_ring r;

	cap_host("hostname=cover\n");
	cap_clock(T(0), T(10000));
	cap_producer(0, 90, T(0));
	cap_name(0, 1, "span");
	cap_name(0, 2, "range");
	cap_arena(0);
	cap_ring_open(&r, 0, 0, 1024);
	put_span(&r, 90, 10, 60);
	put_span(&r, 90, 10, 110);
	cap_event(&r, T(120), XSPROF_REC_BEGIN, 90, 2, 0, 0);
	cap_event(&r, T(130), XSPROF_REC_COMPLETE, 90, 1, 0, 5 * US);
	cap_event(&r, T(140), XSPROF_REC_END, 90, 0, 0, 0);
	put_span(&r, 90, 100, 150);
	put_span(&r, 90, 300, 310);
	put_span(&r, 90, 310, 310);
	put_span(&r, 90, 140, 145);
	for (uint32_t i = 0; i < 100; i++)
		put_span(&r, 91, 1000 + 10 * i, 1001 + 10 * i);
	put_span(&r, 91, 1000, 2000);
	cap_ring_close(&r, 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, T(2100));
	cap_end(T(2101));
}

/*
 * "a" from 10 to 40 us; "b", 10 to 20, "c", 10 to 30, and "d", without length, begin with it. Then
 * "e" from 50 to 60, as long as "f" around it, and "g" directly after them.
 */
void cap_make_together(void)
{
	struct cap_ring r;

	cap_host("hostname=together\n");
	cap_clock(T(0), T(1000));
	cap_producer(0, 90, T(0));
	for (uint32_t i = 0; i < 7; i++)
		cap_name(0, i + 1, &"a\0b\0c\0d\0e\0f\0g"[2 * i]);
	cap_arena(0);
	cap_ring_open(&r, 0, 0, 1024);
	cap_event(&r, T(10), XSPROF_REC_BEGIN, 90, 1, 0, 0);
	cap_event(&r, T(10), XSPROF_REC_COMPLETE, 90, 4, 0, 0);
	cap_event(&r, T(20), XSPROF_REC_COMPLETE, 90, 2, 0, 10 * US);
	cap_event(&r, T(30), XSPROF_REC_COMPLETE, 90, 3, 0, 20 * US);
	cap_event(&r, T(40), XSPROF_REC_END, 90, 0, 0, 0);
	cap_event(&r, T(50), XSPROF_REC_BEGIN, 90, 6, 0, 0);
	cap_event(&r, T(60), XSPROF_REC_COMPLETE, 90, 5, 0, 10 * US);
	cap_event(&r, T(60), XSPROF_REC_END, 90, 0, 0, 0);
	cap_event(&r, T(60), XSPROF_REC_BEGIN, 90, 7, 0, 0);
	cap_event(&r, T(70), XSPROF_REC_END, 90, 0, 0, 0);
	cap_ring_close(&r, 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, T(90));
	cap_end(T(91));
}

/* @n nested ranges, and one within them all that is a single record. */
void cap_make_deep(uint32_t n)
{
	struct cap_ring r;

	cap_host("hostname=deep\n");
	cap_clock(T(0), T(1000 + 2 * n));
	cap_producer(0, 90, T(0));
	cap_name(0, 1, "deep");
	cap_name(0, 2, "whole");
	cap_arena(0);
	cap_ring_open(&r, 0, 0, 1024);
	for (uint32_t i = 0; i < n; i++)
		cap_event(&r, T(10 + i), XSPROF_REC_BEGIN, 90, 1, 0, 0);
	cap_event(&r, T(30 + n), XSPROF_REC_COMPLETE, 90, 2, 0, US);
	for (uint32_t i = 0; i < n; i++)
		cap_event(&r, T(40 + n + i), XSPROF_REC_END, 90, 0, 0, 0);
	cap_ring_close(&r, 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, T(50 + 2 * n));
	cap_end(T(60 + 2 * n));
}

/* 2 * @n spans of a process that are all open at once, and one of its thread beside them. */
void cap_make_overlap(uint32_t n)
{
	struct xsprof_rec_span span = { 0 };
	uint64_t first;
	struct cap_ring r;

	cap_host("hostname=overlap\n");
	cap_clock(T(0), T(10 * (uint64_t)n + 1000));
	cap_producer(0, 90, T(0));
	cap_name(0, 1, "request");
	cap_arena(0);
	cap_ring_open(&r, 0, 0, 1024);
	for (uint32_t i = 0; i < 2 * n; i++) {
		first = i < n ? 10 : 2 * n + 10;
		span.begin = T(first + i % n);
		span.end = T(first + n + i % n);
		span.rec = cap_head(span.end, XSPROF_REC_SPAN, 90, 1, XSPROF_SCOPE_PROCESS, i);
		cap_record(&r, &span, 2);
	}
	put_span(&r, 90, 4 * n + 10, 4 * n + 20);
	cap_ring_close(&r, 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, T(4 * n + 30));
	cap_end(T(4 * n + 31));
}

static void put_range(struct cap_ring *r, uint64_t from, uint64_t to, uint32_t tid, uint32_t name)
{
	cap_event(r, T(from), XSPROF_REC_BEGIN, tid, name, 0, 0);
	cap_event(r, T(to), XSPROF_REC_END, tid, 0, 0, 0);
}

/*
 * Arrows from "put", each to another range: "run" begins after it; "get" has waited since before;
 * "done", a single record, and "empty", without length, are over when the arrow ends; "last" ends
 * with it, and "late" begins with it in "outer". Each arrow has its range's name.
 */
void cap_make_flows(void)
{
	static const char *const names[] = {
		"put", "run", "get", "done", "empty", "last", "outer", "late", "inner",
		"to run", "to get", "to done", "to empty", "to last", "to outer",
	};
	struct cap_ring r;

	cap_host("hostname=flows\n");
	cap_clock(T(0), T(1000));
	cap_producer(0, 90, T(0));
	for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		cap_name(0, i + 1, names[i]);
	cap_arena(0);
	cap_ring_open(&r, 0, 0, 1024);
	cap_event(&r, T(5), XSPROF_REC_BEGIN, 92, 3, 0, 0);
	cap_event(&r, T(10), XSPROF_REC_BEGIN, 90, 1, 0, 0);
	put_range(&r, 12, 15, 90, 9);
	for (uint32_t i = 0; i < 6; i++)
		cap_event(&r, T(20 + i), XSPROF_REC_FLOW_START, 90, 10 + i, 0, 1 + i);
	cap_event(&r, T(30), XSPROF_REC_BEGIN, 91, 2, 0, 0);
	put_range(&r, 32, 33, 91, 9);
	cap_event(&r, T(35), XSPROF_REC_FLOW_END, 91, 10, 0, 1);
	cap_event(&r, T(40), XSPROF_REC_FLOW_END, 92, 11, 0, 2);
	cap_event(&r, T(48), XSPROF_REC_COMPLETE, 91, 4, 0, 5 * US);
	cap_event(&r, T(50), XSPROF_REC_FLOW_END, 91, 12, 0, 3);
	put_range(&r, 55, 55, 91, 5);
	cap_event(&r, T(55), XSPROF_REC_FLOW_END, 91, 13, 0, 4);
	cap_event(&r, T(60), XSPROF_REC_END, 91, 0, 0, 0);
	cap_event(&r, T(70), XSPROF_REC_BEGIN, 91, 6, 0, 0);
	cap_event(&r, T(75), XSPROF_REC_FLOW_END, 91, 14, 0, 5);
	cap_event(&r, T(75), XSPROF_REC_END, 91, 0, 0, 0);
	cap_event(&r, T(80), XSPROF_REC_BEGIN, 91, 7, 0, 0);
	cap_event(&r, T(85), XSPROF_REC_FLOW_END, 91, 15, 0, 6);
	put_range(&r, 85, 88, 91, 8);
	cap_event(&r, T(90), XSPROF_REC_END, 91, 0, 0, 0);
	cap_event(&r, T(95), XSPROF_REC_END, 90, 0, 0, 0);
	cap_event(&r, T(96), XSPROF_REC_END, 92, 0, 0, 0);
	cap_ring_close(&r, 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, T(100));
	cap_end(T(101));
}
