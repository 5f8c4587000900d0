// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes the captures that the tests of the tools read.
 *
 *	make-capture all FILE		every type of record, two processes of one pid
 *	make-capture hostile FILE	unusual names and strings
 *	make-capture hostile-devices FILE	the same for kernels, devices and sampled functions
 *	make-capture keys FILE		duplicate argument keys
 *	make-capture big FILE N		N events of 4 threads, as real programs have them
 *	make-capture many FILE N	N threads, each with a range of its own name left open
 *	make-capture hostile-lock FILE	unusual names of threads that wait for the GIL
 *	make-capture lock FILE		waits for the GIL that are in no row
 *	make-capture handover FILE	threads that wait at the same time, and that yield
 *	make-capture grow FILE MS	written in three parts with pauses
 *	make-capture tasks FILE		a name in two categories
 *	make-capture waits FILE		waits for two objects
 *	make-capture crowded FILE	more arguments, of longer names, than any event has
 *	make-capture async FILE		async ranges without an end
 *	make-capture together FILE	ranges that begin with the one around them
 *	make-capture flows FILE		arrows between ranges of threads
 *	make-capture deep FILE N	N nested ranges
 *	make-capture overlap FILE N	2 N spans, of which N are open at once
 *	make-capture rows FILE		names with numbers, recursion
 *	make-capture long FILE		strings of instants in several records
 *	make-capture lost FILE		ranges across a loss
 *	make-capture kernel FILE	events of the kernel tracer on two CPUs, and markers
 *	make-capture kernel FILE US	the same, with the tracer read until US
 *	make-capture left-out FILE	a switch that is missing from the trace
 *	make-capture threads FILE	the scheduler's events of a program without markers
 *	make-capture behind FILE	a range that waits behind many tasks
 *	make-capture exits FILE		processes whose ends the kernel saw
 *	make-capture exec FILE		two programs of a process
 *	make-capture steps FILE		steps of a training
 *	make-capture hung FILE		steps, the last of which does not end
 *	make-capture launches FILE	calls, and what they started on a device
 *	make-capture contained FILE	processes with the numbers of devices
 *	make-capture idle FILE		a device that is idle, for several reasons
 *	make-capture hogs FILE		... because its thread waits behind many tasks
 *	make-capture launched FILE	work of a device, launched in ranges and elsewhere
 *	make-capture clocks FILE	clocks of devices, and their errors
 *	make-capture unrecorded FILE	a device that is not recorded all of the time
 *	make-capture paused FILE	... because of pauses, and of records that were lost
 *	make-capture parts FILE		ranges that continue when the one around them ends
 *	make-capture passes FILE	steps of optimizers in backward passes
 *	make-capture switched FILE	steps, with markers switched off during one
 *	make-capture old-ledger FILE	a loss that the ledger does not have
 *	make-capture late FILE		records after the end of their process
 *	make-capture usage FILE		allocations, and what ops computed
 *	make-capture numbers FILE	threads of a pid namespace, and the kernel's numbers
 *	make-capture busy FILE N	N events of the kernel tracer
 *	make-capture names FILE N	N kinds of kernel events that name functions
 *	make-capture crash FILE N AT	N for libtraceevent to format; it crashes at event AT
 *	make-capture cost-KIND FILE N	N times the same: capture-cost.c has the kinds
 *	make-capture mess FILE SEED	random ranges, with missing and extra ends
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/draw.h"
#include "tools/capture.h"

