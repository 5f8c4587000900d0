// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each call of <xsprof/xsprof.h>, checked by its records: one test per subject.
 *
 *	session XSPROF_BUFFER_SIZE=256k api
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>

#include <xsprof/xsprof.h>

#include "ring/collect.h"

#define N(i)	(got.rec[i])

static void start(void)
{
	collect(getpid());
	errno = 4711;
}

/* Collects the records since start(); errno must not have changed. */
static unsigned int finish(void)
{
	CHECK_EQ(errno, 4711);
	return collect(getpid());
}

static void test_names(void)
{
	char longest[XSPROF_TEXT_MAX + 100], other[XSPROF_TEXT_MAX + 100];
	xsprof_name_t a, b;

	start();
	a = xsprof_name("a name");
	b = xsprof_name("another");
	CHECK(a && b && a != b);
	CHECK_EQ(xsprof_name("a name"), a);
	CHECK_EQ(XSPROF_NAME("a name"), a);
	CHECK_EQ(xsprof_name(NULL), 0);
	CHECK(xsprof_name("") != 0);
	CHECK_EQ(xsprof_name_in(-1, "x"), 0);
	CHECK_EQ(xsprof_name_in(64, "x"), 0);
	CHECK_EQ(xsprof_name_in(40, "x"), 0);
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = 0;
	memcpy(other, longest, sizeof(other));
	other[XSPROF_TEXT_MAX + 50] = 'y';
	CHECK_EQ(xsprof_name(longest), xsprof_name(other));
	/* A UTF-8 character is not cut in two. */
	memcpy(longest + XSPROF_TEXT_MAX - 1, "\xc3\xa4", 2);
	b = xsprof_name(longest);
	finish();
	CHECK(collect_name(a) && !strcmp(collect_name(a), "a name"));
	CHECK(collect_name(b) && strlen(collect_name(b)) == XSPROF_TEXT_MAX - 1);
	tap_result("names: one id for one text, cut after XSPROF_TEXT_MAX bytes");
}

static void test_ranges(void)
{
	xsprof_name_t a = xsprof_name("outer"), b = xsprof_name("inner");
	uint64_t t0, t1;

	start();
	t0 = xsprof_now();
	xsprof_begin(a);
	XSPROF_BEGIN("inner");
	xsprof_end();
	XSPROF_END();
	{
		XSPROF_SCOPE("inner");
		XSPROF_SCOPE("outer");
	}
	for (unsigned int i = 0; i < 2; i++) {
		XSPROF_SCOPE_NAMED(i ? a : b);
	}
	xsprof_complete(b, t0);
	xsprof_span(a, t0, t0 + 5, 7, 8);
	t1 = xsprof_now();
	CHECK_EQ(finish(), 14);
	for (unsigned int i = 0; i < got.n; i++) {
		static const uint8_t type[] = {
			XSPROF_REC_BEGIN, XSPROF_REC_BEGIN, XSPROF_REC_END, XSPROF_REC_END,
			XSPROF_REC_BEGIN, XSPROF_REC_BEGIN, XSPROF_REC_END, XSPROF_REC_END,
			XSPROF_REC_BEGIN, XSPROF_REC_END, XSPROF_REC_BEGIN, XSPROF_REC_END,
			XSPROF_REC_COMPLETE, XSPROF_REC_SPAN,
		};
		const xsprof_name_t name[] = { a, b, 0, 0, b, a, a, b, b, b, a, a, b, a };

		CHECK_EQ(N(i).type, type[i]);
		CHECK_EQ(N(i).name, name[i]);
		CHECK_EQ(N(i).tid, getpid());
		CHECK(N(i).ts >= t0 && N(i).ts <= t1);
	}
	CHECK_EQ(N(12).ts - N(12).value, t0);
	CHECK_EQ(N(13).value, 7);
	CHECK_EQ(N(13).slot[4], t0);
	CHECK_EQ(N(13).slot[5], t0 + 5);
	CHECK_EQ(N(13).slot[6], 8);
	tap_result("ranges: begin and end, scopes, complete, span");
}

