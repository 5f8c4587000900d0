// SPDX-License-Identifier: GPL-2.0-only
/*
 * Captures of N times the same thing, like capture-cost.c: facts of devices and processes, and what
 * readers look up there for each activity, process or task.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/capture-tracer.h"

#define AT_ONCE	1000u	/* entries per arena chunk, texts per section */

static void begin(void)
{
	cap_host("hostname=cost\n");
	cap_clock(T(0), T(100000000));
}

static void fact(const char *text)
{
	cap_entry(XSPROF_ENTRY_FACT, 0, 0, text, strlen(text));
}

static void gpu(struct cap_ring *r, uint64_t t, uint32_t kind, uint32_t device)
{
	const struct xsprof_rec_gpu gpu = {
		.rec = cap_head(t, XSPROF_REC_GPU, 100, 1, kind, device + 1),
		.start = t, .end = t + 100, .device = device, .stream = 7, .bytes = 64,
	};

	cap_record(r, &gpu, sizeof(gpu) / XSPROF_SLOT_SIZE);
}

/* Devices, each with the collector's facts of it and its stream, and an activity of some kind. */
static void make_devices(uint32_t n, uint32_t first, uint32_t kinds)
{
	struct cap_ring r;
	char text[96];

	begin();
	cap_producer(0, 100, T(0));
	cap_name(0, 1, "kernel");
	for (uint32_t i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "device.%u={\"id\": %u, \"uuid\": \"u%u\"}", i, i, i);
		fact(text);
		snprintf(text, sizeof(text), "stream.%u.0.7=stream %u", i, i);
		fact(text);
		if (i % AT_ONCE == AT_ONCE - 1)
			cap_arena(0);
	}
	cap_arena(0);
	cap_ring_open(&r, 0, 0, 4096);
	for (uint32_t i = 0; i < n; i++)
		gpu(&r, T(1 + i), first + i % kinds, i);
	cap_ring_close(&r, 0);
	cap_end(T(2 + n));
}

/* Processes that are a rank each, with a device, and count their steps. */
static void make_processes(uint32_t n)
{
	struct cap_ring r;
	char text[64];

	begin();
	for (uint32_t i = 0; i < n; i++) {
		cap_producer(i, 1000 + i, T(0));
		cap_name(0, 1, "step");
		snprintf(text, sizeof(text), "env.RANK=%u", i);
		fact(text);
		snprintf(text, sizeof(text), "device.%u={\"id\": %u}", 64 + i, 64 + i);
		fact(text);
		cap_arena(i);
		cap_ring_open(&r, i, 0, 64);
		for (uint32_t k = 0; k < 3; k++)
			cap_event(&r, T(1 + k * n + i), XSPROF_REC_STEP, 1000 + i, 1, 0, 1 + k);
		gpu(&r, T(1 + 3 * n + i), XSPROF_GPU_KERNEL, 64 + i);
		cap_ring_close(&r, 0);
	}
	cap_end(T(2 + 4 * n));
}

/* A process with many rings that has ranges and device streams open, beside another process. */
static void make_crowd(uint32_t n)
{
	struct xsprof_cap_ledger ledger = { 0 };
	struct cap_ring r;

	begin();
	cap_producer(0, 99, T(0));
	cap_name(0, 1, "range");
	cap_arena(1);
	for (uint32_t i = 1; i < n; i++) {
		ledger.ring = i;
		cap_chunk(XSPROF_CHUNK_LEDGER, 1, i, 0, &ledger, sizeof(ledger));
	}
	cap_ring_open(&r, 1, 0, 4096);
	for (uint32_t i = 0; i < n; i++) {
		cap_event(&r, T(1 + i), XSPROF_REC_BEGIN, 1000 + i, 1, 0, 0);
		gpu(&r, T(1 + i) + 1, XSPROF_GPU_KERNEL, i);
	}
	cap_ring_close(&r, 0);
	cap_exit(1, XSPROF_HOW_RUNNING, 0, T(2 + n));
	cap_end(T(2 + n));
}

/*
 * Activities, and then calls that began before them, all with one correlation id, which belongs to
 * one call only.
 */
