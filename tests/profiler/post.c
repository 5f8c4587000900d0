// SPDX-License-Identifier: GPL-2.0-only
/*
 * post_process: after the session the program is asked once for each op, and what it adds is in the
 * events, the tables and the file, each at its own op.
 */
#include <pthread.h>

#include <xsprof/kineto.h>

#include "profiler/saved.h"

/* ---- what is recorded ----------------------------------------------------------------------- */

static void one(const char *name, enum xsprof_op_scope scope, const char *module, uint32_t inputs)
{
	struct xsprof_input in[] = {
		{ .kind = XSPROF_INPUT_I64, .u.i64 = 7 },
		{ .kind = XSPROF_INPUT_STR, .u.str = name },
	};
	struct xsprof_op op = {
		.name = xsprof_name(name), .scope = scope, .sequence = XSPROF_NO_SEQUENCE,
		.module = module, .inputs = in, .nr_inputs = inputs,
	};

	xsprof_op_begin(&op);
	xsprof_op_end();
}

static void *apart(void *unused)
{
	(void)unused;
	one("another's", XSPROF_OP_FUNCTION, NULL, 0);
	return NULL;
}

/* Ranges and other threads' ops lie between them: an error in counting would mix up neighbours. */
static void work(void)
{
	static char text[6000];
	pthread_t thread;

	one("bare", XSPROF_OP_FUNCTION, NULL, 0);
	xsprof_begin(xsprof_name("range"));
	one("with inputs", XSPROF_OP_FUNCTION, "net.0", 2);
	xsprof_end();
	if (pthread_create(&thread, NULL, apart, NULL))
		tap_bail("no threads");
	pthread_join(thread, NULL);
	one("the user's", XSPROF_OP_USER_SCOPE, "net.1", 0);
	memset(text, 'x', sizeof(text) - 1);
	one("in pieces", XSPROF_OP_FUNCTION, text, 2);
	one("as it was", XSPROF_OP_FUNCTION, "net.2", 0);
	one("of none", XSPROF_OP_FUNCTION, "net.3", 0);
}

static void timed(void)
{
	struct xsprof_kineto_cpu_trace *t = xsprof_kineto_cpu_trace_new(NULL, 0);
	struct xsprof_kineto_place ids = xsprof_kineto_ids();
	struct xsprof_kineto_activity a = {
		.size = sizeof(a), .name = "timed", .type = XSPROF_ACTIVITY_TYPE_CPU_OP,
		.device = ids.device, .resource = ids.resource,
	};
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	a.start_ns = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
	a.end_ns = a.start_ns + 1;
	CHECK_EQ(xsprof_kineto_add_cpu_activity(t, &a), 0);
	CHECK_EQ(xsprof_kineto_add_activity_metadata(t, 0, "own", "text"), 0);
	CHECK_EQ(xsprof_kineto_transfer_cpu_trace(t, a.end_ns), 0);
	xsprof_kineto_cpu_trace_free(t);
}

/* ---- what is said of it --------------------------------------------------------------------- */

static const struct said {
	const char	*name;
	const char	*frames[3];
	size_t		nr;
	const char	*module;
	const char	*in_file;	/* its stack; NULL: none */
} said[] = {
	{ "bare", { "f; g \"q\"\n", "main" }, 2, "mine.0", "\"f: g \\\"q\\\"\\n;main\"" },
	{ "with inputs", { "one", "two", "three" }, 3, "mine.1", "\"one;two;three\"" },
	{ "the user's", { "user" }, 1, "mine.2", "\"user\"" },
	{ "in pieces", { "\xff" }, 1, "mine.3", "\"\xef\xbf\xbd\"" },
	{ "as it was", { NULL }, 0, NULL, NULL },
	{ "of none", { NULL }, 0, "", NULL },
	{ "timed", { "by hand" }, 1, "mine.4", "\"by hand\"" },
};

#define SAID	(sizeof(said) / sizeof(said[0]))

static unsigned int asked, wrong;
static uint64_t latest;

static const struct said *find(const char *name)
{
	for (size_t i = 0; i < SAID; i++)
		if (!strcmp(said[i].name, name))
			return &said[i];
	return NULL;
}