static void test_points(void)
{
	static const double doubles[] = { 1.5, -0.0, INFINITY, 5e-324 };
	xsprof_name_t a = xsprof_name("point");
	unsigned int i = 0;
	uint64_t bits;
	int object;

	start();
	xsprof_instant(a);
	XSPROF_INSTANT("point");
	xsprof_mark(a, XSPROF_SCOPE_GLOBAL);
	xsprof_counter(a, INT64_MIN);
	for (unsigned int k = 0; k < 4; k++)
		xsprof_counter_f64(a, doubles[k]);
	xsprof_step(a, 12);
	xsprof_async_begin(a, UINT64_MAX);
	xsprof_async_instant(a, 1);
	xsprof_async_end(a, 2);
	xsprof_flow_start(a, 3);
	xsprof_flow_step(a, 4);
	xsprof_flow_end(a, 5);
	xsprof_correlation_push(1, 77);
	xsprof_correlation_pop(1);
	xsprof_sync_op(a, XSPROF_SYNC_ACQUIRED, &object);
	xsprof_alloc(a, &object, 100, XSPROF_DEVICE(1, 3), 200, 300);
	xsprof_free(a, &object, 100, 0, 0, 0);
	xsprof_relation(2, 3, 4);
	CHECK_EQ(finish(), 21);
#define NEXT(t, n, x, v) do { \
	CHECK_EQ(N(i).type, t); \
	CHECK_EQ(N(i).name, n); \
	CHECK_EQ(N(i).aux, x); \
	CHECK_EQ(N(i).value, v); \
	i++; \
} while (0)
	NEXT(XSPROF_REC_INSTANT, a, XSPROF_SCOPE_THREAD, 0);
	NEXT(XSPROF_REC_INSTANT, a, XSPROF_SCOPE_THREAD, 0);
	NEXT(XSPROF_REC_INSTANT, a, XSPROF_SCOPE_GLOBAL, 0);
	NEXT(XSPROF_REC_COUNTER_I64, a, 0, INT64_MIN);
	for (unsigned int k = 0; k < 4; k++) {
		memcpy(&bits, &doubles[k], sizeof(bits));
		NEXT(XSPROF_REC_COUNTER_F64, a, 0, bits);
	}
	NEXT(XSPROF_REC_STEP, a, 0, 12);
	NEXT(XSPROF_REC_ASYNC_BEGIN, a, 0, UINT64_MAX);
	NEXT(XSPROF_REC_ASYNC_INSTANT, a, 0, 1);
	NEXT(XSPROF_REC_ASYNC_END, a, 0, 2);
	NEXT(XSPROF_REC_FLOW_START, a, 0, 3);
	NEXT(XSPROF_REC_FLOW_STEP, a, 0, 4);
	NEXT(XSPROF_REC_FLOW_END, a, 0, 5);
	NEXT(XSPROF_REC_CORR_PUSH, 0, 1, 77);
	NEXT(XSPROF_REC_CORR_POP, 0, 1, 0);
	NEXT(XSPROF_REC_SYNC, a, XSPROF_SYNC_ACQUIRED, (uintptr_t)&object);
	NEXT(XSPROF_REC_ALLOC, a, 1u << 16 | 3, (uintptr_t)&object);
	NEXT(XSPROF_REC_FREE, a, 0, (uintptr_t)&object);
	NEXT(XSPROF_REC_RELATION, 0, 2, 3);
	CHECK_EQ(N(18).slot[4], 100);
	CHECK_EQ(N(18).slot[5], 200);
	CHECK_EQ(N(18).slot[6], 300);
	CHECK_EQ(N(20).slot[4], 4);
	tap_result("instants, counters, steps, async, flows, correlation, memory, sync, relations");
}

