// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program whose kernels are each measured: see program.c. Prints what the stand-in has seen, for
 * the test to compare.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xsprof/xsprof.h>

#include "tests/gpu/stand-in-ranges.h"
#include "tests/gpu/stand-in.h"

#define FIRST		3u	/* the first context; all are on device 1 */
#define THREADS		4
#define NOT_PERMITTED	900	/* results of CUDA for a capture */
#define INVALIDATED	901

static void init(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *lib = path ? dlopen(path, RTLD_LAZY) : NULL;
	int (*entry)(void) = lib ? (int (*)(void))dlsym(lib, "InitializeInjection") : NULL;

	if (entry)
		(void)entry();
}

static void launch(long n)
{
	for (long i = 0; i < n; i++)
		(void)stand_in_launch(i % 4 == 3, FIRST, i % 3 ? "kernel_a" : "kernel_b");
}

struct work {
	uint32_t	context;
	long		n;
};

static void *launch_in(void *p)
{
	const struct work *work = p;

	for (long i = 0; i < work->n; i++)
		(void)stand_in_launch(false, work->context, "kernel_a");
	return NULL;
}

/* Two threads in each of two contexts. */
static void launch_in_threads(long each)
{
	pthread_t v[THREADS];
	struct work work[THREADS];

	for (uint32_t i = 0; i < THREADS; i++) {
		work[i] = (struct work){ .context = FIRST + i / 2, .n = each };
		pthread_create(&v[i], NULL, launch_in, &work[i]);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(v[i], NULL);
}

static bool over;
static uint32_t beside;

static void *launch_until_over(void *unused)
{
	(void)unused;
	while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
		(void)stand_in_launch(false, FIRST + 1, "kernel_d");
		__atomic_fetch_add(&beside, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* Waits until that thread has begun and ended a launch. */
static void wait_for_launches(void)
{
	uint32_t from = __atomic_load_n(&beside, __ATOMIC_RELAXED);

	while (__atomic_load_n(&beside, __ATOMIC_RELAXED) - from < 2)
		usleep(1000);
}

/*
 * Captures that fail to begin, are invalidated, and end normally, while another thread launches all
 * the time; then launches the graph twice.
 */
static void capture(long n)
{
	pthread_t thread;

	launch(n);
	stand_in_capture(true, NOT_PERMITTED);
	launch(n);
	pthread_create(&thread, NULL, launch_until_over, NULL);
	for (uint32_t result = 0; result <= INVALIDATED; result += INVALIDATED) {
		stand_in_capture(true, 0);
		launch(n);
		wait_for_launches();
		stand_in_capture(false, result);
		wait_for_launches();
	}
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	launch(n);
	for (int i = 0; i < 2; i++)
		stand_in_kernel(stand_in_call(false, 6), FIRST, "kernel_c", 5);
}

static void pause_between(long n)
{
	launch(n);
	/* What the collector has not read by then is not recorded. */
	sleep(1);
	xsprof_pause();
	sleep(2);
	(void)launch_in(&(struct work){ .context = FIRST, .n = n });
	xsprof_resume();
	sleep(2);
	launch(n);
}

static void behave(const char *what)
{
	const struct {
		const char		*what;
		struct stand_in_ranges	how;
	} known[] = {
		{ "root", { .available = 35 } },
		{ "start-root", { .start = 35 } },
		{ "mig", { .available = 43 } },
		{ "virtual", { .start = 33 } },
		{ "busy", { .start = 26 } },
		{ "late", { .late_us = 600000 } },
		{ "lost", { .fails_after = 5 } },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(what, known[i].what))
			stand_in_ranges = known[i].how;
	if (getenv("STAND_IN_VERSION"))
		stand_in.version = (uint32_t)atol(getenv("STAND_IN_VERSION"));
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	long n = argc > 2 ? atol(argv[2]) : 10;

	behave(what);
	init();
	stand_in_device(FIRST);
	if (!strcmp(what, "threads")) {
		launch_in_threads(n);
	} else if (!strcmp(what, "capture")) {
		capture(n);
	} else if (!strcmp(what, "pause")) {
		pause_between(n);
	} else if (!strcmp(what, "collective")) {
		launch(n);
		(void)stand_in_launch(false, FIRST, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
	} else if (!strcmp(what, "again")) {
		launch(n);
		stand_in_context_ends(FIRST);
		launch(n);
	} else {
		launch(n);
	}
	printf("measured: %u\nalone: %u\nenabled: %u\ndisabled: %u\nwrong: %u\n",
	       stand_in_ranges.measured, stand_in_ranges.alone, stand_in_ranges.enabled,
	       stand_in_ranges.disabled, stand_in_ranges.wrong);
	return 0;
}
