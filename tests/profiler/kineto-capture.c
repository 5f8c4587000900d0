// SPDX-License-Identifier: GPL-2.0-only
/*
 * Generates captures for the tests of result files, byte by byte, from the headers.
 *
 *	kineto-capture ops FILE			ops of every kind on two threads, memory, steps
 *	kineto-capture rank FILE RANK WORLD	a rank of a job with a GPU: three steps
 *	kineto-capture inline FILE		launches that their own threads wrote down
 *	kineto-capture hostile FILE		ops with unusual names and values
 *	kineto-capture memory FILE N		N allocations and frees on two devices, inside ops
 *	kineto-capture many FILE N		N ops with inputs
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/kineto-capture.h"

#define BACKWARD	501u

static uint32_t names_nr;

uint32_t name(uint32_t category, const char *text)
{
	return cap_name(category, ++names_nr, text);
}

void number(struct cap_wide *w, uint32_t key, uint64_t value)
{
	cap_wide_value(w, key, XSPROF_ARG_I64, value);
}

void real(struct cap_wide *w, uint32_t key, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	cap_wide_value(w, key, XSPROF_ARG_F64, bits);
}

/* Sizes, and the strides of contiguous memory. */
static void tensor(struct cap_wide *w, uint32_t key, uint32_t dtype, uint64_t id, uint32_t ndim,
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
	cap_wide_arg(w, key, XSPROF_ARG_TENSOR, 0, id, data, sizeof(t) + 24 + 8 * (size_t)ndim);
}

void op(struct cap_wide *w, uint64_t t, uint32_t tid, uint32_t id, uint32_t scope,
	uint64_t rf, int64_t sequence, uint64_t forward)
{
	cap_wide_op(w, t, tid, id, scope, rf);
	w->u.op.sequence = sequence;
	w->u.op.forward_thread = forward;
	w->u.op.correlation = rf;
}

static void mem(struct cap_ring *r, uint64_t t, uint8_t type, uint32_t tid, uint32_t device,
		uint64_t address, uint64_t bytes, uint64_t total)
{
	struct cap_wide w;

	cap_wide(&w, t, type, tid, 0, device, address);
	w.used = sizeof(w.u.mem);
	w.u.mem.bytes = bytes;
	w.u.mem.total_allocated = total;
	w.u.mem.total_reserved = 1 << 21;
	cap_wide_put(r, &w, false);
}

void fact(const char *text)
{
	cap_entry(XSPROF_ENTRY_FACT, 0, 0, text, strlen(text));
}

#define IN(i)	(XSPROF_KEY_INPUT + (i))
#define ITEM(i)	(XSPROF_KEY_ITEM + (i))

