// SPDX-License-Identifier: GPL-2.0-only
/*
 * Generates captures for the tests of result files, byte by byte from the headers.
 *
 *	kineto-capture ops FILE			ops of every kind on two threads, memory, steps
 *	kineto-capture rank FILE RANK WORLD	a rank of a job with a GPU: three steps
 *	kineto-capture inline FILE		launches that their own threads wrote down
 *	kineto-capture hostile FILE		ops with names and values that nobody would give
 *	kineto-capture memory FILE N		N allocations and frees of two devices, ops around
 *	kineto-capture many FILE N		N ops with inputs
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/capture.h"

#define MAIN		500u	/* threads */
#define BACKWARD	501u

/* A record with arguments: the payload is put together here. */
struct wide {
	union {
		struct xsprof_rec	rec;
		struct xsprof_rec_op	op;
		struct xsprof_rec_gpu	gpu;
		struct xsprof_rec_mem	mem;
		struct xsprof_rec_span	span;
		uint8_t			bytes[8 * XSPROF_SLOT_SIZE];
	} u;
	uint32_t			used;
};

static uint32_t names_nr;

/* A name, new each time: ids are cheap here. */
static uint32_t name(uint32_t category, const char *text)
{
	return cap_name(category, ++names_nr, text);
}

static void arg(struct wide *w, uint32_t key, uint8_t type, uint8_t flags, uint64_t value,
		const void *data, size_t len)
{
	struct xsprof_arg a = {
		.key = key, .type = type, .flags = flags, .len = (uint16_t)len, .value = value,
	};

	if (w->used + sizeof(a) + len > sizeof(w->u)) {
		fprintf(stderr, "kineto-capture: a record too long\n");
		exit(1);
	}
	memcpy(w->u.bytes + w->used, &a, sizeof(a));
	memcpy(w->u.bytes + w->used + sizeof(a), data, len);
	w->used += (uint32_t)(sizeof(a) + ((len + 15) & ~(size_t)15));
}

static void number(struct wide *w, uint32_t key, uint64_t value)
{
	arg(w, key, XSPROF_ARG_I64, 0, value, "", 0);
}

static void real(struct wide *w, uint32_t key, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	arg(w, key, XSPROF_ARG_F64, 0, bits, "", 0);
}

static void string(struct wide *w, uint32_t key, const char *s)
{
	arg(w, key, XSPROF_ARG_STR, 0, 0, s, strlen(s));
}

/* Sizes, and strides as of memory without gaps. */
static void tensor(struct wide *w, uint32_t key, uint32_t dtype, uint64_t id, uint32_t ndim,
		   const uint32_t *sizes)
{
	uint8_t data[128];
	struct xsprof_tensor_arg t = {
		.dtype = dtype, .device = 1u << 16, .ndim = (uint8_t)ndim,
		.stored = (uint8_t)ndim, .itemsize = 4,
		.flags = XSPROF_TENSORF_SIZES | XSPROF_TENSORF_STRIDES | XSPROF_TENSORF_STORAGE,
	};
	uint64_t storage[3] = { id + 100, 0, 1 };
	uint32_t strides[8], i, stride = 1;

	for (i = ndim; i; i--) {
		strides[i - 1] = stride;
		stride *= sizes[i - 1];
	}
	storage[2] = stride;
	memcpy(data, &t, sizeof(t));
	memcpy(data + sizeof(t), storage, 24);
	memcpy(data + sizeof(t) + 24, sizes, 4 * (size_t)ndim);
	memcpy(data + sizeof(t) + 24 + 4 * (size_t)ndim, strides, 4 * (size_t)ndim);
	arg(w, key, XSPROF_ARG_TENSOR, 0, id, data, sizeof(t) + 24 + 8 * (size_t)ndim);
}

static void put(struct cap_ring *ring, struct wide *w, bool more)
{
	if (more)
		w->u.rec.size = XSPROF_RECF_MORE << 4;
	cap_record(ring, w, (w->used + XSPROF_SLOT_SIZE - 1) / XSPROF_SLOT_SIZE);
	memset(w, 0, sizeof(*w));
}

