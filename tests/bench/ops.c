// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures the cost of a profiler op in one thread, compared with a plain marker pair: without
 * inputs, with inputs, with its stack; and compared with libkineto's own buffer of ops, if
 * BENCH_KINETO names a build of it.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <xsprof/profiler.h>

#include "bench.h"

/* With the warm-up fewer slots than a ring of 2 MiB has: an op takes 2, 9, 12 and 3 of them. */
#define OPS		30000
#define OPS_INPUTS	6000
#define OPS_STRIDES	4400
#define OPS_STACK	6000
#define OPS_KINETO	3000
#define INPUTS		4
#define FRAMES		32

static xsprof_name_t name;
static struct xsprof_op plain, with_inputs, with_strides;

static void pairs(long n)
{
	for (long i = 0; i < n; i++) {
		xsprof_begin(name);
		xsprof_end();
	}
}

static void run(struct xsprof_op *op, long n)
{
	for (long i = 0; i < n; i++) {
		op->record_function_id = (uint64_t)i + 1;
		xsprof_op_begin(op);
		xsprof_op_end();
	}
}

static void ops(long n)
{
	run(&plain, n);
}

static void ops_inputs(long n)
{
	run(&with_inputs, n);
}

static void ops_strides(long n)
{
	run(&with_strides, n);
}

static void make_ops(void)
{
	static const int64_t sizes[] = { 32, 256, 14, 14 }, strides[] = { 50176, 196, 14, 1 };
	static struct xsprof_tensor tensor[2][INPUTS];
	static struct xsprof_input input[2][INPUTS];

	name = xsprof_name("bench");
	plain = (struct xsprof_op){
		.name = xsprof_name("aten::conv2d"), .sequence = XSPROF_NO_SEQUENCE,
	};
	with_inputs = with_strides = plain;
	for (int i = 0; i < 2 * INPUTS; i++) {
		tensor[i & 1][i / 2] = (struct xsprof_tensor){
			.sizes = sizes, .strides = i & 1 ? strides : NULL, .ndim = 4,
			.dtype = xsprof_name("float"), .id = (uint64_t)i + 1, .itemsize = 4,
		};
		input[i & 1][i / 2] = (struct xsprof_input){
			.kind = XSPROF_INPUT_TENSOR, .u.tensor = &tensor[i & 1][i / 2],
		};
	}
	with_inputs.nr_inputs = with_strides.nr_inputs = INPUTS;
	with_inputs.inputs = input[0];
	with_strides.inputs = input[1];
}

/* ---- beside markers, and beside libkineto --------------------------------------------------- */

enum { COUNTER, PAIR, PLAIN, DIMS, STRIDES, KINETO, SIDES };

static struct bench_side sides[SIDES] = {
	[COUNTER] = { .fn = bench_counters, .n = OPS },
	[PAIR] = { .fn = pairs, .n = OPS, .after = session_drain },
	[PLAIN] = { .fn = ops, .n = OPS, .after = session_drain },
	[DIMS] = { .fn = ops_inputs, .n = OPS_INPUTS, .after = session_drain },
	[STRIDES] = { .fn = ops_strides, .n = OPS_STRIDES, .after = session_drain },
};

/* Return: how many sides there are. */
static int open_kineto(void (**clear)(void))
{
	const char *path = getenv("BENCH_KINETO");
	void *lib = path ? dlopen(path, RTLD_NOW) : NULL;

	if (!path)
		return KINETO;
	if (!lib) {
		fprintf(stderr, "bench: %s\n", dlerror());
		exit(1);
	}
	sides[KINETO].n = OPS_KINETO;
	sides[KINETO].fn = (void (*)(long))dlsym(lib, "kineto_ops");
	*clear = (void (*)(void))dlsym(lib, "kineto_clear");
	return SIDES;
}

