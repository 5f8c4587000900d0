// SPDX-License-Identifier: GPL-2.0-only
/*
 * A CUDA program as the collector sees it: it initialises CUDA, which loads the library that
 * CUDA_INJECTION64_PATH names, calls functions, and a device does work. It prints the name and
 * count of everything it does, for the test to compare.
 */
#include <dlfcn.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <xsprof/op.h>
#include <xsprof/xsprof.h>

#include "gpu/cupti/cupti-abi.h"
#include "tests/gpu/program.h"
#include "tests/gpu/stand-in.h"


/*
 * The collector allocates memory for a kernel's name under a lock of its own. Just then another
 * thread of the program forks, and CUPTI returns a buffer when the child ends.
 */
#define FORK_NAME	"a kernel whose name is as long as no other thing that is allocated"

void *__libc_malloc(size_t size);
static int fork_when, child_status = -1;

static void fork_now(void)
{
	pid_t child = fork();

	if (!child) {
		stand_in_give("a kernel of the child");
		_exit(0);
	}
	for (int i = 0; i < 600 && waitpid(child, &child_status, WNOHANG) != child; i++)
		usleep(50000);
	if (child_status == -1)
		(void)kill(child, SIGKILL);
}

void *malloc(size_t size)
{
	/* The sizes of a name with the collector's list node before it. */
	if (__builtin_expect(fork_when, 0) && size >= sizeof(FORK_NAME) + 12 &&
	    size <= sizeof(FORK_NAME) + 16 && __sync_bool_compare_and_swap(&fork_when, 1, 0))
		fork_now();
	return __libc_malloc(size);
}

static void fork_in_lock(void)
{
	stand_in_device(3);
	fork_when = 1;
	stand_in_kernel(stand_in_call(false, 1), 7, FORK_NAME, 0);
	for (int i = 0; i < 700 && __atomic_load_n(&child_status, __ATOMIC_RELAXED); i++)
		usleep(50000);
	printf("child: %d\n", child_status);
}

/* Does what libcuda's cuInit() does. */
static void init(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *lib = path ? dlopen(path, RTLD_LAZY) : NULL;
	int (*entry)(void) = lib ? (int (*)(void))dlsym(lib, "InitializeInjection") : NULL;

	if (path && (!entry || !entry()))
		printf("no InitializeInjection: %s\n", lib ? "not there" : dlerror());
	stand_in_initialised();
}

static void one_of_each(void)
{
	uint32_t c;

	stand_in_device(3);
	XSPROF_BEGIN("op");
	c = stand_in_call(false, 1);
	XSPROF_END();
	stand_in_kernel(c, 7, "_Z4axpyPKfPfi", 0);
	c = stand_in_call(false, 2);
	stand_in_memcpy(c, 7, 1 << 20);
	stand_in_peer(c, 8, 4096);
	c = stand_in_call(false, 5);
	stand_in_memset(c, 7, 512);
	c = stand_in_call(false, 4);
	stand_in_sync(c, 7, 3);
	c = stand_in_call(true, 1);
	stand_in_kernel(c, 7, "plain_kernel", 0);
	(void)stand_in_call(true, 2);
	(void)stand_in_call(false, 3);
	(void)stand_in_call(false, 99);
	c = stand_in_call(false, 6);
	stand_in_kernel(c, 9, "_Z4axpyPKfPfi", 5);
	stand_in_kernel(c, 9, NULL, 5);
	stand_in_overhead(2u << 16);
	stand_in_overhead(1);
	/* The external ids come before their call. */
	stand_in_external(10, 4, 70);
	stand_in_external(10, 3, 71);
	(void)stand_in_call(false, 1);
}

/* Two waits before their context is known, one whose context stays unknown, one with a large id. */
static void early_waits(void)
{
	stand_in_sync_in(stand_in_call(false, 4), 5);
	stand_in_sync_in(stand_in_call(false, 4), 70000);
	stand_in_sync_in(stand_in_call(false, 4), 6);
	stand_in_sync_in(stand_in_call(false, 4), 5);
	stand_in_context(5);
	stand_in_context(70000);
}

