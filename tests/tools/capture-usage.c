// SPDX-License-Identifier: GPL-2.0-only
/*
 * The capture for what ranges allocate and compute: see capture.h.
 */
#include <stdio.h>
#include <string.h>

#include "tools/capture-wide.h"

enum { STEP = 1, MM, EMPTY, COPY, ADD, LOSSY, WHOLE, TAIL, OOM, BYTES, ALLOCATED, RESERVED, DEVICE,
       MODULE, LINE, OTHER };

#define GPU	(1u << 16)

static const char *const texts[] = {
	[STEP] = "step", [MM] = "aten::mm", [EMPTY] = "aten::empty", [COPY] = "aten::copy_",
	[ADD] = "aten::add.Tensor", [LOSSY] = "lossy", [WHOLE] = "whole", [TAIL] = "tail",
	[OOM] = "[OutOfMemory]", [BYTES] = "Bytes", [ALLOCATED] = "Total Allocated",
	[RESERVED] = "Total Reserved", [DEVICE] = "Device", [MODULE] = "Net.stem",
	[LINE] = "train.py(12): Net.forward", [OTHER] = "other",
};

#define OTHER_ID	(1u << XSPROF_NAME_SHIFT | OTHER)

static void put_number(struct cap_wide *w, uint32_t key, uint64_t value)
{
	cap_wide_value(w, key, XSPROF_ARG_U64, value);
}

/* Input @place is a tensor of two dimensions, or of one if @b is 0. */
static void put_tensor(struct cap_wide *w, uint32_t place, uint32_t a, uint32_t b)
{
	struct {
		struct xsprof_arg		arg;
		struct xsprof_tensor_arg	tensor;
		uint32_t			sizes[4];
	} in = {
		.arg = { .key = XSPROF_KEY_INPUT + place, .type = XSPROF_ARG_TENSOR,
			 .len = sizeof(in.tensor) + (b ? 8 : 4) },
		.tensor = { .ndim = b ? 2 : 1, .stored = b ? 2 : 1,
			    .flags = XSPROF_TENSORF_SIZES },
		.sizes = { a, b },
	};

	cap_wide_bytes(w, &in, sizeof(in));
}

static void op(struct cap_wide *w, uint64_t t, uint32_t tid, uint32_t name, bool more)
{
	cap_wide_op(w, t, tid, name, 0, 0);
	w->u.rec.size = more ? XSPROF_RECF_MORE << 4 : 0;
}

static void mem(struct cap_ring *r, uint64_t t, uint32_t tid, uint32_t device, int64_t bytes,
		uint64_t total)
{
	struct xsprof_rec_mem rec = {
		.rec = cap_head(t, bytes < 0 ? XSPROF_REC_FREE : XSPROF_REC_ALLOC, tid, 0, device,
				t),
		.bytes = (uint64_t)(bytes < 0 ? -bytes : bytes), .total_allocated = total,
	};

	cap_record(r, &rec, 2);
}

static void begin(struct cap_ring *r, uint64_t t, uint32_t tid, uint32_t name)
{
	cap_event(r, t, XSPROF_REC_BEGIN, tid, name, 0, 0);
}

static void end(struct cap_ring *r, uint64_t t, uint32_t tid)
{
	cap_event(r, t, XSPROF_REC_END, tid, 0, 0, 0);
}

/* A step with ops in it, one of them on another device; the inputs of one come in two records. */
static void first_step(struct cap_ring *r, struct cap_wide *w)
{
	begin(r, T(10), 200, STEP);
	op(w, T(12), 200, MM, true);
	put_tensor(w, 0, 2, 3);
	cap_wide_put(r, w, false);
	cap_wide_args(w, T(12), 200);
	put_tensor(w, 1, 3, 4);
	cap_wide_put(r, w, false);
	op(w, T(13), 200, EMPTY, false);
	cap_wide_put(r, w, false);
	mem(r, T(14), 200, 0, 400, 430);
	end(r, T(15), 200);
	mem(r, T(16), 200, GPU, 1000, 1000);
	end(r, T(17), 200);
	mem(r, T(18), 200, 0, 100, 570);
	mem(r, T(20), 200, 0, -400, 170);
	end(r, T(22), 200);
}