static void op(struct wide *w, uint64_t t, uint32_t tid, uint32_t id, uint32_t scope,
	       uint64_t rf, int64_t sequence, uint64_t forward)
{
	memset(w, 0, sizeof(*w));
	w->u.rec = cap_head(t, XSPROF_REC_OP, tid, id, scope, rf);
	w->u.op.sequence = sequence;
	w->u.op.forward_thread = forward;
	w->u.op.correlation = rf;
	w->used = sizeof(w->u.op);
}

static void more(struct wide *w, uint64_t t, uint32_t tid)
{
	memset(w, 0, sizeof(*w));
	w->u.rec = cap_head(t, XSPROF_REC_ARGS, tid, 0, 0, 0);
	w->used = sizeof(w->u.rec);
}

static void mem(struct cap_ring *r, uint64_t t, uint8_t type, uint32_t tid, uint32_t device,
		uint64_t address, uint64_t bytes, uint64_t total)
{
	struct wide w = { .used = sizeof(w.u.mem) };

	w.u.rec = cap_head(t, type, tid, 0, device, address);
	w.u.mem.bytes = bytes;
	w.u.mem.total_allocated = total;
	w.u.mem.total_reserved = 1 << 21;
	put(r, &w, false);
}

static void fact(const char *text)
{
	cap_entry(XSPROF_ENTRY_FACT, 0, 0, text, strlen(text));
}

#define IN(i)	(XSPROF_KEY_INPUT + (i))
#define ITEM(i)	(XSPROF_KEY_ITEM + (i))

static void inputs(struct wide *w, uint32_t dtype, uint32_t object)
{
	static const uint32_t a[] = { 2, 3 }, b[] = { 3, 4 };

	tensor(w, IN(0), dtype, 11, 2, a);
	tensor(w, IN(1), dtype, 12, 2, b);
	arg(w, IN(2), XSPROF_ARG_NONE, 0, object, "", 0);
}

