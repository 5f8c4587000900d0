// SPDX-License-Identifier: GPL-2.0-only
/*
 * The part of the program that names streams and contexts with NVTX.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <wchar.h>

#include <xsprof/collector.h>

#include "gpu/nvtx/nvtx-abi.h"
#include "tests/gpu/program.h"
#include "tests/gpu/stand-in.h"

typedef void (*name_fn)(uintptr_t handle, const void *name);

static nvtx_slot slots[NVTX_MODULES][NVTX_CUDA_SLOTS], *table[NVTX_MODULES][NVTX_CUDA_SLOTS];

static void nothing(void)
{
}

static int get_module(uint32_t module, nvtx_slot ***of, unsigned int *size)
{
	if (module != NVTX_CUDA && module != NVTX_CUDART)
		return 0;
	*of = table[module];
	*size = module == NVTX_CUDA ? NVTX_CUDA_SLOTS : NVTX_CUDART_SLOTS;
	return 1;
}

static const void *get_export(uint32_t id)
{
	static const struct nvtx_callbacks callbacks = { sizeof(callbacks), get_module };

	return id == NVTX_EXPORT_CALLBACKS ? &callbacks : NULL;
}

/* Does what a copy of NVTX does at its first call. */
static void nvtx_init(void)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *lib = path ? dlopen(path, RTLD_LAZY) : NULL;
	int (*init)(nvtx_get_export) = lib ? (int (*)(nvtx_get_export))
					     dlsym(lib, "InitializeInjectionNvtx2") : NULL;

	for (int m = 0; m < NVTX_MODULES; m++)
		for (int i = 0; i < NVTX_CUDA_SLOTS; i++) {
			slots[m][i] = nothing;
			table[m][i] = &slots[m][i];
		}
	printf("nvtx: %d\n", init ? init(get_export) : -1);
}

static void name(int module, int slot, uintptr_t handle, const void *text)
{
	((name_fn)slots[module][slot])(handle, text);
}

void named(void)
{
	nvtx_init();
	stand_in_device(3);
	stand_in_kernel(stand_in_call(false, 1), 7, "_Z4axpyPKfPfi", 0);
	stand_in_kernel(stand_in_call(false, 1), 8, "_Z4axpyPKfPfi", 0);
	stand_in_kernel(stand_in_call(false, 1), 9, "_Z4axpyPKfPfi", 0);
	/* Another context's stream may have the same number. */
	stand_in_kernel(stand_in_call(false, 1), 10, "_Z4axpyPKfPfi", 0);
	stand_in.context = 4;
	stand_in_kernel(stand_in_call(false, 1), 10, "_Z4axpyPKfPfi", 0);
	name(NVTX_CUDA, NVTX_NAME_CONTEXT_A, 3, "of the trainer");
	name(NVTX_CUDA, NVTX_NAME_STREAM_A, 7, "compute");
	name(NVTX_CUDA, NVTX_NAME_STREAM_W, 8, L"zum Ger\u00e4t");
	name(NVTX_CUDART, NVTX_NAME_RUNTIME_STREAM_A, 9, "first");
	name(NVTX_CUDART, NVTX_NAME_RUNTIME_STREAM_W, 9, L"\"from\" the device");
	name(NVTX_CUDA, NVTX_NAME_STREAM_A, 10, "of one context");
	/* Handles that CUDA does not know, and no text. */
	name(NVTX_CUDA, NVTX_NAME_STREAM_A, 0xbad, "nothing");
	name(NVTX_CUDA, NVTX_NAME_STREAM_A, 7, NULL);
	name(NVTX_CUDA, NVTX_NAME_CONTEXT_W, 0xbad, L"nothing");
	name(NVTX_CUDART, NVTX_NAME_RUNTIME_STREAM_W, 7, NULL);
	name(NVTX_CUDA, NVTX_NAME_EVENT_A, 7, "an event");
	printf("named: %d %d %d\n", xsprof_handle_name("CUmodule", NULL, "a module"),
	       xsprof_handle_name("CUstream", NULL, NULL), xsprof_handle_name(NULL, NULL, "none"));
	/* Until the activities are written; then CUPTI is not the collector's. */
	sleep(1);
	xsprof_pause();
	sleep(2);
	printf("paused: %d\n", xsprof_handle_name("CUstream", (void *)7, "paused"));
	xsprof_resume();
	sleep(1);
}
