// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stacks of ops at their limits: under the loader's lock, and more of them than fit.
 */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <xsprof/result.h>

#include "common/tap.h"

#define DEPTH	14u		/* of calls, each one of two: 16384 stacks */
#define ROOM	12288u		/* stacks that are kept */
#define ROUNDS	2000u
#define PATIENCE 100u		/* seconds: far longer than anything here */

static const struct xsprof_experimental all = { .size = sizeof(all), .all_threads = true };
static const struct xsprof_profiler_config config = {
	.size = sizeof(config), .state = XSPROF_PROFILER_KINETO, .with_stack = true,
	.experimental = &all,
};

static struct xsprof_op op = { .sequence = XSPROF_NO_SEQUENCE };

/* Makes an op with stack number @number; the code around keeps the two calls apart. */
__attribute__((noinline)) static void op_of(unsigned int number, unsigned int depth)
{
	if (!depth) {
		xsprof_op_begin(&op);
		xsprof_op_end();
	} else if (number & 1) {
		__asm__ volatile("nop; nop" ::: "memory");
		op_of(number >> 1, depth - 1);
		__asm__ volatile("nop; nop" ::: "memory");
	} else {
		__asm__ volatile("nop" ::: "memory");
		op_of(number >> 1, depth - 1);
		__asm__ volatile("nop" ::: "memory");
	}
}

/* ---- the loader's lock ---------------------------------------------------------------------- */

static int on_object(struct dl_phdr_info *info, size_t size, void *number)
{
	char name[20];

	(void)info;
	(void)size;
	/* Meanwhile the other thread may begin an op. */
	usleep(20);
	snprintf(name, sizeof(name), "name %u", *(unsigned int *)number);
	CHECK(xsprof_name(name) != 0);
	op_of(*(unsigned int *)number, DEPTH);
	return 1;
}

/* Adds names and begins ops under the loader's lock. */
static void *walk_objects(void *unused)
{
	(void)unused;
	for (unsigned int i = 0; i < ROUNDS; i++)
		dl_iterate_phdr(on_object, &i);
	return NULL;
}

/* Each of these stacks is in code that was just loaded. */
static void *load_objects(void *unused)
{
	(void)unused;
	for (unsigned int i = 0; i < ROUNDS; i++) {
		void *lib = dlopen("libresolv.so.2", RTLD_NOW | RTLD_LOCAL);

		if (!lib)
			tap_bail("%s", dlerror());
		op_of(ROUNDS + i, DEPTH);
		dlclose(lib);
	}
	return NULL;
}

static void test_loader(void)
{
	struct xsprof_stats stats = { .size = sizeof(stats) };
	struct xsprof_result *r = NULL;
	pthread_t a, b;

	alarm(PATIENCE);
	CHECK_EQ(xsprof_enable_profiler(&config, XSPROF_ACTIVITY(CPU), 0), 0);
	if (pthread_create(&a, NULL, walk_objects, NULL) ||
	    pthread_create(&b, NULL, load_objects, NULL))
		tap_bail("no threads");
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	CHECK_EQ(xsprof_get_stats(&stats), 0);
	CHECK_EQ(stats.stacks_missed, 0);
	CHECK_EQ(xsprof_disable_profiler(&r), 0);
	CHECK_EQ(xsprof_result_nr_events(r), 2 * ROUNDS);
	for (unsigned int i = 0; i < 2 * ROUNDS; i += 97)
		CHECK(xsprof_event_nr_frames(xsprof_result_event(r, i)) >= DEPTH);
	xsprof_result_free(r);
	alarm(0);
	tap_result("a thread that has the loader's lock, and one that loads");
}

/* ---- the table is full ---------------------------------------------------------------------- */

static bool missed(struct xsprof_result *r, unsigned int index)
{
	const struct xsprof_profiler_event *ev = xsprof_result_event(r, index);

	return xsprof_event_nr_frames(ev) == 1 &&
	       !strcmp(xsprof_event_frame(ev, 0), "[stack missed]");
}

/* All, then the first and the last again. Not inlined, so that op_of() has one caller. */
__attribute__((noinline)) static unsigned int number_of(unsigned int i, unsigned int n)
{
	return i < n ? i : i == n ? 0 : n - 1;
}