static void make_ops(void)
{
	static const uint32_t sizes[] = { 5 };
	static const int64_t list[] = { 1, -2 };
	static const double reals[] = { 0.5, NAN, 2 };
	static const uint64_t frames[] = { 0x7f0000001234, 0x400010, 0x10 };
	static const char lib[] = "7f0000001000-7f0000002000 5000 abcd /nowhere/lib;m\".so";
	static const char program[] = "400000-401000 0 ef01 /nowhere/train";
	uint32_t f32, mm, cat, back, user, step, mem_name, key, oom, device, load, late, object;
	uint32_t comm, comm_key, axes, relu, add, dnn;
	struct cap_ring r;
	struct wide w;

	cap_host("hostname=node-1\n");
	cap_clock(T(0), T(100000));
	cap_producer(0, MAIN, T(0));
	cap_entry(XSPROF_ENTRY_CATEGORY, 1, 0, "profiler", 8);
	cap_entry(XSPROF_ENTRY_CATEGORY, 2, 0, "PyTorch", 7);
	cap_entry(XSPROF_ENTRY_CATEGORY, 3, 0, "PyTorch's", 9);
	f32 = name(0, "float");
	mm = name(0, "aten::mm");
	cat = name(0, "aten::cat");
	back = name(0, "MmBackward0");
	user = name(0, "forward pass");
	step = name(0, "ProfilerStep");
	key = name(0, "alpha");
	oom = name(1, "[OutOfMemory]");
	device = name(0, "Device");
	mem_name = name(0, "Bytes");
	load = name(0, "load");
	late = name(0, "late");
	object = name(0, "Generator");
	comm = name(0, "record_param_comms");
	comm_key = name(0, "Collective name");
	axes = name(0, "axes");
	relu = name(2, "aten::relu");
	add = name(2, "aten::add");
	dnn = name(3, "dnn");
	cap_entry(XSPROF_ENTRY_MAP, 0, 0, lib, strlen(lib));
	cap_entry(XSPROF_ENTRY_MAP, 0, 0, program, strlen(program));
	cap_entry(XSPROF_ENTRY_STACK, 1, 0, frames, sizeof(frames));
	fact("exe=/usr/bin/train");
	fact("env.RANK=3");
	fact("env.WORLD_SIZE=8");
	cap_arena(0);
	cap_thread(0, MAIN, "train");
	cap_ring_open(&r, 0, 0, 4096);

	cap_event(&r, T(10), XSPROF_REC_STEP, MAIN, step, 0, 3);
	op(&w, T(20), MAIN, user, 7, 1, -1, 0);
	put(&r, &w, false);
	op(&w, T(30), MAIN, mm, 0, 2, 9, 0);
	inputs(&w, f32, object);
	put(&r, &w, true);
	more(&w, T(30), MAIN);
	real(&w, IN(3), 1);
	arg(&w, IN(4), XSPROF_ARG_BOOL, 0, 1, "", 0);
	arg(&w, IN(5), XSPROF_ARG_I64S, 0, 0, list, sizeof(list));
	number(&w, key, (uint64_t)-4);
	put(&r, &w, true);
	more(&w, T(30), MAIN);
	string(&w, IN(6), "sum, \xe2\x82");
	arg(&w, IN(6), XSPROF_ARG_STR, XSPROF_ARGF_CONT, 0, "\xac", 1);
	string(&w, XSPROF_KEY_MODULE, "net.encoder.0");
	put(&r, &w, false);
	mem(&r, T(35), XSPROF_REC_ALLOC, MAIN, 1u << 16, 0x7f0000001000, 512, 1024);
	cap_event(&r, T(60), XSPROF_REC_END, MAIN, 0, 0, 0);
	op(&w, T(70), MAIN, cat, 0, 3, -1, 0);
	w.u.op.stack = 1;
	arg(&w, IN(0), XSPROF_ARG_LIST, 0, 2, "", 0);
	tensor(&w, ITEM(0), f32, 13, 1, sizes);
	tensor(&w, ITEM(1), f32, 14, 1, sizes);
	number(&w, IN(1), 7);
	put(&r, &w, true);
	more(&w, T(70), MAIN);
	arg(&w, IN(2), XSPROF_ARG_F64S, 0, 0, reals, 16);
	put(&r, &w, true);
	more(&w, T(70), MAIN);
	arg(&w, IN(2), XSPROF_ARG_F64S, XSPROF_ARGF_CONT, 0, reals + 2, 8);
	real(&w, key, INFINITY);
	arg(&w, axes, XSPROF_ARG_LIST, 0, 2, "", 0);
	number(&w, ITEM(0), 8);
	string(&w, ITEM(1), "x");
	put(&r, &w, false);
	cap_event(&r, T(80), XSPROF_REC_END, MAIN, 0, 0, 0);
	cap_event(&r, T(85), XSPROF_REC_END, MAIN, 0, 0, 0);
	op(&w, T(90), BACKWARD, back, 1, 4, 9, MAIN);
	put(&r, &w, false);
	cap_event(&r, T(95), XSPROF_REC_END, BACKWARD, 0, 0, 0);
	op(&w, T(96), MAIN, comm, 0, 6, -1, 0);
	string(&w, comm_key, "allreduce");
	put(&r, &w, false);
	cap_event(&r, T(97), XSPROF_REC_END, MAIN, 0, 0, 0);
	mem(&r, T(100), XSPROF_REC_FREE, MAIN, 1u << 16, 0x7f0000001000, 512, 512);
	memset(&w, 0, sizeof(w));
	w.u.rec = cap_head(T(110), XSPROF_REC_INSTANT, MAIN, oom, 0, 0);
	w.used = sizeof(w.u.rec);
	number(&w, mem_name, 1 << 30);
	arg(&w, device, XSPROF_ARG_U64, 0, 1u << 16 | 2, "", 0);
	put(&r, &w, false);
	cap_event(&r, T(115), XSPROF_REC_BEGIN, MAIN, load, 0, 0);
	more(&w, T(116), MAIN);
	string(&w, late, "came later");
	put(&r, &w, false);
	cap_event(&r, T(117), XSPROF_REC_END, MAIN, 0, 0, 0);
	cap_event(&r, T(117), XSPROF_REC_BEGIN, MAIN, relu, 0, 0);
	cap_event(&r, T(117), XSPROF_REC_BEGIN, MAIN, dnn, 0, 0);
	cap_event(&r, T(118), XSPROF_REC_END, MAIN, 0, 0, 0);
	cap_event(&r, T(119), XSPROF_REC_END, MAIN, 0, 0, 0);
	cap_event(&r, T(120), XSPROF_REC_COMPLETE, MAIN, add, 0, US);
	cap_event(&r, T(120), XSPROF_REC_STEP, MAIN, step, 0, 4);
	/* Nothing ends it. */
	op(&w, T(130), MAIN, mm, 0, 5, 10, 0);
	put(&r, &w, false);
	cap_ring_close(&r, 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, T(200));
	cap_end(T(201));
}

