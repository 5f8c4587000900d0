// SPDX-License-Identifier: GPL-2.0-only
/*
 * The captures that the tests of the tools read.
 *
 *	make-capture all FILE		every type of record, two processes of one pid
 *	make-capture hostile FILE	names and strings that nobody would give
 *	make-capture big FILE N		N events of 4 threads, as real programs have them
 *	make-capture many FILE N	N threads, each with a range of its own name left open
 *	make-capture grow FILE MS	written in three parts with pauses
 *	make-capture mess FILE SEED	ranges at random: ends missing, too many, by name, in overlap
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/capture.h"

#define US	1000u
#define NOT_A_NUMBER	0x7ff8000000000001u	/* a compiler chooses the sign of 0.0 / 0.0 */
#define T(us)	(CAP_START + (us) * (uint64_t)US)

static uint64_t bits(double v)
{
	uint64_t u;

	memcpy(&u, &v, sizeof(u));
	return u;
}

/* A record with arguments: the payload is put together here. */
struct wide {
	struct xsprof_rec	rec;
	uint8_t			data[224];
	uint32_t		used;
};

static void wide_arg(struct wide *w, uint32_t key, uint8_t type, uint64_t value)
{
	struct xsprof_arg arg = { .key = key, .type = type, .value = value };

	memcpy(w->data + w->used, &arg, sizeof(arg));
	w->used += sizeof(arg);
}

static void wide_str(struct wide *w, uint32_t key, uint8_t flags, const void *s, uint16_t len)
{
	struct xsprof_arg arg = { .key = key, .type = XSPROF_ARG_STR, .flags = flags, .len = len };

	memcpy(w->data + w->used, &arg, sizeof(arg));
	memcpy(w->data + w->used + sizeof(arg), s, len);
	w->used += sizeof(arg) + ((len + 15u) & ~15u);
}

static void wide_put(struct cap_ring *ring, struct wide *w)
{
	cap_record(ring, w, (uint32_t)(sizeof(w->rec) + w->used + XSPROF_SLOT_SIZE - 1) /
			    XSPROF_SLOT_SIZE);
	memset(w, 0, sizeof(*w));
}

static struct xsprof_rec head(uint64_t ticks, uint8_t type, uint32_t tid, uint32_t name,
			      uint32_t aux, uint64_t value)
{
	return (struct xsprof_rec){
		.tid = tid, .type = type, .ts = ticks, .name = name, .aux = aux, .value = value,
	};
}

enum { STEP = 1, CONV, LOAD, FRAME, BYTES, RATIO, LOSS, REQ, LINK, LOCK, KERNEL, COPY, KEY_N, KEY_S,
       KEY_F, KEY_B, KEY_P, KEY_NAME, LAUNCH };

static void names(void)
{
	static const char *const text[] = {
		[STEP] = "step", [CONV] = "aten::conv2d, seq = 12", [LOAD] = "load", [FRAME] = "frame",
		[BYTES] = "bytes", [RATIO] = "ratio", [LOSS] = "loss", [REQ] = "request",
		[LINK] = "link", [LOCK] = "mutex", [KERNEL] = "sgemm", [COPY] = "memcpy HtoD",
		[KEY_N] = "n", [KEY_S] = "text", [KEY_F] = "f", [KEY_B] = "ok", [KEY_P] = "ptr",
		[KEY_NAME] = "what", [LAUNCH] = "cudaLaunchKernel",
	};
	uint32_t i;

	cap_entry(XSPROF_ENTRY_CATEGORY, 1, 0, "math", 4);
	for (i = 1; i < sizeof(text) / sizeof(text[0]); i++)
		cap_name(i == CONV || i == KERNEL ? 1 : 0, i, text[i]);
}

#define N(index)	((index) == CONV || (index) == KERNEL ? 1u << XSPROF_NAME_SHIFT | (index) : \
							(uint32_t)(index))