static void make_calls(uint32_t n)
{
	struct xsprof_rec_gpu call = { .device = 0 };
	struct cap_ring r;

	begin();
	cap_producer(0, 100, T(0));
	cap_name(0, 1, "kernel");
	cap_arena(0);
	cap_ring_open(&r, 0, 0, 4096);
	for (uint32_t i = 0; i < n; i++)
		gpu(&r, T(100 + i), XSPROF_GPU_KERNEL, 0);
	for (uint32_t i = 0; i < n; i++) {
		call.start = T(1) + i;
		call.end = call.start + 1;
		call.rec = cap_head(T(100 + n + i), XSPROF_REC_GPU, 100, 1, XSPROF_GPU_RUNTIME, 1);
		cap_record(&r, &call, sizeof(call) / XSPROF_SLOT_SIZE);
	}
	cap_ring_close(&r, 0);
	cap_end(T(101 + 2 * n));
}

/* END chunks, each followed by more of the file: readers may ask for the losses up to each. */
static void make_ends(uint32_t n)
{
	begin();
	for (uint32_t i = 0; i < n; i++) {
		struct xsprof_cap_ledger ledger = { .ring = i };

		cap_chunk(XSPROF_CHUNK_LEDGER, 0, i, 0, &ledger, sizeof(ledger));
		cap_end(T(1 + i));
	}
}

/* Programs known from the kernel's tracer, and facts of the host. */
static void make_tasks(uint32_t n)
{
	static struct cpu cpu = { .cpu = 0 };
	char text[64 * AT_ONCE / 2];
	size_t used = 0;

	begin();
	describe();
	for (uint32_t i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "fact%u=%u\n", i, i);
		cap_host(text);
		cap_producer(i, 1000 + i, T(0));
	}
	for (uint32_t i = 0; i < n; i++) {
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%u %u task\n",
					 1000 + i, 1000 + i);
		if (i % AT_ONCE && i + 1 < n)
			continue;
		section(XSPROF_SECTION_TASKS, text);
		describe_more();
		used = 0;
	}
	for (uint32_t i = 0; i < n; i++) {
		sched_switch(&cpu, T(2 * i + 1), 0, "swapper/0", 0, (int32_t)(1000 + i), "task");
		sched_switch(&cpu, T(2 * i + 2), (int32_t)(1000 + i), "task", 1, 0, "swapper/0");
	}
	close_cpu(&cpu, 0);
	cap_end(T(2 * n + 3));
}

#define EVIL	"\x1b[31m\xc2\x9b" "1m\xe2\x80\xae\xff"

/*
 * Kernels, devices, streams and sampled functions with unusual names: as bytes, and as JSON escapes
 * them.
 */
void cap_make_hostile_devices(void)
{
	static const char *const facts[] = {
		"device.0={\"id\": 0, \"name\": \"" EVIL "\"}",
		"device.1={\"id\": 1, \"name\": \"\\u001b[31m\\u009b1m\\u202e\\n\"}",
		/* Valid JSON, which may be copied; the number is another device's. */
		"device.2={\"id\": 0, \"name\": \"\xc2\x9b" "1m\xe2\x80\xae\x7f\"}",
		"stream.0.0.7=" EVIL "\n",
		"exe=/tmp/" EVIL,
	};
	const uint64_t stack[] = { XSPROF_FRAME_NAMED | 2, XSPROF_FRAME_NAMED | 1 };
	struct cap_ring r;

	begin();
	cap_producer(0, 100, T(0));
	cap_name(0, 1, "kernel " EVIL);
	cap_name(0, 2, "function\n" EVIL);
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		fact(facts[i]);
	cap_entry(XSPROF_ENTRY_STACK, 1, 0, (const char *)stack, sizeof(stack));
	cap_arena(0);
	cap_thread(0, 100, EVIL);
	cap_ring_open(&r, 0, 0, 64);
	for (uint32_t i = 0; i < 4; i++) {
		/* The last one is no device's number, and may be that of a process. */
		gpu(&r, T(10 + 10 * i), XSPROF_GPU_KERNEL, i < 3 ? i : 4000);
		cap_event(&r, T(15 + 10 * i), XSPROF_REC_SAMPLE, 100, 2,
			  XSPROF_SAMPLE_RUNS | 12 << XSPROF_SAMPLE_LINE_SHIFT, 100ull << 32 | 1);
	}
	cap_ring_close(&r, 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, T(50));
	cap_end(T(51));
}