struct gpu_names {
	uint32_t launch, copy_call, set_call, wait_call, gemm, nccl, copy, set, wait, overhead;
	uint32_t cbid, grid, block, regs, shared, queued, external, wait_on;
	uint32_t blocks, occupancy;
};

static void gpu(struct cap_ring *r, uint64_t t, uint32_t kind, uint32_t id, uint64_t correlation,
		uint64_t start, uint64_t end, uint32_t stream, struct wide *w)
{
	memset(w, 0, sizeof(*w));
	(void)r;
	w->u.rec = cap_head(t, XSPROF_REC_GPU, MAIN + 50, id, kind, correlation);
	w->u.gpu.start = start;
	w->u.gpu.end = end;
	w->u.gpu.context = 1;
	w->u.gpu.stream = stream;
	w->used = sizeof(w->u.gpu);
}

/* A launch at @at us, and what the device does from @start to @end; written when that is over. */
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
	struct wide w;

	gpu(r, T(end), XSPROF_GPU_RUNTIME, call, correlation, T(at), T(at + 5), 0, &w);
	w.u.gpu.thread = MAIN;
	number(&w, n->cbid, 211);
	number(&w, n->external, external);
	put(r, &w, false);
	gpu(r, T(end), kind, what, correlation, T(start), T(end), stream, &w);
	if (kind == XSPROF_GPU_KERNEL) {
		number(&w, n->queued, 0);
		number(&w, n->regs, 40);
		number(&w, n->shared, 3072);
		arg(&w, n->grid, XSPROF_ARG_I64S, 0, 0, grid, sizeof(grid));
		put(r, &w, true);
		more(&w, T(end), MAIN + 50);
		arg(&w, n->block, XSPROF_ARG_I64S, 0, 0, block, sizeof(block));
		real(&w, n->blocks, 0.5);
		number(&w, n->occupancy, 25);
		/* Who does not know a number may say so: it is left out. */
		real(&w, n->cbid, INFINITY);
	} else if (kind == XSPROF_GPU_SYNC) {
		number(&w, n->wait_on, stream);
	} else {
		w.u.gpu.bytes = 1 << 20;
	}
	put(r, &w, false);
}

static void make_rank(uint32_t rank, uint32_t world)
{
	uint32_t step, mm, reduce, collective, nelems, i, k;
	struct gpu_names n;
	struct cap_ring r, g;
	char text[32];
	struct wide w;

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
				string(&w, collective, "allreduce");
				number(&w, nelems, 4096);
			}
			put(&r, &w, false);
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
	gpu(&g, T(4000), XSPROF_GPU_OVERHEAD, n.overhead, 0, T(3990), T(4000), 0, &w);
	put(&g, &w, false);
	cap_event(&r, T(4000), XSPROF_REC_STEP, MAIN, step, 0, 3);
	cap_ring_close(&r, 0);
	cap_ring_close(&g, 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, T(5000));
	cap_end(T(5001));
}

