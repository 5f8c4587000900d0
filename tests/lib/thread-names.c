// SPDX-License-Identifier: GPL-2.0-only
/*
 * How the collector of Python names threads, without Python: each thread once, also of a number
 * that is used again; what a look may cost; and which tables have no names.
 */
#include <errno.h>
#include <string.h>

#include "common/tap.h"
#include "lib/python-stand-in.h"

#define MS	1000000u

/* As from the start, with these threads; looks take look_ns. */
static void begin(uint32_t nr, const uint32_t *tids)
{
	nr_threads = 0;
	room = 1;
	name_error = 0;
	now_ns += 1000000000u;
	CHECK_EQ(python_names_begin(), 0);
	for (uint32_t i = 0; i < nr; i++) {
		ids[i] = (struct object){ .type = &int_type, .number = (long)tids[i] };
		names[i] = (struct object){ .text = "a" };
		threads[i] = (struct object){ &thread_type, &ids[i], &names[i], NULL, 0 };
	}
	nr_threads = nr;
	said[0] = '\0';
	looks = nr_named = nr_asked = 0;
}

static void look(void)
{
	python_names_want();
	CHECK_EQ(python_names_look(), 0);
}

static void is(const char *want)
{
	if (strcmp(said, want))
		tap_wrong("'%s', not '%s'", said, want);
	said[0] = '\0';
}

static void test_once(void)
{
	const uint32_t tids[] = { 7, 7 + KNOWN, 7 + 2 * KNOWN };

	begin(3, tids);
	CHECK_EQ(python_names_look(), 0);
	is("");
	look();
	is("7=a 16391=a 32775=a ");
	for (int i = 0; i < 100; i++)
		look();
	is("");
	names[1].text = "b";
	look();
	is("16391=b ");
	tap_result("each thread is named once, and when its name changes");
}

/* They have eleven places, the first ones eight of these, and each finds its own in the end. */
static void test_crowd(void)
{
	uint32_t tids[THREADS];

	for (uint32_t i = 0; i < THREADS; i++)
		tids[i] = 9 + i / 3 + KNOWN * (i + 1);
	begin(11, tids);
	for (int i = 0; i < 1000; i++)
		look();
	CHECK(nr_named >= 11 && nr_named < 200);
	said[0] = '\0';
	look();
	is("");
	/* They end, and two others have the same place. */
	nr_threads = 2;
	ids[0].number = 9 + KNOWN * 100;
	ids[1].number = 9 + KNOWN * 101;
	nr_named = 0;
	for (int i = 0; i < 1000; i++)
		look();
	CHECK(nr_named >= 2 && nr_named < 50);
	tap_result("threads with numbers that are kept in the same places");
}

static void test_number(void)
{
	const uint32_t tids[] = { 7, 8 };

	begin(2, tids);
	look();
	is("7=a 8=a ");
	python_names_new(7);
	is("7= ");
	look();
	is("7=a ");
	python_names_new(9);
	is("");
	/* The other's place was taken meanwhile. */
	for (long tid = 7 + KNOWN; tid <= 7 + 100 * KNOWN; tid += KNOWN) {
		ids[0].number = tid;
		look();
	}
	said[0] = '\0';
	python_names_new(7);
	is("7= ");
	tap_result("a thread with the number of one that had a name: none, then its name");
}

static void test_errors(void)
{
	const uint32_t tids[] = { 7 };

	begin(1, tids);
	name_error = -EBUSY;
	look();
	is("7=a ");
	name_error = -ENOSPC;
	look();
	is("7=a ");
	look();
	is("");
	begin(1, tids);
	interrupted = true;
	python_names_want();
	CHECK_EQ(python_names_look(), -1);
	interrupted = false;
	begin(1, tids);
	ends = true;
	look();
	python_names_ask();
	ends = false;
	CHECK(!looks && !nr_asked);
	tap_result("a name that was refused, an interrupt of the user, the end of Python");
}

