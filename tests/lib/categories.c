// SPDX-License-Identifier: GPL-2.0-only
/*
 * Categories: 64 of them, enabled and disabled while ranges are open, pauses, and names after their
 * memory is full.
 *
 *	session XSPROF_BUFFER_SIZE=256k XSPROF_ARENA_SIZE=16k XSPROF_CATEGORIES=-unwanted categories
 */
#include <errno.h>
#include <pthread.h>

#include <xsprof/xsprof.h>

#include "ring/collect.h"

static xsprof_name_t a, b, c;
static int cat_b, cat_c;

/* Returns the types of the records since the last call, one letter each. */
static const char *types(void)
{
	static char text[1000];
	unsigned int i;

	collect(getpid());
	for (i = 0; i < got.n && i < sizeof(text) - 1; i++) {
		const struct collected *r = &got.rec[i];

		text[i] = r->type == XSPROF_REC_BEGIN ? (r->name == a ? 'A' : r->name == b ? 'B' :
							 r->name == c ? 'C' : '?') :
			  r->type == XSPROF_REC_END ? 'e' : r->type == XSPROF_REC_INSTANT ? 'i' :
			  r->type == XSPROF_REC_ARGS ? 'g' : r->type == XSPROF_REC_CONTROL ?
			  (char)('0' + r->aux) : '?';
	}
	text[i] = 0;
	return text;
}

#define SAME(want) do { \
	const char *same_ = types(); \
	if (strcmp(same_, want)) \
		tap_wrong("%s:%d: recorded %s, not %s", __FILE__, __LINE__, same_, want); \
} while (0)

static void test_nesting(void)
{
	struct xsprof_kv kv = xsprof_i64(xsprof_name("key"), 1);

	types();
	CHECK_EQ(xsprof_category_enable(cat_b, 0), 0);
	SAME("1");
	xsprof_begin(a);
	xsprof_begin(b);
	xsprof_begin(a);
	xsprof_end();
	xsprof_end();
	xsprof_end();
	SAME("AAee");
	xsprof_begin(b);
	xsprof_begin(b);
	xsprof_instant(a);
	xsprof_end();
	xsprof_end();
	SAME("i");
	/* Arguments are left out with their range. */
	xsprof_begin_args(b, &kv, 1);
	xsprof_args(&kv, 1);
	xsprof_begin_args(a, &kv, 1);
	xsprof_end_args(&kv, 1);
	xsprof_end_args(&kv, 1);
	SAME("Agge");
	{
		XSPROF_SCOPE("a");
		xsprof_begin(b);
		{
			XSPROF_SCOPE("a");
		}
		xsprof_end();
	}
	SAME("AAee");
	/* Enabled while a range that was left out is open: its end is left out too. */
	xsprof_begin(b);
	CHECK_EQ(xsprof_category_enable(cat_b, 1), 0);
	xsprof_begin(b);
	xsprof_end();
	xsprof_end();
	xsprof_begin(b);
	/* Disabled while a recorded range is open: its end is recorded. */
	CHECK_EQ(xsprof_category_enable(cat_b, 0), 0);
	xsprof_end();
	SAME("1BeB1e");
	CHECK_EQ(xsprof_category_enable(cat_b, 1), 0);
	types();
	tap_result("ranges of categories that go off and on keep their ends");
}

/* Deeper than the bits reach: begins and ends are left out in pairs, and counted. */
static void test_depth(void)
{
	unsigned int begins, ends;

	types();
	CHECK_EQ(xsprof_category_enable(cat_b, 0), 0);
	xsprof_begin(b);
	for (unsigned int i = 0; i < 200; i++)
		xsprof_begin(a);
	for (unsigned int i = 0; i < 200; i++)
		xsprof_end();
	xsprof_end();
	CHECK_EQ(xsprof_category_enable(cat_b, 1), 0);
	collect(getpid());
	begins = collect_count(XSPROF_REC_BEGIN, 0);
	ends = collect_count(XSPROF_REC_END, 0);
	CHECK_EQ(begins, ends);
	CHECK(begins >= 60);
	CHECK_EQ(begins + got.late, 200);
	xsprof_begin(a);
	xsprof_end();
	SAME("Ae");
	tap_result("200 ranges inside one that is left out");
}

