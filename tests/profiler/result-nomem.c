// SPDX-License-Identifier: GPL-2.0-only
/*
 * Results without memory: each allocation of the library fails once. The caller gets an error, or
 * the same result as with memory, never a part of it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/ops.h"
#include "common/tap.h"

/* The linker redirects the library's calls to these. */
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t nr, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__real_malloc(size_t size);
void *__real_calloc(size_t nr, size_t size);
void *__real_realloc(void *old, size_t size);

static uint64_t allocations, failing;

static bool fails(void)
{
	return failing && ++allocations == failing;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t nr, size_t size)
{
	return fails() ? NULL : __real_calloc(nr, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return fails() ? NULL : __real_realloc(old, size);
}

/* All data of a result, as one number. */
static uint64_t sum;

static void add(const void *data, size_t len)
{
	for (const unsigned char *at = data; len--; at++)
		sum = (sum ^ *at) * 0x100000001b3u;
}

static void add_text(const char *s)
{
	add(s, strlen(s) + 1);
}

static void add_event(const struct xsprof_profiler_event *ev)
{
	uint64_t self = xsprof_event_self_ns(ev);
	size_t nr;

	add_text(xsprof_event_name(ev));
	add_text(xsprof_event_shapes(ev));
	add_text(xsprof_event_concrete_inputs(ev));
	add_text(xsprof_event_kwargs(ev));
	add_text(xsprof_event_module(ev));
	for (size_t i = 0; i < xsprof_event_nr_inputs(ev); i++) {
		const int64_t *v = xsprof_event_input_dims(ev, i, &nr);

		add(v, nr * sizeof(*v));
		add_text(xsprof_event_input_dtype(ev, i));
		add_text(xsprof_event_input_concrete(ev, i));
	}
	for (size_t i = 0; i < xsprof_event_nr_frames(ev); i++)
		add_text(xsprof_event_frame(ev, i));
	add(&self, sizeof(self));
}

static int say(void *data, struct xsprof_profiler_event *ev)
{
	const char *const frames[] = { xsprof_event_name(ev), data };
	int err = xsprof_event_set_stack(ev, frames, 2);

	return err ? err : xsprof_event_set_module(ev, data);
}

/* Adds all data of a result to @sum. Return: 0 or the first error. */
static int read_all(const char *path)
{
	struct xsprof_table *t;
	struct xsprof_result *r;
	int64_t nr;
	char *text;
	int err;

	sum = 0xcbf29ce484222325u;
	err = xsprof_result_open(path, NULL, &r);
	if (err)
		return err;
	nr = xsprof_result_nr_events(r);
	err = nr < 0 ? (int)nr : xsprof_result_post_process(r, say, "afterwards");
	if (err > 0)
		tap_wrong("error %d", err);
	for (int64_t i = 0; i < nr && !*xsprof_result_error(r); i++)
		add_event(xsprof_result_event(r, (uint64_t)i));
	if (!err && *xsprof_result_error(r))
		err = -ENOMEM;
	if (!err)
		err = xsprof_result_table(r, 7, 2, 0, &t);
	if (!err) {
		text = xsprof_table_text(t, 0);
		if (text)
			add_text(text);
		free(text);
		if (!text) {
			/* There is no result that could have a message. */
			xsprof_result_free(r);
			return -ENOMEM;
		}
	}
	if (!err)
		err = xsprof_result_save_stacks(r, "/dev/null", 0);
	if (err && !*xsprof_result_error(r))
		tap_wrong("an error without words");
	xsprof_result_free(r);
	return err;
}

int main(void)
{
	uint64_t whole, runs = 0;
	const char *path;
	struct ops o;
	int err;

	ops_begin(&o);
	ops_sample(&o, 0);
	xsprof_result_free(ops_result(&o, NULL));
	path = cap_path(o.cap.data, o.cap.len);
	CHECK_EQ(read_all(path), 0);
	whole = sum;
	for (failing = 1; failing < 100000; failing++) {
		allocations = 0;
		err = read_all(path);
		if (allocations < failing)
			break;
		runs++;
		if (err && err != -ENOMEM)
			tap_wrong("allocation %llu: error %d", (unsigned long long)failing, err);
		if (!err && sum != whole)
			tap_wrong("allocation %llu: no error, and another result",
				  (unsigned long long)failing);
	}
	CHECK(runs > 50 && failing < 100000);
	CHECK_EQ(err, 0);
	failing = 0;
	tap_note("%llu allocations", (unsigned long long)runs);
	tap_result("each allocation fails once");
	ops_free(&o);
	return tap_done();
}