/* Nested ranges of a few names on 4 threads and CPUs, sometimes a counter. */
static void make_big(uint64_t events)
{
	static const char *const texts[] = {
		"aten::conv2d", "aten::convolution", "aten::_convolution",
		"aten::mkldnn_convolution", "aten::relu", "aten::clamp_min", "aten::max_pool2d",
		"autograd::engine::evaluate_function",
	};
	struct cap_ring r[4];
	uint64_t i, t = T(0);
	uint32_t depth[4] = { 0 }, k, name;

	cap_host("hostname=big\n");
	cap_clock(T(0), T(0) + events * 40 + 1000000000u);
	cap_producer(0, 4000, T(0));
	for (k = 0; k < 8; k++)
		cap_name(0, k + 1, texts[k]);
	cap_name(0, 9, "allocated");
	cap_arena(0);
	for (k = 0; k < 4; k++) {
		cap_thread(0, 4000 + k, k ? "worker" : "python3");
		cap_ring_open(&r[k], 0, k, 16384);
	}
	for (i = 0; i < events; i++) {
		k = (uint32_t)(i / 37 % 4);
		t += 25 + i * 7 % 30;
		name = (uint32_t)(depth[k] * 3 + i / 64) % 8 + 1;
		if (i % 50 == 49) {
			cap_event(&r[k], t, XSPROF_REC_COUNTER_I64, 4000 + k, 9, 0, i * 512);
		} else if (depth[k] < 2 + (i / 16 & 3)) {
			cap_event(&r[k], t, XSPROF_REC_BEGIN, 4000 + k, name, 0, 0);
			depth[k]++;
		} else {
			cap_event(&r[k], t, XSPROF_REC_END, 4000 + k, 0, 0, 0);
			depth[k]--;
		}
	}
	for (k = 0; k < 4; k++)
		cap_ring_close(&r[k], 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, t + 1);
	cap_end(t + 2);
}

static void make_many(uint32_t threads)
{
	struct cap_ring r;
	uint64_t t = T(0);
	char text[64];
	uint32_t i;

	cap_host("hostname=many\n");
	cap_clock(T(0), T(10000000));
	cap_producer(0, 9, T(0));
	for (i = 0; i < threads; i++) {
		snprintf(text, sizeof(text), "range number %u", i);
		cap_name(0, i % 0xfffff + 1, text);
		if (i % 10000 == 9999)
			cap_arena(0);
	}
	cap_arena(0);
	cap_ring_open(&r, 0, 0, 16384);
	for (i = 0; i < threads; i++) {
		cap_event(&r, t++, XSPROF_REC_BEGIN, i + 1, i % 0xfffff + 1, 0, 0);
		if (i & 1)
			cap_event(&r, t++, XSPROF_REC_END, i + 1, 0, 0, 0);
		cap_event(&r, t++, XSPROF_REC_COMPLETE, i / 2 + 1, 1, 0, 3);
		cap_event(&r, t++, XSPROF_REC_END, i / 3 + 1, 0, 0, 0);
	}
	cap_ring_close(&r, 0);
	cap_end(t);
}

static void make_grow(uint32_t ms)
{
	struct cap_ring r;
	uint32_t part, i;

	cap_host("hostname=grow\n");
	cap_clock(T(0), T(1));
	cap_producer(0, 55, T(0));
	cap_name(0, 1, "work");
	cap_arena(0);
	cap_thread(0, 55, "grower");
	cap_ring_open(&r, 0, 0, 4096);
	for (part = 0; part < 3; part++) {
		for (i = 0; i < 100; i++) {
			cap_event(&r, T(part * 1000 + i * 2), XSPROF_REC_BEGIN, 55, 1, 0, 0);
			cap_event(&r, T(part * 1000 + i * 2 + 1), XSPROF_REC_END, 55, 0, 0, 0);
		}
		cap_ring_flush(&r);
		cap_clock(T(part * 1000 + 500), T(part * 1000 + 501));
		cap_flush();
		usleep(ms * 1000);
	}
	cap_ring_close(&r, 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, T(4000));
	cap_end(T(4001));
}