/* Ranges, their arguments, and what does not pair. */
static void all_ranges(struct cap_ring *r)
{
	struct wide w = { 0 };
	struct xsprof_rec_span span = { .begin = T(4), .end = T(9), .parent = 7 };

	cap_event(r, T(1), XSPROF_REC_STEP, 100, N(STEP), 0, 1);
	w.rec = head(T(2), XSPROF_REC_BEGIN, 100, N(CONV), 0, 0);
	wide_arg(&w, N(KEY_N), XSPROF_ARG_I64, (uint64_t)-5);
	wide_arg(&w, N(KEY_N), XSPROF_ARG_U64, 1ull << 60);
	wide_arg(&w, N(KEY_F), XSPROF_ARG_F64, bits(0.1));
	wide_arg(&w, N(KEY_B), XSPROF_ARG_BOOL, 1);
	wide_arg(&w, N(KEY_P), XSPROF_ARG_PTR, 0xdeadbeef);
	wide_arg(&w, N(KEY_NAME), XSPROF_ARG_NAME, N(LOAD));
	wide_put(r, &w);
	cap_event(r, T(3), XSPROF_REC_BEGIN, 100, N(LOAD), 0, 0);
	w.rec = head(T(3), XSPROF_REC_ARGS, 100, 0, 0, 0);
	wide_str(&w, N(KEY_S), 0, "a \"late\" one", 12);
	wide_put(r, &w);
	cap_event(r, T(5), XSPROF_REC_COMPLETE, 100, N(COPY), 0, 1 * US);
	cap_event(r, T(6), XSPROF_REC_END, 100, 0, 0, 0);
	/* It began inside what has just ended: no nesting. */
	cap_event(r, T(7), XSPROF_REC_COMPLETE, 100, N(COPY), 0, 3 * US);
	w.rec = head(T(8), XSPROF_REC_END, 100, 0, 0, 0);
	wide_arg(&w, N(KEY_N), XSPROF_ARG_I64, 8);
	wide_put(r, &w);
	span.rec = head(T(10), XSPROF_REC_SPAN, 100, N(FRAME), XSPROF_SCOPE_PROCESS, 3);
	cap_record(r, &span, 2);
	span.begin = T(6);
	span.end = T(11);
	span.rec = head(T(11), XSPROF_REC_SPAN, 100, N(FRAME), XSPROF_SCOPE_PROCESS, 4);
	cap_record(r, &span, 2);
	cap_event(r, T(12), XSPROF_REC_END, 100, 0, 0, 0);
	/* An end that names an outer range cuts the inner one. */
	cap_event(r, T(13), XSPROF_REC_BEGIN, 100, N(LOAD), 0, 0);
	cap_event(r, T(14), XSPROF_REC_BEGIN, 100, N(CONV), 0, 0);
	cap_event(r, T(15), XSPROF_REC_END, 100, N(LOAD), 0, 0);
	/* A string in two records. */
	w.rec = head(T(16), XSPROF_REC_BEGIN, 100, N(LOAD), 0, 0);
	w.rec.size = XSPROF_RECF_MORE << 4;
	wide_str(&w, N(KEY_S), 0, "first ", 6);
	wide_put(r, &w);
	w.rec = head(T(16), XSPROF_REC_ARGS, 100, 0, 0, 0);
	wide_str(&w, N(KEY_S), XSPROF_ARGF_CONT, "second", 6);
	wide_put(r, &w);
	cap_event(r, T(17), XSPROF_REC_END, 100, 0, 0, 0);
}