static void test_full(void)
{
	struct xsprof_stats stats = { .size = sizeof(stats) };
	struct xsprof_result *r = NULL;
	unsigned int n = 1u << DEPTH, had;

	CHECK_EQ(xsprof_get_stats(&stats), 0);
	had = stats.names_missed;
	CHECK_EQ(xsprof_enable_profiler(&config, XSPROF_ACTIVITY(CPU), 0), 0);
	for (unsigned int i = 0; i < n + 2; i++)
		op_of(number_of(i, n), DEPTH);
	CHECK_EQ(xsprof_get_stats(&stats), 0);
	CHECK_EQ(xsprof_disable_profiler(&r), 0);
	CHECK_EQ(xsprof_result_nr_events(r), n + 2);
	n = 0;
	for (unsigned int i = 0; i < (1u << DEPTH) + 2; i++)
		n += missed(r, i);
	CHECK_EQ(stats.stacks_missed, n);
	/* The other test's stacks are of other threads, so they have other last frames. */
	CHECK_EQ(n, (1u << DEPTH) + 2 * ROUNDS - ROOM + 1);
	CHECK(!missed(r, 0) && !missed(r, 1u << DEPTH) && missed(r, (1u << DEPTH) + 1));
	CHECK_EQ(stats.names_missed, had);
	xsprof_result_free(r);
	tap_result("more stacks than there is room for: ops say so, and they are counted");
}

/* ---- a child -------------------------------------------------------------------------------- */

/* Return: 0, or the number of the failed check of the child's own session. */
static int record_in_child(void)
{
	struct xsprof_stats stats = { .size = sizeof(stats) };
	struct xsprof_result *r = NULL;
	const char *frame;

	if (xsprof_enable_profiler(&config, XSPROF_ACTIVITY(CPU), 0))
		return 1;
	op_of(1, DEPTH);
	op_of((1u << DEPTH) - 1, DEPTH);
	if (xsprof_get_stats(&stats) || stats.stacks_missed)
		return 2;
	if (xsprof_disable_profiler(&r) || xsprof_result_nr_events(r) != 2)
		return 3;
	for (unsigned int i = 0; i < 2; i++) {
		if (xsprof_event_nr_frames(xsprof_result_event(r, i)) < DEPTH)
			return 4;
		/* With the name of the code, not an address alone. */
		frame = xsprof_event_frame(xsprof_result_event(r, i), 0);
		if (!strstr(frame, "op_of") && !strstr(frame, "stacks"))
			return 5;
	}
	xsprof_result_free(r);
	return 0;
}

/* Runs after test_full(): the parent's full table is not the child's. */
static void test_child(void)
{
	int status = -1;
	pid_t pid;

	pid = fork();
	if (!pid)
		_exit(record_in_child());
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	CHECK_EQ(status, 0);
	tap_result("the child of a fork writes its stacks, and the code they are in, anew");
}

/* ---- stacks that the program knows ---------------------------------------------------------- */

#define KEY	0x1234u

static bool has_frame(const struct xsprof_profiler_event *ev, size_t index, const char *frame)
{
	return !strcmp(xsprof_event_frame(ev, index), frame);
}

/* Return: 0, or the number of the failed check. */
static int record_named(uint32_t before)
{
	const uint64_t frames[] = {
		XSPROF_FRAME_NAMED | xsprof_name("train.py(12): Net.step"),
		XSPROF_FRAME_NAMED | xsprof_name("(odd) name(3)"),
		(uintptr_t)record_named + 1,
	};
	static const struct xsprof_profiler_config modules = {
		.size = sizeof(modules), .state = XSPROF_PROFILER_KINETO, .with_stack = true,
		.with_modules = true, .experimental = &all,
	};
	const struct xsprof_profiler_event *ev;
	uint64_t many[XSPROF_STACK_FRAMES + 3];
	struct xsprof_result *r = NULL;
	uint32_t id, deep;

	for (size_t i = 0; i < XSPROF_STACK_FRAMES + 3; i++)
		many[i] = frames[0];
	if (xsprof_enable_profiler(&modules, XSPROF_ACTIVITY(CPU), 0))
		return 1;
	/* A stack from before the fork is gone. */
	if (before && xsprof_stack_find(KEY))
		return 2;
	id = xsprof_stack_add(KEY, frames, 3, 7);
	deep = xsprof_stack_add(KEY + 1, many, XSPROF_STACK_FRAMES + 3, 1);
	if (!id || id == XSPROF_STACK_MISSED || xsprof_stack_find(KEY) != id ||
	    xsprof_stack_add(KEY, frames, 1, 0) != id || deep == id || xsprof_stack_find(KEY + 2))
		return 3;
	op.stack = id;
	op.module_name = xsprof_name("Net.blocks.0");
	op_of(0, 0);
	op.stack = deep;
	op_of(0, 0);
	op.stack = op.module_name = 0;
	if (xsprof_disable_profiler(&r) || xsprof_result_nr_events(r) != 2)
		return 4;
	ev = xsprof_result_event(r, 0);
	if (xsprof_event_nr_frames(ev) < 4 || !has_frame(ev, 0, "Net.step at train.py:12") ||
	    !has_frame(ev, 1, "(odd) name(3)") || !strstr(xsprof_event_frame(ev, 2), "stacks") ||
	    !has_frame(ev, xsprof_event_nr_frames(ev) - 1, "[7 more]"))
		return 5;
	if (strcmp(xsprof_event_module(ev), "Net.blocks.0"))
		return 6;
	ev = xsprof_result_event(r, 1);
	if (xsprof_event_nr_frames(ev) != XSPROF_STACK_FRAMES + 1 ||
	    !has_frame(ev, XSPROF_STACK_FRAMES, "[4 more]"))
		return 7;
	xsprof_result_free(r);
	return 0;
}

