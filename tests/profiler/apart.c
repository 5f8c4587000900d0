// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records outside of a session are not in its result, whether or not another recorder has them:
 * while collection is off, and of threads before they join and after they leave.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xsprof/result.h>

#include "profiler/saved.h"
#include "common/tap.h"

static const struct xsprof_profiler_config config = {
	.size = sizeof(config), .state = XSPROF_PROFILER_KINETO, .profile_memory = true,
};

static void begin_op(const char *name)
{
	struct xsprof_op op = { .name = xsprof_name(name), .sequence = XSPROF_NO_SEQUENCE };

	xsprof_op_begin(&op);
}

static void one(const char *name)
{
	begin_op(name);
	xsprof_op_end();
}

/* Reports an allocation and a failed one, of @bytes bytes, and a shader named @shader. */
static void others(int64_t bytes, const char *shader)
{
	uint64_t now = xsprof_now();

	xsprof_report_memory_usage(&config, bytes, 0, 0, 0);
	xsprof_report_out_of_memory(bytes, 0, 0, 0);
	xsprof_report_vulkan_event(xsprof_name(shader), now, xsprof_now(), 1);
}

static void *come_and_go(void *unused)
{
	(void)unused;
	one("no: before");
	CHECK_EQ(xsprof_enable_profiler_in_child_thread(), 0);
	one("yes: joined");
	CHECK_EQ(xsprof_disable_profiler_in_child_thread(), 0);
	one("no: left");
	CHECK_EQ(xsprof_enable_profiler_in_child_thread(), 0);
	one("yes: again");
	return NULL;
}

static void *stay_apart(void *unused)
{
	(void)unused;
	one("no: apart");
	return NULL;
}

static void run(void *(*what)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, what, NULL))
		tap_bail("no threads");
	pthread_join(thread, NULL);
}

static void work(void)
{
	one("yes: first");
	others(1, "yes: shader");
	CHECK_EQ(xsprof_toggle_collection(false, 0), 0);
	CHECK_EQ(xsprof_toggle_collection(false, 0), 0);
	one("no: off");
	others(2, "no: shader");
	begin_op("no: across");
	CHECK_EQ(xsprof_toggle_collection(true, 0), 0);
	one("yes: inside");
	/* Ends the op that began while collection was off. */
	xsprof_op_end();
	begin_op("yes: around");
	CHECK_EQ(xsprof_toggle_collection(false, 0), 0);
	one("no: off again");
	CHECK_EQ(xsprof_toggle_collection(true, 0), 0);
	xsprof_op_end();
	run(come_and_go);
	run(stay_apart);
	CHECK_EQ(xsprof_toggle_collection(false, 0), 0);
	one("no: last");
}

static const char *const wanted[] = {
	"yes: first", "yes: shader", "yes: inside", "yes: around", "yes: joined", "yes: again",
};

#define WANTED	(sizeof(wanted) / sizeof(wanted[0]))

static void test_events(struct xsprof_result *r)
{
	unsigned int n = 0, memory = 0;

	for (int64_t i = 0; i < xsprof_result_nr_events(r); i++) {
		const struct xsprof_profiler_event *ev = xsprof_result_event(r, i);
		const char *name = xsprof_event_name(ev);

		if (*name == '[') {
			memory++;
			CHECK_EQ(xsprof_event_nbytes(ev), 1);
			continue;
		}
		if (n >= WANTED || strcmp(name, wanted[n]))
			tap_wrong("%s", name);
		n++;
		CHECK(!xsprof_event_unfinished(ev));
	}
	CHECK_EQ(n, WANTED);
	CHECK_EQ(memory, 2);
	tap_result("events: what the session wanted, and no more");
}

static void test_file(struct xsprof_result *r, int (*save)(struct xsprof_result *, const char *),
		      unsigned int nr, const char *what)
{
	const char *text = saved_by(save, r);
	unsigned int n = 0;

	for (const char *at = text; (at = strstr(at, "\"yes: ")); at++)
		n++;
	CHECK_EQ(n, nr);
	CHECK(!strstr(text, "\"no: "));
	/* A row of the timeline: one byte of unknown category. */
	if (!nr && !strstr(text, "[[0,0,0,0,0,0,0,0,1]]"))
		tap_wrong("%s", text);
	tap_result("%s", what);
}

static int save_timeline(struct xsprof_result *r, const char *path)
{
	return xsprof_result_save_memory_timeline(r, path, 0);
}

int main(void)
{
	struct xsprof_result *r = NULL;

	CHECK_EQ(xsprof_enable_profiler(&config, XSPROF_ACTIVITY(CPU), 0), 0);
	work();
	CHECK_EQ(xsprof_disable_profiler(&r), 0);
	if (!r)
		tap_bail("no result");
	test_events(r);
	test_file(r, xsprof_result_save, WANTED, "the same in its trace");
	/* The execution trace has no node for a shader. */
	test_file(r, xsprof_result_save_execution_trace, WANTED - 1, "in its execution trace");
	test_file(r, save_timeline, 0, "and in its memory");
	xsprof_result_free(r);
	return tap_done();
}
