// SPDX-License-Identifier: GPL-2.0-only
/*
 * Steps that a schedule records: those of the active time, each with the ops that ran in it and its
 * duration, and no others.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <xsprof/result.h>

#include "profiler/saved.h"
#include "common/tap.h"

#define STEP	"ProfilerStep#"

static const struct xsprof_profiler_config config = {
	.size = sizeof(config), .state = XSPROF_PROFILER_KINETO,
};

/* The steps of each trace, "2,3;6,7;"; a "?" follows a step that was not over. */
static char by_events[200], by_file[200];

static void append(char *to, const char *number, bool open, bool first)
{
	size_t had = strlen(to);

	snprintf(to + had, sizeof(by_events) - had, "%s%lu%s", first ? "" : ",",
		 strtoul(number, NULL, 10), open ? "?" : "");
}

/* Finds the steps by their names, anywhere in the file. */
static void look_at_file(struct xsprof_result *r)
{
	const char *text = saved(r), *at = text;
	bool first = true;

	for (; (at = strstr(at, "\"name\":\"" STEP)); first = false) {
		const char *end = strchr(at, '\n'), *open = strstr(at, "\"finished\":false");

		at += strlen("\"name\":\"" STEP);
		append(by_file, at, open && (!end || open < end), first);
	}
	strcat(by_file, ";");
	for (int64_t i = 0; i < xsprof_result_nr_events(r); i++) {
		const struct xsprof_profiler_event *ev = xsprof_result_event(r, i);
		struct saved_event s = { 0 };

		if (strncmp(xsprof_event_name(ev), STEP, strlen(STEP)))
			continue;
		CHECK(saved_find(text, xsprof_event_name(ev), 0, &s));
		CHECK_EQ(s.begin, xsprof_event_start_ns(ev));
		CHECK_EQ(s.duration, xsprof_event_duration_ns(ev));
	}
}

/* A step ends where the next begins; the last one at the session's end, after all its ops. */
static void look_at_end(const struct xsprof_profiler_event *step,
			const struct xsprof_profiler_event *next)
{
	const struct xsprof_profiler_event *in = xsprof_event_child(step);

	if (next)
		CHECK_EQ(xsprof_event_end_ns(step), xsprof_event_start_ns(next));
	else if (!xsprof_event_unfinished(step))
		CHECK(in && xsprof_event_end_ns(in) < xsprof_event_end_ns(step));
}

static void ready(void *data, struct xsprof_result *r)
{
	const struct xsprof_profiler_event *last = NULL;
	int64_t n = xsprof_result_nr_events(r);

	CHECK(data == by_events);
	for (int64_t i = 0; i < n; i++) {
		const struct xsprof_profiler_event *ev = xsprof_result_event(r, i);
		const char *name = xsprof_event_name(ev);

		if (strncmp(name, STEP, strlen(STEP))) {
			CHECK(xsprof_event_parent(ev) != NULL);
			continue;
		}
		append(by_events, name + strlen(STEP), xsprof_event_unfinished(ev), !last);
		CHECK(xsprof_event_child(ev) != NULL);
		if (last)
			look_at_end(last, ev);
		last = ev;
	}
	CHECK(last != NULL);
	if (last)
		look_at_end(last, NULL);
	strcat(by_events, ";");
	look_at_file(r);
	xsprof_result_free(r);
}

/* As short as possible: it is in its step even if nothing lies between them. */
static void work(void)
{
	const struct xsprof_op op = { .name = xsprof_name("work"), .sequence = -1 };

	xsprof_op_begin(&op);
	xsprof_op_end();
}

/* @cut: ends the schedule in the middle of the following step. */
static void run(const struct xsprof_schedule *schedule, unsigned int steps, bool cut,
		const char *expected)
{
	struct xsprof_result *r = NULL;

	by_events[0] = by_file[0] = '\0';
	CHECK_EQ(xsprof_schedule_profiler(&config, XSPROF_ACTIVITY(CPU), 0, schedule, ready,
					  by_events), 0);
	for (unsigned int i = 0; i < steps; i++) {
		work();
		CHECK_EQ(xsprof_profiler_step(), 0);
	}
	if (cut)
		work();
	CHECK_EQ(xsprof_disable_profiler(cut ? &r : NULL), 0);
	if (r)
		ready(by_events, r);
	if (strcmp(by_events, expected))
		tap_wrong("events: %s, not %s", by_events, expected);
	if (strcmp(by_file, expected))
		tap_wrong("file: %s, not %s", by_file, expected);
}

int main(void)
{
	const struct xsprof_schedule usual = {
		.size = sizeof(usual), .wait = 1, .warmup = 1, .active = 2, .repeat = 2,
	}, each = {
		.size = sizeof(each), .active = 1, .repeat = 3,
	}, three = {
		.size = sizeof(three), .active = 3,
	};

	run(&usual, 10, false, "2,3;6,7;");
	tap_result("wait, warm-up, active: the active steps, twice");
	/* The program's count goes on: in the middle of 10. */
	run(&each, 4, false, "11;12;13;");
	tap_result("one trace a step");
	run(&three, 4, true, "16,17,18;19,20?;");
	tap_result("the step that a trace ends with is over, and one that is cut off is not");
	return tap_done();
}