/* The file was full: 7 lost records belong to one of two processes, 3 to no known one. */
static void make_full(void)
{
	struct xsprof_cap_exit gone = { .how = XSPROF_HOW_EXITED, .ticks = T(30), .unsaved = 7 };
	struct xsprof_cap_end end = {
		.ticks = T(40), .slots = 2, .lost_records = 10, .producers = 2, .why = 3,
	};
	struct cap_ring r;
	uint32_t i;

	cap_host("hostname=full\n");
	cap_clock(T(0), T(1000));
	for (i = 0; i < 2; i++) {
		cap_producer(i, 70 + i, T(0));
		cap_name(0, 1, "work");
		cap_arena(i);
		cap_ring_open(&r, i, 0, 64);
		cap_event(&r, T(10), XSPROF_REC_INSTANT, 70 + i, 1, 0, 0);
		cap_ring_close(&r, 0);
		cap_chunk(XSPROF_CHUNK_EXIT, i, 0, 0, &gone, sizeof(gone));
		gone.unsaved = 0;
	}
	cap_chunk(XSPROF_CHUNK_END, XSPROF_NO_PRODUCER, 0, 0, &end, sizeof(end));
}

/* Each in its own category, so that some can be off while others are on. */
#define MESS_NAME(i)	((i) << XSPROF_NAME_SHIFT | ((i) + 1))

static void mess_event(struct cap_ring *r, uint64_t t, uint32_t tid)
{
	struct xsprof_rec_span span = { 0 };
	uint32_t name = MESS_NAME(draw(5));

	switch (draw(12)) {
	case 0 ... 3:
		cap_event(r, t, XSPROF_REC_BEGIN, tid, name, 0, 0);
		break;
	case 4 ... 5:
		cap_event(r, t, XSPROF_REC_END, tid, 0, 0, 0);
		break;
	case 6:
		cap_event(r, t, XSPROF_REC_END, tid, name, 0, 0);
		break;
	case 7 ... 8:
		cap_event(r, t, XSPROF_REC_COMPLETE, tid, name, 0, draw(3000));
		break;
	case 9:
		span.begin = t - draw(draw(8) ? 5000 : 900000);
		span.end = t - 1000 + draw(3000);
		span.rec = cap_head(t, XSPROF_REC_SPAN, tid, name, draw(3), draw(4));
		cap_record(r, &span, 2);
		break;
	case 10:
		cap_event(r, t, XSPROF_REC_INSTANT, tid, name, draw(4), 0);
		break;
	default:
		if (!draw(40))
			cap_event(r, t, XSPROF_REC_CONTROL, tid, 0, draw(5), draw(32));
	}
}

static void make_mess(uint64_t seed)
{
	static const char *const texts[] = { "a", "b", "c", "d", "e" };
	struct cap_ring r[2];
	uint64_t t = T(1000);
	uint32_t i, k;

	draw_seed = seed;
	cap_host("hostname=mess\n");
	cap_clock(T(0), T(10000000));
	for (k = 0; k < 2; k++) {
		cap_producer(k, 500, T(0));
		for (i = 0; i < 5; i++)
			cap_name(i, i + 1, texts[i]);
		cap_arena(k);
		cap_ring_open(&r[k], k, k, 1024);
	}
	for (i = 0; i < 20000; i++) {
		t += draw(400);
		k = draw(2);
		mess_event(&r[k], t, 500 + draw(3));
	}
	for (k = 0; k < 2; k++)
		cap_ring_close(&r[k], 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, t + 100);
	cap_end(t + 200);
}

/* The tracer was read to its end. */
static void make_kernel(void)
{
	cap_make_kernel(0);
}

