// SPDX-License-Identifier: GPL-2.0-only
/*
 * The captures that the tests of the tools read.
 *
 *	make-capture all FILE		every type of record, two processes of one pid
 *	make-capture hostile FILE	names and strings that nobody would give
 *	make-capture hostile-devices FILE	the same of kernels, devices and sampled functions
 *	make-capture keys FILE		keys of arguments that are there already
 *	make-capture big FILE N		N events of 4 threads, as real programs have them
 *	make-capture many FILE N	N threads, each with a range of its own name left open
 *	make-capture hostile-lock FILE	such names of threads that wait for Python's lock
 *	make-capture lock FILE		waits for Python's lock that are in no row
 *	make-capture grow FILE MS	written in three parts with pauses
 *	make-capture tasks FILE		a name in two categories
 *	make-capture waits FILE		waits for two objects
 *	make-capture crowded FILE	more arguments, of longer names, than any event has
 *	make-capture async FILE		async ranges without an end
 *	make-capture together FILE	ranges that begin with the one around them
 *	make-capture flows FILE		arrows between ranges of threads
 *	make-capture deep FILE N	N ranges, each in the one before
 *	make-capture overlap FILE N	2 N spans, of which N are open at a time
 *	make-capture rows FILE		names with numbers, recursion
 *	make-capture long FILE		strings of instants in several records
 *	make-capture lost FILE		ranges across a loss
 *	make-capture kernel FILE	events of the kernel tracer on two CPUs, and markers
 *	make-capture kernel FILE US	the same, and that tracer was read until US
 *	make-capture left-out FILE	a switch that the tracer left out
 *	make-capture threads FILE	the scheduler's events of a program without markers
 *	make-capture behind FILE	a range that waits behind many tasks
 *	make-capture exits FILE		processes whose ends the kernel saw
 *	make-capture exec FILE		two programs of a process
 *	make-capture steps FILE		steps of a training
 *	make-capture hung FILE		steps, the last of which does not end
 *	make-capture launches FILE	calls, and what they started on a device
 *	make-capture idle FILE		a device that is idle, for several reasons
 *	make-capture clocks FILE	clocks of devices, and how well they are known
 *	make-capture parts FILE		ranges that go on while the one around them ends
 *	make-capture passes FILE	steps of optimizers in backward passes
 *	make-capture switched FILE	steps, one of which has markers that were switched off in it
 *	make-capture old-ledger FILE	a hole that the ledger does not know
 *	make-capture late FILE		records behind the end of their process
 *	make-capture usage FILE		allocations, and what ops computed
 *	make-capture numbers FILE	threads of a pid namespace, and the kernel's numbers
 *	make-capture busy FILE N	N events of the kernel tracer
 *	make-capture names FILE N	N kinds of the kernel's events that name functions
 *	make-capture crash FILE N AT	N that libtraceevent formats; it crashes at event AT
 *	make-capture cost-KIND FILE N	N times the same: capture-cost.c has the kinds
 *	make-capture mess FILE SEED	ranges at random, with ends missing and too many
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/capture.h"

/* Nested ranges of a few names on 4 threads and CPUs, a counter now and then. */
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

static void make_grow(unsigned int ms)
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

/* The file was full: 7 records of one of two processes are told as its own, 3 as nobody's. */
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

/*
 * Two threads on CPUs of their own do "add" for 10 us inside "step" of 100 us, ten times.  On CPU 0
 * the end of an add, the rest of its step and the begin of the next were lost, so that one add
 * seems to take 110 us; later one end, so that a step seems to be open until the end of the trace.
 */
static void lost_step(struct cap_ring *r, uint32_t tid, uint32_t i, bool lost)
{
	uint64_t t = T(i * 100);

	if (!lost || i != 5) {
		cap_event(r, t, XSPROF_REC_BEGIN, tid, 1, 0, 0);
		cap_event(r, t + 10 * US, XSPROF_REC_BEGIN, tid, 2, 0, 0);
	} else {
		cap_event(r, t + 15 * US, XSPROF_REC_LOST, tid, 0, 0, 4);
	}
	if (lost && i == 4)
		return;
	cap_event(r, t + 20 * US, XSPROF_REC_END, tid, 0, 0, 0);
	if (!lost || i != 7)
		cap_event(r, t + 90 * US, XSPROF_REC_END, tid, 0, 0, 0);
	else
		cap_event(r, t + 95 * US, XSPROF_REC_LOST, tid, 0, 0, 5);
}