static int say(void *data, struct xsprof_profiler_event *ev)
{
	const struct said *s = find(xsprof_event_name(ev));

	asked++;
	wrong += data != &asked || !s || xsprof_event_kind(ev) != XSPROF_EVENT_OP ||
		 xsprof_event_start_ns(ev) < latest ||
		 xsprof_profiler_state() != XSPROF_PROFILER_DISABLED;
	latest = xsprof_event_start_ns(ev);
	if (!s || !s->module)
		return 0;
	if (xsprof_event_set_module(ev, "of before") || xsprof_event_set_module(ev, s->module) ||
	    strcmp(xsprof_event_module(ev), s->module))
		wrong++;
	return xsprof_event_set_stack(ev, s->nr ? s->frames : NULL, s->nr);
}

static void test_events(struct xsprof_result *r)
{
	unsigned int n = 0;

	for (int64_t i = 0; i < xsprof_result_nr_events(r); i++) {
		const struct xsprof_profiler_event *ev = xsprof_result_event(r, (uint64_t)i);
		const struct said *s = find(xsprof_event_name(ev));

		if (!s)
			continue;
		n++;
		CHECK_EQ(!strcmp(xsprof_event_module(ev), s->module ? s->module : "net.2"), 1);
		/* The recorded stack stays if the program added none. */
		if (s->module)
			CHECK_EQ(xsprof_event_nr_frames(ev), s->nr);
		else
			CHECK(xsprof_event_nr_frames(ev) > 0);
		for (size_t k = 0; k < s->nr; k++)
			CHECK_EQ(strcmp(xsprof_event_frame(ev, k), s->frames[k]), 0);
	}
	CHECK_EQ(n, SAID);
	tap_result("events have what was said of them");
}

static void test_table(struct xsprof_result *r)
{
	struct xsprof_table *t;
	unsigned int n = 0;

	CHECK_EQ(xsprof_result_table(r, XSPROF_BY_STACK, 2, XSPROF_SORT_NAME, &t), 0);
	for (size_t i = 0; i < xsprof_table_nr_rows(t); i++) {
		const struct xsprof_table_row *row = xsprof_table_get_row(t, i);

		n += !strcmp(row->name, "with inputs") && !strcmp(row->stack, "one\ntwo");
	}
	xsprof_table_free(t);
	CHECK_EQ(n, 1);
	tap_result("tables by stack know them");
}

/* Returns the event's line in the file; "" if there is none. */
static const char *line_of(const char *text, const char *name)
{
	static char line[16384];
	char key[64];
	const char *at;

	snprintf(key, sizeof(key), "\"name\":\"%s\"", name);
	at = strstr(text, key);
	snprintf(line, sizeof(line), "%.*s", at ? (int)strcspn(at, "\n") : 0, at ? at : "");
	return line;
}

static unsigned int times(const char *line, const char *what)
{
	unsigned int n = 0;

	for (; (line = strstr(line, what)); line++)
		n++;
	return n;
}

static void test_file(struct xsprof_result *r)
{
	const char *text = saved(r);
	char key[128];

	for (size_t i = 0; i < SAID; i++) {
		const struct said *s = &said[i];
		const char *line = line_of(text, s->name);

		snprintf(key, sizeof(key), "\"Module Hierarchy\":\"%s\"",
			 s->module ? s->module : "net.2");
		if (times(line, key) != (s->module && !*s->module ? 0 : 1) ||
		    times(line, "\"Module Hierarchy\"") > 1)
			tap_wrong("%s: modules: %.300s", s->name, line);
		snprintf(key, sizeof(key), "\"Call stack\":%s", s->in_file ? s->in_file : "");
		if (times(line, key) != (s->in_file || !s->module ? 1 : 0) ||
		    times(line, "\"Call stack\"") > 1)
			tap_wrong("%s: stack: %.300s", s->name, line);
	}
	CHECK_EQ(times(text, "\"Call stack\""), SAID - 1);
	tap_result("and the file, each of its own op");
}

static struct xsprof_profiler_config config = {
	.size = sizeof(config), .state = XSPROF_PROFILER_KINETO, .report_input_shapes = true,
	.with_stack = true, .with_modules = true, .post_process = say, .post_process_data = &asked,
};

