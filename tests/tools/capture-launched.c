// SPDX-License-Identifier: GPL-2.0-only
/*
 * Captures with work of a device that was launched in ranges, in none, and by calls that are not
 * there; and in more ranges than a report has rows for.
 */
#include <stdio.h>

#include "tools/capture.h"

#define PID	100u

enum name { LAUNCH = 1, KERNEL, COPY, METRIC, STEP, MM, RELU, LOOP, WHOLE, OPEN, NR_NAMES };

static void range(struct cap_ring *r, uint32_t name, uint64_t begin, uint64_t end)
{
	cap_event(r, T(begin), XSPROF_REC_BEGIN, PID, name, 0, 0);
	cap_event(r, T(end), XSPROF_REC_END, PID, name, 0, 0);
}

static void put(struct cap_ring *r, uint32_t name, uint32_t kind, uint64_t call, uint64_t begin,
		uint64_t ns)
{
	const struct xsprof_rec_gpu gpu = {
		.rec = cap_head(T(150), XSPROF_REC_GPU, 99, name, kind, call),
		.start = T(begin), .end = T(begin) + ns, .stream = 7, .context = 1,
		.thread = kind == XSPROF_GPU_RUNTIME || kind == XSPROF_GPU_DRIVER ? PID : 0,
	};

	cap_record(r, &gpu, sizeof(gpu) / XSPROF_SLOT_SIZE);
}

static void call(struct cap_ring *r, uint64_t number, uint64_t at)
{
	put(r, LAUNCH, XSPROF_GPU_RUNTIME, number, at, 1000);
}

static void kernel(struct cap_ring *r, uint64_t number, uint64_t at, uint64_t ns)
{
	put(r, KERNEL, XSPROF_GPU_KERNEL, number, at, ns);
}

/*
 * All calls and activities are written after the ranges, one of which is still open. A step has
 * mm (two kernels of one call) and relu inside, and launches a copy itself; a loop is inside a
 * loop. One kernel was launched in no range, one has no call in the capture, one none at all; of
 * one there are metrics alone.
 */
void cap_make_launched(void)
{
	static const char *const texts[NR_NAMES] = {
		[LAUNCH] = "cudaLaunchKernel", [KERNEL] = "kernel", [COPY] = "copy",
		[METRIC] = "metric", [STEP] = "step", [MM] = "mm", [RELU] = "relu", [LOOP] = "loop",
		[WHOLE] = "whole", [OPEN] = "open",
	};
	struct cap_ring r;

	cap_host("hostname=launched\n");
	cap_clock(T(0), T(1000));
	cap_producer(0, PID, T(0));
	for (uint32_t i = 1; i < NR_NAMES; i++)
		cap_name(0, i, texts[i]);
	cap_arena(0);
	cap_thread(0, PID, "main");
	cap_ring_open(&r, 0, 0, 256);
	cap_event(&r, T(10), XSPROF_REC_BEGIN, PID, STEP, 0, 0);
	range(&r, MM, 12, 20);
	range(&r, RELU, 30, 40);
	cap_event(&r, T(60), XSPROF_REC_END, PID, STEP, 0, 0);
	cap_event(&r, T(80), XSPROF_REC_BEGIN, PID, LOOP, 0, 0);
	range(&r, LOOP, 82, 90);
	cap_event(&r, T(95), XSPROF_REC_END, PID, LOOP, 0, 0);
	cap_event(&r, T(110), XSPROF_REC_COMPLETE, PID, WHOLE, 0, 10000);
	cap_event(&r, T(120), XSPROF_REC_BEGIN, PID, OPEN, 0, 0);
	kernel(&r, 1, 200, 1000);
	call(&r, 1, 13);
	kernel(&r, 1, 210, 2000);
	call(&r, 2, 31);
	kernel(&r, 2, 220, 4000);
	put(&r, COPY, XSPROF_GPU_MEMCPY, 3, 230, 8000);
	call(&r, 3, 50);
	call(&r, 4, 70);
	kernel(&r, 4, 240, 16);
	kernel(&r, 5, 250, 32);
	call(&r, 5, 84);
	call(&r, 6, 105);
	kernel(&r, 6, 260, 64);
	call(&r, 7, 125);
	kernel(&r, 7, 270, 128);
	kernel(&r, 8, 280, 256);
	kernel(&r, 0, 290, 512);
	put(&r, METRIC, XSPROF_GPU_METRICS, 9, 300, 100);
	cap_ring_close(&r, 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, T(400));
	cap_end(T(400));
}

#define REASONS	2000u	/* ranges, each with a name of its own */
#define APART	10u	/* us */

/* The device waits for the last one for 500 us, for the others for some. */
void cap_make_reasons(void)
{
	uint64_t at = 10;
	struct cap_ring r;
	char text[32];

	cap_host("hostname=reasons\n");
	cap_clock(T(0), T(1000000));
	cap_producer(0, PID, T(0));
	cap_name(0, LAUNCH, "cudaLaunchKernel");
	cap_name(0, KERNEL, "kernel");
	for (uint32_t i = 0; i < REASONS; i++) {
		snprintf(text, sizeof(text), "range %u", i);
		cap_name(0, NR_NAMES + i, text);
		if (i % 500 == 499)
			cap_arena(0);
	}
	cap_thread(0, PID, "main");
	cap_arena(0);
	cap_ring_open(&r, 0, 0, 8 * REASONS);
	for (uint32_t i = 0; i < REASONS; i++, at += APART) {
		uint64_t late = i == REASONS - 1 ? 500 : 0;

		range(&r, NR_NAMES + i, at, at + late + 6);
		at += late;
	}
	at = 10;
	for (uint32_t i = 0; i < REASONS; i++, at += APART) {
		at += i == REASONS - 1 ? 500 : 0;
		call(&r, i + 1, at + 6);
		kernel(&r, i + 1, at + 8, 1000);
	}
	cap_ring_close(&r, 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, T(at + 1000));
	cap_end(T(100000));
}

/* A call of the runtime, and that of the driver inside, which is over sooner. */
static void both_calls(struct cap_ring *r, uint64_t number, uint64_t at)
{
	put(r, COPY, XSPROF_GPU_DRIVER, number, at + 1, 5000);
	put(r, LAUNCH, XSPROF_GPU_RUNTIME, number, at, 20000);
}

/* Two kernels, each 10 us after the end of its outer call; the second comes before its calls. */
void cap_make_nested(void)
{
	struct cap_ring r;

	cap_host("hostname=nested\n");
	cap_clock(T(0), T(1000));
	cap_producer(0, PID, T(0));
	cap_name(0, LAUNCH, "cudaLaunchKernel");
	cap_name(0, COPY, "cuLaunchKernel");
	cap_name(0, KERNEL, "kernel");
	cap_arena(0);
	cap_ring_open(&r, 0, 0, 256);
	call(&r, 1, 1);
	kernel(&r, 1, 3, 1000);
	both_calls(&r, 2, 10);
	kernel(&r, 2, 40, 1000);
	kernel(&r, 3, 80, 1000);
	both_calls(&r, 3, 50);
	cap_ring_close(&r, 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, T(160));
	cap_end(T(170));
}