/* Many contexts, and waits in each; then many waits in an unknown one, and one in a known one. */
static void many_contexts(uint32_t n)
{
	stand_in_device(3);
	for (uint32_t i = 0; i < n; i++)
		stand_in_context(10 + i);
	for (uint32_t i = 0; i < 2 * n; i++)
		stand_in_sync_in(stand_in_call(false, 4), 10 + i % n);
	for (uint32_t i = 0; i < 2 * n; i++)
		stand_in_sync_in(stand_in_call(false, 4), 9);
	stand_in_sync_in(stand_in_call(false, 4), 10);
}

/*
 * An event that is recorded twice before it is waited for twice, the second time by another thread,
 * which CUPTI reports first; one recorded before; a graph, and unified memory.
 */
static void details(void)
{
	uint64_t begin = stand_in_now();
	uint32_t first, second, c;

	stand_in_device(3);
	first = stand_in_call(false, 1);
	stand_in_event(first, 7, 11, 100);
	c = stand_in_call(false, 1);
	stand_in_sync_event(c, 8, 11, 100);
	second = stand_in_call(false, 1);
	c = stand_in_call(false, 1);
	stand_in_sync_event(c, 9, 11, 101);
	stand_in_event(second, 13, 11, 101);
	stand_in_sync_event(stand_in_call(false, 1), 8, 12, 99);
	for (int i = 0; i < 50; i++) {
		stand_in_event(stand_in_call(false, 1), 20, 13, 200 + (uint64_t)i);
		stand_in_sync_event(stand_in_call(false, 1), 21, 13, 200 + (uint64_t)i);
	}
	stand_in_graph(stand_in_call(false, 6), 9, 5);
	stand_in_kernel(stand_in_call(false, 1), 15, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 0);
	stand_in_kernel(stand_in_call(false, 1), 7, "_Z4axpyPKfPfi", 0);
	stand_in_kernel(stand_in_call(false, 1), 7, "_Z4axpyPKfPfi", 0);
	/* The second is before the first, and the fourth is reported long after its time. */
	stand_in_memory(stand_in_call(false, 1), true, 4096, 0);
	stand_in_memory(stand_in_call(false, 1), true, 65536, 10000);
	stand_in_memory(stand_in_call(false, 1), false, 4096, 0);
	unified("at once");
	/* Until this is flushed. */
	sleep(1);
	stand_in_memory_at(stand_in_call(false, 1), true, 0x1000, 512, begin);
	stand_in_memory(stand_in_call(false, 1), false, 65536, 0);
	for (uint32_t i = 1; i <= 4; i++) {
		stand_in_pool(stand_in_call(false, 1), i, 1);
		stand_in_jit(0, 1, i);
	}
	stand_in_pool(stand_in_call(false, 1), 1, 2);
	stand_in_jit(stand_in_call(false, 1), 2, 3);
	printf("recordings: %u %u\n", first, second);
}

/*
 * A graph is captured, instantiated and launched. One of its nodes was made outside of ranges, one
 * before the recording. Then the graph is updated, which versions report that know of it.
 */
static void capture(long launches)
{
	uint32_t before, c;

	stand_in_device(3);
	XSPROF_BEGIN("capture");
	xsprof_op_begin(&(struct xsprof_op){
		.name = xsprof_name("aten::mm"), .sequence = XSPROF_NO_SEQUENCE,
	});
	stand_in_node(101, 0);
	xsprof_op_end();
	XSPROF_BEGIN("aten::relu");
	stand_in_node(102, 0);
	XSPROF_END();
	XSPROF_END();
	stand_in_node(103, 0);
	XSPROF_BEGIN("instantiate");
	stand_in_node(201, 0);
	stand_in_node(201, 101);
	stand_in_node(202, 102);
	stand_in_node(202, 0);
	stand_in_node(203, 103);
	stand_in_node(204, 0);
	stand_in_node(204, 99);
	XSPROF_END();
	before = stand_in_called;
	for (long i = 0; i < launches; i++) {
		XSPROF_BEGIN("step");
		c = stand_in_call(false, 6);
		XSPROF_END();
		stand_in_node_kernel(c, 9, "mm_kernel", 201, 101);
		stand_in_node_kernel(c, 9, "relu_kernel", 202, 102);
		stand_in_node_kernel(c, 9, "of_no_range", 203, 103);
		stand_in_node_kernel(c, 9, "of_before", 204, 99);
		/* Until they are over: outputs draw few of a stream that overlap as such. */
		usleep(50);
	}
	c = stand_in_call(false, 6);
	stand_in_node_kernel(c, 9, "updated_kernel", 201, 102);
	printf("callbacks: %u, of launches: %u\n", before, stand_in_called - before);
}

