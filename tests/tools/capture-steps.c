// SPDX-License-Identifier: GPL-2.0-only
/*
 * The capture of a training: see capture.h.
 */
#include <string.h>

#include "tools/capture.h"

enum { CONV = 1, ADD, NODE, INNER, SGD, ADAM, LOAD, GLOO, REDUCE, EPOCH, STEP, PAUSE };

/* Times in us since the start of the capture. */
struct mark {
	uint32_t	at;
	uint8_t		type;
	uint32_t	name;
	uint64_t	value;
};

#define PYTORCH		(1u << XSPROF_NAME_SHIFT)
#define PYTHON		(2u << XSPROF_NAME_SHIFT)
#define B(at, name)	{ at, XSPROF_REC_BEGIN, PYTORCH | (name), 0 }
#define U(at, name)	{ at, XSPROF_REC_BEGIN, name, 0 }	/* no op */
#define E(at)		{ at, XSPROF_REC_END, 0, 0 }
#define S(at, number)	{ at, XSPROF_REC_STEP, STEP, number }

static const struct mark trainer[] = {
	/* The time before the first batch is in no step. */
	B(1, CONV), E(3),
	/* A step from 10 to 60. */
	U(10, LOAD), B(11, ADD), E(13), E(15),
	B(20, CONV), U(22, EPOCH), E(24), E(30),
	B(40, NODE), B(44, REDUCE), E(47), E(50),
	U(52, SGD), B(53, ADD), E(55), E(60),
	/* To 100: an optimizer inside another of its kind, and a different one. */
	B(62, CONV), E(72), U(80, EPOCH), B(82, ADD), E(85), E(90), U(91, ADAM), E(92),
	U(92, SGD), U(93, SGD), E(98), E(100),
	/* Steps to 120 and to 140. */
	B(105, CONV), E(115), U(116, SGD), E(120),
	B(125, CONV), E(135), U(136, SGD), E(140),
	/* To 340. */
	B(150, CONV), E(330), U(332, SGD), E(340),
	/* In the next step the end of its optimizer is lost. */
	B(345, CONV), E(350), U(356, SGD),
};

static const struct mark trainer_after_loss[] = {
	/* Steps to 400 and 420. Then an optimizer without an end. */
	B(370, CONV), E(380), U(396, SGD), E(400), B(405, CONV), E(415), U(416, SGD), E(420),
	U(430, SGD),
};

/* The backward pass of thread 100, from 32 to 38: the op inside the node names that thread. */
static const struct mark device[] = {
	B(32, NODE), B(32, INNER), E(37), E(38), U(75, GLOO), E(79),
};

static const struct mark told[] = {
	S(10, 7), B(12, CONV), E(20), S(30, 8), S(70, 9), U(72, SGD), E(75),
};

static void put_node(struct cap_ring *ring, uint32_t tid, const struct mark *mark)
{
	struct xsprof_rec_op op = { .sequence = -1, .forward_thread = 100 };

	op.rec = cap_head(T(mark->at), XSPROF_REC_OP, tid, mark->name, 0, 0);
	cap_record(ring, &op, 2);
}

static void put(struct cap_ring *ring, uint32_t tid, const struct mark *marks, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (tid == 101 && marks[i].name == (PYTORCH | INNER))
			put_node(ring, tid, &marks[i]);
		else
			cap_event(ring, T(marks[i].at), marks[i].type, tid, marks[i].name, 0,
			  marks[i].value);
}

#define PUT(ring, tid, marks)	put(ring, tid, marks, sizeof(marks) / sizeof((marks)[0]))

void cap_make_steps(void)
{
	static const char *const texts[] = {
		[CONV] = "aten::conv2d", [ADD] = "aten::add_",
		[NODE] = "autograd::engine::evaluate_function: ConvolutionBackward0",
		[INNER] = "ConvolutionBackward0",
		[SGD] = "Optimizer.step#SGD.step", [ADAM] = "Optimizer.step#Adam.step",
		[LOAD] = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
		[GLOO] = "gloo:all_reduce", [REDUCE] = "c10d::allreduce_", [EPOCH] = "epoch",
		[STEP] = "ProfilerStep",
	};
	struct cap_ring r[3];

	cap_host("hostname=steps\n");
	cap_clock(T(0), T(10000000));
	for (uint32_t k = 0; k < 2; k++) {
		cap_producer(k, 100 + 2 * k, T(0));
		cap_entry(XSPROF_ENTRY_CATEGORY, 1, 0, "PyTorch", 7);
		for (uint32_t i = CONV; i <= STEP; i++) {
			cap_name(0, i, texts[i]);
			cap_name(1, i, texts[i]);
		}
		cap_arena(k);
		cap_thread(k, 100 + 2 * k, k ? "told" : "trainer");
	}
	for (uint32_t k = 0; k < 3; k++)
		cap_ring_open(&r[k], k / 2, k, 64);
	PUT(&r[0], 100, trainer);
	cap_ring_flush(&r[0]);
	r[0].pos += 5;
	PUT(&r[0], 100, trainer_after_loss);
	PUT(&r[1], 101, device);
	PUT(&r[2], 102, told);
	for (uint32_t k = 0; k < 3; k++)
		cap_ring_close(&r[k], 0);
	cap_exit(0, XSPROF_HOW_KILLED, 9, T(440));
	cap_exit(1, XSPROF_HOW_EXITED, 0, T(440));
	cap_end(T(450));
}