/* CPUs with a sub-buffer at the begin and one at the end: all are open at once. */
static void make_ftrace_cpus(uint32_t n)
{
	static struct cpu cpus[4096];

	if (n > sizeof(cpus) / sizeof(cpus[0])) {
		fprintf(stderr, "make-capture: cost-ftrace-cpus: at most %zu CPUs\n",
			sizeof(cpus) / sizeof(cpus[0]));
		exit(2);
	}
	begin();
	describe();
	for (uint32_t half = 0; half < 2; half++) {
		for (uint32_t i = 0; i < n; i++) {
			struct cpu *c = &cpus[i];
			int32_t tid = (int32_t)(1000 + i);
			/* Too far ahead for the same sub-buffer: a new one. */
			uint64_t t = T(200000ull * half) + i;

			c->cpu = i;
			sched_switch(c, t + 1, 0, "swapper", 0, tid, "task");
			sched_wake(c, t + n, WAKING, tid, tid + 1, "task", i);
			sched_switch(c, t + 2 * n, tid, "task", 1, 0, "swapper");
		}
	}
	for (uint32_t i = 0; i < n; i++)
		close_cpu(&cpus[i], 0);
	cap_end(T(400000));
}

/* Kinds of kernel events, each with all the fields of the others, and one event of each. */
static void make_formats(uint32_t n)
{
	static struct cpu cpu = { .cpu = 0 };
	char text[2048];

	begin();
	describe();
	for (uint32_t i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "kinds\nname: kind_%u\nID: %u\n" COMMON
			 FIELD("unsigned int", "a", 8, 4, 0) FIELD("unsigned int", "b", 12, 4, 0)
			 "\nprint fmt: \"a=%%u b=%%s\", REC->a, __print_symbolic(REC->b, "
			 "{ 0, \"zero\" }, { %u, \"number\" })\n", i, 1000 + i, i);
		section(XSPROF_SECTION_FORMAT, text);
		if (i % 64 == 63)
			describe_more();
	}
	describe_more();
	for (uint32_t i = 0; i < 4 * n; i++) {
		struct event e = event((uint16_t)(1000 + i % n), 100);

		add32(&e, i);
		add32(&e, i % n);
		emit(&cpu, T(1) + i * 100ull, &e);
	}
	close_cpu(&cpu, 0);
	cap_end(T(2) + 4 * n * 100ull);
}

/* Indexes, each as valid as the last, with entries that lead nowhere or back. */
static void make_index(uint32_t n)
{
	struct xsprof_cap_index_entry entries[64];

	begin();
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t k = 0; k < 64; k++)
			entries[k] = (struct xsprof_cap_index_entry){
				.offset = k % 2 ? 64 : (i + k) * 4096ull, .first = T(i),
				.last = T(i + k), .type = (uint16_t)(1 + k % XSPROF_CHUNK_SWITCH),
				.producer = k, .ring = i,
			};
		cap_chunk(XSPROF_CHUNK_INDEX, XSPROF_NO_PRODUCER, 0, 0, entries, sizeof(entries));
	}
	cap_end(T(n + 1));
}

int cap_make_devices(const char *kind, uint32_t n)
{
	if (!strcmp(kind, "devices"))
		make_devices(n, XSPROF_GPU_KERNEL, 1);
	else if (!strcmp(kind, "calls"))
		make_calls(n);
	else if (!strcmp(kind, "activities"))
		make_devices(n, XSPROF_GPU_GRAPH, 4);
	else if (!strcmp(kind, "processes"))
		make_processes(n);
	else if (!strcmp(kind, "crowd"))
		make_crowd(n);
	else if (!strcmp(kind, "ends"))
		make_ends(n);
	else if (!strcmp(kind, "tasks"))
		make_tasks(n);
	else if (!strcmp(kind, "ftrace-cpus"))
		make_ftrace_cpus(n);
	else if (!strcmp(kind, "formats"))
		make_formats(n);
	else if (!strcmp(kind, "index"))
		make_index(n);
	else
		return -1;
	return 0;
}