static void all_points(struct cap_ring *r)
{
	cap_event(r, T(20), XSPROF_REC_INSTANT, 100, N(LOSS), XSPROF_SCOPE_THREAD, 0);
	cap_event(r, T(21), XSPROF_REC_INSTANT, 100, N(LOSS), XSPROF_SCOPE_GLOBAL, 0);
	cap_event(r, T(22), XSPROF_REC_COUNTER_I64, 100, N(BYTES), 0, (uint64_t)-42);
	cap_event(r, T(23), XSPROF_REC_COUNTER_F64, 100, N(RATIO), 0, bits(2.5));
	cap_event(r, T(24), XSPROF_REC_COUNTER_F64, 100, N(RATIO), 0, NOT_A_NUMBER);
	cap_event(r, T(25), XSPROF_REC_COUNTER_F64, 100, N(RATIO), 0, bits(HUGE_VAL));
	cap_event(r, T(26), XSPROF_REC_ASYNC_BEGIN, 100, N(REQ), 0, 0xabc);
	cap_event(r, T(27), XSPROF_REC_ASYNC_INSTANT, 100, N(REQ), 0, 0xabc);
	cap_event(r, T(28), XSPROF_REC_ASYNC_END, 100, N(REQ), 0, 0xabc);
	cap_event(r, T(29), XSPROF_REC_FLOW_START, 100, N(LINK), 0, 9);
	cap_event(r, T(30), XSPROF_REC_FLOW_STEP, 100, N(LINK), 0, 9);
	cap_event(r, T(31), XSPROF_REC_FLOW_END, 100, N(LINK), 0, 9);
	cap_event(r, T(32), XSPROF_REC_CORR_PUSH, 100, 0, 1, 77);
	cap_event(r, T(33), XSPROF_REC_CORR_POP, 100, 0, 1, 0);
	cap_event(r, T(36), XSPROF_REC_SYNC, 100, N(LOCK), XSPROF_SYNC_ACQUIRED, 0x1000);
	cap_event(r, T(37), XSPROF_REC_CONTROL, 100, 0, XSPROF_CONTROL_ENABLE, 3);
}

static void all_wide(struct cap_ring *r)
{
	struct xsprof_rec_mem mem = { .bytes = 4096, .total_allocated = 8192 };
	struct xsprof_rec_clock clock = { .ticks = T(38), .window = 5 };
	struct xsprof_rec_gpu gpu = {
		.start = T(40), .end = T(44), .device = 1, .context = 2, .stream = 7,
	};
	struct xsprof_rec_relation relation = { .tail = 4 };
	struct wide w = { 0 };

	mem.rec = head(T(38), XSPROF_REC_ALLOC, 100, N(BYTES), 1u << 16 | 2, 0x7f00);
	cap_record(r, &mem, 2);
	mem.total_allocated = 0;
	mem.rec = head(T(39), XSPROF_REC_FREE, 100, 0, 0, 0x7f00);
	cap_record(r, &mem, 2);
	clock.rec = head(T(40), XSPROF_REC_CLOCK, 100, 0, 2, 123456);
	cap_record(r, &clock, 2);
	gpu.rec = head(T(45), XSPROF_REC_GPU, 100, N(KERNEL), XSPROF_GPU_KERNEL, 77);
	cap_record(r, &gpu, 3);
	gpu.start = T(42);
	gpu.end = T(46);
	gpu.bytes = 1 << 20;
	gpu.rec = head(T(47), XSPROF_REC_GPU, 100, N(COPY), XSPROF_GPU_MEMCPY, 78);
	cap_record(r, &gpu, 3);
	gpu.start = T(39);
	gpu.end = T(40);
	gpu.bytes = 0;
	gpu.thread = 101;
	gpu.rec = head(T(48), XSPROF_REC_GPU, 100, N(LAUNCH), XSPROF_GPU_RUNTIME, 77);
	cap_record(r, &gpu, 3);
	w.rec = head(T(49), XSPROF_REC_STACK, 100, 0, 2, 1);
	memcpy(w.data, (uint64_t[]){ 0x401000, 0x402000 }, 16);
	w.used = 16;
	wide_put(r, &w);
	relation.rec = head(T(50), XSPROF_REC_RELATION, 100, 0, 2, 3);
	cap_record(r, &relation, 2);
}

