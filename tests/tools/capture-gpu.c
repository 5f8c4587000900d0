// SPDX-License-Identifier: GPL-2.0-only
/*
 * Captures with calls of a device's runtime and the activities they started, and with device
 * clocks.
 */
#include <stdio.h>
#include <string.h>

#include "tools/capture.h"

enum name { LAUNCH = 1, GRAPH, WAIT, KERNEL, NODE, COPY, EARLY, ALONE, NR_NAMES };

static const char *const names[NR_NAMES] = {
	[LAUNCH] = "cudaLaunchKernel", [GRAPH] = "cudaGraphLaunch",
	[WAIT] = "cudaStreamSynchronize", [KERNEL] = "kernel", [NODE] = "node", [COPY] = "copy",
	[EARLY] = "early", [ALONE] = "alone",
};

static void producer(uint32_t number, uint32_t pid)
{
	cap_producer(number, pid, T(0));
	for (uint32_t i = 1; i < NR_NAMES; i++)
		cap_name(0, i, names[i]);
	cap_arena(number);
	cap_thread(number, pid, "main");
}

/* Of device @device, written at @us. */
static void put_at(struct cap_ring *r, uint64_t us, uint32_t device, uint32_t pid, uint32_t name,
		   uint32_t kind, uint64_t call, uint64_t begin, uint64_t end, uint32_t stream)
{
	const struct xsprof_rec_gpu gpu = {
		.rec = cap_head(T(us), XSPROF_REC_GPU, pid, name, kind, call),
		.start = T(begin), .end = T(end), .device = device, .stream = stream, .context = 1,
		.thread = kind == XSPROF_GPU_RUNTIME ? pid : 0,
	};

	cap_record(r, &gpu, sizeof(gpu) / XSPROF_SLOT_SIZE);
}

static void put(struct cap_ring *r, uint32_t pid, uint32_t name, uint32_t kind, uint64_t call,
		uint64_t begin, uint64_t end, uint32_t stream)
{
	put_at(r, 150, 0, pid, name, kind, call, begin, end, stream);
}

/* Two processes, and a ring of the first. */
static void begin_two(struct cap_ring *r, const char *host)
{
	cap_host(host);
	cap_clock(T(0), T(1000));
	producer(0, 100);
	producer(1, 200);
	cap_ring_open(r, 0, 0, 256);
}

/*
 * Two processes with the same correlation ids. The first has a kernel, three activities of a graph
 * that are reported before their launch, a wait, a kernel without a call, and two that begin before
 * their call, one of them reported before it; the second has a kernel.
 */
void cap_make_launches(void)
{
	struct cap_ring r;

	begin_two(&r, "hostname=launches\n");
	put(&r, 100, LAUNCH, XSPROF_GPU_RUNTIME, 1, 10, 12, 0);
	put(&r, 100, KERNEL, XSPROF_GPU_KERNEL, 1, 20, 30, 7);
	put(&r, 100, NODE, XSPROF_GPU_KERNEL, 2, 40, 45, 7);
	put(&r, 100, NODE, XSPROF_GPU_KERNEL, 2, 42, 50, 8);
	put(&r, 100, COPY, XSPROF_GPU_MEMCPY, 2, 52, 55, 8);
	put(&r, 100, GRAPH, XSPROF_GPU_RUNTIME, 2, 13, 15, 0);
	put(&r, 100, WAIT, XSPROF_GPU_RUNTIME, 3, 16, 56, 0);
	put(&r, 100, WAIT, XSPROF_GPU_SYNC, 3, 17, 55, 7);
	put(&r, 100, ALONE, XSPROF_GPU_KERNEL, 4, 60, 65, 7);
	put(&r, 100, LAUNCH, XSPROF_GPU_RUNTIME, 5, 70, 72, 0);
	put(&r, 100, EARLY, XSPROF_GPU_KERNEL, 5, 69, 75, 7);
	put(&r, 100, EARLY, XSPROF_GPU_KERNEL, 6, 78, 85, 7);
	put(&r, 100, LAUNCH, XSPROF_GPU_RUNTIME, 6, 80, 82, 0);
	cap_ring_close(&r, 0);
	cap_ring_open(&r, 1, 0, 256);
	put(&r, 200, LAUNCH, XSPROF_GPU_RUNTIME, 1, 11, 12, 0);
	put(&r, 200, KERNEL, XSPROF_GPU_KERNEL, 1, 21, 22, 7);
	cap_ring_close(&r, 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, T(160));
	cap_exit(1, XSPROF_HOW_EXITED, 0, T(160));
	cap_end(T(170));
}

