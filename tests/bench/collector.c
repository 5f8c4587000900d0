// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cost of calls through a collector's library, as a ratio to a plain marker pair.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "collector.h"

/* With the warm-up fewer slots than a ring of 2 MiB has. */
#define PAIRS		30000

static xsprof_name_t name;

void *bench_collector(const char *variable)
{
	const char *path = getenv(variable);
	void *lib = path ? dlopen(path, RTLD_NOW) : NULL;

	if (!lib) {
		fprintf(stderr, "bench: %s: %s\n", variable, path ? dlerror() : "not set");
		exit(1);
	}
	return lib;
}

void *bench_collector_find(void *lib, const char *symbol)
{
	void *function = dlsym(lib, symbol);

	if (!function) {
		fprintf(stderr, "bench: %s\n", dlerror());
		exit(1);
	}
	return function;
}

static void pairs(long n)
{
	for (long i = 0; i < n; i++) {
		xsprof_begin(name);
		xsprof_end();
	}
}

int bench_collector_run(char **argv, const char *pair, void (*open)(void),
			const struct bench_calls *calls, int nr)
{
	struct bench_side sides[1 + BENCH_CALLS_MAX] = { { .fn = pairs } };
	struct bench_series ns[1 + BENCH_CALLS_MAX] = { 0 }, ratio[1 + BENCH_CALLS_MAX] = { 0 };

	for (int s = 0; s <= nr; s++) {
		if (s)
			sides[s].fn = calls[s - 1].fn;
		sides[s].n = PAIRS;
		sides[s].after = session_drain;
	}
	session_enter(argv, "2M");
	session_open();
	open();
	name = xsprof_name("plain");
	bench_pin(bench_cpu(0));
	bench_hush_start();
	if (!bench_realtime(true))
		fprintf(stderr, "bench: no right to real-time priority: more noise\n");
	bench_run(sides, 1 + nr);
	for (int r = 0; r < BENCH_RUNS; r++) {
		bench_run(sides, 1 + nr);
		for (int s = 0; s <= nr; s++) {
			bench_add(&ns[s], sides[s].ns);
			bench_add(&ratio[s], sides[s].ns / sides[0].ns);
		}
	}
	session_check_drops(pair);
	bench_print(pair, "ns", &ns[0]);
	for (int s = 1; s <= nr; s++) {
		bench_print(calls[s - 1].id, "ns", &ns[s]);
		bench_print(calls[s - 1].ratio, "ratio", &ratio[s]);
	}
	return 0;
}
