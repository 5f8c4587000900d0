// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures the cost of an NVTX push and pop through the collector, compared with a plain marker
 * pair: with a text, which the collector compares, and with a registered string in a domain. The
 * program acts as a copy of NVTX.
 */
#include <stdio.h>
#include <stdlib.h>

#include "gpu/nvtx/nvtx-abi.h"

#include "bench.h"
#include "collector.h"

static nvtx_slot slots[NVTX_MODULES][NVTX_CORE_SLOTS], *tables[NVTX_MODULES][NVTX_CORE_SLOTS];

static int (*push)(const char *text);
static int (*pop)(void);
static int (*domain_push)(void *domain, const struct nvtx_event *event);
static int (*domain_pop)(void *domain);
static void *domain;
static struct nvtx_event registered;

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
	void *lib = bench_collector("BENCH_NVTX");
	void *(*create)(const char *text), *(*string)(void *domain, const char *text);
	int (*init)(nvtx_get_export get_export);

	init = (int (*)(nvtx_get_export))bench_collector_find(lib, "InitializeInjectionNvtx2");
	for (int m = 0; m < NVTX_MODULES; m++)
		for (int i = 0; i < NVTX_CORE_SLOTS; i++)
			tables[m][i] = &slots[m][i];
	if (!init(get_export)) {
		fprintf(stderr, "bench: BENCH_NVTX: it does not record\n");
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
}

int main(int argc, char **argv)
{
	static const struct bench_calls calls[] = {
		{ texts, "nvtx_text", "nvtx_text_ratio" },
		{ strings, "nvtx_string", "nvtx_string_ratio" },
	};

	(void)argc;
	return bench_collector_run(argv, "nvtx_pair", open_collector, calls, 2);
}