static void test_pause(void)
{
	types();
	xsprof_begin(a);
	CHECK_EQ(xsprof_pause(), 0);
	CHECK_EQ(xsprof_pause(), 0);
	CHECK_EQ(xsprof_enabled(), 0);
	xsprof_instant(a);
	xsprof_end();
	xsprof_begin(a);
	CHECK_EQ(xsprof_resume(), 0);
	CHECK_EQ(xsprof_resume(), 0);
	xsprof_instant(a);
	SAME("A23i");
	/* A category switched during a pause is in its new state after it. */
	CHECK_EQ(xsprof_pause(), 0);
	CHECK_EQ(xsprof_category_enable(cat_c, 0), 0);
	CHECK_EQ(xsprof_enabled(), 0);
	CHECK_EQ(xsprof_resume(), 0);
	CHECK(xsprof_wants(a) && !xsprof_wants(c));
	CHECK_EQ(xsprof_category_enable(cat_c, 1), 0);
	CHECK(xsprof_wants(c));
	CHECK_EQ(xsprof_category_enable(-1, 1), -EINVAL);
	CHECK_EQ(xsprof_category_enable(64, 1), -EINVAL);
	types();
	tap_result("pause and resume");
}

static void *toggle(void *arg)
{
	int category = *(int *)arg;

	for (int i = 0; i < 20000; i++)
		xsprof_category_enable(category, i & 1);
	return NULL;
}

static void test_race(void)
{
	pthread_t thread;

	for (int i = 0; i < 5; i++) {
		pthread_create(&thread, NULL, toggle, &cat_b);
		toggle(&cat_c);
		pthread_join(thread, NULL);
		/* Each thread has enabled its own: neither change may be lost. */
		CHECK(xsprof_wants(b));
		CHECK(xsprof_wants(c));
	}
	collect(getpid());
	tap_result("two threads switch two categories");
}

static void test_count(void)
{
	char name[16];
	int last = -1, other = -1;

	CHECK_EQ(xsprof_category(NULL), -EINVAL);
	CHECK_EQ(xsprof_category(""), -EINVAL);
	CHECK_EQ(xsprof_category("default"), 0);
	CHECK_EQ(xsprof_category("b"), cat_b);
	CHECK(!xsprof_wants(xsprof_name_in(xsprof_category("unwanted"), "x")));
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "cat%d", i);
		last = xsprof_category(name);
		CHECK(last >= 0 && last < 64);
		if (i == 80)
			other = last;
	}
	CHECK_EQ(last, 63);
	CHECK_EQ(other, 63);
	CHECK_EQ(xsprof_category("cat3"), xsprof_category("cat3"));
	collect(getpid());
	CHECK(collect_entry(XSPROF_ENTRY_CATEGORY, 63, NULL) &&
	      !strcmp(collect_entry(XSPROF_ENTRY_CATEGORY, 63, NULL), "other"));
	CHECK(xsprof_wants(xsprof_name_in(63, "x")));
	tap_result("64 categories; later ones share the last");
}

static void *one_marker(void *arg)
{
	xsprof_instant(a);
	return arg;
}

/* Each thread is announced once as new, with a time that is before its first record. */
static void check_news(void)
{
	unsigned int news = 0;

	for (uint64_t at = 0; at + sizeof(struct xsprof_entry) <= got.arena_used;) {
		const struct xsprof_entry *e = (const struct xsprof_entry *)(got.arena + at);
		uint64_t since;

		at += e->size;
		if (e->type != XSPROF_ENTRY_THREAD || !(e->aux & XSPROF_THREAD_NEW))
			continue;
		news++;
		CHECK_EQ(e->size, sizeof(*e) + ((e->text_len + 7) & ~7u) + sizeof(since));
		memcpy(&since, got.arena + at - sizeof(since), sizeof(since));
		for (unsigned int i = 0; i < got.n; i++)
			if (got.rec[i].tid == e->id) {
				CHECK(since && since <= got.rec[i].ts);
				break;
			}
	}
	CHECK(news > 100 && news < 800);
}

