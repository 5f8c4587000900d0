// SPDX-License-Identifier: GPL-2.0-only
/*
 * Small captures of ranges: across a loss, with numbers in their names, asynchronous, in
 * categories, with links and waits.
 */
#include <stdbool.h>
#include <string.h>

#include "tools/capture.h"

/*
 * Two threads on CPUs of their own: "add" for 10 us inside "step" of 100 us, ten times. On CPU 0
 * the end of an add, the rest of its step and the begin of the next are lost, so one add seems to
 * take 110 us; later one end is lost, so a step seems to stay open until the end of the trace.
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

void cap_make_lost(void)
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
		/* The last step has no end, but nothing was lost after it. */
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

/* A process of which no record was kept. */
void cap_make_all_lost(void)
{
	struct cap_ring r;

	cap_host("hostname=lost\n");
	cap_clock(T(0), T(10000));
	cap_producer(0, 80, T(0));
	cap_ring_open(&r, 0, 0, 64);
	cap_ring_close(&r, 737);
	cap_exit(0, XSPROF_HOW_EXITED, 0, T(1040));
	cap_end(T(1041));
}

/* A recursive function, names with numbers, and a record with a continuation. */
void cap_make_rows(void)
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
	/* Two spans, one in the other: name number 8. */
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
void cap_make_links(void)
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
void cap_make_async(void)
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

/* Two kinds of tasks with one name: three that create work, and four that execute it. */
void cap_make_tasks(void)
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
 * Thread 90 waits for the gate from 20 to 30 us and, without an end, from 60; thread 91 from 25 to
 * 45, when it gives up. A record says that it holds a door, which is no wait.
 */
void cap_make_waits(void)
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