/*
 * Process 1 uses device 1, which has a description, and device 2, which has none; process 2 uses
 * neither.
 */
void cap_make_contained(void)
{
	static const char device[] = "device.1={\"id\": 1, \"name\": \"described\"}";
	struct cap_ring r;

	cap_host("hostname=contained\n");
	cap_clock(T(0), T(1000));
	producer(0, 1);
	cap_entry(XSPROF_ENTRY_FACT, 0, 0, device, strlen(device));
	cap_arena(0);
	producer(1, 2);
	for (uint32_t i = 0; i < 2; i++) {
		cap_ring_open(&r, i, 0, 256);
		put(&r, i + 1, LAUNCH, XSPROF_GPU_RUNTIME, 1, 10, 12, 0);
		if (i == 0) {
			put_at(&r, 150, 1, 1, KERNEL, XSPROF_GPU_KERNEL, 1, 20, 30, 7);
			put_at(&r, 150, 2, 1, NODE, XSPROF_GPU_KERNEL, 1, 20, 30, 7);
		}
		cap_ring_close(&r, 0);
		cap_exit(i, XSPROF_HOW_EXITED, 0, T(160));
	}
	cap_end(T(170));
}

enum idle_name {
	I_LAUNCH = 1, I_COPY_CALL, I_SYNC, I_KERNEL, I_COPY, I_PINNED, I_OP, I_UNRECORDED, NR_I,
};

static void put_sched(struct cap_ring *r, uint64_t ns, uint16_t type, uint32_t aux, uint32_t other,
		      const char *comm)
{
	struct xsprof_rec_sched sched = {
		.rec = cap_head(ns, type, 100, 0, aux | XSPROF_SCHED_PROCESS, other),
	};

	strcpy((char *)sched.comm, comm);
	cap_record(r, &sched, sizeof(sched) / XSPROF_SLOT_SIZE);
}

/* Writes the thread's ranges and its scheduler events: it sleeps, and waits for its CPU. */
static void put_thread(struct cap_ring *r)
{
	const uint32_t slept = 'S' << XSPROF_SCHED_STATE_SHIFT;
	const uint32_t runs = 'R' << XSPROF_SCHED_STATE_SHIFT;

	cap_event(r, T(9), XSPROF_REC_SCHED_IN, 100, 0, 0, 0);
	cap_event(r, T(31), XSPROF_REC_BEGIN, 100, I_OP, 0, 0);
	cap_event(r, T(45), XSPROF_REC_SCHED_OUT, 100, 0, slept | XSPROF_SCHED_IDLE, 0);
	put_sched(r, T(48), XSPROF_REC_SCHED_WAKE, 0, 200, "waker");
	cap_event(r, T(48), XSPROF_REC_SCHED_IN, 100, 0, 0, 0);
	put_sched(r, T(48), XSPROF_REC_SCHED_OUT, runs, 300, "hog");
	cap_event(r, T(50), XSPROF_REC_SCHED_IN, 100, 0, 0, 0);
	cap_event(r, T(54), XSPROF_REC_END, 100, I_OP, 0, 0);
	cap_event(r, T(99), XSPROF_REC_INSTANT, 100, I_OP, 0, 0);
}

/*
 * A device that is idle four times: its thread is late (in a call for 10 us, in a range for 9, of
 * which it sleeps for 3 until "waker" wakes it, and waits for its CPU behind "hog" for 2, in no
 * range for 1, and the launch takes 5); the next kernel was launched long before (30); a kernel has
 * no call (20); the device was not recorded (10). Of two copies, the call of one waits for it, for
 * 17 us.
 */