/* An op inside another of its name; allocations in no range; and ranges that a switch cuts. */
static void nested(struct cap_ring *r, struct cap_wide *w)
{
	op(w, T(30), 200, COPY, false);
	cap_wide_put(r, w, false);
	mem(r, T(31), 200, 0, 50, 220);
	op(w, T(32), 200, COPY, false);
	cap_wide_put(r, w, false);
	mem(r, T(33), 200, 0, 70, 290);
	end(r, T(34), 200);
	end(r, T(35), 200);
	mem(r, T(36), 200, 0, 8, 298);
	mem(r, T(37), 200, 0, -8, 290);
	mem(r, T(38), 200, 0, 8, 298);
	begin(r, T(39), 200, TAIL);
	begin(r, T(40), 200, OTHER_ID);
	mem(r, T(41), 200, 0, 5, 303);
	begin(r, T(42), 200, STEP);
	mem(r, T(43), 200, 0, 6, 309);
	cap_event(r, T(44), XSPROF_REC_CONTROL, 200, 0, XSPROF_CONTROL_ENABLE, 1);
	mem(r, T(45), 200, 0, 7, 316);
	end(r, T(46), 200);
	mem(r, T(47), 200, 0, 9, 325);
	/* The end of the cut range, then that of the range around it. */
	end(r, T(48), 200);
	end(r, T(49), 200);
	mem(r, T(50), 200, 0, 3, 328);
	cap_event(r, T(52), XSPROF_REC_COMPLETE, 200, WHOLE, 0, 3 * US);
}

static void out_of_memory(struct cap_ring *r, struct cap_wide *w, uint64_t t, uint32_t device)
{
	cap_wide(w, t, XSPROF_REC_INSTANT, 200, OOM, 0, 0);
	put_number(w, BYTES, 1u << 20);
	put_number(w, ALLOCATED, 1000);
	put_number(w, RESERVED, device ? 3000 : 0);
	put_number(w, DEVICE, device);
	cap_wide_put(r, w, false);
}

/* Missing inputs, inputs that never come, and arguments that are no inputs. */
static void inputs(struct cap_ring *r, struct cap_wide *w)
{
	op(w, T(64), 200, MM, false);
	cap_wide_put(r, w, false);
	end(r, T(65), 200);
	op(w, T(66), 200, MM, true);
	put_tensor(w, 0, 2, 3);
	cap_wide_put(r, w, false);
	end(r, T(67), 200);
	op(w, T(68), 200, ADD, false);
	put_tensor(w, 0, 5, 0);
	cap_wide_value(w, XSPROF_KEY_MODULE, XSPROF_ARG_NAME, MODULE);
	cap_wide_value(w, XSPROF_KEY_LINE, XSPROF_ARG_NAME, LINE);
	cap_wide_put(r, w, false);
	cap_wide_args(w, T(69), 200);
	put_tensor(w, 0, 7, 0);
	cap_wide_value(w, XSPROF_KEY_LINE, XSPROF_ARG_NAME, STEP);
	cap_wide_put(r, w, false);
	end(r, T(70), 200);
}

/*
 * Allocations across a loss; and an op whose inputs after the loss may belong to another op. No
 * other thread has anything open then.
 */
static void lossy(struct cap_ring *r, struct cap_wide *w)
{
	begin(r, T(3), 201, LOSSY);
	mem(r, T(4), 201, 0, 30, 30);
	cap_event(r, T(5), XSPROF_REC_LOST, 201, 0, 0, 1);
	mem(r, T(15), 201, 0, 40, 470);
	end(r, T(21), 201);
	op(w, T(26), 201, MM, true);
	put_tensor(w, 0, 2, 3);
	cap_wide_put(r, w, false);
	cap_event(r, T(27), XSPROF_REC_LOST, 201, 0, 0, 2);
	cap_wide_args(w, T(28), 201);
	put_tensor(w, 1, 3, 4);
	cap_wide_put(r, w, false);
	end(r, T(29), 201);
}