static void *name_thread(void *arg)
{
	(void)arg;
	xsprof_thread_name("given");
	xsprof_instant(xsprof_name("in a thread"));
	return NULL;
}

static void test_threads(void)
{
	pthread_t thread;
	uint32_t tid;

	start();
	pthread_create(&thread, NULL, name_thread, NULL);
	pthread_join(thread, NULL);
	errno = 4711;
	CHECK_EQ(finish(), 1);
	tid = N(0).tid;
	CHECK(tid != (uint32_t)getpid());
	CHECK(collect_entry(XSPROF_ENTRY_THREAD, tid, NULL) &&
	      !strcmp(collect_entry(XSPROF_ENTRY_THREAD, tid, NULL), "given"));
	CHECK(collect_entry(XSPROF_ENTRY_THREAD, getpid(), NULL) &&
	      !strcmp(collect_entry(XSPROF_ENTRY_THREAD, getpid(), NULL), "api"));
	CHECK_EQ(xsprof_thread_name("renamed"), 0);
	collect(getpid());
	CHECK(!strcmp(collect_entry(XSPROF_ENTRY_THREAD, getpid(), NULL), "renamed"));
	CHECK_EQ(xsprof_thread_name(NULL), 0);
	collect(getpid());
	CHECK(!strcmp(collect_entry(XSPROF_ENTRY_THREAD, getpid(), NULL), ""));
	CHECK_EQ(xsprof_thread_name_of(tid, "by another"), 0);
	CHECK_EQ(xsprof_thread_name_of(0, "nobody"), -EINVAL);
	CHECK_EQ(xsprof_thread_name_of(tid, NULL), -EINVAL);
	collect(getpid());
	CHECK(!strcmp(collect_entry(XSPROF_ENTRY_THREAD, tid, NULL), "by another"));
	tap_result("threads: names from the kernel, and given ones");
}

static void test_facts(void)
{
	char cwd[PATH_MAX];
	char key[32];
	uint64_t used;

	collect(getpid());
	CHECK(collect_entry(XSPROF_ENTRY_FACT, 0, "exe=/"));
	CHECK(collect_entry(XSPROF_ENTRY_FACT, 0, "cmdline="));
	CHECK(collect_entry(XSPROF_ENTRY_FACT, 0, "host="));
	CHECK(getcwd(cwd, sizeof(cwd)) && collect_entry(XSPROF_ENTRY_FACT, 0, "cwd=") &&
	      !strcmp(collect_entry(XSPROF_ENTRY_FACT, 0, "cwd=") + 4, cwd));
	CHECK(collect_entry(XSPROF_ENTRY_FACT, 0, "env.LOCAL_RANK=3"));
	CHECK(!collect_entry(XSPROF_ENTRY_FACT, 0, "env.PATH"));
	CHECK_EQ(got.ctl.pid, getpid());
	CHECK_EQ(got.ctl.ppid, getppid());
	CHECK_EQ(got.ctl.uid, getuid());
	CHECK(got.ctl.start_time);
	CHECK_EQ(xsprof_fact("said", "one"), 0);
	collect(getpid());
	used = got.arena_used;
	for (int i = 0; i < 100; i++)
		CHECK_EQ(xsprof_fact("said", "one"), 0);
	collect(getpid());
	CHECK_EQ(got.arena_used, used);
	/* As many as a collector may have. */
	for (int i = 0; i < 100; i++) {
		for (int d = 0; d < 8; d++) {
			snprintf(key, sizeof(key), "device.%d", d);
			CHECK_EQ(xsprof_fact(key, "what it is"), 0);
			snprintf(key, sizeof(key), "device_clock.%d", d);
			CHECK_EQ(xsprof_fact(key, "what is known"), 0);
		}
		if (!i)
			collect(getpid());
		used = i ? used : got.arena_used;
	}
	collect(getpid());
	CHECK_EQ(got.arena_used, used);
	CHECK_EQ(xsprof_fact("said", "two"), 0);
	CHECK_EQ(xsprof_fact("said", "one"), 0);
	collect(getpid());
	CHECK(got.arena_used > used);
	CHECK(!strcmp(collect_entry(XSPROF_ENTRY_FACT, 0, "said="), "said=one"));
	CHECK_EQ(xsprof_fact("sa=id", "one"), -EINVAL);
	tap_result("facts: who the process is, the rank of its environment, and what it says");
}

