// SPDX-License-Identifier: GPL-2.0-only
/*
 * Small captures for the tests: one with every type of record, one with unusual names and strings,
 * one with duplicate argument keys.
 */
#include <math.h>
#include <string.h>

#include "tools/capture-wide.h"

#define NOT_A_NUMBER	0x7ff8000000000001u	/* a compiler chooses the sign of 0.0 / 0.0 */

static uint64_t bits(double v)
{
	uint64_t u;

	memcpy(&u, &v, sizeof(u));
	return u;
}

enum { STEP = 1, CONV, LOAD, FRAME, BYTES, RATIO, LOSS, REQ, LINK, LOCK, KERNEL, COPY, KEY_N, KEY_S,
       KEY_F, KEY_B, KEY_P, KEY_NAME, LAUNCH };

#define IN_MATH(index)	((index) == CONV || (index) == KERNEL)
#define N(index)	((uint32_t)(index) | (IN_MATH(index) ? 1u << XSPROF_NAME_SHIFT : 0))

static void names(void)
{
	static const char *const text[] = {
		[STEP] = "step", [CONV] = "aten::conv2d, seq = 12", [LOAD] = "load",
		[FRAME] = "frame",
		[BYTES] = "bytes", [RATIO] = "ratio", [LOSS] = "loss", [REQ] = "request",
		[LINK] = "link", [LOCK] = "mutex", [KERNEL] = "sgemm", [COPY] = "memcpy HtoD",
		[KEY_N] = "n", [KEY_S] = "text", [KEY_F] = "f", [KEY_B] = "ok", [KEY_P] = "ptr",
		[KEY_NAME] = "what", [LAUNCH] = "cudaLaunchKernel",
	};
	uint32_t i;

	cap_entry(XSPROF_ENTRY_CATEGORY, 1, 0, "math", 4);
	for (i = 1; i < sizeof(text) / sizeof(text[0]); i++)
		cap_name(IN_MATH(i), i, text[i]);
	/* The stack of a sample, without its outermost function. */
	cap_entry(XSPROF_ENTRY_STACK, 1, 1, (const char *)(uint64_t[]){
		XSPROF_FRAME_NAMED | N(LOAD), XSPROF_FRAME_NAMED | N(STEP),
	}, 16);
}