static void test_session(void)
{
	struct xsprof_result *r;

	CHECK_EQ(xsprof_enable_profiler(&config, XSPROF_ACTIVITY(CPU), 0), 0);
	work();
	timed();
	CHECK_EQ(xsprof_disable_profiler(&r), 0);
	CHECK_EQ(asked, SAID);
	CHECK_EQ(wrong, 0);
	tap_result("the program is asked once for each op, in their order");
	test_events(r);
	test_table(r);
	test_file(r);
	CHECK_EQ(xsprof_result_post_process(r, NULL, NULL), -EINVAL);
	CHECK_EQ(xsprof_event_set_module(NULL, ""), -EINVAL);
	xsprof_result_free(r);
}

/* ---- what goes wrong ------------------------------------------------------------------------ */

static int refuse(void *data, struct xsprof_profiler_event *ev)
{
	const char *const frames[] = { "one", NULL };

	CHECK_EQ(xsprof_event_set_stack(ev, frames, 2), -EINVAL);
	CHECK_EQ(xsprof_event_set_stack(ev, NULL, 1), -EINVAL);
	CHECK_EQ(xsprof_event_set_module(ev, NULL), -EINVAL);
	CHECK_EQ(xsprof_event_nr_frames(ev), 0);
	++*(unsigned int *)data;
	return -ETIME;
}

static void test_errors(void)
{
	struct xsprof_profiler_config c = config;
	struct xsprof_result *r;
	unsigned int n = 0;

	c.with_stack = false;
	c.post_process = refuse;
	c.post_process_data = &n;
	CHECK_EQ(xsprof_enable_profiler(&c, XSPROF_ACTIVITY(CPU), 0), 0);
	work();
	CHECK_EQ(xsprof_disable_profiler(&r), -ETIME);
	CHECK_EQ(n, 1);
	CHECK(r && xsprof_result_nr_events(r) > 0);
	xsprof_result_free(r);
	/* If the result is not wanted the callback is not called. */
	CHECK_EQ(xsprof_enable_profiler(&c, XSPROF_ACTIVITY(CPU), 0), 0);
	work();
	CHECK_EQ(xsprof_disable_profiler(NULL), 0);
	CHECK_EQ(n, 1);
	/* A program of an older version does not have it. */
	c.size = offsetof(struct xsprof_profiler_config, post_process);
	CHECK_EQ(xsprof_enable_profiler(&c, XSPROF_ACTIVITY(CPU), 0), 0);
	work();
	CHECK_EQ(xsprof_disable_profiler(&r), 0);
	CHECK_EQ(n, 1);
	xsprof_result_free(r);
	tap_result("what it returns ends it, and the result is there");
}

/* ---- schedules ------------------------------------------------------------------------------ */

static int end_it(void *data, struct xsprof_profiler_event *ev)
{
	unsigned int *n = data;

	/* No lock is held during the callback. */
	if (!(*n)++)
		CHECK_EQ(xsprof_disable_profiler(NULL), 0);
	return xsprof_event_set_module(ev, "late");
}

static void ready(void *data, struct xsprof_result *r)
{
	const struct xsprof_profiler_event *ev;
	unsigned int *n = data, ops = 0;

	for (int64_t i = 0; i < xsprof_result_nr_events(r); i++) {
		ev = xsprof_result_event(r, (uint64_t)i);
		if (xsprof_event_kind(ev) == XSPROF_EVENT_OP)
			ops += !strcmp(xsprof_event_module(ev), "late");
	}
	CHECK_EQ(ops, *n);
	*n += 100;
	xsprof_result_free(r);
}

static void test_schedule(void)
{
	const struct xsprof_schedule schedule = {
		.size = sizeof(schedule), .wait = 1, .active = 1,
	};
	struct xsprof_profiler_config c = config;
	unsigned int n = 0;

	c.post_process = end_it;
	c.post_process_data = &n;
	CHECK_EQ(xsprof_schedule_profiler(&c, XSPROF_ACTIVITY(CPU), 0, &schedule, ready, &n), 0);
	for (unsigned int i = 0; i < 5; i++) {
		one("in a step", XSPROF_OP_FUNCTION, NULL, 0);
		CHECK_EQ(xsprof_profiler_step(), 0);
	}
	CHECK_EQ(n, 101);
	CHECK_EQ(xsprof_disable_profiler(NULL), -ENOENT);
	tap_result("a schedule's results go through it before they are ready");
}

int main(void)
{
	test_session();
	test_errors();
	test_schedule();
	return tap_done();
}