static void beside(void)
{
	static const char *const ids[SIDES] = {
		"op_counter", "op_pair", "op_plain", "op_dims", "op_strides", "op_kineto",
	};
	struct bench_series ns[SIDES] = { 0 }, ratio[SIDES] = { 0 }, kineto = { 0 }, far = { 0 };
	void (*clear)(void) = NULL;
	int n = open_kineto(&clear);

	bench_run(sides, n);
	for (int r = 0; r < BENCH_RUNS; r++) {
		/* A run is a trace: the buffer grows until its end, as for libkineto's users. */
		if (clear)
			clear();
		bench_run(sides, n);
		for (int s = 0; s < n; s++) {
			bench_add(&ns[s], sides[s].ns);
			bench_add(&ratio[s], sides[s].ns / sides[PAIR].ns);
		}
		/* Where the counter is 9. */
		bench_add(&far, sides[PLAIN].ns * 9 / sides[COUNTER].ns / 154);
		if (n == SIDES)
			bench_add(&kineto, sides[PLAIN].ns / sides[KINETO].ns);
	}
	session_check_drops("ops");
	for (int s = 0; s < n; s++)
		bench_print(ids[s], "ns", &ns[s]);
	bench_print("op_ratio", "ratio", &ratio[PLAIN]);
	bench_print("op_dims_ratio", "ratio", &ratio[DIMS]);
	bench_print("op_strides_ratio", "ratio", &ratio[STRIDES]);
	bench_print("op_kineto_far", "ratio", &far);
	if (n == SIDES)
		bench_print("op_kineto_ratio", "ratio", &kineto);
	else
		bench_skip("op_kineto_ratio", "LIBKINETO names no sources of libkineto");
}

/* ---- stacks --------------------------------------------------------------------------------- */

/* Frames from here on, by frame pointers, as far as they lead up the thread's stack. */
static __attribute__((noinline)) int frames(void)
{
	void *const *frame = __builtin_frame_address(0);
	pthread_attr_t attr;
	size_t size;
	void *base;
	int n = 0;

	if (pthread_getattr_np(pthread_self(), &attr) ||
	    pthread_attr_getstack(&attr, &base, &size))
		return 0;
	pthread_attr_destroy(&attr);
	while (frame && (char *)frame <= (char *)base + size - 16 && frame[1]) {
		n++;
		if ((void *const *)frame[0] <= frame)
			break;
		frame = frame[0];
	}
	return n;
}

static int reached;

/* Ops in @more more frames. */
static __attribute__((noinline)) void deep(long n, int more)
{
	if (!reached && more <= 0)
		reached = frames();
	if (more > 0)
		deep(n, more - 1);
	else
		run(&plain, n);
	/* Not a tail call. */
	__asm__ __volatile__("" : : "r" (more) : "memory");
}

/* Always called at the same depth: fewer frames above this function mean more in deep(). */
static void deep_ops(long n)
{
	static int more = -1;

	if (more < 0)
		more = FRAMES - frames();
	deep(n, more);
}

static void drain_and_walk(void)
{
	session_drain();
	xsprof_toggle_collection(true, 0);
}

static void drain_and_rest(void)
{
	session_drain();
	xsprof_toggle_collection(false, 0);
}

static void stacks(void)
{
	static const struct xsprof_profiler_config config = {
		.size = sizeof(config), .state = XSPROF_PROFILER_KINETO, .with_stack = true,
	};
	/* The recorder wants ops but no stacks: the session wants those. */
	struct bench_side side[] = {
		{ .fn = deep_ops, .n = OPS_STACK, .after = drain_and_walk },
		{ .fn = deep_ops, .n = OPS_STACK, .after = drain_and_rest },
	};
	struct bench_series cost = { 0 };
	int err = xsprof_enable_profiler(&config, XSPROF_ACTIVITY(CPU), 0);

	if (err)
		bench_die("a session", err);
	xsprof_toggle_collection(false, 0);
	if (!bench_realtime(true))
		fprintf(stderr, "bench: no right to real-time priority: more noise\n");
	bench_run(side, 2);
	for (int r = 0; r < BENCH_RUNS; r++) {
		bench_run(side, 2);
		bench_add(&cost, side[1].ns - side[0].ns);
	}
	session_check_drops("stacks");
	if (reached < FRAMES) {
		fprintf(stderr, "bench: stacks: %d frames of %d\n", reached, FRAMES);
		exit(1);
	}
	bench_print("op_stack", "ns", &cost);
	xsprof_disable_profiler(NULL);
}

int main(int argc, char **argv)
{
	(void)argc;
	session_begin(argv);
	make_ops();
	beside();
	/* The thread that the library starts for a session has its own, ordinary priority. */
	bench_realtime(false);
	stacks();
	return 0;
}