/*
 * Nothing says which op a launch belongs to but where it is: in the second of two threads that have
 * one correlation number each.
 */
static void make_inline(void)
{
	uint32_t train, mm, launch, gemm, upload, key, i;
	struct cap_ring r;
	struct wide w;

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
	memset(&w, 0, sizeof(w));
	w.u.rec = cap_head(T(11), XSPROF_REC_ASYNC_BEGIN, MAIN, upload, 0, 3);
	w.used = sizeof(w.u.rec);
	number(&w, key, 4096);
	put(&r, &w, false);
	for (i = 0; i < 2; i++) {
		op(&w, T(20 + i), MAIN + i, mm, 0, 70 + i, -1, 0);
		put(&r, &w, false);
	}
	for (i = 0; i < 2; i++) {
		gpu(&r, T(30 + i), XSPROF_GPU_DRIVER, launch, 5 + i, T(25), T(29), 0, &w);
		w.u.rec.tid = MAIN + i;
		put(&r, &w, false);
	}
	/* Inside an op a thread may say that its calls belong to another; of users' ranges not. */
	cap_event(&r, T(32), XSPROF_REC_CORR_PUSH, MAIN, 0, 0, 88);
	cap_event(&r, T(33), XSPROF_REC_CORR_PUSH, MAIN, 0, 1, 99);
	gpu(&r, T(36), XSPROF_GPU_DRIVER, launch, 7, T(34), T(35), 0, &w);
	w.u.rec.tid = MAIN;
	put(&r, &w, false);
	cap_event(&r, T(37), XSPROF_REC_CORR_POP, MAIN, 0, 1, 0);
	cap_event(&r, T(37), XSPROF_REC_CORR_POP, MAIN, 0, 0, 0);
	gpu(&r, T(39), XSPROF_GPU_DRIVER, launch, 8, T(38), T(39), 0, &w);
	w.u.rec.tid = MAIN;
	put(&r, &w, false);
	for (i = 0; i < 2; i++)
		cap_event(&r, T(40 + i), XSPROF_REC_END, MAIN + i, 0, 0, 0);
	cap_event(&r, T(45), XSPROF_REC_ASYNC_END, MAIN, upload, 0, 3);
	cap_event(&r, T(50), XSPROF_REC_END, MAIN, 0, 0, 0);
	for (i = 0; i < 2; i++) {
		gpu(&r, T(90 + i), XSPROF_GPU_KERNEL, gemm, 5 + i, T(60), T(70), 7 + i, &w);
		put(&r, &w, false);
	}
	/* Launched by nobody that is known. */
	gpu(&r, T(93), XSPROF_GPU_KERNEL, gemm, 99, T(80), T(85), 7, &w);
	put(&r, &w, false);
	cap_ring_close(&r, 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, T(200));
	cap_end(T(201));
}

