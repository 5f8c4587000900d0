// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz target: the arena and records of a capture with ops, under valid headers. Calls everything
 * that a result offers, and checks what must hold for any input.
 *
 * The first two bytes are the length of the arena; the arena follows, then slots of a ring.
 */
#include <stdlib.h>
#include <string.h>

#include "decoder/fuzz.h"
#include "profiler/ops.h"
#include "common/tap.h"

static size_t touched;

static void touch(const char *s)
{
	touched += strlen(s);
}

static void check_texts(const struct xsprof_profiler_event *ev)
{
	size_t nr;

	touch(xsprof_event_name(ev));
	touch(xsprof_event_module(ev));
	touch(xsprof_event_shapes(ev));
	touch(xsprof_event_strides(ev));
	touch(xsprof_event_dtypes(ev));
	touch(xsprof_event_concrete_inputs(ev));
	touch(xsprof_event_kwargs(ev));
	for (size_t i = 0; i <= xsprof_event_nr_inputs(ev); i++) {
		const int64_t *v = xsprof_event_input_dims(ev, i, &nr);

		touched += nr ? (uint64_t)v[0] + (uint64_t)v[nr - 1] : 0;
		v = xsprof_event_input_strides(ev, i, &nr);
		touched += nr ? (uint64_t)v[0] + (uint64_t)v[nr - 1] : 0;
		touch(xsprof_event_input_dtype(ev, i));
		touch(xsprof_event_input_concrete(ev, i));
	}
	for (size_t i = 0; i <= xsprof_event_nr_frames(ev); i++)
		touch(xsprof_event_frame(ev, i));
	touched += xsprof_event_flops(ev);
}

static void check_event(struct xsprof_result *r, uint64_t i)
{
	const struct xsprof_profiler_event *ev = xsprof_result_event(r, i), *in;
	uint64_t children = 0;

	check_texts(ev);
	if (xsprof_event_self_ns(ev) > xsprof_event_duration_ns(ev))
		tap_wrong("an event with more time of its own than it took");
	if (i && xsprof_event_duration_ns(ev) > INT64_MAX)
		tap_wrong("an event that ends before it begins");
	for (in = xsprof_event_child(ev); in; in = xsprof_event_next(in)) {
		if (xsprof_event_parent(in) != ev)
			tap_wrong("a child whose parent is another");
		if (xsprof_event_start_ns(in) < xsprof_event_start_ns(ev) ||
		    xsprof_event_end_ns(in) > xsprof_event_end_ns(ev))
			tap_wrong("a child that reaches out of its parent");
		if (xsprof_event_start_thread_id(in) != xsprof_event_start_thread_id(ev))
			tap_wrong("a child in another thread");
		children += xsprof_event_duration_ns(in);
	}
	if (xsprof_event_self_ns(ev) + children != xsprof_event_duration_ns(ev))
		tap_wrong("self time and that of children are not the whole");
}

static void check_tables(struct xsprof_result *r)
{
	for (uint32_t by = 0; by < 8; by++) {
		uint64_t count = 0, self = 0;
		struct xsprof_table *t;
		char *text;

		if (xsprof_result_table(r, by, 3, by, &t))
			tap_bail("xsprof_result_table: %s", xsprof_result_error(r));
		for (size_t i = 0; i < xsprof_table_nr_rows(t); i++) {
			count += xsprof_table_get_row(t, i)->count;
			self += xsprof_table_get_row(t, i)->self_cpu_ns;
		}
		if (count != xsprof_table_total(t)->count ||
		    self != xsprof_table_total(t)->self_cpu_ns)
			tap_wrong("a table with a wrong sum");
		text = xsprof_table_text(t, by * 5);
		touch(text ? text : "");
		free(text);
		if (by & 1)
			xsprof_table_free(t);
	}
}

static void check(const char *path, const struct xsprof_result_options *opts)
{
	struct xsprof_result *r;
	int64_t nr;

	if (xsprof_result_open(path, opts, &r))
		return;
	nr = xsprof_result_nr_events(r);
	if (nr < 0)
		tap_bail("xsprof_result_nr_events: %s", xsprof_result_error(r));
	for (int64_t i = 0; i < nr; i++)
		check_event(r, (uint64_t)i);
	for (int64_t i = 1; i < nr; i++)
		if (xsprof_event_start_ns(xsprof_result_event(r, i)) <
		    xsprof_event_start_ns(xsprof_result_event(r, i - 1)))
			tap_wrong("events out of order");
	check_tables(r);
	for (uint32_t what = 0; what < 2; what++)
		if (xsprof_result_save_stacks(r, "/dev/null", what))
			tap_wrong("xsprof_result_save_stacks: %s", xsprof_result_error(r));
	xsprof_result_free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct xsprof_result_options part = { .size = sizeof(part), .from_ns = 2200,
		.to_ns = 2900, .tids = (uint32_t[]){ TID }, .nr_tids = 1, .scopes = 0x81,
		.activities = XSPROF_ACTIVITY(CUDA) | XSPROF_ACTIVITY(CPU) };
	size_t arena, slots;
	const char *path;
	struct ops o;

	if (size < 2)
		return 0;
	arena = data[0] | data[1] << 8;
	arena = (arena < size - 2 ? arena : size - 2) & ~(size_t)7;
	slots = (size - 2 - arena) / XSPROF_SLOT_SIZE;
	ops_begin(&o);
	if (arena) {
		struct cap part_of = { .data = (uint8_t *)data + 2, .len = arena };

		cap_arena(&o.cap, 0, 0, &part_of);
	}
	if (slots) {
		ring_raw(&o.ring, data + 2 + arena, slots * XSPROF_SLOT_SIZE);
		cap_ring(&o.cap, 0, 0, 0, &o.ring);
	}
	cap_end(&o.cap, 1);
	path = cap_path(o.cap.data, o.cap.len);
	check(path, NULL);
	check(path, &part);
	part.from_ticks = 2050;
	part.to_ticks = 2450;
	part.steps_to = 2;
	check(path, &part);
	ops_free(&o);
	if (tap_bad)
		abort();
	return 0;
}

void fuzz_seeds(void (*give)(const void *data, size_t size))
{
	for (unsigned int kind = 0; kind < 4; kind++) {
		struct ops o;
		uint8_t *seed;

		ops_begin(&o);
		ops_sample(&o, kind);
		seed = malloc(2 + o.arena.len + o.ring.len);
		if (!seed)
			tap_bail("no memory");
		seed[0] = o.arena.len & 0xff;
		seed[1] = (uint8_t)(o.arena.len >> 8);
		memcpy(seed + 2, o.arena.data, o.arena.len);
		memcpy(seed + 2 + o.arena.len, o.ring.data, o.ring.len);
		give(seed, 2 + o.arena.len + o.ring.len);
		free(seed);
		ops_free(&o);
	}
}