static void make_lost(void)
{
	struct cap_ring r[2], kernel;
	uint32_t i, k;

	cap_host("hostname=lost\n");
	cap_clock(T(0), T(10000));
	cap_producer(0, 80, T(0));
	cap_name(0, 1, "step");
	cap_name(0, 2, "add");
	cap_arena(0);
	for (k = 0; k < 2; k++) {
		cap_ring_open(&r[k], 0, k, 64);
		for (i = 0; i < 10; i++)
			lost_step(&r[k], 80 + k, i, !k);
		/* The last step has no end: after it nothing was lost. */
		cap_event(&r[k], T(1000), XSPROF_REC_BEGIN, 80 + k, 1, 0, 0);
		cap_ring_close(&r[k], k ? 0 : 5);
	}
	cap_ring_open(&kernel, 0, 6, 64);
	for (k = 0; k < 2; k++)
		cap_event(&kernel, T(0), XSPROF_REC_SCHED_IN, 80 + k, 0, 0, 0);
	cap_ring_close(&kernel, 0);
	cap_exit(0, XSPROF_HOW_KILLED, 9, T(1040));
	cap_end(T(1041));
}

/* A function that calls itself, names with numbers, and a record that goes on in another. */
static void make_rows(void)
{
	static const char *const texts[] = {
		"fib", "step 0", "step 1", "step 22", "conv2d", "layer.3.weight_4",
		"layer.10.weight_5", "copy", "region 0x7f3a", "region 0xBEEF", "0x", "worker1",
	};
	struct xsprof_rec more = cap_head(T(0), XSPROF_REC_ARGS, 90, 0, 0, 0);
	struct xsprof_rec_span span = { .begin = T(70), .end = T(80) };
	struct cap_ring r;
	uint32_t i;

	cap_host("hostname=rows\n");
	cap_clock(T(0), T(10000));
	cap_producer(0, 90, T(0));
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		cap_name(0, i + 1, texts[i]);
	cap_arena(0);
	cap_ring_open(&r, 0, 0, 64);
	cap_event(&r, T(0), XSPROF_REC_BEGIN, 90, 1, 0, 0);
	cap_record(&r, &more, 1);
	cap_event(&r, T(10), XSPROF_REC_BEGIN, 90, 1, 0, 0);
	cap_event(&r, T(30), XSPROF_REC_COMPLETE, 90, 1, 0, 10 * US);
	cap_event(&r, T(90), XSPROF_REC_END, 90, 0, 0, 0);
	cap_event(&r, T(100), XSPROF_REC_END, 90, 0, 0, 0);
	/* Two spans, one in the other: number 8 of the names. */
	for (i = 0; i < 2; i++, span.end += 10 * US) {
		span.rec = cap_head(T(101), XSPROF_REC_SPAN, 90, 8, XSPROF_SCOPE_PROCESS, i);
		cap_record(&r, &span, 2);
	}
	cap_event(&r, T(101), XSPROF_REC_SCHED_IN, 90, 0, 0, 0);
	for (i = 1; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (i != 7)
			cap_event(&r, T(100 + i * 10), XSPROF_REC_COMPLETE, 90, i + 1, 0, 10 * US);
	cap_ring_close(&r, 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, T(1000));
	cap_end(T(1001));
}

/* Two processes that number their flows alike. */
static void make_links(void)
{
	static const uint16_t parts[] = {
		XSPROF_REC_FLOW_START, XSPROF_REC_FLOW_STEP, XSPROF_REC_FLOW_END,
	};
	struct cap_ring r[2];
	uint32_t i, k;

	cap_host("hostname=links\n");
	cap_clock(T(0), T(1000));
	for (k = 0; k < 2; k++) {
		cap_producer(k, 90 + k, T(0));
		cap_name(k, 1, "link");
		cap_arena(k);
		cap_ring_open(&r[k], k, k, 64);
	}
	for (i = 0; i < 3; i++)
		for (k = 0; k < 2; k++)
			cap_event(&r[k], T(10 * i + k), parts[i], 90 + k, 1, 0, 7);
	for (k = 0; k < 2; k++) {
		cap_ring_close(&r[k], 0);
		cap_exit(k, XSPROF_HOW_EXITED, 0, T(100));
	}
	cap_end(T(200));
}

/* Async ranges without an end: begun again, switched off, open at the end of process and trace. */
static void make_async(void)
{
	struct cap_ring r;
	uint32_t i;

	cap_host("hostname=async\n");
	cap_clock(T(0), T(10000));
	for (i = 0; i < 2; i++) {
		cap_producer(i, 60 + i, T(0));
		cap_name(0, 1, "request");
		cap_name(1, 2, "other");
		cap_arena(i);
		cap_ring_open(&r, i, i, 64);
		cap_event(&r, T(10), XSPROF_REC_ASYNC_END, 60 + i, 1, 0, 4);
		cap_event(&r, T(11), XSPROF_REC_ASYNC_BEGIN, 60 + i, 1, 0, 1);
		cap_event(&r, T(12), XSPROF_REC_ASYNC_BEGIN, 60 + i, 1, 0, 2);
		cap_event(&r, T(13), XSPROF_REC_ASYNC_BEGIN, 60 + i, 1 << XSPROF_NAME_SHIFT | 2, 0,
			  3);
		cap_event(&r, T(20), XSPROF_REC_ASYNC_BEGIN, 60 + i, 1, 0, 2);
		cap_event(&r, T(30), XSPROF_REC_ASYNC_END, 60 + i, 1, 0, 2);
		cap_event(&r, T(40), XSPROF_REC_CONTROL, 60 + i, 0, XSPROF_CONTROL_ENABLE, 1);
		cap_event(&r, T(50 + i * 50), XSPROF_REC_INSTANT, 60 + i, 1, 0, 0);
		cap_ring_close(&r, 0);
	}
	cap_exit(0, XSPROF_HOW_EXITED, 0, T(60));
	cap_end(T(101));
}

/* Two kinds of tasks of one name: three that make something, and four that run it. */
static void make_tasks(void)
{
	static const char *const domains[] = { "create", "execute" };
	uint32_t names[2], i;
	struct cap_ring r;

	cap_host("hostname=tasks\n");
	cap_clock(T(0), T(10000));
	cap_producer(0, 90, T(0));
	for (i = 0; i < 2; i++) {
		cap_entry(XSPROF_ENTRY_CATEGORY, i + 1, 0, domains[i], strlen(domains[i]));
		names[i] = cap_name(i + 1, 1, "convolution");
	}
	cap_name(1, 2, "alone");
	cap_arena(0);
	cap_ring_open(&r, 0, 0, 64);
	for (i = 0; i < 7; i++)
		cap_event(&r, T(20 * i + 20), XSPROF_REC_COMPLETE, 90, names[i >= 3], 0,
			  (i + 1) * US);
	cap_event(&r, T(200), XSPROF_REC_INSTANT, 90, names[0], 0, 0);
	cap_event(&r, T(201), XSPROF_REC_INSTANT, 90, names[1], 0, 0);
	cap_ring_close(&r, 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, T(1000));
	cap_end(T(1001));
}

/*
 * 90 waits for the gate from 20 to 30 us and, without an end, from 60; 91 from 25 to 45, where it
 * gives up.  Of a door it says that it has it, which is no wait.
 */
static void make_waits(void)
{
	uint32_t gate, door;
	struct cap_ring r;

	cap_host("hostname=waits\n");
	cap_clock(T(0), T(10000));
	cap_producer(0, 90, T(0));
	gate = cap_name(0, 1, "gate");
	door = cap_name(0, 2, "door");
	cap_arena(0);
	cap_ring_open(&r, 0, 0, 64);
	cap_event(&r, T(20), XSPROF_REC_SYNC, 90, gate, XSPROF_SYNC_PREPARE, 7);
	cap_event(&r, T(25), XSPROF_REC_SYNC, 91, gate, XSPROF_SYNC_PREPARE, 7);
	cap_event(&r, T(30), XSPROF_REC_SYNC, 90, gate, XSPROF_SYNC_ACQUIRED, 7);
	cap_event(&r, T(35), XSPROF_REC_SYNC, 90, gate, XSPROF_SYNC_RELEASING, 7);
	cap_event(&r, T(40), XSPROF_REC_SYNC, 90, door, XSPROF_SYNC_ACQUIRED, 8);
	cap_event(&r, T(45), XSPROF_REC_SYNC, 91, gate, XSPROF_SYNC_CANCEL, 7);
	cap_event(&r, T(60), XSPROF_REC_SYNC, 90, gate, XSPROF_SYNC_PREPARE, 7);
	cap_ring_close(&r, 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, T(1000));
	cap_end(T(1001));
}

static uint64_t state;

static uint32_t draw(uint32_t n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((state >> 33) % n);
}

/* Each in a category of its own, so that some can be off while others are on. */
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

	state = seed;
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

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";

	if (argc > 2)
		cap_open(argv[2]);
	if (!strcmp(what, "all") && argc == 3)
		cap_make_all();
	else if (!strcmp(what, "hostile") && argc == 3)
		cap_make_hostile();
	else if (!strcmp(what, "crowded") && argc == 3)
		cap_make_crowded();
	else if (!strcmp(what, "modules") && argc == 5)
		cap_make_modules((uint32_t)atoi(argv[3]), (uint32_t)atoi(argv[4]));
	else if (!strcmp(what, "keys") && argc == 3)
		cap_make_keys();
	else if (!strcmp(what, "full") && argc == 3)
		make_full();
	else if (!strcmp(what, "async") && argc == 3)
		make_async();
	else if (!strcmp(what, "rows") && argc == 3)
		make_rows();
	else if (!strcmp(what, "links") && argc == 3)
		make_links();
	else if (!strcmp(what, "launches") && argc == 3)
		cap_make_launches();
	else if (!strcmp(what, "idle") && argc == 3)
		cap_make_idle();
	else if (!strcmp(what, "clocks") && argc == 3)
		cap_make_clocks();
	else if (!strcmp(what, "hostile-devices") && argc == 3)
		cap_make_hostile_devices();
	else if (!strcmp(what, "tasks") && argc == 3)
		make_tasks();
	else if (!strcmp(what, "waits") && argc == 3)
		make_waits();
	else if (!strcmp(what, "long") && argc == 3)
		cap_make_long();
	else if (!strcmp(what, "empty") && argc == 3)
		cap_make_empty();
	else if (!strcmp(what, "cover") && argc == 3)
		cap_make_cover();
	else if (!strcmp(what, "together") && argc == 3)
		cap_make_together();
	else if (!strcmp(what, "flows") && argc == 3)
		cap_make_flows();
	else if (!strcmp(what, "deep") && argc == 4)
		cap_make_deep((uint32_t)atoi(argv[3]));
	else if (!strcmp(what, "overlap") && argc == 4)
		cap_make_overlap((uint32_t)atoi(argv[3]));
	else if (!strcmp(what, "empties") && argc == 4)
		cap_make_empties((uint32_t)atoi(argv[3]));
	else if (!strcmp(what, "lost") && argc == 3)
		make_lost();
	else if (!strcmp(what, "kernel") && (argc == 3 || argc == 4))
		cap_make_kernel(argc == 4 ? (uint64_t)atoi(argv[3]) : 0);
	else if (!strcmp(what, "entries") && argc == 3)
		cap_make_entries();
	else if (!strcmp(what, "threads") && argc == 3)
		cap_make_threads();
	else if (!strcmp(what, "behind") && argc == 3)
		cap_make_behind();
	else if (!strcmp(what, "exits") && argc == 3)
		cap_make_exits();
	else if (!strcmp(what, "exec") && argc == 3)
		cap_make_exec();
	else if (!strcmp(what, "programs") && argc == 3)
		cap_make_programs();
	else if (!strcmp(what, "steps") && argc == 3)
		cap_make_steps();
	else if (!strcmp(what, "switched") && argc == 3)
		cap_make_switched();
	else if (!strcmp(what, "passes") && argc == 3)
		cap_make_passes();
	else if (!strcmp(what, "old-ledger") && argc == 3)
		cap_make_old_ledger();
	else if (!strcmp(what, "late") && argc == 3)
		cap_make_late();
	else if (!strcmp(what, "hung") && argc == 3)
		cap_make_hung();
	else if (!strcmp(what, "hostile-lock") && argc == 3)
		cap_make_hostile_lock();
	else if (!strcmp(what, "lock") && argc == 3)
		cap_make_lock();
	else if (!strcmp(what, "parts") && argc == 3)
		cap_make_parts();
	else if (!strcmp(what, "usage") && argc == 3)
		cap_make_usage();
	else if (!strcmp(what, "numbers") && argc == 3)
		cap_make_numbers();
	else if (!strcmp(what, "left-out") && argc == 3)
		cap_make_left_out();
	else if (!strcmp(what, "busy") && argc == 4)
		cap_make_busy(strtoull(argv[3], NULL, 10));
	else if (!strcmp(what, "names") && argc == 4)
		cap_make_names((uint32_t)atoi(argv[3]));
	else if (!strcmp(what, "formats") && argc == 5)
		cap_make_formats(strtoull(argv[3], NULL, 10), (uint32_t)atoi(argv[4]));
	else if (!strcmp(what, "crash") && argc == 5)
		cap_make_crash((uint32_t)atoi(argv[3]), (uint32_t)atoi(argv[4]));
	else if (!strncmp(what, "cost-", 5) && argc == 4 &&
		 !cap_make_cost(what + 5, (uint32_t)atoi(argv[3])))
		;
	else if (!strcmp(what, "big") && argc == 4)
		make_big(strtoull(argv[3], NULL, 10));
	else if (!strcmp(what, "grow") && argc == 4)
		make_grow((unsigned int)atoi(argv[3]));
	else if (!strcmp(what, "many") && argc == 4)
		make_many((uint32_t)atoi(argv[3]));
	else if (!strcmp(what, "mess") && argc == 4)
		make_mess(strtoull(argv[3], NULL, 10));
	else
		goto usage;
	cap_close();
	return 0;

usage:
	fprintf(stderr,
		"usage: make-capture all|hostile|keys|full|long|empty|empties|cover|together|"
		"flows|deep|overlap|lost|rows|links|tasks|async|kernel|left-out|crowded|threads|"
		"exits|exec|programs|steps|hung|old-ledger|late|switched|passes|parts|usage|"
		"numbers|busy|lock|names|formats|crash|big|many|grow|mess FILE [N]\n");
	return 2;
}
