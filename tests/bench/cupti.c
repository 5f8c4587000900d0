// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures the cost of the CUDA collector with a recorded replay of launches and kernels. Prints
 * the number of activities, CPU seconds of the collector's thread, wall seconds, and the growth of
 * its own memory in KiB between the first and the last tenth of the run.
 *
 * Usage: cupti REPLAY ACTIVITIES
 * CUDA_INJECTION64_PATH names the collector, XSPROF_CUPTI the replay.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define COLLECTOR	"xsprof-cupti"

static uint64_t pairs;
static long early, late;

static void must(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "cupti: %s\n", what);
	exit(1);
}

/* The program's own, and what the collector allocates: not the rings, which are files. */
static long anonymous_kib(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	long kib = -1;
	char line[256];

	must(!!file, "/proc/self/status");
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "RssAnon: %ld", &kib) == 1)
			break;
	fclose(file);
	must(kib >= 0, "/proc/self/status has no RssAnon");
	return kib;
}

static void progress(uint64_t done)
{
	if (!early && done >= pairs / 10)
		early = anonymous_kib();
	if (!late && done >= pairs - pairs / 10)
		late = anonymous_kib();
}

/* CPU seconds of the collector's thread, by the kernel's account of the thread of that name. */
static double collector_seconds(void)
{
	char command[256];
	double ns = 0;
	FILE *pipe;

	snprintf(command, sizeof(command),
		 "for t in /proc/%d/task/*; do "
		 "[ \"$(cat $t/comm)\" != %s ] || cat $t/schedstat; done",
		 (int)getpid(), COLLECTOR);
	pipe = popen(command, "r");
	must(pipe && fscanf(pipe, "%lf", &ns) == 1, "no thread of the collector");
	pclose(pipe);
	return ns / 1e9;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	int (*replay)(uint64_t n, void (*progress)(uint64_t pairs));
	void *lib, *injected;
	int (*entry)(void);
	double begin, took, last;

	must(argc == 3, "usage: cupti REPLAY ACTIVITIES");
	pairs = strtoull(argv[2], NULL, 10) / 2;
	must(path && *path, "CUDA_INJECTION64_PATH names no collector");
	injected = dlopen(path, RTLD_NOW);
	entry = injected ? (int (*)(void))dlsym(injected, "InitializeInjection") : NULL;
	must(entry && entry(), "the collector cannot be started");
	lib = dlopen(argv[1], RTLD_NOW);
	replay = lib ? (int (*)(uint64_t, void (*)(uint64_t)))dlsym(lib, "replay") : NULL;
	must(!!replay, "no replay");
	begin = now();
	must(!replay(pairs, progress), "the collector did not take part");
	took = now() - begin;
	/* The collector has buffers that are to be written. */
	do {
		last = collector_seconds();
		usleep(600000);
	} while (collector_seconds() - last > 0.002);
	printf("%llu %.6f %.6f %ld\n", (unsigned long long)(2 * pairs), collector_seconds(), took,
	       late - early);
	return 0;
}