static void test_without(void)
{
	const uint32_t tids[] = { 7 };

	begin(1, tids);
	threads[0].type = &dummy_type;
	look();
	threads[0].type = &thread_type;
	names[0].text = "";
	look();
	names[0].text = "a";
	ids[0].type = &thread_type;
	look();
	ids[0].type = &int_type;
	ids[0].number = -7;
	look();
	threads[0].id = NULL;
	look();
	main_thread = threads[0];
	main_thread.id = &ids[0];
	ids[0].number = 7;
	look();
	main_thread = (struct object){ .type = &thread_type };
	imported = false;
	look();
	imported = true;
	is("");
	tap_result("threads that keep the kernel's name");
}

static void test_early(void)
{
	const uint32_t tids[] = { 7 };

	begin(1, tids);
	threads[0].id = &none;
	look();
	threads[0].id = &ids[0];
	CHECK_EQ(python_names_look(), 0);
	is("7=a ");
	/* It never runs. */
	threads[0].id = &none;
	python_names_want();
	looks = 0;
	for (int i = 0; i < 1000; i++)
		CHECK_EQ(python_names_look(), 0);
	CHECK(looks > 10 && looks <= 100);
	tap_result("a thread that does not run yet, or never");
}

static void test_forked(void)
{
	const uint32_t tids[] = { 7 };

	/* The parent had no time left for looks: the child has its own. */
	look_ns = 10 * MS;
	begin(1, tids);
	for (int i = 0; i < 100; i++)
		look();
	CHECK(looks < 10);
	is("7=a ");
	look_ns = 0;
	python_names_want();
	python_names_forked();
	python_names_new(4711);
	CHECK(!python_names_wanted);
	CHECK_EQ(python_names_look(), 0);
	is("");
	python_names_new(7);
	CHECK(python_names_wanted);
	CHECK_EQ(python_names_look(), 0);
	is("7=a ");
	tap_result("a forked child: none of the parent's threads, but its own");
}

static void test_ask(void)
{
	const uint32_t tids[] = { 7 };

	begin(1, tids);
	python_names_want();
	state = &other_interpreter;
	python_names_ask();
	CHECK_EQ(nr_asked, 0);
	state = &interpreter;
	room = 0;
	python_names_ask();
	room = 1;
	python_names_ask();
	python_names_ask();
	CHECK_EQ(nr_asked, 2);
	CHECK_EQ(asked_for(NULL), 0);
	is("7=a ");
	/* A new thread's state is set later. */
	state = NULL;
	python_names_ask();
	CHECK_EQ(nr_asked, 3);
	tap_result("one call is under way at a time; a full queue is tried again");
}

/* 100 s with a new thread each millisecond. Return: ns in looks. */
static uint64_t spend(uint64_t ns)
{
	const uint32_t tids[] = { 7 };
	uint64_t end;

	look_ns = ns;
	begin(1, tids);
	for (end = now_ns + 100000ull * MS; now_ns < end; now_ns += MS)
		look();
	return looks * ns;
}

static void test_share(void)
{
	uint64_t spent = spend(10 * MS), share = 100000ull * MS / 20;

	/* The first one is free. */
	CHECK(spent <= share + 25 * MS);
	CHECK(spent >= share / 10 * 9);
	/* Short ones: for each thread. */
	CHECK_EQ(spend(1000) / 1000, 99901);
	tap_result("looks take a twentieth of the time at most, and as many as that allows");
}

/* Each 100th look takes 20 ms, since the kernel runs another thread meanwhile. */
static void test_interrupted(void)
{
	const uint32_t tids[] = { 7 };

	look_ns = 1000;
	begin(1, tids);
	for (int i = 0; i < 1000; i++, now_ns += MS) {
		look_ns = i % 100 ? 1000 : 20 * MS;
		look();
	}
	CHECK_EQ(looks, 1000);
	tap_result("time that others had meanwhile does not count");
}

int main(void)
{
	set_up();
	test_once();
	test_crowd();
	test_number();
	test_errors();
	test_without();
	test_early();
	test_forked();
	test_ask();
	test_share();
	test_interrupted();
	return tap_done();
}