void cap_make_usage(void)
{
	struct cap_ring r[4], kernel;
	struct cap_wide w;

	cap_host("hostname=usage\n");
	cap_clock(T(0), T(10000000));
	for (uint32_t k = 0; k < 2; k++) {
		cap_producer(k, 200 + 10 * k, T(0));
		cap_entry(XSPROF_ENTRY_CATEGORY, 1, 0, "switched", 8);
		for (uint32_t i = STEP; i < OTHER; i++)
			cap_name(0, i, texts[i]);
		cap_name(1, OTHER, texts[OTHER]);
		cap_arena(k);
	}
	for (uint32_t k = 0; k < 4; k++)
		cap_ring_open(&r[k], k / 3, k, 64);
	first_step(&r[0], &w);
	nested(&r[0], &w);
	op(&w, T(60), 200, EMPTY, false);
	cap_wide_put(&r[0], &w, false);
	out_of_memory(&r[0], &w, T(61), GPU);
	end(&r[0], T(62), 200);
	inputs(&r[0], &w);
	out_of_memory(&r[0], &w, T(71), 0);
	lossy(&r[1], &w);
	/* Steps in parallel with another thread's: one from 470 to 570, the next after the peak. */
	begin(&r[2], T(17), 202, STEP);
	end(&r[2], T(19), 202);
	begin(&r[2], T(21), 202, STEP);
	end(&r[2], T(25), 202);
	/* An op that another thread's switch cuts before all of its inputs have come. */
	op(&w, T(43), 202, OTHER_ID, true);
	put_tensor(&w, 0, 2, 3);
	cap_wide_put(&r[2], &w, false);
	cap_wide_args(&w, T(45), 202);
	put_tensor(&w, 1, 3, 4);
	cap_wide_put(&r[2], &w, false);
	end(&r[2], T(46), 202);
	/* An allocator that does not report its total, in an op without an end. */
	op(&w, T(50), 210, TAIL, true);
	cap_wide_value(&w, XSPROF_KEY_LINE, XSPROF_ARG_NAME, LINE);
	cap_wide_put(&r[3], &w, false);
	cap_wide_args(&w, T(50), 210);
	cap_wide_value(&w, XSPROF_KEY_MODULE, XSPROF_ARG_NAME, MODULE);
	cap_wide_put(&r[3], &w, false);
	mem(&r[3], T(51), 210, 0, 11, 0);
	for (uint32_t k = 0; k < 4; k++)
		cap_ring_close(&r[k], k == 1 ? 2 : 0);
	cap_ring_open(&kernel, 0, 6, 64);
	cap_event(&kernel, T(0), XSPROF_REC_SCHED_IN, 200, 0, 0, 0);
	cap_ring_close(&kernel, 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, T(100));
	cap_exit(1, XSPROF_HOW_KILLED, 9, T(101));
	cap_end(T(102));
}

/*
 * Ranges of @names names, with an op in each: in Net.stem and Net.m0 in turn, if there is one
 * module; otherwise each in one of @modules modules, repeatedly.
 */
void cap_make_modules(uint32_t names, uint32_t modules)
{
	const uint32_t first = 100;
	struct cap_wide w;
	struct cap_ring r;
	uint64_t t = T(1);
	char text[40];

	cap_host("hostname=modules\n");
	cap_clock(T(0), T(0) + names * 4000ull + 1000000);
	cap_producer(0, 100, T(0));
	cap_name(0, MM, texts[MM]);
	cap_name(0, MODULE, texts[MODULE]);
	for (uint32_t i = 0; i < names + modules; i++) {
		snprintf(text, sizeof(text), i < names ? "sample %x" : "Net.m%u",
			 i < names ? i : i - names);
		cap_name(0, first + i, text);
		if (!(i % 1000))
			cap_arena(0);
	}
	cap_arena(0);
	cap_ring_open(&r, 0, 0, 4096);
	for (uint32_t i = 0; i < names; i++) {
		uint32_t module = first + names + i % modules;

		begin(&r, t, 100, first + i);
		op(&w, t + 1000, 100, MM, true);
		cap_wide_value(&w, XSPROF_KEY_MODULE, XSPROF_ARG_NAME,
			  modules == 1 && i % 2 ? MODULE : module);
		cap_wide_put(&r, &w, false);
		cap_wide_args(&w, t + 1000, 100);
		put_tensor(&w, 0, 2, 3);
		cap_wide_put(&r, &w, false);
		end(&r, t + 2000, 100);
		end(&r, t + 3000, 100);
		t += 4000;
	}
	cap_ring_close(&r, 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, t);
	cap_end(t + 1000);
}