static void inputs(struct cap_wide *w, uint32_t dtype, uint32_t object)
{
	static const uint32_t a[] = { 2, 3 }, b[] = { 3, 4 };

	tensor(w, IN(0), dtype, 11, 2, a);
	tensor(w, IN(1), dtype, 12, 2, b);
	cap_wide_value(w, IN(2), XSPROF_ARG_NONE, object);
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
	struct cap_wide w;

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
	cap_wide_put(&r, &w, false);
	op(&w, T(30), MAIN, mm, 0, 2, 9, 0);
	inputs(&w, f32, object);
	cap_wide_put(&r, &w, true);
	cap_wide_args(&w, T(30), MAIN);
	real(&w, IN(3), 1);
	cap_wide_value(&w, IN(4), XSPROF_ARG_BOOL, 1);
	cap_wide_arg(&w, IN(5), XSPROF_ARG_I64S, 0, 0, list, sizeof(list));
	number(&w, key, (uint64_t)-4);
	cap_wide_put(&r, &w, true);
	cap_wide_args(&w, T(30), MAIN);
	cap_wide_str(&w, IN(6), 0, "sum, \xe2\x82");
	cap_wide_arg(&w, IN(6), XSPROF_ARG_STR, XSPROF_ARGF_CONT, 0, "\xac", 1);
	cap_wide_str(&w, XSPROF_KEY_MODULE, 0, "net.encoder.0");
	cap_wide_put(&r, &w, false);
	mem(&r, T(35), XSPROF_REC_ALLOC, MAIN, 1u << 16, 0x7f0000001000, 512, 1024);
	cap_event(&r, T(60), XSPROF_REC_END, MAIN, 0, 0, 0);
	op(&w, T(70), MAIN, cat, 0, 3, -1, 0);
	w.u.op.stack = 1;
	cap_wide_value(&w, IN(0), XSPROF_ARG_LIST, 2);
	tensor(&w, ITEM(0), f32, 13, 1, sizes);
	tensor(&w, ITEM(1), f32, 14, 1, sizes);
	number(&w, IN(1), 7);
	cap_wide_put(&r, &w, true);
	cap_wide_args(&w, T(70), MAIN);
	cap_wide_arg(&w, IN(2), XSPROF_ARG_F64S, 0, 0, reals, 16);
	cap_wide_put(&r, &w, true);
	cap_wide_args(&w, T(70), MAIN);
	cap_wide_arg(&w, IN(2), XSPROF_ARG_F64S, XSPROF_ARGF_CONT, 0, reals + 2, 8);
	real(&w, key, INFINITY);
	cap_wide_value(&w, axes, XSPROF_ARG_LIST, 2);
	number(&w, ITEM(0), 8);
	cap_wide_str(&w, ITEM(1), 0, "x");
	cap_wide_put(&r, &w, false);
	cap_event(&r, T(80), XSPROF_REC_END, MAIN, 0, 0, 0);
	cap_event(&r, T(85), XSPROF_REC_END, MAIN, 0, 0, 0);
	op(&w, T(90), BACKWARD, back, 1, 4, 9, MAIN);
	cap_wide_put(&r, &w, false);
	cap_event(&r, T(95), XSPROF_REC_END, BACKWARD, 0, 0, 0);
	op(&w, T(96), MAIN, comm, 0, 6, -1, 0);
	cap_wide_str(&w, comm_key, 0, "allreduce");
	cap_wide_put(&r, &w, false);
	cap_event(&r, T(97), XSPROF_REC_END, MAIN, 0, 0, 0);
	mem(&r, T(100), XSPROF_REC_FREE, MAIN, 1u << 16, 0x7f0000001000, 512, 512);
	cap_wide(&w, T(110), XSPROF_REC_INSTANT, MAIN, oom, 0, 0);
	number(&w, mem_name, 1 << 30);
	cap_wide_value(&w, device, XSPROF_ARG_U64, 1u << 16 | 2);
	cap_wide_put(&r, &w, false);
	cap_event(&r, T(115), XSPROF_REC_BEGIN, MAIN, load, 0, 0);
	cap_wide_args(&w, T(116), MAIN);
	cap_wide_str(&w, late, 0, "came later");
	cap_wide_put(&r, &w, false);
	cap_event(&r, T(117), XSPROF_REC_END, MAIN, 0, 0, 0);
	cap_event(&r, T(117), XSPROF_REC_BEGIN, MAIN, relu, 0, 0);
	cap_event(&r, T(117), XSPROF_REC_BEGIN, MAIN, dnn, 0, 0);
	cap_event(&r, T(118), XSPROF_REC_END, MAIN, 0, 0, 0);
	cap_event(&r, T(119), XSPROF_REC_END, MAIN, 0, 0, 0);
	cap_event(&r, T(120), XSPROF_REC_COMPLETE, MAIN, add, 0, US);
	cap_event(&r, T(120), XSPROF_REC_STEP, MAIN, step, 0, 4);
	/* It has no end. */
	op(&w, T(130), MAIN, mm, 0, 5, 10, 0);
	cap_wide_put(&r, &w, false);
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
	struct cap_wide w;

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
		cap_wide_str(&w, id[n], 0, texts[n]);
		real(&w, id[n], NAN);
		cap_wide_value(&w, id[n], XSPROF_ARG_U64, ~0ull);
		cap_wide_value(&w, id[n], XSPROF_ARG_I64, -(1ull << 53) - 1);
		cap_wide_value(&w, id[n], XSPROF_ARG_PTR, ~0ull);
		/* An inconsistent tensor, and a type id that is no name. */
		cap_wide_arg(&w, IN(0), XSPROF_ARG_TENSOR, 0, 1, nothing, 7);
		cap_wide_value(&w, IN(1), XSPROF_ARG_NONE, longest);
		cap_wide_arg(&w, IN(2), 77, 0, 5, "abc", 3);
		cap_wide_put(&r, &w, true);
		cap_wide_args(&w, T(i * 10), MAIN);
		cap_wide_value(&w, IN(3), XSPROF_ARG_LIST, ~0ull);
		cap_wide_value(&w, ITEM(0), XSPROF_ARG_BOOL, 2);
		cap_wide_arg(&w, IN(4), XSPROF_ARG_F64S, 0, 0,
			     "\xff\xff\xff\xff\xff\xff\xff\xff\x01", 9);
		cap_wide_str(&w, XSPROF_KEY_MODULE, 0, texts[n]);
		real(&w, IN(5), -INFINITY);
		/* Records with continuations, and continuations without a record. */
		cap_wide_put(&r, &w, true);
		cap_event(&r, T(i * 10 + 1), XSPROF_REC_ALLOC, MAIN, 0, ~0u, ~0ull);
		mem(&r, T(i * 10 + 2), XSPROF_REC_FREE, MAIN, ~0u, ~0ull, ~0ull, ~0ull);
		cap_wide(&w, T(i * 10 + 3), XSPROF_REC_GPU, MAIN, longest, i % 9, ~0ull);
		w.u.gpu.start = i % 2 ? T(i * 10) : ~0ull;
		w.u.gpu.end = i % 3 ? 0 : ~0ull;
		w.u.gpu.device = i % 5 ? ~0u : 63;
		w.u.gpu.stream = ~0u;
		w.u.gpu.bytes = ~0ull;
		w.u.gpu.thread = ~0ull;
		w.used = sizeof(w.u.gpu);
		real(&w, id[n], INFINITY);
		cap_wide_put(&r, &w, i % 2);
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
	struct cap_wide w;

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
		cap_wide_put(&r, &w, false);
		total[device] += bytes;
		mem(&r, T(t + 1), XSPROF_REC_ALLOC, MAIN, 1u << 16 | device, at, bytes,
		    total[device]);
		/* The last of these ops frees its memory before its end. */
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
	struct cap_wide w;

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
		cap_wide_put(&r, &w, false);
		cap_event(&r, T(0) + i * 1000ull + 500, XSPROF_REC_END, MAIN, 0, 0, 0);
	}
	cap_ring_close(&r, 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, T(0) + ops * 1000ull);
	cap_end(T(1) + ops * 1000ull);
}

/* The clocks were compared only in the last of its thousand milliseconds. */
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