void cap_make_idle(void)
{
	static const char *const texts[NR_I] = {
		[I_LAUNCH] = "cudaLaunchKernel", [I_COPY_CALL] = "cudaMemcpyAsync",
		[I_SYNC] = "cudaStreamSynchronize", [I_KERNEL] = "kernel",
		[I_COPY] = "Memcpy HtoD (Pageable -> Device)",
		[I_PINNED] = "Memcpy HtoD (Pinned -> Device)", [I_OP] = "aten::item",
		[I_UNRECORDED] = "not recorded",
	};
	struct cap_ring r;

	cap_host("hostname=idle\n");
	cap_clock(T(0), T(1000));
	cap_producer(0, 100, T(0));
	for (uint32_t i = 1; i < NR_I; i++)
		cap_name(0, i, texts[i]);
	cap_arena(0);
	cap_thread(0, 100, "main");
	cap_ring_open(&r, 0, 0, 256);
	put_thread(&r);
	put(&r, 100, I_KERNEL, XSPROF_GPU_KERNEL, 3, 100, 110, 7);
	put(&r, 100, I_LAUNCH, XSPROF_GPU_RUNTIME, 1, 10, 12, 0);
	put(&r, 100, I_LAUNCH, XSPROF_GPU_RUNTIME, 3, 15, 16, 0);
	put(&r, 100, I_SYNC, XSPROF_GPU_RUNTIME, 9, 28, 40, 0);
	put(&r, 100, I_COPY_CALL, XSPROF_GPU_RUNTIME, 2, 55, 72, 0);
	put(&r, 100, I_COPY_CALL, XSPROF_GPU_RUNTIME, 5, 145, 146, 0);
	put(&r, 100, I_KERNEL, XSPROF_GPU_KERNEL, 1, 20, 30, 7);
	put(&r, 100, I_COPY, XSPROF_GPU_MEMCPY, 2, 60, 70, 7);
	put(&r, 100, I_KERNEL, XSPROF_GPU_KERNEL, 4, 130, 140, 7);
	put(&r, 100, I_UNRECORDED, XSPROF_GPU_UNRECORDED, 0, 141, 149, 0);
	put(&r, 100, I_PINNED, XSPROF_GPU_MEMCPY, 5, 150, 151, 7);
	cap_ring_close(&r, 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, T(160));
	cap_end(T(170));
}

/*
 * Two copies at 1 GB/s: one beside the first kernel for 10 us, the other beside a memory set only.
 */
void cap_make_copies(void)
{
	struct xsprof_rec_gpu gpu = { .device = 0, .stream = 8, .context = 1 };
	struct cap_ring r;

	cap_host("hostname=copies\n");
	cap_clock(T(0), T(1000));
	producer(0, 100);
	cap_ring_open(&r, 0, 0, 256);
	put(&r, 100, KERNEL, XSPROF_GPU_KERNEL, 1, 10, 30, 7);
	put(&r, 100, NODE, XSPROF_GPU_MEMSET, 3, 40, 50, 9);
	put(&r, 100, KERNEL, XSPROF_GPU_KERNEL, 5, 60, 70, 7);
	for (uint32_t i = 0; i < 2; i++) {
		gpu.rec = cap_head(T(150), XSPROF_REC_GPU, 100, COPY, XSPROF_GPU_MEMCPY, 2 + 2 * i);
		gpu.start = T(i ? 45 : 20);
		gpu.end = T(i ? 55 : 40);
		gpu.bytes = i ? 10000 : 20000;
		cap_record(&r, &gpu, sizeof(gpu) / XSPROF_SLOT_SIZE);
	}
	cap_ring_close(&r, 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, T(160));
	cap_end(T(170));
}

/* What a pair of a process and a number adds to the number in a plain hash of pairs. */
static uint64_t in_hash(uint64_t producer)
{
	uint64_t h = (producer + 1) * 0x9e3779b97f4a7c15ull;

	return h ^ h >> 32;
}

/*
 * Two kernels of the first process and their calls. The second process has calls, with numbers by
 * which a plain hash takes them for the first one's: one before these calls, the other after them.
 */
void cap_make_forged(void)
{
	struct cap_ring r;

	begin_two(&r, "hostname=forged\n");
	put(&r, 100, LAUNCH, XSPROF_GPU_RUNTIME, 1, 10, 12, 0);
	put(&r, 100, LAUNCH, XSPROF_GPU_RUNTIME, 2, 14, 16, 0);
	put_at(&r, 160, 0, 100, KERNEL, XSPROF_GPU_KERNEL, 1, 60, 70, 7);
	put_at(&r, 160, 0, 100, KERNEL, XSPROF_GPU_KERNEL, 2, 90, 95, 7);
	cap_ring_close(&r, 0);
	cap_ring_open(&r, 1, 0, 256);
	for (uint64_t i = 1; i <= 2; i++)
		put_at(&r, i == 1 ? 145 : 155, 0, 200, GRAPH, XSPROF_GPU_RUNTIME,
		       i ^ in_hash(0) ^ in_hash(1), 50, 52, 0);
	cap_ring_close(&r, 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, T(170));
	cap_exit(1, XSPROF_HOW_EXITED, 0, T(170));
	cap_end(T(180));
}