/* The functions that make each kind: with no number, one, or two. */
static const struct kind {
	const char	*name;
	void		(*plain)(void);
	void		(*of)(uint32_t n);
	void		(*of_long)(uint64_t n);
	void		(*of_two)(uint32_t n, uint32_t m);
} kinds[] = {
	{ "all", .plain = cap_make_all },
	{ "hostile", .plain = cap_make_hostile },
	{ "crowded", .plain = cap_make_crowded },
	{ "modules", .of_two = cap_make_modules },
	{ "keys", .plain = cap_make_keys },
	{ "full", .plain = make_full },
	{ "async", .plain = cap_make_async },
	{ "rows", .plain = cap_make_rows },
	{ "links", .plain = cap_make_links },
	{ "launches", .plain = cap_make_launches },
	{ "contained", .plain = cap_make_contained },
	{ "idle", .plain = cap_make_idle },
	{ "copies", .plain = cap_make_copies },
	{ "forged", .plain = cap_make_forged },
	{ "nested", .plain = cap_make_nested },
	{ "reasons", .plain = cap_make_reasons },
	{ "hogs", .plain = cap_make_hogs },
	{ "launched", .plain = cap_make_launched },
	{ "clocks", .plain = cap_make_clocks },
	{ "unrecorded", .plain = cap_make_unrecorded },
	{ "paused", .plain = cap_make_paused },
	{ "measured", .plain = cap_make_measured },
	{ "hostile-devices", .plain = cap_make_hostile_devices },
	{ "tasks", .plain = cap_make_tasks },
	{ "waits", .plain = cap_make_waits },
	{ "long", .plain = cap_make_long },
	{ "empty", .plain = cap_make_empty },
	{ "cover", .plain = cap_make_cover },
	{ "together", .plain = cap_make_together },
	{ "flows", .plain = cap_make_flows },
	{ "deep", .of = cap_make_deep },
	{ "overlap", .of = cap_make_overlap },
	{ "empties", .of = cap_make_empties },
	{ "lost", .plain = cap_make_lost },
	{ "all-lost", .plain = cap_make_all_lost },
	{ "kernel", .plain = make_kernel, .of_long = cap_make_kernel },
	{ "entries", .plain = cap_make_entries },
	{ "threads", .plain = cap_make_threads },
	{ "behind", .plain = cap_make_behind },
	{ "exits", .plain = cap_make_exits },
	{ "exec", .plain = cap_make_exec },
	{ "programs", .plain = cap_make_programs },
	{ "steps", .plain = cap_make_steps },
	{ "switched", .plain = cap_make_switched },
	{ "passes", .plain = cap_make_passes },
	{ "old-ledger", .plain = cap_make_old_ledger },
	{ "late", .plain = cap_make_late },
	{ "hung", .plain = cap_make_hung },
	{ "hostile-lock", .plain = cap_make_hostile_lock },
	{ "lock", .plain = cap_make_lock },
	{ "handover", .plain = cap_make_handover },
	{ "parts", .plain = cap_make_parts },
	{ "usage", .plain = cap_make_usage },
	{ "numbers", .plain = cap_make_numbers },
	{ "left-out", .plain = cap_make_left_out },
	{ "busy", .of_long = cap_make_busy },
	{ "names", .of = cap_make_names },
	{ "formats", .of_two = cap_make_formats },
	{ "crash", .of_two = cap_make_crash },
	{ "big", .of_long = make_big },
	{ "grow", .of = make_grow },
	{ "many", .of = make_many },
	{ "mess", .of_long = make_mess },
};

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	uint64_t n = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
	const struct kind *k = kinds, *end = kinds + sizeof(kinds) / sizeof(kinds[0]);

	if (argc > 2)
		cap_open(argv[2]);
	while (k < end && strcmp(what, k->name))
		k++;
	if (!strncmp(what, "cost-", 5) && argc == 4) {
		if (cap_make_cost(what + 5, (uint32_t)n))
			goto usage;
	} else if (k == end) {
		goto usage;
	} else if (argc == 3 && k->plain) {
		k->plain();
	} else if (argc == 4 && k->of) {
		k->of((uint32_t)n);
	} else if (argc == 4 && k->of_long) {
		k->of_long(n);
	} else if (argc == 5 && k->of_two) {
		k->of_two((uint32_t)n, (uint32_t)strtoull(argv[4], NULL, 10));
	} else {
		goto usage;
	}
	cap_close();
	return 0;

usage:
	fprintf(stderr, "usage: make-capture KIND FILE [N [M]], of a kind of these:");
	for (k = kinds; k < end; k++)
		fprintf(stderr, " %s", k->name);
	fprintf(stderr, " cost-KIND\n");
	return 2;
}
