// SPDX-License-Identifier: GPL-2.0-only
/*
 * Markers in the program's own code: all are recorded. If the library supports this version few are
 * calls (a thread's first, one that needs memory or was preempted); otherwise all are.
 *
 *	session XSPROF_BUFFER_SIZE=256k LD_PRELOAD=inline-answer.so inline few=0|1
 */
#define XSPROF_INLINE
#include <dlfcn.h>
#include <pthread.h>

#include <xsprof/xsprof.h>

#include "ring/collect.h"

#define MARKERS	5000
#define FEW	500

static xsprof_name_t name;

static unsigned int calls(void)
{
	unsigned int *n = (unsigned int *)dlsym(RTLD_DEFAULT, "answer_calls");

	return n ? *n : 0;
}

static void *instants(void *arg)
{
	for (int i = 0; i < MARKERS; i++)
		xsprof_instant(name);
	return arg;
}

static void test_words(void)
{
	const struct collected *c;
	uint64_t begin, tag = 0x0123456789abcdef;
	double value = -1.5;
	unsigned int i = 0;

	static const uint32_t type[] = {
		XSPROF_REC_BEGIN, XSPROF_REC_END, XSPROF_REC_INSTANT, XSPROF_REC_COUNTER_I64,
		XSPROF_REC_COUNTER_F64, XSPROF_REC_STEP, XSPROF_REC_ASYNC_BEGIN,
		XSPROF_REC_FLOW_END, XSPROF_REC_CORR_PUSH, XSPROF_REC_COMPLETE,
		XSPROF_REC_BEGIN, XSPROF_REC_END,
	};
	const unsigned int nr = sizeof(type) / sizeof(type[0]);

	collect(getpid());
	begin = xsprof_now();
	xsprof_begin(name);
	xsprof_end();
	xsprof_mark(name, XSPROF_SCOPE_PROCESS);
	xsprof_counter(name, -(int64_t)tag);
	xsprof_counter_f64(name, value);
	xsprof_step(name, tag);
	xsprof_async_begin(name, tag);
	xsprof_flow_end(name, tag);
	xsprof_correlation_push(0xfedcba98, tag);
	xsprof_complete(name, begin);
	{
		XSPROF_SCOPE("scope");
	}
	CHECK_EQ(collect(getpid()), nr);
	for (i = 0; i < nr && i < got.n; i++) {
		c = &got.rec[i];
		CHECK_EQ(c->type, type[i]);
		CHECK_EQ(c->n, 1);
		CHECK_EQ(c->tid, (uint32_t)getpid());
		CHECK(c->ts >= begin);
		if (i != 1 && i != 8 && i < 10)
			CHECK_EQ(c->name, name);
	}
	if (got.n == nr) {
		CHECK_EQ(got.rec[2].aux, XSPROF_SCOPE_PROCESS);
		CHECK_EQ(got.rec[3].value, (uint64_t)-tag);
		CHECK(!memcmp(&got.rec[4].value, &value, sizeof(value)));
		CHECK_EQ(got.rec[5].value, tag);
		CHECK_EQ(got.rec[6].value, tag);
		CHECK_EQ(got.rec[7].value, tag);
		CHECK_EQ(got.rec[8].aux, 0xfedcba98);
		CHECK_EQ(got.rec[8].value, tag);
		CHECK_EQ(got.rec[9].ts - got.rec[9].value, begin);
		CHECK_EQ(got.rec[11].name, got.rec[10].name);
	}
	tap_result("every word of every kind of record");
}

static void check_calls(unsigned int n, bool few)
{
	CHECK(n > 0);
	if (few)
		CHECK(n < FEW);
	else
		CHECK_EQ(n, MARKERS);
}

int main(int argc, char **argv)
{
	bool few = arg_number(argc, argv, "few", 0);
	pthread_t thread;
	unsigned int n;

	name = xsprof_name("inline");
	collect(getpid());
	if (!got.files)
		tap_bail("not attached: run it under session");
	n = calls();
	instants(NULL);
	CHECK_EQ(collect(getpid()), MARKERS);
	check_calls(calls() - n, few);
	n = calls();
	if (pthread_create(&thread, NULL, instants, NULL))
		tap_bail("no thread");
	pthread_join(thread, NULL);
	CHECK_EQ(collect(getpid()), MARKERS);
	check_calls(calls() - n, few);
	tap_result("%u markers in each of two threads, %s", MARKERS,
		   few ? "few of them calls" : "all of them calls");
	test_words();
	return tap_done();
}