/* In children, whose tables have room. */
static void test_named(void)
{
	int status = -1;
	pid_t pid;

	pid = fork();
	if (!pid) {
		int wrong = record_named(0), again = -1;
		pid_t inner = wrong ? -1 : fork();

		if (!inner)
			_exit(record_named(1));
		if (inner > 0)
			waitpid(inner, &again, 0);
		_exit(wrong ? wrong : again ? 100 : 0);
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	CHECK_EQ(status, 0);
	tap_result("a stack and a module that the program names, also in the child of a fork");
}

/* ---- a stack that is not the thread's own --------------------------------------------------- */

#define FIBRE_SIZE	(256u << 10)

static ucontext_t outside, fibre;

static void op_in_fibre(void)
{
	xsprof_op_begin(&op);
	xsprof_op_end();
}

/*
 * Code without frame pointers uses the register for anything: here for an address between the
 * fibre's stack and the thread's, where nothing is mapped.
 */
static void call_without_frame(void)
{
	uintptr_t nowhere = (uintptr_t)__builtin_frame_address(0) + (64u << 20);
	void (*call)(void) = op_in_fibre;

#if defined(__x86_64__)
	__asm__ volatile("mov %%rbp, %%rbx\n\tmov %%rsp, %%r12\n\tsub $256, %%rsp\n\t"
			 "and $-16, %%rsp\n\tmov %0, %%rbp\n\tcall *%1\n\t"
			 "mov %%r12, %%rsp\n\tmov %%rbx, %%rbp"
			 : : "r" (nowhere & ~7ul), "r" (call)
			 : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11",
			   "r12", "memory", "cc");
#elif defined(__aarch64__)
	__asm__ volatile("mov x19, x29\n\tmov x29, %0\n\tblr %1\n\tmov x29, x19"
			 : : "r" (nowhere & ~7ul), "r" (call)
			 : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10",
			   "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x30",
			   "memory", "cc");
#else
	(void)nowhere;
	call();
#endif
}

static void test_fibre(void)
{
	struct xsprof_result *r = NULL;
	char *around;

	/* The stack, and after it nothing up to where the register points. */
	around = mmap(NULL, 128u << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
		      0);
	if (around == MAP_FAILED || mprotect(around, FIBRE_SIZE, PROT_READ | PROT_WRITE))
		tap_bail("no memory for a stack");
	CHECK_EQ(xsprof_enable_profiler(&config, XSPROF_ACTIVITY(CPU), 0), 0);
	getcontext(&fibre);
	fibre.uc_stack.ss_sp = around;
	fibre.uc_stack.ss_size = FIBRE_SIZE;
	fibre.uc_link = &outside;
	makecontext(&fibre, call_without_frame, 0);
	CHECK_EQ(swapcontext(&outside, &fibre), 0);
	CHECK_EQ(xsprof_disable_profiler(&r), 0);
	CHECK_EQ(xsprof_result_nr_events(r), 1);
	xsprof_result_free(r);
	munmap(around, 128u << 20);
	tap_result("an op on a stack that is not the thread's own");
}

int main(void)
{
	op.name = xsprof_name("op");
	test_loader();
	test_full();
	test_child();
	test_named();
	test_fibre();
	return tap_done();
}