/* Ranges, their arguments, and unpaired begins and ends. */
static void all_ranges(struct cap_ring *r)
{
	struct cap_wide w;
	struct xsprof_rec_span span = { .begin = T(4), .end = T(9), .parent = 7 };

	cap_event(r, T(1), XSPROF_REC_STEP, 100, N(STEP), 0, 1);
	cap_wide(&w, T(2), XSPROF_REC_BEGIN, 100, N(CONV), 0, 0);
	cap_wide_value(&w, N(KEY_N), XSPROF_ARG_I64, (uint64_t)-5);
	cap_wide_value(&w, N(KEY_N), XSPROF_ARG_U64, 1ull << 60);
	cap_wide_value(&w, N(KEY_F), XSPROF_ARG_F64, bits(0.1));
	cap_wide_value(&w, N(KEY_B), XSPROF_ARG_BOOL, 1);
	cap_wide_value(&w, N(KEY_P), XSPROF_ARG_PTR, 0xdeadbeef);
	cap_wide_value(&w, N(KEY_NAME), XSPROF_ARG_NAME, N(LOAD));
	cap_wide_put(r, &w, false);
	cap_event(r, T(3), XSPROF_REC_BEGIN, 100, N(LOAD), 0, 0);
	cap_wide(&w, T(3), XSPROF_REC_ARGS, 100, 0, 0, 0);
	cap_wide_str(&w, N(KEY_S), 0, "a \"late\" one");
	cap_wide_put(r, &w, false);
	cap_event(r, T(5), XSPROF_REC_COMPLETE, 100, N(COPY), 0, 1 * US);
	cap_event(r, T(6), XSPROF_REC_END, 100, 0, 0, 0);
	/* It began inside the range that has just ended, so it does not nest. */
	cap_event(r, T(7), XSPROF_REC_COMPLETE, 100, N(COPY), 0, 3 * US);
	cap_wide(&w, T(8), XSPROF_REC_END, 100, 0, 0, 0);
	cap_wide_value(&w, N(KEY_N), XSPROF_ARG_I64, 8);
	cap_wide_put(r, &w, false);
	span.rec = cap_head(T(10), XSPROF_REC_SPAN, 100, N(FRAME), XSPROF_SCOPE_PROCESS, 3);
	cap_record(r, &span, 2);
	span.begin = T(6);
	span.end = T(11);
	span.rec = cap_head(T(11), XSPROF_REC_SPAN, 100, N(FRAME), XSPROF_SCOPE_PROCESS, 4);
	cap_record(r, &span, 2);
	cap_event(r, T(12), XSPROF_REC_END, 100, 0, 0, 0);
	/* An end that names an outer range cuts the inner one. */
	cap_event(r, T(13), XSPROF_REC_BEGIN, 100, N(LOAD), 0, 0);
	cap_event(r, T(14), XSPROF_REC_BEGIN, 100, N(CONV), 0, 0);
	cap_event(r, T(15), XSPROF_REC_END, 100, N(LOAD), 0, 0);
	/* A string in two records. */
	cap_wide(&w, T(16), XSPROF_REC_BEGIN, 100, N(LOAD), 0, 0);
	cap_wide_str(&w, N(KEY_S), 0, "first ");
	cap_wide_put(r, &w, true);
	cap_wide(&w, T(16), XSPROF_REC_ARGS, 100, 0, 0, 0);
	cap_wide_str(&w, N(KEY_S), XSPROF_ARGF_CONT, "second");
	cap_wide_put(r, &w, false);
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
	struct cap_wide w;

	mem.rec = cap_head(T(38), XSPROF_REC_ALLOC, 100, N(BYTES), 1u << 16 | 2, 0x7f00);
	cap_record(r, &mem, 2);
	mem.total_allocated = 0;
	mem.rec = cap_head(T(39), XSPROF_REC_FREE, 100, 0, 0, 0x7f00);
	cap_record(r, &mem, 2);
	clock.rec = cap_head(T(40), XSPROF_REC_CLOCK, 100, 0, 2, 123456);
	cap_record(r, &clock, 2);
	gpu.rec = cap_head(T(45), XSPROF_REC_GPU, 100, N(KERNEL), XSPROF_GPU_KERNEL, 77);
	cap_record(r, &gpu, 3);
	gpu.start = T(42);
	gpu.end = T(46);
	gpu.bytes = 1 << 20;
	gpu.rec = cap_head(T(47), XSPROF_REC_GPU, 100, N(COPY), XSPROF_GPU_MEMCPY, 78);
	cap_record(r, &gpu, 3);
	gpu.start = T(39);
	gpu.end = T(40);
	gpu.bytes = 0;
	gpu.thread = 101;
	gpu.rec = cap_head(T(48), XSPROF_REC_GPU, 100, N(LAUNCH), XSPROF_GPU_RUNTIME, 77);
	cap_record(r, &gpu, 3);
	cap_wide(&w, T(49), XSPROF_REC_STACK, 100, 0, 2, 1);
	cap_wide_bytes(&w, (uint64_t[]){ 0x401000, 0x402000 }, 16);
	cap_wide_put(r, &w, false);
	relation.rec = cap_head(T(50), XSPROF_REC_RELATION, 100, 0, 2, 3);
	cap_record(r, &relation, 2);
	cap_event(r, T(50), XSPROF_REC_SAMPLE, 100, N(LOAD),
		  XSPROF_SAMPLE_RUNS | 12 << XSPROF_SAMPLE_LINE_SHIFT, 101ull << 32 | 1);
	cap_event(r, T(50), XSPROF_REC_SAMPLE, 100, N(CONV), XSPROF_SAMPLE_OFF,
		  101ull << 32 | XSPROF_STACK_MISSED);
	cap_event(r, T(50), XSPROF_REC_SAMPLE, 100, 0, XSPROF_SAMPLE_MISSED, 3);
}