/* Launches a kernel or a graph; a graph's record is a kernel unless whole graphs are recorded. */
static void launch_one(bool graphs)
{
	uint32_t c = stand_in_call(false, graphs ? 6 : 1);

	if (!graphs)
		stand_in_kernel(c, 7, "_Z4axpyPKfPfi", 0);
	else if (stand_in_enabled[CUPTI_GRAPH])
		stand_in_graph(c, 9, 5);
	else
		stand_in_kernel(c, 9, "_Z4axpyPKfPfi", 5);
}

static bool is_given_back(void)
{
	return !__atomic_load_n(&stand_in.subscribed, __ATOMIC_RELAXED);
}

static bool is_timed(void)
{
	return __atomic_load_n(&stand_in_probed, __ATOMIC_RELAXED) >= 1;
}

static bool is_whole(void)
{
	return __atomic_load_n(&stand_in_enabled[CUPTI_GRAPH], __ATOMIC_RELAXED);
}

/* Launches until the collector has taken a step, however long that takes, and a moment longer. */
static void launch_until(bool (*over)(void), bool graphs)
{
	uint64_t end = (uint64_t)time(NULL) + 200;

	stand_in_device(3);
	while (!over() && (uint64_t)time(NULL) < end)
		launch_one(graphs);
	printf("step: %d, unified memory: %d\n", over(), stand_in_counts(CUPTI_TO_DEVICE));
	for (int i = 0; i < 10000; i++)
		launch_one(graphs);
}

static void *launch_many(void *count)
{
	for (long i = 0; i < (long)count; i++)
		stand_in_kernel(stand_in_call(false, 1), 7, "_Z4axpyPKfPfi", 0);
	return NULL;
}

static void threads(long each)
{
	pthread_t v[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&v[i], NULL, launch_many, (void *)each);
	for (int i = 0; i < 4; i++)
		pthread_join(v[i], NULL);
}

/* Kernels with names of the same length: a freed name's memory is reused for another. */
static void launch_several(long n)
{
	static const char *const names[] = {
		"kernel_a", "kernel_b", "kernel_c", "kernel_d", "kernel_e",
	};

	stand_in_device(3);
	for (long i = 0; i < n; i++)
		stand_in_kernel(stand_in_call(false, 1), 7, names[i % 5], 0);
}

static void launch_slowly(void)
{
	stand_in_kernel(stand_in_call(false, 1), 7, "_Z4axpyPKfPfi", 0);
	usleep(5000);
}

/*
 * Launches kernels until counters are sampled for the @times time, and @n more. If sampling never
 * starts, stops once the collector has had time to find that out: it first asks for the context.
 */