static void make_hostile(void)
{
	static const char *const texts[] = {
		"\x1b]0;owned\x07", "quote\" back\\slash", "line\nfeed\ttab\r\x01\x7f",
		"bad \xff\xfe\xc0\xaf \xed\xa0\x80", "cut \xe2\x82", "{\"rank\": 7}", "\"rank\": 7",
		"Ev Idx", "External id", "",
	};
	uint32_t id[10], i, longest;
	static char big[65001];
	struct cap_ring r;
	struct wide w;

	memset(big, 2, sizeof(big) - 1);
	cap_host("hostname=\x1b[31m\"rank\": 9\xff\n");
	cap_clock(T(0), T(100000));
	cap_producer(0, MAIN, T(0));
	for (i = 0; i < 10; i++)
		id[i] = name(0, texts[i]);
	longest = name(0, big);
	fact("exe=/tmp/\x1b[31m\"\xff");
	fact("env.RANK=5\"");
	cap_entry(XSPROF_ENTRY_THREAD, MAIN, 0, "thr\x1b\"\xff\n", 7);
	cap_arena(0);
	cap_ring_open(&r, 0, 0, 4096);
	for (i = 0; i < 40; i++) {
		uint32_t n = i % 10;
		static const int64_t nothing[3];

		op(&w, T(i * 10), MAIN, i % 4 ? id[n] : longest, i == 7 ? 4000000000u : i % 12,
		   ~0ull, INT64_MAX, ~0ull);
		string(&w, id[n], texts[n]);
		real(&w, id[n], NAN);
		arg(&w, id[n], XSPROF_ARG_U64, 0, ~0ull, "", 0);
		arg(&w, id[n], XSPROF_ARG_I64, 0, -(1ull << 53) - 1, "", 0);
		arg(&w, id[n], XSPROF_ARG_PTR, 0, ~0ull, "", 0);
		/* A tensor that does not hold together, and a type that is no name. */
		arg(&w, IN(0), XSPROF_ARG_TENSOR, 0, 1, nothing, 7);
		arg(&w, IN(1), XSPROF_ARG_NONE, 0, longest, "", 0);
		arg(&w, IN(2), 77, 0, 5, "abc", 3);
		put(&r, &w, true);
		more(&w, T(i * 10), MAIN);
		arg(&w, IN(3), XSPROF_ARG_LIST, 0, ~0ull, "", 0);
		arg(&w, ITEM(0), XSPROF_ARG_BOOL, 0, 2, "", 0);
		arg(&w, IN(4), XSPROF_ARG_F64S, 0, 0, "\xff\xff\xff\xff\xff\xff\xff\xff\x01", 9);
		string(&w, XSPROF_KEY_MODULE, texts[n]);
		real(&w, IN(5), -INFINITY);
		/* Records that go on, and on, and with none. */
		put(&r, &w, true);
		cap_event(&r, T(i * 10 + 1), XSPROF_REC_ALLOC, MAIN, 0, ~0u, ~0ull);
		mem(&r, T(i * 10 + 2), XSPROF_REC_FREE, MAIN, ~0u, ~0ull, ~0ull, ~0ull);
		memset(&w, 0, sizeof(w));
		w.u.rec = cap_head(T(i * 10 + 3), XSPROF_REC_GPU, MAIN, longest, i % 9, ~0ull);
		w.u.gpu.start = i % 2 ? T(i * 10) : ~0ull;
		w.u.gpu.end = i % 3 ? 0 : ~0ull;
		w.u.gpu.device = i % 5 ? ~0u : 63;
		w.u.gpu.stream = ~0u;
		w.u.gpu.bytes = ~0ull;
		w.u.gpu.thread = ~0ull;
		w.used = sizeof(w.u.gpu);
		real(&w, id[n], INFINITY);
		put(&r, &w, i % 2);
		cap_event(&r, T(i * 10 + 4), XSPROF_REC_STEP, MAIN, i % 3 ? id[n] : longest, 0,
			  ~0ull);
		if (i % 4)
			cap_event(&r, T(i * 10 + 5), XSPROF_REC_END, MAIN, 0, 0, 0);
	}
	cap_ring_close(&r, 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, T(100000));
	cap_end(T(100001));
}