/*
 * Optimizers step in nodes of the backward pass: on the thread itself, and for thread 110 on
 * another thread. Thread 130 also steps one outside of it.
 */
static void put_pass(struct cap_ring *ring, uint32_t at, uint32_t tid, uint32_t forward)
{
	struct xsprof_rec_op op = { .sequence = -1, .forward_thread = forward };

	for (uint32_t i = 0; i < 4; i++) {
		cap_event(ring, T(at + 10 * i), XSPROF_REC_BEGIN, tid, PYTORCH | NODE, 0, 0);
		op.rec = cap_head(T(at + 10 * i), XSPROF_REC_OP, tid, PYTORCH | INNER, 0, 0);
		cap_record(ring, &op, 2);
		cap_event(ring, T(at + 10 * i + 2), XSPROF_REC_END, tid, 0, 0, 0);
		cap_event(ring, T(at + 10 * i + 3), XSPROF_REC_BEGIN, tid, SGD, 0, 0);
		cap_event(ring, T(at + 10 * i + 6), XSPROF_REC_END, tid, 0, 0, 0);
		cap_event(ring, T(at + 10 * i + 7), XSPROF_REC_END, tid, 0, 0, 0);
		/* No node is open, and the pass is not over. */
		cap_event(ring, T(at + 10 * i + 8), XSPROF_REC_BEGIN, tid, PYTHON | PAUSE, 0, 0);
		cap_event(ring, T(at + 10 * i + 9), XSPROF_REC_END, tid, 0, 0, 0);
	}
}

static void put_op(struct cap_ring *ring, uint32_t at, uint32_t tid, uint32_t name)
{
	cap_event(ring, T(at), XSPROF_REC_BEGIN, tid, name, 0, 0);
	cap_event(ring, T(at + 20), XSPROF_REC_END, tid, 0, 0, 0);
}

void cap_make_passes(void)
{
	struct cap_ring r[4];

	cap_host("hostname=passes\n");
	cap_clock(T(0), T(10000));
	cap_producer(0, 100, T(0));
	cap_entry(XSPROF_ENTRY_CATEGORY, 1, 0, "PyTorch", 7);
	cap_entry(XSPROF_ENTRY_CATEGORY, 2, 0, "python", 6);
	cap_name(0, CONV, "aten::conv2d");
	cap_name(0, NODE, "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad");
	cap_name(0, INNER, "torch::autograd::AccumulateGrad");
	cap_name(0, SGD, "Optimizer.step#SGD.step");
	cap_name(0, ADAM, "Optimizer.step#Adam.step");
	cap_name(2, PAUSE, "garbage collection");
	cap_arena(0);
	for (uint32_t k = 0; k < 4; k++)
		cap_ring_open(&r[k], 0, k, 64);
	for (uint32_t i = 0; i < 4; i++) {
		for (uint32_t k = 0; k < 4; k++)
			if (k != 2)
				put_op(&r[k], 100 * i, 100 + 10 * k, PYTORCH | CONV);
		put_pass(&r[0], 100 * i + 30, 100, 100);
		put_pass(&r[2], 100 * i + 30, 111, 110);
		put_pass(&r[3], 100 * i + 30, 130, 130);
		put_op(&r[3], 100 * i + 70, 130, ADAM);
	}
	for (uint32_t k = 0; k < 4; k++)
		cap_ring_close(&r[k], 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, T(400));
	cap_end(T(410));
}

/* Steps of 100 us; during a fourth the markers were off for the end of one. */
void cap_make_switched(void)
{
	struct cap_ring r;

	cap_host("hostname=switched\n");
	cap_clock(T(0), T(10000));
	cap_producer(0, 100, T(0));
	cap_name(0, SGD, "Optimizer.step#SGD.step");
	cap_arena(0);
	cap_ring_open(&r, 0, 0, 64);
	for (uint32_t i = 0; i < 8; i++) {
		if (i == 4) {
			cap_event(&r, T(350), XSPROF_REC_CONTROL, 100, 0, XSPROF_CONTROL_ENABLE, 0);
			cap_event(&r, T(450), XSPROF_REC_CONTROL, 100, 0, XSPROF_CONTROL_ENABLE, 1);
			continue;
		}
		cap_event(&r, T(100 * i), XSPROF_REC_BEGIN, 100, SGD, 0, 0);
		cap_event(&r, T(100 * i + 10), XSPROF_REC_END, 100, 0, 0, 0);
	}
	cap_ring_close(&r, 0);
	cap_exit(0, XSPROF_HOW_EXITED, 0, T(800));
	cap_end(T(801));
}

/* Four steps of 100 us, counted by the program, and a fifth that hangs until it is killed. */
void cap_make_hung(void)
{
	struct cap_ring r;

	cap_host("hostname=hung\n");
	cap_clock(T(0), T(10000));
	cap_producer(0, 100, T(0));
	cap_name(0, STEP, "train");
	cap_arena(0);
	cap_ring_open(&r, 0, 0, 64);
	for (uint32_t i = 0; i < 5; i++)
		cap_event(&r, T(100 * i), XSPROF_REC_STEP, 100, STEP, 0, 1 + i);
	cap_ring_close(&r, 0);
	cap_exit(0, XSPROF_HOW_KILLED, 9, T(1300));
	cap_end(T(1301));
}