/* The thread that is late waits for its CPU behind twelve tasks, 1 to 12 us. */
void cap_make_hogs(void)
{
	const uint32_t runs = 'R' << XSPROF_SCHED_STATE_SHIFT;
	struct cap_ring r;
	uint64_t at = 40;
	char comm[16];

	cap_host("hostname=hogs\n");
	cap_clock(T(0), T(1000));
	cap_producer(0, 100, T(0));
	cap_name(0, 1, "cudaLaunchKernel");
	cap_name(0, 2, "kernel");
	cap_arena(0);
	cap_thread(0, 100, "main");
	cap_ring_open(&r, 0, 0, 256);
	cap_event(&r, T(9), XSPROF_REC_SCHED_IN, 100, 0, 0, 0);
	for (uint32_t i = 1; i <= 12; at += i + 1, i++) {
		snprintf(comm, sizeof(comm), "hog %u", i);
		put_sched(&r, T(at), XSPROF_REC_SCHED_OUT, runs, 300 + i, comm);
		cap_event(&r, T(at + i), XSPROF_REC_SCHED_IN, 100, 0, 0, 0);
	}
	put(&r, 100, 1, XSPROF_GPU_RUNTIME, 1, 10, 12, 0);
	put(&r, 100, 1, XSPROF_GPU_RUNTIME, 2, 190, 192, 0);
	put(&r, 100, 2, XSPROF_GPU_KERNEL, 1, 20, 30, 7);
	put(&r, 100, 2, XSPROF_GPU_KERNEL, 2, 200, 210, 7);
	cap_ring_close(&r, 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, T(300));
	cap_end(T(310));
}

/* Two devices: for a while the clock of one has a large error. */
void cap_make_clocks(void)
{
	struct cap_ring r;

	cap_host("hostname=clocks\n");
	cap_clock(T(0), T(1000));
	cap_producer(0, 100, T(0));
	cap_name(0, 1, "clock of device 64: known within ns");
	cap_name(0, 2, "clock of device 65: known within ns");
	cap_name(0, 3, "clock of device 65: known within ns or so");
	cap_arena(0);
	cap_ring_open(&r, 0, 0, 64);
	cap_event(&r, T(10), XSPROF_REC_COUNTER_I64, 100, 1, 0, 300);
	cap_event(&r, T(20), XSPROF_REC_COUNTER_I64, 100, 1, 0, 50000);
	cap_event(&r, T(30), XSPROF_REC_COUNTER_I64, 100, 2, 0, 250);
	cap_event(&r, T(40), XSPROF_REC_COUNTER_I64, 100, 1, 0, 400);
	cap_event(&r, T(50), XSPROF_REC_COUNTER_I64, 100, 3, 0, 90000);
	cap_ring_close(&r, 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, T(60));
	cap_end(T(70));
}

/* A launch that takes 2 us, and its kernel of 10 us, written when that is over. */
static void put_kernel(struct cap_ring *r, uint32_t device, uint32_t pid, uint64_t launch,
		       uint64_t begin)
{
	put_at(r, begin + 12, device, pid, LAUNCH, XSPROF_GPU_RUNTIME, launch, launch, launch + 2,
	       0);
	put_at(r, begin + 12, device, pid, KERNEL, XSPROF_GPU_KERNEL, launch, begin, begin + 10, 7);
}

static void put_unrecorded(struct cap_ring *r, uint32_t pid, uint64_t begin, uint64_t end)
{
	put_at(r, end, 0, pid, ALONE, XSPROF_GPU_UNRECORDED, 0, begin, end, 0);
}

/*
 * Two processes, each with a device of its own. That of the first is not recorded in two times that
 * overlap, before its first kernel, while one runs, and behind the last; the second is recorded all
 * of the time.
 */
void cap_make_unrecorded(void)
{
	struct cap_ring r;

	cap_host("hostname=unrecorded\n");
	cap_clock(T(0), T(10000));
	producer(0, 100);
	producer(1, 200);
	cap_ring_open(&r, 0, 0, 256);
	put_unrecorded(&r, 100, 1, 15);
	put_kernel(&r, 0, 100, 18, 20);
	put_unrecorded(&r, 100, 40, 50);
	put_unrecorded(&r, 100, 45, 90);
	put_kernel(&r, 0, 100, 95, 100);
	put_unrecorded(&r, 100, 105, 130);
	put_kernel(&r, 0, 100, 135, 140);
	put_unrecorded(&r, 100, 170, 1170);
	cap_ring_close(&r, 0);
	cap_ring_open(&r, 1, 0, 256);
	put_kernel(&r, 1, 200, 18, 20);
	put_kernel(&r, 1, 200, 95, 100);
	cap_ring_close(&r, 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, T(1200));
	cap_exit(1, XSPROF_HOW_EXITED, 0, T(1200));
	cap_end(T(1300));
}