static void make_memory(uint32_t events)
{
	uint32_t ops[4], i, total[2] = { 0 };
	struct cap_ring r;
	struct wide w;

	cap_host("hostname=node-1\n");
	cap_clock(T(0), T(1000000));
	cap_producer(0, MAIN, T(0));
	ops[0] = name(0, "aten::linear");
	ops[1] = name(0, "MmBackward0");
	ops[2] = name(0, "Optimizer.step#Adam.step");
	ops[3] = name(0, "aten::empty");
	cap_arena(0);
	cap_thread(0, MAIN, "train");
	cap_ring_open(&r, 0, 0, 4096);
	for (i = 0; i < events; i++) {
		uint32_t k = i % 4, device = i / 4 % 2, bytes = 256 * (i % 7 + 1);
		uint64_t t = 100 + i * 10ull, at = 0x7f0000000000 + i * 0x1000ull;

		op(&w, T(t), MAIN, ops[k], k == 1 ? 1 : k == 2 ? 7 : 0, i + 1,
		   k == 0 ? (int64_t)i : -1, 0);
		put(&r, &w, false);
		total[device] += bytes;
		mem(&r, T(t + 1), XSPROF_REC_ALLOC, MAIN, 1u << 16 | device, at, bytes,
		    total[device]);
		/* What the last of them takes is given back inside it. */
		if (k == 3) {
			total[device] -= bytes;
			mem(&r, T(t + 2), XSPROF_REC_FREE, MAIN, 1u << 16 | device, at, bytes,
			    total[device]);
		}
		cap_event(&r, T(t + 5), XSPROF_REC_END, MAIN, 0, 0, 0);
	}
	cap_ring_close(&r, 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, T(200 + events * 10));
	cap_end(T(201 + events * 10));
}

static void make_many(uint32_t ops)
{
	uint32_t f32, mm, object, i;
	struct cap_ring r;
	struct wide w;

	cap_host("hostname=node-1\n");
	cap_clock(T(0), T(1000) + ops * 1000ull);
	cap_producer(0, MAIN, T(0));
	f32 = name(0, "float");
	mm = name(0, "aten::mm");
	object = name(0, "Generator");
	cap_arena(0);
	cap_ring_open(&r, 0, 0, 16384);
	for (i = 0; i < ops; i++) {
		op(&w, T(0) + i * 1000ull, MAIN, mm, 0, i + 1, i, 0);
		inputs(&w, f32, object);
		put(&r, &w, false);
		cap_event(&r, T(0) + i * 1000ull + 500, XSPROF_REC_END, MAIN, 0, 0, 0);
	}
	cap_ring_close(&r, 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, T(0) + ops * 1000ull);
	cap_end(T(1) + ops * 1000ull);
}

/* The clocks were compared in its last of a thousand milliseconds only. */
static void make_late(void)
{
	struct cap_ring r;

	cap_host("hostname=node-1\n");
	cap_clock(T(999000), T(1000000));
	cap_producer(0, MAIN, T(0));
	cap_arena(0);
	cap_ring_open(&r, 0, 0, 16384);
	for (uint32_t i = 0; i < 1000; i++) {
		cap_event(&r, T(1000 * i), XSPROF_REC_BEGIN, MAIN, 0, 0, 0);
		cap_event(&r, T(1000 * i + 1), XSPROF_REC_END, MAIN, 0, 0, 0);
	}
	cap_ring_close(&r, 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, T(1000000));
	cap_end(T(1000000));
}

int main(int argc, char **argv)
{
	const char *kind = argc > 2 ? argv[1] : "";
	uint32_t n = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 0;

	if (argc > 2)
		cap_open(argv[2]);
	if (!strcmp(kind, "ops") && argc == 3) {
		make_ops();
	} else if (!strcmp(kind, "inline") && argc == 3) {
		make_inline();
	} else if (!strcmp(kind, "late") && argc == 3) {
		make_late();
	} else if (!strcmp(kind, "hostile") && argc == 3) {
		make_hostile();
	} else if (!strcmp(kind, "rank") && argc == 5) {
		make_rank(n, (uint32_t)strtoul(argv[4], NULL, 10));
	} else if (!strcmp(kind, "memory") && argc == 4) {
		make_memory(n);
	} else if (!strcmp(kind, "many") && argc == 4) {
		make_many(n);
	} else {
		fprintf(stderr, "usage: kineto-capture ops|inline|late|hostile FILE, "
			"memory|many FILE N, "
			"rank FILE RANK WORLD\n");
		return 2;
	}
	cap_close();
	return 0;
}