static void launch_sampled(uint32_t times, long n)
{
	uint32_t before = __atomic_load_n(&stand_in_flushed, __ATOMIC_RELAXED);

	for (int i = 0; i < 6000; i++) {
		if (__atomic_load_n(&stand_in_sampled, __ATOMIC_RELAXED) >= times ||
		    __atomic_load_n(&stand_in_flushed, __ATOMIC_RELAXED) - before > 3)
			break;
		launch_slowly();
	}
	for (long i = 0; i < n; i++)
		launch_slowly();
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "each";
	long n = argc > 2 ? atol(argv[2]) : 0;

	setlocale(LC_ALL, "");
	stand_in_behave(what);
	if (strcmp(what, "no-driver"))
		init();
	if (!strcmp(what, "waits")) {
		early_waits();
	} else if (!strcmp(what, "fork")) {
		stand_in_kernel(stand_in_call(false, 1), 7, "_Z4axpyPKfPfi", 0);
		if (!fork())
			exit(0);
		wait(NULL);
	} else if (!strcmp(what, "links")) {
		stand_in_device(3);
		stand_in_links();
	} else if (!strcmp(what, "fork-lock")) {
		fork_in_lock();
	} else if (!strcmp(what, "contexts")) {
		many_contexts((uint32_t)n);
	} else if (!strcmp(what, "capture")) {
		capture(n);
	} else if (!strcmp(what, "details")) {
		details();
	} else if (!strcmp(what, "peer")) {
		peer();
	} else if (!strncmp(what, "unified", 7)) {
		unified(what);
	} else if (!strcmp(what, "driver")) {
		driver_works();
	} else if (!strcmp(what, "overheads")) {
		overheads();
	} else if (!strcmp(what, "memory")) {
		memory();
	} else if (!strcmp(what, "memory-many")) {
		memory_many(n);
	} else if (!strcmp(what, "recordings")) {
		recordings(n);
	} else if (!strcmp(what, "query") || !strcmp(what, "queries")) {
		queries(n);
	} else if (!strncmp(what, "budget", 6)) {
		stand_in.launch_ns = 20000;
		launch_until(!strcmp(what, "budget-graphs") ? is_whole :
			     !strcmp(what, "budget-much") ? is_timed : is_given_back,
			     !strcmp(what, "budget-graphs"));
		if (!strcmp(what, "budget-on"))
			program_goes_on();
	} else if (!strcmp(what, "raw")) {
		printf("records: %llu\n", (unsigned long long)stand_in_raw(argv[2]));
	} else if (!strncmp(what, "metrics", 7)) {
		stand_in_device(3);
		launch_sampled(1, n);
	} else if (!strncmp(what, "names", 5)) {
		launch_several(n);
	} else if (program_clock(what, n)) {
		;
	} else if (!strcmp(what, "busy")) {
		/* Rarely enough for a small buffer. */
		for (long i = 0; i < n; i++, usleep(400))
			stand_in_kernel(stand_in_call(false, 1), 7, "_Z4axpyPKfPfi", 0);
	} else if (n) {
		threads(n);
	} else {
		one_of_each();
	}
	if (!strcmp(what, "fast")) {
		uint32_t c = 0;

		/* Many times more than the rings hold, then a few last ones. */
		for (int i = 0; i < 20; i++) {
			threads(5000);
			usleep(50000);
		}
		for (int i = 0; i < 10; i++) {
			c = stand_in_call(false, 1);
			stand_in_kernel(c, 7, "_Z4axpyPKfPfi", 0);
		}
		printf("last: %u\n", c);
	}
	if (!strcmp(what, "orphan")) {
		/* Kills the recorder; the collector must notice. */
		kill(getppid(), SIGKILL);
		for (int i = 0; i < 600 && stand_in_enabled[CUPTI_KERNEL]; i++) {
			threads(5000);
			usleep(50000);
		}
		printf("orphan: %u\n", stand_in_enabled[CUPTI_KERNEL]);
	}
	if (!strcmp(what, "go-on")) {
		/* A range of 50 ms with a kernel in it, for two seconds. */
		for (int i = 0; i < 40; i++) {
			XSPROF_BEGIN("range");
			stand_in_kernel(stand_in_call(false, 1), 7, "_Z4axpyPKfPfi", 0);
			usleep(50000);
			XSPROF_END();
		}
	}
	if (!strcmp(what, "metrics-pause")) {
		xsprof_pause();
		sleep(2);
		printf("paused: %u\n", stand_in_unsampled);
		xsprof_resume();
		launch_sampled(2, n);
	}
	if (!strcmp(what, "named"))
		named();
	if (!strcmp(what, "pause-late"))
		paused_late();
	if (!strcmp(what, "pause")) {
		given_back();
		one_of_each();
	}
	printf("mixed: %u\n", stand_in_mixed);
	printf("meddled: %u\n", stand_in_meddled);
	printf("refused: %u\n", stand_in_refused);
	printf("requested: %u\n", stand_in_requested);
	printf("subscribed: %d\n", stand_in.subscribed);
	printf("sampled: %u %u\n", stand_in_sampled, stand_in_unsampled);
	if (!strcmp(what, "_exit") || !strcmp(what, "busy")) {
		sleep(2);
		fflush(stdout);
		_exit(0);
	}
	return 0;
}
