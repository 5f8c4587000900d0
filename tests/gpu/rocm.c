// SPDX-License-Identifier: GPL-2.0-only
/*
 * A ROCm program as the collector sees it: a runtime registers, is called, and devices do work; all
 * through stand-ins. Its last line has the numbers of delivered records: calls, kernels, copies,
 * memory.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <xsprof/xsprof.h>

#include "tests/gpu/rocp-stand-in.h"

int rocprofiler_register_library_api_table(const char *runtime, void *import, uint32_t version,
					   void **tables, uint64_t n, void *id);

static void start_hip(void)
{
	uint64_t id = 0;

	(void)rocprofiler_register_library_api_table("hsa", NULL, 10000, NULL, 0, &id);
	(void)rocprofiler_register_library_api_table("hip", NULL, 60000, NULL, 0, &id);
	rocp_stand_in_symbol(1, "_Z4axpyfPf.kd");
	rocp_stand_in_symbol(300, "plain.kd");
}

static void one_of_each(void)
{
	uint64_t c;

	XSPROF_BEGIN("op");
	usleep(2000);
	c = rocp_stand_in_call("hipLaunchKernel");
	usleep(2000);
	XSPROF_END();
	rocp_stand_in_kernel(c, ROCP_GPU_0, 17, 1);
	c = rocp_stand_in_call("hipModuleLaunchKernel");
	rocp_stand_in_kernel(c, ROCP_GPU_1, 18, 300);
	rocp_stand_in_kernel(c, ROCP_GPU_1, 18, 5000);
	c = rocp_stand_in_call("hipMemcpyAsync");
	rocp_stand_in_copy(c, ROCP_HOST, ROCP_GPU_0, 1 << 20);
	rocp_stand_in_copy(c, ROCP_GPU_0, ROCP_HOST, 512);
	rocp_stand_in_copy(c, ROCP_GPU_0, ROCP_GPU_1, 4096);
	rocp_stand_in_copy(c, ROCP_HOST, ROCP_HOST, 64);
	c = rocp_stand_in_call("hipMalloc");
	rocp_stand_in_memory(c, "_ALLOCATE", ROCP_GPU_0, 8192);
	c = rocp_stand_in_call("hipFree");
	rocp_stand_in_memory(c, "_FREE", ROCP_HOST, 0);
	(void)rocp_stand_in_call("hipStreamSynchronize");
	(void)rocp_stand_in_call("hipGetDevice");
}

static void mark(void)
{
	rocp_stand_in_marker(ROCP_PUSH, "outer", 0);
	rocp_stand_in_marker(ROCP_MARK, "a mark", 0);
	rocp_stand_in_marker(ROCP_START, "started", 42);
	rocp_stand_in_marker(ROCP_POP, NULL, 0);
	rocp_stand_in_marker(ROCP_POP, NULL, 0);
	rocp_stand_in_marker(ROCP_STOP, NULL, 42);
}

/* The same through linked functions, which the preloaded library defines as well. */
static void mark_linked(void)
{
	uint64_t id;

	printf("levels: %d", roctxRangePushA("outer"));
	roctxMarkA("a mark");
	id = roctxRangeStartA("started");
	printf(" %d", roctxRangePop());
	printf(" %d\n", roctxRangePop());
	roctxRangeStop(id);
}

static void *launch_many(void *count)
{
	for (long i = 0; i < (long)count; i++)
		rocp_stand_in_kernel(rocp_stand_in_call("hipLaunchKernel"), ROCP_GPU_0, 17, 1);
	return NULL;
}

static void threads(long each)
{
	pthread_t v[4];

	for (int i = 0; i < 4; i++)
		if (pthread_create(&v[i], NULL, launch_many, (void *)each))
			abort();
	for (int i = 0; i < 4; i++)
		pthread_join(v[i], NULL);
}

static void counts(void)
{
	for (int i = 0; i < ROCP_NR_WHATS; i++)
		printf("%llu%c", (unsigned long long)rocp_stand_in_counts[i],
		       i < ROCP_NR_WHATS - 1 ? ' ' : '\n');
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "each";
	long n = argc > 2 ? atol(argv[2]) : 0;

	/* A program that uses none of it: the library is loaded, but not called. */
	if (!strcmp(what, "nothing"))
		return 0;
	/* Runs among the last exit handlers. */
	atexit(counts);
	setvbuf(stdout, NULL, _IONBF, 0);
	start_hip();
	printf("afterwards: %s\n", getenv("ROCP_TOOL_LIBRARIES") ?: "none");
	if (!strcmp(what, "many"))
		threads(n);
	else if (!strcmp(what, "markers"))
		mark();
	else if (!strcmp(what, "linked"))
		mark_linked();
	else
		one_of_each();
	if (!strcmp(what, "fork")) {
		if (!fork()) {
			one_of_each();
			exit(0);
		}
		wait(NULL);
	}
	if (!strcmp(what, "pause")) {
		/* Paused for longer than the collector's period, then on again. */
		sleep(1);
		xsprof_pause();
		sleep(1);
		one_of_each();
		xsprof_resume();
		sleep(1);
		one_of_each();
	}
	if (!strcmp(what, "_exit"))
		_exit(0);
	return 0;
}
