// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a task of ITT costs through the collector, beside a plain marker pair: with a string handle,
 * and without ids, as PyTorch and oneDNN have them.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/collect/itt/itt-abi.h"

#include "bench.h"

/* With the warm-up fewer slots than a ring of 2 MiB has. */
#define PAIRS		30000

static xsprof_name_t name;
static void (*begin)(const struct itt_domain *domain, struct itt_id task, struct itt_id parent,
		     struct itt_string *name);
static void (*end)(const struct itt_domain *domain);
static struct itt_domain *domain;
static struct itt_string *handle;

static void pairs(long n)
{
	for (long i = 0; i < n; i++) {
		xsprof_begin(name);
		xsprof_end();
	}
}

static void tasks(long n)
{
	static const struct itt_id none;

	for (long i = 0; i < n; i++) {
		begin(domain, none, none, handle);
		end(domain);
	}
}

static void *find(void *lib, const char *symbol)
{
	void *function = lib ? dlsym(lib, symbol) : NULL;

	if (!function) {
		fprintf(stderr, "bench: BENCH_ITT: %s\n", dlerror());
		exit(1);
	}
	return function;
}

static void open_collector(void)
{
	void *lib = dlopen(getenv("BENCH_ITT"), RTLD_NOW);
	struct itt_domain *(*new_domain)(const char *text);
	struct itt_string *(*new_string)(const char *text);

	new_domain = (struct itt_domain *(*)(const char *))find(lib, "__itt_domain_create");
	new_string = (struct itt_string *(*)(const char *))find(lib, "__itt_string_handle_create");
	begin = (void (*)(const struct itt_domain *, struct itt_id, struct itt_id,
			  struct itt_string *))find(lib, "__itt_task_begin");
	end = (void (*)(const struct itt_domain *))find(lib, "__itt_task_end");
	domain = new_domain("bench");
	handle = new_string("aten::convolution");
	name = xsprof_name("plain");
}

enum { PAIR, TASK, SIDES };

static struct bench_side sides[SIDES] = {
	[PAIR] = { .fn = pairs, .n = PAIRS, .after = session_drain },
	[TASK] = { .fn = tasks, .n = PAIRS, .after = session_drain },
};

int main(int argc, char **argv)
{
	struct bench_series ns[SIDES] = { 0 }, ratio = { 0 };

	(void)argc;
	session_enter(argv, "2M");
	session_open();
	open_collector();
	bench_pin(bench_cpu(0));
	bench_hush_start();
	if (!bench_realtime(true))
		fprintf(stderr, "bench: no right to real-time priority: more noise\n");
	bench_run(sides, SIDES);
	for (int r = 0; r < BENCH_RUNS; r++) {
		bench_run(sides, SIDES);
		for (int s = 0; s < SIDES; s++)
			bench_add(&ns[s], sides[s].ns);
		bench_add(&ratio, sides[TASK].ns / sides[PAIR].ns);
	}
	if (session_dropped()) {
		fprintf(stderr, "bench: itt: some were dropped\n");
		return 1;
	}
	bench_print("itt_pair", "ns", &ns[PAIR]);
	bench_print("itt_task", "ns", &ns[TASK]);
	bench_print("itt_ratio", "ratio", &ratio);
	return 0;
}