/* Kernel records on CPU 1: each kind about the other one, with and without a name. */
static void all_sched(struct cap_ring *r)
{
	struct xsprof_rec_sched named = { .comm = "ot\"her" };
	uint32_t slept = 'S' << XSPROF_SCHED_STATE_SHIFT, runs = 'R' << XSPROF_SCHED_STATE_SHIFT;

	cap_event(r, T(53), XSPROF_REC_SCHED_WAKE, 101, 0, XSPROF_SCHED_NEW | XSPROF_SCHED_THREAD,
		  100);
	cap_event(r, T(53), XSPROF_REC_SCHED_MIGRATE, 101, 0, 0, 1ull << 32);
	cap_event(r, T(54), XSPROF_REC_SCHED_IN, 101, 0, 0, 0);
	named.rec = cap_head(T(55), XSPROF_REC_SCHED_OUT, 101, 0,
			     runs | XSPROF_SCHED_PREEMPTED | XSPROF_SCHED_PROCESS, 200);
	cap_record(r, &named, 2);
	cap_event(r, T(56), XSPROF_REC_SCHED_IN, 101, 0, 0, 0);
	cap_event(r, T(56), XSPROF_REC_SCHED_OUT, 101, 0, slept | XSPROF_SCHED_IDLE, 0);
	cap_event(r, T(57), XSPROF_REC_SCHED_WAKE, 101, 0, XSPROF_SCHED_IRQ, 0);
	cap_event(r, T(57), XSPROF_REC_SCHED_OUT, 101, 0, slept | XSPROF_SCHED_OTHER, 0);
	/* Values that no kernel writes. */
	memset(named.comm, 0xff, sizeof(named.comm));
	named.rec = cap_head(T(58), XSPROF_REC_SCHED_WAKE, 101, 0, 0xffffffff, UINT64_MAX);
	cap_record(r, &named, 2);
	cap_event(r, T(58), XSPROF_REC_SCHED_OUT, 101, 0, 0xffffff00, 0);
	/* A thread and a CPU whose numbers do not fit into an int32. */
	cap_event(r, T(58), XSPROF_REC_SCHED_IN, 0x80000065, 0, 0, 0);
	cap_event(r, T(58), XSPROF_REC_SCHED_MIGRATE, 0x80000065, 0, 0, 0x80000002ull << 32);
}

void cap_make_all(void)
{
	struct cap_ring cpu0, cpu1, kernel, second;

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
	cap_ring_open(&kernel, 0, 6, 4096);
	all_sched(&kernel);
	cap_ring_close(&kernel, 0);
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

void cap_make_hostile(void)
{
	static const char *const texts[] = {
		"\x1b]0;owned\x07\x1b[2J", "quote\" back\\slash", "line\nfeed\ttab\r",
		"bad utf8 \xff\xfe\xc0\xaf \xed\xa0\x80 \xf5\x80\x80\x80", "cut \xe2\x82",
		"\xe2\x80\xae" "desrever", "csi \xc2\x9b" "31m", "{\"ph\":\"B\"}", "%s%n%d",
		"</script>",
		"\xf0\x9f\x94\xa5 \xe2\x82\xac ok", "\x01\x02\x7f",
	};
	static char longest[XSPROF_TEXT_MAX + 1];
	struct cap_wide w;
	struct cap_ring r;
	uint32_t n = sizeof(texts) / sizeof(texts[0]), i;

	cap_host("hostname=\x1b[31mred\nodd line\n"
		 "\x1b]0;owned\x07key\xc2\x9b" "1m\x1b[31m=value\n");
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
		cap_wide(&w, T(i * 10), XSPROF_REC_BEGIN, 7, i + 1, 0, 0);
		if (i < n)
			cap_wide_str(&w, i + 1, 0, texts[i]);
		cap_wide_value(&w, i < n ? 2 : n + 1, XSPROF_ARG_F64, NOT_A_NUMBER);
		cap_wide_value(&w, 999, XSPROF_ARG_NAME, i < n ? 4 : n + 1);
		cap_wide_put(&r, &w, false);
		cap_event(&r, T(i * 10 + 1), XSPROF_REC_COUNTER_F64, 7, i + 1, 0, bits(HUGE_VAL));
		cap_event(&r, T(i * 10 + 5), XSPROF_REC_END, 7, 0, 0, 0);
		cap_event(&r, T(i * 10 + 6), XSPROF_REC_END, 7, 0, 0, 0);
	}
	cap_ring_close(&r, 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, T(100000));
	cap_end(T(100001));
}