static void make_all(void)
{
	struct cap_ring cpu0, cpu1, second;

	cap_host("hostname=box\nkernel=6.1.0\ncommand=alpha --run\n");
	cap_clock(T(0), T(10000000));
	cap_producer(0, 100, T(0));
	names();
	cap_entry(XSPROF_ENTRY_FACT, 0, 0, "exe=/usr/bin/alpha", 18);
	cap_entry(XSPROF_ENTRY_FACT, 0, 0, "cmdline=alpha --run", 19);
	cap_entry(XSPROF_ENTRY_FACT, 0, 0, "env.RANK=3", 10);
	cap_entry(XSPROF_ENTRY_THREAD, 101, XSPROF_THREAD_GIVEN, "worker one", 10);
	cap_arena(0);
	cap_thread(0, 100, "alpha");
	cap_ring_open(&cpu0, 0, 0, 4096);
	all_ranges(&cpu0);
	all_points(&cpu0);
	all_wide(&cpu0);
	/* Two records lost before the last one, and one after it. */
	cap_event(&cpu0, T(51), XSPROF_REC_LOST, 100, 0, 0, 2);
	cap_event(&cpu0, T(51), XSPROF_REC_INSTANT, 100, N(LOSS), XSPROF_SCOPE_PROCESS, 0);
	cap_event(&cpu0, T(52), XSPROF_REC_BEGIN, 100, N(STEP), 0, 0);
	cap_ring_close(&cpu0, 3);
	cap_ring_open(&cpu1, 0, 1, 4096);
	cap_event(&cpu1, T(2), XSPROF_REC_BEGIN, 101, N(LOAD), 0, 0);
	cap_event(&cpu1, T(18), XSPROF_REC_END, 101, 0, 0, 0);
	cap_ring_close(&cpu1, 0);
	cap_exit(0, XSPROF_HOW_EXEC, 0, T(60));
	cap_producer(1, 100, T(61));
	names();
	cap_entry(XSPROF_ENTRY_FACT, 0, 0, "exe=/usr/bin/beta", 17);
	cap_arena(1);
	cap_thread(1, 100, "beta");
	cap_ring_open(&second, 1, 3, 4096);
	cap_event(&second, T(62), XSPROF_REC_BEGIN, 100, N(LOAD), 0, 0);
	cap_event(&second, T(64), XSPROF_REC_END, 100, 0, 0, 0);
	cap_event(&second, T(65), XSPROF_REC_BEGIN, 100, N(STEP), 0, 0);
	cap_ring_close(&second, 0);
	cap_exit(1, XSPROF_HOW_KILLED, 9, T(70));
	cap_chunk(XSPROF_CHUNK_NOTE, XSPROF_NO_PRODUCER, 0, 0, "a note", 6);
	cap_end(T(71));
}

static void make_hostile(void)
{
	static const char *const texts[] = {
		"\x1b]0;owned\x07\x1b[2J", "quote\" back\\slash", "line\nfeed\ttab\r",
		"bad utf8 \xff\xfe\xc0\xaf \xed\xa0\x80 \xf5\x80\x80\x80", "cut \xe2\x82",
		"\xe2\x80\xae" "desrever", "csi \xc2\x9b" "31m", "{\"ph\":\"B\"}", "%s%n%d", "</script>",
		"\xf0\x9f\x94\xa5 \xe2\x82\xac ok", "\x01\x02\x7f",
	};
	static char longest[XSPROF_TEXT_MAX + 1];
	struct wide w = { 0 };
	struct cap_ring r;
	uint32_t n = sizeof(texts) / sizeof(texts[0]), i;

	cap_host("hostname=\x1b[31mred\nodd line\n");
	cap_clock(T(0), T(10000000));
	cap_producer(0, 7, T(0));
	for (i = 0; i < n; i++)
		cap_name(0, i + 1, texts[i]);
	memset(longest, 0x01, XSPROF_TEXT_MAX);
	cap_name(0, n + 1, longest);
	cap_entry(XSPROF_ENTRY_CATEGORY, 0, 0, "c\x1b\"\xff", 4);
	cap_entry(XSPROF_ENTRY_FACT, 0, 0, "exe=/tmp/\x1b[31m\"\xff", 16);
	cap_entry(XSPROF_ENTRY_FACT, 0, 0, "cmdline=\x1b[31m \xff", 15);
	cap_entry(XSPROF_ENTRY_THREAD, 7, 0, "thr\x1b\"\xff\n", 7);
	cap_arena(0);
	cap_ring_open(&r, 0, 0, 4096);
	for (i = 0; i <= n; i++) {
		w.rec = head(T(i * 10), XSPROF_REC_BEGIN, 7, i + 1, 0, 0);
		if (i < n)
			wide_str(&w, i + 1, 0, texts[i], (uint16_t)strlen(texts[i]));
		wide_arg(&w, i < n ? 2 : n + 1, XSPROF_ARG_F64, NOT_A_NUMBER);
		wide_arg(&w, 999, XSPROF_ARG_NAME, i < n ? 4 : n + 1);
		wide_put(&r, &w);
		cap_event(&r, T(i * 10 + 1), XSPROF_REC_COUNTER_F64, 7, i + 1, 0, bits(HUGE_VAL));
		cap_event(&r, T(i * 10 + 5), XSPROF_REC_END, 7, 0, 0, 0);
		cap_event(&r, T(i * 10 + 6), XSPROF_REC_END, 7, 0, 0, 0);
	}
	cap_ring_close(&r, 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, T(100000));
	cap_end(T(100001));
}

