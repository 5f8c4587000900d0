// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a push and a pop of NVTX cost through the collector, beside a plain marker pair: of a text,
 * which is compared, and of a registered string in a domain. The program plays a copy of NVTX.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "gpu/nvtx/nvtx-abi.h"

#include "bench.h"

/* With the warm-up fewer slots than a ring of 2 MiB has. */
#define PAIRS		30000

static nvtx_slot slots[NVTX_MODULES][NVTX_CORE_SLOTS], *tables[NVTX_MODULES][NVTX_CORE_SLOTS];

static xsprof_name_t name;
static int (*push)(const char *text);
static int (*pop)(void);
static int (*domain_push)(void *domain, const struct nvtx_event *event);
static int (*domain_pop)(void *domain);
static void *domain;
static struct nvtx_event registered;

static void pairs(long n)
{
	for (long i = 0; i < n; i++) {
		xsprof_begin(name);
		xsprof_end();
	}
}

static void texts(long n)
{
	for (long i = 0; i < n; i++) {
		push("aten::convolution");
		pop();
	}
}

static void strings(long n)
{
	for (long i = 0; i < n; i++) {
		domain_push(domain, &registered);
		domain_pop(domain);
	}
}

static int get_module(uint32_t module, nvtx_slot ***table, unsigned int *size)
{
	if (module != NVTX_CORE && module != NVTX_CORE2)
		return 0;
	*table = tables[module];
	*size = NVTX_CORE_SLOTS;
	return 1;
}

static const void *get_export(uint32_t id)
{
	static const struct nvtx_callbacks callbacks = { sizeof(callbacks), get_module };

	return id == NVTX_EXPORT_CALLBACKS ? &callbacks : NULL;
}

static void open_collector(void)
{
	void *lib = dlopen(getenv("BENCH_NVTX"), RTLD_NOW);
	void *(*create)(const char *text), *(*string)(void *domain, const char *text);
	int (*init)(nvtx_get_export get_export);

	init = lib ? (int (*)(nvtx_get_export))dlsym(lib, "InitializeInjectionNvtx2") : NULL;
	for (int m = 0; m < NVTX_MODULES; m++)
		for (int i = 0; i < NVTX_CORE_SLOTS; i++)
			tables[m][i] = &slots[m][i];
	if (!init || !init(get_export)) {
		fprintf(stderr, "bench: BENCH_NVTX: %s\n", lib ? "it does not record" : dlerror());
		exit(1);
	}
	push = (int (*)(const char *))slots[NVTX_CORE][NVTX_PUSH_A];
	pop = (int (*)(void))slots[NVTX_CORE][NVTX_POP];
	domain_push = (int (*)(void *, const struct nvtx_event *))
		      slots[NVTX_CORE2][NVTX_DOMAIN_PUSH_EX];
	domain_pop = (int (*)(void *))slots[NVTX_CORE2][NVTX_DOMAIN_POP];
	create = (void *(*)(const char *))slots[NVTX_CORE2][NVTX_DOMAIN_CREATE_A];
	string = (void *(*)(void *, const char *))slots[NVTX_CORE2][NVTX_REGISTER_STRING_A];
	domain = create("bench");
	registered = (struct nvtx_event){
		.version = 3, .size = sizeof(registered), .message_type = NVTX_MSG_REGISTERED,
		.message = string(domain, "registered"),
	};
	name = xsprof_name("plain");
}

enum { PAIR, TEXT, STRING, SIDES };

static struct bench_side sides[SIDES] = {
	[PAIR] = { .fn = pairs, .n = PAIRS, .after = session_drain },
	[TEXT] = { .fn = texts, .n = PAIRS, .after = session_drain },
	[STRING] = { .fn = strings, .n = PAIRS, .after = session_drain },
};

int main(int argc, char **argv)
{
	static const char *const ids[SIDES] = { "nvtx_pair", "nvtx_text", "nvtx_string" };
	struct bench_series ns[SIDES] = { 0 }, ratio[SIDES] = { 0 };

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
		for (int s = 0; s < SIDES; s++) {
			bench_add(&ns[s], sides[s].ns);
			bench_add(&ratio[s], sides[s].ns / sides[PAIR].ns);
		}
	}
	if (session_dropped()) {
		fprintf(stderr, "bench: nvtx: some were dropped\n");
		return 1;
	}
	for (int s = 0; s < SIDES; s++)
		bench_print(ids[s], "ns", &ns[s]);
	bench_print("nvtx_text_ratio", "ratio", &ratio[TEXT]);
	bench_print("nvtx_string_ratio", "ratio", &ratio[STRING]);
	return 0;
}
