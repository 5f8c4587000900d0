// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program with markers that have caused trouble in viewers: adjacent ranges, in two threads and
 * two processes; some written as single records inside others; flows with one id in both processes;
 * counters that are not finite; numbers too large for a double, pointers, a duplicate key;
 * arguments too long for one record; async ranges without an end. It prints the number of its
 * markers.
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <xsprof/args.h>
#include <xsprof/flow.h>
#include <xsprof/xsprof.h>

#define ROUNDS	300u

static unsigned int made;

/* Each begins when the previous one ended, in the same tick. */
static void abut(xsprof_name_t name)
{
	uint64_t at = xsprof_now(), end;

	for (unsigned int i = 0; i < ROUNDS; i++, at = end) {
		end = xsprof_now();
		xsprof_span(name, at, end, 0, XSPROF_SCOPE_THREAD);
	}
}

static void *thread(void *arg)
{
	(void)arg;
	abut(xsprof_name("thread abuts"));
	xsprof_flow_step(xsprof_name("flow"), 7);
	return NULL;
}

static void numbers(void)
{
	xsprof_name_t load = xsprof_name("load");
	static const double values[] = { 1.5, NAN, -2.5, INFINITY, -INFINITY };

	for (unsigned int i = 0; i < 5; i++)
		xsprof_counter_f64(load, values[i]);
	XSPROF_BEGIN_ARGS("arguments", xsprof_u64(xsprof_name("big"), UINT64_MAX),
			  xsprof_ptr(xsprof_name("where"), (void *)0xdeadbeef),
			  xsprof_i64(xsprof_name("k"), 1), xsprof_i64(xsprof_name("k"), 2));
	xsprof_end();
}

/* One event, in several records. */
static void much(void)
{
	static char text[200];
	struct xsprof_kv kv[20];
	char key[8];

	memset(text, 'x', sizeof(text) - 1);
	for (unsigned int i = 0; i < 20; i++) {
		snprintf(key, sizeof(key), "long%u", i);
		kv[i] = xsprof_str(xsprof_name(key), text);
	}
	xsprof_begin_args(xsprof_name("much"), kv, 20);
	xsprof_end();
}

static void nested(unsigned int depth)
{
	XSPROF_SCOPE("nested");
	if (depth)
		nested(depth - 1);
}

/* A single-record range in a scope: it may begin and end in the same nanosecond as that. */
static void completes(xsprof_name_t leaf)
{
	for (unsigned int i = 0; i < ROUNDS; i++) {
		XSPROF_SCOPE("around");
		uint64_t at = xsprof_now();

		for (volatile unsigned int k = 0; k < i % 50; k++)
			;
		xsprof_complete(leaf, at);
	}
}

static void work(void)
{
	xsprof_name_t request = xsprof_name("request");
	pthread_t other;

	XSPROF_BEGIN("work");
	xsprof_flow_start(xsprof_name("flow"), 7);
	abut(xsprof_name("abuts"));
	numbers();
	much();
	for (unsigned int i = 0; i < ROUNDS; i++)
		nested(2);
	completes(xsprof_name("leaf"));
	xsprof_async_begin(request, 1);
	xsprof_async_begin(request, 2);
	xsprof_async_begin(request, 3);
	xsprof_async_end(request, 1);
	/* Begun again: the earlier one is cut. 3 and the second 2 have no end. */
	xsprof_async_begin(request, 2);
	if (!pthread_create(&other, NULL, thread, NULL))
		pthread_join(other, NULL);
	xsprof_flow_end(xsprof_name("flow"), 7);
	XSPROF_END();
	made = 2 + 3 + 2 * ROUNDS + 5 + 2 + 2 + ROUNDS * 3 * 2 + ROUNDS * 3 + 5;
}

int main(void)
{
	pid_t child = fork();
	int status = 0;

	if (child < 0)
		return 1;
	work();
	if (!child)
		_exit(0);
	if (waitpid(child, &status, 0) != child || status)
		return 1;
	printf("%u\n", 2 * made);
	return 0;
}