/* Many short-lived threads, each with its own name, never used again. */
static void test_threads(void)
{
	struct xsprof_stats stats = { .size = sizeof(stats) };
	pthread_t thread;
	char name[32];

	for (int i = 0; i < 800; i++) {
		CHECK(!pthread_create(&thread, NULL, one_marker, NULL));
		pthread_join(thread, NULL);
	}
	CHECK_EQ(xsprof_get_stats(&stats), 0);
	CHECK(stats.names_missed);
	for (int i = 0; i < 50; i++) {
		snprintf(name, sizeof(name), "after the threads %d", i);
		CHECK(xsprof_name(name) != XSPROF_NAME_FULL);
	}
	CHECK_EQ(xsprof_thread_name_of(4711, "one of many that a library names"), -ENOSPC);
	CHECK_EQ(xsprof_thread_name("a thread that the program named"), 0);
	collect(getpid());
	CHECK_EQ(collect_count(XSPROF_REC_INSTANT, a), 800);
	CHECK(collect_entry(XSPROF_ENTRY_THREAD, (uint32_t)getpid(), NULL) &&
	      !strcmp(collect_entry(XSPROF_ENTRY_THREAD, (uint32_t)getpid(), NULL),
		      "a thread that the program named"));
	check_news();
	tap_result("800 threads leave room for other names");
}

static void test_full(void)
{
	struct xsprof_stats stats = { .size = sizeof(stats) };
	xsprof_name_t id = 0, first;
	char name[32];

	first = xsprof_name("before it is full");
	/* Three quarters of the memory. */
	for (int i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "one of very many names %d", i);
		id = xsprof_name_of_many(cat_b, name);
		CHECK(id);
	}
	CHECK_EQ(id, (uint32_t)cat_b << XSPROF_NAME_SHIFT | XSPROF_NAME_FULL);
	CHECK_EQ(xsprof_name_of_many(0, "before it is full"), first);
	for (int i = 0; i < 50; i++) {
		snprintf(name, sizeof(name), "a name that has its room %d", i);
		id = xsprof_name(name);
		CHECK(id && id != XSPROF_NAME_FULL && xsprof_name_of_many(0, name) == id);
	}
	CHECK_EQ(xsprof_get_stats(&stats), 0);
	CHECK(stats.names_missed > 1000);
	for (int i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "a name that takes room %d", i);
		id = xsprof_name(name);
		CHECK(id);
	}
	CHECK_EQ(id, XSPROF_NAME_FULL);
	CHECK_EQ(xsprof_name_in(cat_b, name), (uint32_t)cat_b << XSPROF_NAME_SHIFT |
					      XSPROF_NAME_FULL);
	CHECK_EQ(xsprof_name("before it is full"), first);
	CHECK_EQ(xsprof_get_stats(&stats), 0);
	CHECK(stats.names_missed > 1000);
	types();
	xsprof_instant(id);
	SAME("i");
	CHECK_EQ(got.rec[0].name, XSPROF_NAME_FULL);
	CHECK(got.missed > 1000);
	tap_result("names that find the arena full share an id, and are counted");
}

int main(void)
{
	a = xsprof_name("a");
	cat_b = xsprof_category("b");
	cat_c = xsprof_category("c");
	b = xsprof_name_in(cat_b, "b");
	c = xsprof_name_in(cat_c, "c");
	CHECK(b >> XSPROF_NAME_SHIFT == (unsigned int)cat_b);
	test_nesting();
	test_depth();
	test_pause();
	test_race();
	test_count();
	test_threads();
	test_full();
	return tap_done();
}
