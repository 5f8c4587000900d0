// SPDX-License-Identifier: GPL-2.0-only
/*
 * The captures of kineto-capture with GPU activities: launches and their activities, of a rank of a
 * job, and as written by the launching threads themselves.
 */
#include <math.h>
#include <stdio.h>

#include "profiler/kineto-capture.h"

struct gpu_names {
	uint32_t launch, copy_call, set_call, wait_call, gemm, nccl, copy, set, wait, overhead;
	uint32_t cbid, grid, block, regs, shared, queued, external, wait_on;
	uint32_t blocks, occupancy;
};

static void gpu(struct cap_wide *w, uint64_t t, uint32_t kind, uint32_t id, uint64_t correlation,
		uint64_t start, uint64_t end, uint32_t stream)
{
	cap_wide(w, t, XSPROF_REC_GPU, MAIN + 50, id, kind, correlation);
	w->u.gpu.start = start;
	w->u.gpu.end = end;
	w->u.gpu.context = 1;
	w->u.gpu.stream = stream;
	w->used = sizeof(w->u.gpu);
}

/* Writes a launch at @at us and the device's activity from @start to @end, after its end. */
static void work(struct cap_ring *r, const struct gpu_names *n, uint32_t kind, uint32_t stream,
		 uint64_t correlation, uint64_t external, uint64_t at, uint64_t start, uint64_t end)
{
	static const int64_t grid[] = { 4, 4, 1 }, block[] = { 128, 1, 1 };
	uint32_t call = kind == XSPROF_GPU_KERNEL ? n->launch :
			kind == XSPROF_GPU_MEMCPY ? n->copy_call :
			kind == XSPROF_GPU_MEMSET ? n->set_call : n->wait_call;
	uint32_t what = kind == XSPROF_GPU_KERNEL ? (stream == 7 ? n->gemm : n->nccl) :
			kind == XSPROF_GPU_MEMCPY ? n->copy :
			kind == XSPROF_GPU_MEMSET ? n->set : n->wait;
	struct cap_wide w;

	gpu(&w, T(end), XSPROF_GPU_RUNTIME, call, correlation, T(at), T(at + 5), 0);
	w.u.gpu.thread = MAIN;
	number(&w, n->cbid, 211);
	number(&w, n->external, external);
	cap_wide_put(r, &w, false);
	gpu(&w, T(end), kind, what, correlation, T(start), T(end), stream);
	if (kind == XSPROF_GPU_KERNEL) {
		number(&w, n->queued, 0);
		number(&w, n->regs, 40);
		number(&w, n->shared, 3072);
		cap_wide_arg(&w, n->grid, XSPROF_ARG_I64S, 0, 0, grid, sizeof(grid));
		cap_wide_put(r, &w, true);
		cap_wide_args(&w, T(end), MAIN + 50);
		cap_wide_arg(&w, n->block, XSPROF_ARG_I64S, 0, 0, block, sizeof(block));
		real(&w, n->blocks, 0.5);
		number(&w, n->occupancy, 25);
		/* An unknown number may be given like this: it is left out. */
		real(&w, n->cbid, INFINITY);
	} else if (kind == XSPROF_GPU_SYNC) {
		number(&w, n->wait_on, stream);
	} else {
		w.u.gpu.bytes = 1 << 20;
	}
	cap_wide_put(r, &w, false);
}

