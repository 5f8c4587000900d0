// SPDX-License-Identifier: GPL-2.0-only
/*
 * Steps that a schedule records: those of the active time, each with what ran in it, and no others.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xsprof/result.h>

#include "../ring/tap.h"

static const struct xsprof_profiler_config config = {
	.size = sizeof(config), .state = XSPROF_PROFILER_KINETO,
};

/* The steps of each trace, "2,3;6,7;". */
static char by_events[200], by_file[200];

static void append(char *to, const char *number, bool first)
{
	size_t had = strlen(to);

	snprintf(to + had, sizeof(by_events) - had, "%s%lu", first ? "" : ",",
		 strtoul(number, NULL, 10));
}

/* The steps are told by their names, wherever those stand in the file. */
static void look_at_file(struct xsprof_result *r)
{
	char path[] = "/tmp/xsprof-steps.XXXXXX", text[65536], *at = text;
	int fd = mkstemp(path);
	bool first = true;
	ssize_t n;

	if (fd < 0)
		tap_bail("%s: %s", path, strerror(errno));
	close(fd);
	CHECK_EQ(xsprof_result_save(r, path), 0);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	text[n < 0 ? 0 : n] = '\0';
	close(fd);
	unlink(path);
	for (; (at = strstr(at, "\"name\":\"ProfilerStep#")); first = false) {
		at += strlen("\"name\":\"ProfilerStep#");
		append(by_file, at, first);
	}
	strcat(by_file, ";");
}

static void ready(void *data, struct xsprof_result *r)
{
	int64_t n = xsprof_result_nr_events(r);
	bool first = true;

	CHECK(data == by_events);
	for (int64_t i = 0; i < n; i++) {
		const struct xsprof_profiler_event *ev = xsprof_result_event(r, i);
		const char *name = xsprof_event_name(ev);

		if (strncmp(name, "ProfilerStep#", 13)) {
			CHECK(xsprof_event_parent(ev) != NULL);
			continue;
		}
		append(by_events, name + 13, first);
		CHECK(xsprof_event_child(ev) != NULL);
		first = false;
	}
	strcat(by_events, ";");
	look_at_file(r);
	xsprof_result_free(r);
}

static void run(const struct xsprof_schedule *schedule, unsigned int steps, const char *expected)
{
	const struct xsprof_op op = { .name = xsprof_name("work"), .sequence = -1 };

	by_events[0] = by_file[0] = '\0';
	CHECK_EQ(xsprof_schedule_profiler(&config, XSPROF_ACTIVITY(CPU), 0, schedule, ready,
					  by_events), 0);
	for (unsigned int i = 0; i < steps; i++) {
		/* Longer than clocks are apart, so that it is in its step by any of them. */
		xsprof_op_begin(&op);
		usleep(5000);
		xsprof_op_end();
		CHECK_EQ(xsprof_profiler_step(), 0);
	}
	CHECK_EQ(xsprof_disable_profiler(NULL), 0);
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
	};

	run(&usual, 10, "2,3;6,7;");
	tap_result("wait, warm-up, active: the active steps, twice");
	/* The program goes on with its count: in the middle of 10. */
	run(&each, 4, "11;12;13;");
	tap_result("one trace a step");
	return tap_done();
}