static void control(struct cap_ring *r, uint64_t us, uint32_t pid, uint32_t op, uint64_t enabled)
{
	cap_event(r, T(us), XSPROF_REC_CONTROL, pid, 0, op, enabled);
}

/* The first loss is as long as the time without records; the second is of late records. */
static void put_paused(struct cap_ring *r)
{
	put_kernel(r, 0, 100, 18, 20);
	control(r, 40, 100, XSPROF_CONTROL_PAUSE, 0);
	control(r, 1040, 100, XSPROF_CONTROL_RESUME, 1);
	put_kernel(r, 0, 100, 1050, 1060);
	cap_event(r, T(1200), XSPROF_REC_LOST, 0, 0, 0, 5);
	put_kernel(r, 0, 100, 1190, 1210);
	cap_event(r, T(1990), XSPROF_REC_INSTANT, 100, ALONE, 0, 0);
	cap_event(r, T(2000), XSPROF_REC_LOST, 0, 0, 0, 7);
	put_at(r, 2010, 0, 100, LAUNCH, XSPROF_GPU_RUNTIME, 1790, 1790, 1792, 0);
	put_at(r, 2010, 0, 100, KERNEL, XSPROF_GPU_KERNEL, 1790, 1800, 1810, 7);
}

/* The category of activities is off, then another one. */
static void put_switched(struct cap_ring *r)
{
	put_kernel(r, 1, 200, 18, 20);
	control(r, 40, 200, XSPROF_CONTROL_ENABLE, 2);
	control(r, 1040, 200, XSPROF_CONTROL_ENABLE, 3);
	put_kernel(r, 1, 200, 1050, 1060);
	control(r, 1080, 200, XSPROF_CONTROL_ENABLE, 1);
	put_kernel(r, 1, 200, 1135, 1140);
}

/*
 * Three devices: of a process that pauses and loses records, of one that switches categories, and
 * of two, one of which ends while it is paused.
 */
void cap_make_paused(void)
{
	struct cap_ring r[4];

	cap_host("hostname=paused\n");
	cap_clock(T(0), T(10000));
	for (uint32_t i = 0; i < 4; i++)
		producer(i, 100 * (i + 1));
	for (uint32_t i = 0; i < 4; i++)
		cap_ring_open(&r[i], i, 0, 256);
	put_paused(&r[0]);
	put_switched(&r[1]);
	put_kernel(&r[2], 2, 300, 18, 20);
	control(&r[2], 40, 300, XSPROF_CONTROL_PAUSE, 0);
	put_kernel(&r[3], 2, 400, 18, 20);
	put_kernel(&r[3], 2, 400, 1490, 1500);
	for (uint32_t i = 0; i < 4; i++)
		cap_ring_close(&r[i], i ? 0 : 7);
	for (uint32_t i = 0; i < 4; i++)
		cap_exit(i, XSPROF_HOW_EXITED, 0, T(i == 2 ? 500 : 2100));
	cap_end(T(2200));
}

static void put_measured(struct cap_ring *r, uint32_t name, double value, uint64_t begin)
{
	struct {
		struct xsprof_rec_gpu	gpu;
		struct xsprof_arg	metric;
		uint64_t		end[2];
	} rec = {
		.gpu = {
			.rec = cap_head(T(150), XSPROF_REC_GPU, 100, name, XSPROF_GPU_METRICS,
					name),
			.start = T(begin), .end = T(begin + 10), .stream = 7, .context = 1,
		},
		.metric = { .key = EARLY, .type = XSPROF_ARG_F64 },
	};

	put(r, 100, name, XSPROF_GPU_KERNEL, name, begin, begin + 10, 7);
	memcpy(&rec.metric.value, &value, sizeof(value));
	cap_record(r, &rec, sizeof(rec) / XSPROF_SLOT_SIZE);
}

/* Two kernels with a metric: of one it has more digits than a cell of a table. */
void cap_make_measured(void)
{
	struct cap_ring r;

	cap_host("hostname=measured\n");
	cap_clock(T(0), T(1000));
	producer(0, 100);
	cap_ring_open(&r, 0, 0, 64);
	put_measured(&r, KERNEL, 1e308, 20);
	put_measured(&r, NODE, 123456789012345.25, 40);
	cap_ring_close(&r, 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, T(160));
	cap_end(T(170));
}