/* Keys that occur twice, in one record or in several of a range, and keys that the outputs use. */
void cap_make_keys(void)
{
	static const char *const texts[] = {
		"work", "point", "request", "op1", "k", "k (2)", "id", "op", "External id",
		"Ev Idx", "uncertain", "category",
	};
	enum { WORK = 1, POINT, REQUEST, OP1, K, K2, ID, OP, EXTERNAL, INDEX, UNCERTAIN, CATEGORY };
	struct cap_wide w;
	uint32_t create, mark;
	struct cap_ring r;

	cap_host("hostname=keys\n");
	cap_clock(T(0), T(10000000));
	cap_producer(0, 90, T(0));
	cap_entry(XSPROF_ENTRY_CATEGORY, 1, 0, "say \"new\"", 9);
	create = cap_name(1, CATEGORY + 1, "create");
	mark = cap_name(1, CATEGORY + 2, "mark");
	for (uint32_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		cap_name(0, i + 1, texts[i]);
	cap_arena(0);
	cap_ring_open(&r, 0, 0, 4096);
	cap_wide(&w, T(1), XSPROF_REC_BEGIN, 90, WORK, 0, 0);
	cap_wide_value(&w, K, XSPROF_ARG_I64, 1);
	cap_wide_value(&w, K, XSPROF_ARG_I64, 2);
	cap_wide_value(&w, K2, XSPROF_ARG_I64, 3);
	cap_wide_value(&w, UNCERTAIN, XSPROF_ARG_I64, 4);
	cap_wide_put(&r, &w, false);
	cap_wide(&w, T(2), XSPROF_REC_ARGS, 90, 0, 0, 0);
	cap_wide_value(&w, K, XSPROF_ARG_I64, 5);
	cap_wide_put(&r, &w, false);
	cap_wide(&w, T(3), XSPROF_REC_END, 90, 0, 0, 0);
	cap_wide_value(&w, K, XSPROF_ARG_I64, 6);
	cap_wide_put(&r, &w, false);
	cap_wide(&w, T(4), XSPROF_REC_INSTANT, 90, POINT, 0, 0);
	cap_wide_value(&w, K, XSPROF_ARG_I64, 1);
	cap_wide_value(&w, INDEX, XSPROF_ARG_I64, 2);
	cap_wide_str(&w, K, 0, "a,\"k\":1");
	cap_wide_put(&r, &w, false);
	cap_wide(&w, T(5), XSPROF_REC_ASYNC_BEGIN, 90, REQUEST, 0, 9);
	cap_wide_value(&w, ID, XSPROF_ARG_I64, 1);
	cap_wide_put(&r, &w, false);
	cap_event(&r, T(6), XSPROF_REC_ASYNC_END, 90, REQUEST, 0, 9);
	cap_wide_op(&w, T(7), 90, OP1, 0, 0);
	w.u.op.correlation = 5;
	cap_wide_value(&w, OP, XSPROF_ARG_I64, 1);
	cap_wide_value(&w, EXTERNAL, XSPROF_ARG_I64, 2);
	cap_wide_put(&r, &w, false);
	cap_wide(&w, T(8), XSPROF_REC_END, 90, 0, 0, 0);
	cap_wide_value(&w, OP, XSPROF_ARG_I64, 3);
	cap_wide_put(&r, &w, false);
	cap_wide(&w, T(9), XSPROF_REC_BEGIN, 90, create, 0, 0);
	cap_wide_value(&w, CATEGORY, XSPROF_ARG_I64, 1);
	cap_wide_put(&r, &w, false);
	cap_event(&r, T(10), XSPROF_REC_END, 90, 0, 0, 0);
	cap_wide(&w, T(11), XSPROF_REC_INSTANT, 90, mark, 0, 0);
	cap_wide_value(&w, CATEGORY, XSPROF_ARG_I64, 1);
	cap_wide_put(&r, &w, false);
	cap_ring_close(&r, 0);
	cap_end(T(12));
}

/*
 * Arguments that fill a packet: records with 13 that share one long name, which is not UTF-8, and
 * ranges with thousands of one short name, each in its own record after the begin.
 */
void cap_make_crowded(void)
{
	enum { WORK = 1, K, LONG };
	static char longest[4000];
	struct cap_wide w;
	struct cap_ring r;
	uint32_t i, j, k;

	memset(longest, 0xff, sizeof(longest) - 1);
	cap_host("hostname=crowded\n");
	cap_clock(T(0), T(10000000));
	cap_producer(0, 90, T(0));
	cap_name(0, WORK, "work");
	cap_name(0, K, "k");
	cap_name(0, LONG, longest);
	cap_arena(0);
	cap_ring_open(&r, 0, 0, 4096);
	for (i = 0; i < 1000; i++) {
		cap_wide(&w, T(i), XSPROF_REC_INSTANT, 90, WORK, 0, 0);
		for (j = 0; j < 2 + i % 12; j++)
			cap_wide_value(&w, LONG, XSPROF_ARG_I64, j);
		cap_wide_put(&r, &w, false);
	}
	for (i = 1; i <= 20; i++) {
		cap_event(&r, T(i * 10000), XSPROF_REC_BEGIN, 90, WORK, 0, 0);
		for (k = 1; k <= (4080 - 13 * i) / 13; k++) {
			cap_wide(&w, T(i * 10000) + k, XSPROF_REC_ARGS, 90, 0, 0, 0);
			for (j = 0; j < 13; j++)
				cap_wide_value(&w, K, XSPROF_ARG_F64, 0);
			cap_wide_put(&r, &w, false);
		}
		cap_event(&r, T(i * 10000 + 9000), XSPROF_REC_END, 90, 0, 0, 0);
	}
	cap_ring_close(&r, 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, T(900000));
	cap_end(T(900001));
}