static void test_stats(void)
{
	char room[sizeof(struct xsprof_stats) + 16];
	struct xsprof_stats *s = (struct xsprof_stats *)room;
	uint64_t slots;

	start();
	memset(room, 0x55, sizeof(room));
	s->size = sizeof(*s);
	CHECK_EQ(xsprof_get_stats(s), 0);
	CHECK(s->attached && s->slots && s->memory && s->clock);
	CHECK_EQ(s->lost, 0);
	CHECK_EQ(room[sizeof(*s)], 0x55);
	slots = s->slots;
	XSPROF_INSTANT("one slot");
	CHECK_EQ(xsprof_get_stats(s), 0);
	CHECK_EQ(s->slots, slots + 1);
	/* A newer program's struct: unknown members become 0. */
	s->size = sizeof(room);
	CHECK_EQ(xsprof_get_stats(s), 0);
	for (unsigned int i = 0; i < 16; i++)
		CHECK_EQ(room[sizeof(*s) + i], 0);
	memset(room, 0x55, sizeof(room));
	s->size = 2 * sizeof(size_t);
	CHECK_EQ(xsprof_get_stats(s), 0);
	CHECK_EQ(room[2 * sizeof(size_t)], 0x55);
	s->size = 1;
	CHECK_EQ(xsprof_get_stats(s), -EINVAL);
	CHECK_EQ(xsprof_get_stats(NULL), -EINVAL);
	CHECK_EQ(xsprof_flush(0), -ETIMEDOUT);
	CHECK_EQ(finish(), 1);
	CHECK_EQ(xsprof_flush(0), 0);
	CHECK_EQ(xsprof_flush(-1), 0);
	tap_result("stats of three sizes, flush");
}

static void test_init(void)
{
	char room[sizeof(struct xsprof_options) + 16] = { 0 };
	struct xsprof_options *o = (struct xsprof_options *)room;

	CHECK_EQ(xsprof_init(NULL), 0);
	o->size = sizeof(*o);
	CHECK_EQ(xsprof_init(o), 0);
	o->size = sizeof(room);
	CHECK_EQ(xsprof_init(o), 0);
	room[sizeof(room) - 1] = 1;
	CHECK_EQ(xsprof_init(o), -E2BIG);
	o->size = 3;
	CHECK_EQ(xsprof_init(o), -EINVAL);
	o->size = sizeof(*o);
	o->ring_size = UINT64_MAX;
	CHECK_EQ(xsprof_init(o), -EINVAL);
	o->ring_size = (1ull << 63) + 1;
	CHECK_EQ(xsprof_init(o), -EINVAL);
	o->ring_size = 0;
	o->arena_size = 1;
	CHECK_EQ(xsprof_init(o), -EINVAL);
	o->arena_size = UINT64_MAX;
	CHECK_EQ(xsprof_init(o), -EINVAL);
	o->arena_size = 0;
	o->mode = 9;
	CHECK_EQ(xsprof_init(o), -EINVAL);
	o->mode = 0;
	o->flags = 0x80;
	CHECK_EQ(xsprof_init(o), -EINVAL);
	o->flags = 0;
	/* Rings are in use: their size cannot change. */
	o->ring_size = 1 << 20;
	CHECK_EQ(xsprof_init(o), -EALREADY);
	tap_result("init: options of three sizes, and no value that makes no sense");
}

int main(void)
{
	test_names();
	test_ranges();
	test_points();
	test_threads();
	test_facts();
	test_stats();
	test_init();
	return tap_done();
}