void make_rank(uint32_t rank, uint32_t world)
{
	uint32_t step, mm, reduce, collective, nelems, i, k;
	struct gpu_names n;
	struct cap_ring r, g;
	char text[32];
	struct cap_wide w;

	cap_host("hostname=node-1\n");
	cap_clock(T(0), T(1000000));
	cap_producer(0, MAIN, T(0));
	step = name(0, "ProfilerStep");
	mm = name(0, "aten::mm");
	reduce = name(0, "record_param_comms");
	collective = name(0, "Collective name");
	nelems = name(0, "In msg nelems");
	n = (struct gpu_names){
		name(0, "cudaLaunchKernel_v7000"), name(0, "cudaMemcpyAsync"),
		name(0, "cudaMemsetAsync"), name(0, "cudaStreamSynchronize"),
		name(0, "gemm(float*, float*, int)"),
		name(0, "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)"),
		name(0, "Memcpy HtoD (Pageable -> Device)"), name(0, "Memset (Device)"),
		name(0, "Stream Sync"), name(0, "Buffer Flush"), name(0, "cbid"),
		name(0, "grid"), name(0, "block"), name(0, "registers per thread"),
		name(0, "shared memory"), name(0, "queued"), name(0, "External id"),
		name(0, "wait_on_stream"), name(0, "blocks per SM"),
		name(0, "est. achieved occupancy %"),
	};
	fact("exe=/usr/bin/train");
	snprintf(text, sizeof(text), "env.RANK=%u", rank);
	fact(text);
	snprintf(text, sizeof(text), "env.WORLD_SIZE=%u", world);
	fact(text);
	cap_arena(0);
	cap_thread(0, MAIN, "train");
	cap_ring_open(&r, 0, 0, 4096);
	cap_ring_open(&g, 0, 1, 4096);
	for (i = 0; i < 3; i++) {
		uint64_t at = 1000 * (i + 1), c = i * 100 + 1;

		cap_event(&r, T(at), XSPROF_REC_STEP, MAIN, step, 0, i);
		for (k = 0; k < 3; k++) {
			op(&w, T(at + 10 + k * 50), MAIN, k < 2 ? mm : reduce, 0, c + k, -1, 0);
			if (k == 2) {
				cap_wide_str(&w, collective, 0, "allreduce");
				number(&w, nelems, 4096);
			}
			cap_wide_put(&r, &w, false);
			cap_event(&r, T(at + 50 + k * 50), XSPROF_REC_END, MAIN, 0, 0, 0);
		}
		work(&g, &n, XSPROF_GPU_MEMCPY, 7, c + 10, c, at + 11, at + 20, at + 40);
		work(&g, &n, XSPROF_GPU_KERNEL, 7, c + 11, c, at + 20, at + 60, at + 160);
		work(&g, &n, XSPROF_GPU_MEMSET, 7, c + 12, c + 1, at + 61, at + 170, at + 180);
		work(&g, &n, XSPROF_GPU_KERNEL, 7, c + 13, c + 1, at + 70, at + 200, at + 400);
		work(&g, &n, XSPROF_GPU_KERNEL, 20, c + 14, c + 2, at + 120, at + 300,
		     at + 500 + rank * 10);
		work(&g, &n, XSPROF_GPU_SYNC, 7, c + 15, c + 2, at + 130, at + 130, at + 520);
	}
	gpu(&w, T(4000), XSPROF_GPU_OVERHEAD, n.overhead, 0, T(3990), T(4000), 0);
	w.u.gpu.device = XSPROF_NO_DEVICE;
	cap_wide_put(&g, &w, false);
	cap_event(&r, T(4000), XSPROF_REC_STEP, MAIN, step, 0, 3);
	cap_ring_close(&r, 0);
	cap_ring_close(&g, 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, T(5000));
	cap_end(T(5001));
}

/*
 * A launch's op is known only by the thread's position, in the second of two threads with one
 * correlation number each.
 */
void make_inline(void)
{
	uint32_t train, mm, launch, gemm, upload, key, i;
	struct cap_ring r;
	struct cap_wide w;

	cap_host("hostname=node-1\n");
	cap_clock(T(0), T(100000));
	cap_producer(0, MAIN, T(0));
	train = name(0, "train");
	mm = name(0, "aten::mm");
	launch = name(0, "cuLaunchKernel");
	gemm = name(0, "gemm");
	upload = name(0, "upload");
	key = name(0, "size");
	cap_arena(0);
	cap_ring_open(&r, 0, 0, 4096);
	cap_event(&r, T(10), XSPROF_REC_BEGIN, MAIN, train, 0, 0);
	cap_wide(&w, T(11), XSPROF_REC_ASYNC_BEGIN, MAIN, upload, 0, 3);
	number(&w, key, 4096);
	cap_wide_put(&r, &w, false);
	for (i = 0; i < 2; i++) {
		op(&w, T(20 + i), MAIN + i, mm, 0, 70 + i, -1, 0);
		cap_wide_put(&r, &w, false);
	}
	for (i = 0; i < 2; i++) {
		gpu(&w, T(30 + i), XSPROF_GPU_DRIVER, launch, 5 + i, T(25), T(29), 0);
		w.u.rec.tid = MAIN + i;
		cap_wide_put(&r, &w, false);
	}
	/* Inside an op a thread may push another op's id, but no user range's. */
	cap_event(&r, T(32), XSPROF_REC_CORR_PUSH, MAIN, 0, 0, 88);
	cap_event(&r, T(33), XSPROF_REC_CORR_PUSH, MAIN, 0, 1, 99);
	gpu(&w, T(36), XSPROF_GPU_DRIVER, launch, 7, T(34), T(35), 0);
	w.u.rec.tid = MAIN;
	cap_wide_put(&r, &w, false);
	cap_event(&r, T(37), XSPROF_REC_CORR_POP, MAIN, 0, 1, 0);
	cap_event(&r, T(37), XSPROF_REC_CORR_POP, MAIN, 0, 0, 0);
	gpu(&w, T(39), XSPROF_GPU_DRIVER, launch, 8, T(38), T(39), 0);
	w.u.rec.tid = MAIN;
	cap_wide_put(&r, &w, false);
	for (i = 0; i < 2; i++)
		cap_event(&r, T(40 + i), XSPROF_REC_END, MAIN + i, 0, 0, 0);
	cap_event(&r, T(45), XSPROF_REC_ASYNC_END, MAIN, upload, 0, 3);
	cap_event(&r, T(50), XSPROF_REC_END, MAIN, 0, 0, 0);
	for (i = 0; i < 2; i++) {
		gpu(&w, T(90 + i), XSPROF_GPU_KERNEL, gemm, 5 + i, T(60), T(70), 7 + i);
		cap_wide_put(&r, &w, false);
	}
	/* Its launch is unknown. */
	gpu(&w, T(93), XSPROF_GPU_KERNEL, gemm, 99, T(80), T(85), 7);
	cap_wide_put(&r, &w, false);
	cap_ring_close(&r, 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, T(200));
	cap_end(T(201));
}