/* Nested ranges of a few names on 4 threads and CPUs, a counter now and then. */
static void make_big(uint64_t events)
{
	static const char *const texts[] = {
		"aten::conv2d", "aten::convolution", "aten::_convolution", "aten::mkldnn_convolution",
		"aten::relu", "aten::clamp_min", "aten::max_pool2d", "autograd::engine::evaluate_function",
	};
	struct cap_ring r[4];
	uint64_t i, t = T(0);
	uint32_t depth[4] = { 0 }, k, name;

	cap_host("hostname=big\n");
	cap_clock(T(0), T(0) + events * 40 + 1000000000u);
	cap_producer(0, 4000, T(0));
	for (k = 0; k < 8; k++)
		cap_name(0, k + 1, texts[k]);
	cap_name(0, 9, "allocated");
	cap_arena(0);
	for (k = 0; k < 4; k++) {
		cap_thread(0, 4000 + k, k ? "worker" : "python3");
		cap_ring_open(&r[k], 0, k, 16384);
	}
	for (i = 0; i < events; i++) {
		k = (uint32_t)(i / 37 % 4);
		t += 25 + i * 7 % 30;
		name = (uint32_t)(depth[k] * 3 + i / 64) % 8 + 1;
		if (i % 50 == 49) {
			cap_event(&r[k], t, XSPROF_REC_COUNTER_I64, 4000 + k, 9, 0, i * 512);
		} else if (depth[k] < 2 + (i / 16 & 3)) {
			cap_event(&r[k], t, XSPROF_REC_BEGIN, 4000 + k, name, 0, 0);
			depth[k]++;
		} else {
			cap_event(&r[k], t, XSPROF_REC_END, 4000 + k, 0, 0, 0);
			depth[k]--;
		}
	}
	for (k = 0; k < 4; k++)
		cap_ring_close(&r[k], 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, t + 1);
	cap_end(t + 2);
}

static void make_many(uint32_t threads)
{
	struct cap_ring r;
	uint64_t t = T(0);
	char text[64];
	uint32_t i;

	cap_host("hostname=many\n");
	cap_clock(T(0), T(10000000));
	cap_producer(0, 9, T(0));
	for (i = 0; i < threads; i++) {
		snprintf(text, sizeof(text), "range number %u", i);
		cap_name(0, i % 0xfffff + 1, text);
		if (i % 10000 == 9999)
			cap_arena(0);
	}
	cap_arena(0);
	cap_ring_open(&r, 0, 0, 16384);
	for (i = 0; i < threads; i++) {
		cap_event(&r, t++, XSPROF_REC_BEGIN, i + 1, i % 0xfffff + 1, 0, 0);
		if (i & 1)
			cap_event(&r, t++, XSPROF_REC_END, i + 1, 0, 0, 0);
		cap_event(&r, t++, XSPROF_REC_COMPLETE, i / 2 + 1, 1, 0, 3);
		cap_event(&r, t++, XSPROF_REC_END, i / 3 + 1, 0, 0, 0);
	}
	cap_ring_close(&r, 0);
	cap_end(t);
}

static void make_grow(unsigned int ms)
{
	struct cap_ring r;
	uint32_t part, i;

	cap_host("hostname=grow\n");
	cap_clock(T(0), T(1));
	cap_producer(0, 55, T(0));
	cap_name(0, 1, "work");
	cap_arena(0);
	cap_thread(0, 55, "grower");
	cap_ring_open(&r, 0, 0, 4096);
	for (part = 0; part < 3; part++) {
		for (i = 0; i < 100; i++) {
			cap_event(&r, T(part * 1000 + i * 2), XSPROF_REC_BEGIN, 55, 1, 0, 0);
			cap_event(&r, T(part * 1000 + i * 2 + 1), XSPROF_REC_END, 55, 0, 0, 0);
		}
		cap_ring_flush(&r);
		cap_clock(T(part * 1000 + 500), T(part * 1000 + 501));
		cap_flush();
		usleep(ms * 1000);
	}
	cap_ring_close(&r, 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, T(4000));
	cap_end(T(4001));
}

static uint64_t state;

static uint32_t draw(uint32_t n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((state >> 33) % n);
}

/* Each in a category of its own, so that some can be off while others are on. */
#define MESS_NAME(i)	((i) << XSPROF_NAME_SHIFT | ((i) + 1))

static void mess_event(struct cap_ring *r, uint64_t t, uint32_t tid)
{
	struct xsprof_rec_span span = { 0 };
	uint32_t name = MESS_NAME(draw(5));

	switch (draw(12)) {
	case 0 ... 3:
		cap_event(r, t, XSPROF_REC_BEGIN, tid, name, 0, 0);
		break;
	case 4 ... 5:
		cap_event(r, t, XSPROF_REC_END, tid, 0, 0, 0);
		break;
	case 6:
		cap_event(r, t, XSPROF_REC_END, tid, name, 0, 0);
		break;
	case 7 ... 8:
		cap_event(r, t, XSPROF_REC_COMPLETE, tid, name, 0, draw(3000));
		break;
	case 9:
		span.begin = t - draw(draw(8) ? 5000 : 900000);
		span.end = t - 1000 + draw(3000);
		span.rec = head(t, XSPROF_REC_SPAN, tid, name, draw(3), draw(4));
		cap_record(r, &span, 2);
		break;
	case 10:
		cap_event(r, t, XSPROF_REC_INSTANT, tid, name, draw(4), 0);
		break;
	default:
		if (!draw(40))
			cap_event(r, t, XSPROF_REC_CONTROL, tid, 0, draw(5), draw(32));
	}
}

static void make_mess(uint64_t seed)
{
	static const char *const texts[] = { "a", "b", "c", "d", "e" };
	struct cap_ring r[2];
	uint64_t t = T(1000);
	uint32_t i, k;

	state = seed;
	cap_host("hostname=mess\n");
	cap_clock(T(0), T(10000000));
	for (k = 0; k < 2; k++) {
		cap_producer(k, 500, T(0));
		for (i = 0; i < 5; i++)
			cap_name(i, i + 1, texts[i]);
		cap_arena(k);
		cap_ring_open(&r[k], k, k, 1024);
	}
	for (i = 0; i < 20000; i++) {
		t += draw(400);
		k = draw(2);
		mess_event(&r[k], t, 500 + draw(3));
	}
	for (k = 0; k < 2; k++)
		cap_ring_close(&r[k], 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, t + 100);
	cap_end(t + 200);
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";

	if (argc > 2)
		cap_open(argv[2]);
	if (!strcmp(what, "all") && argc == 3)
		make_all();
	else if (!strcmp(what, "hostile") && argc == 3)
		make_hostile();
	else if (!strcmp(what, "big") && argc == 4)
		make_big(strtoull(argv[3], NULL, 10));
	else if (!strcmp(what, "grow") && argc == 4)
		make_grow((unsigned int)atoi(argv[3]));
	else if (!strcmp(what, "many") && argc == 4)
		make_many((uint32_t)atoi(argv[3]));
	else if (!strcmp(what, "mess") && argc == 4)
		make_mess(strtoull(argv[3], NULL, 10));
	else
		return fprintf(stderr, "usage: make-capture all|hostile|big|many|grow|mess FILE [N]\n"), 2;
	cap_close();
	return 0;
}
