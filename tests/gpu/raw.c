// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes CUPTI's buffers unchanged, for tests that replay them without a GPU. libcuda loads it by
 * CUDA_INJECTION64_PATH; XSPROF_CUPTI names the libcupti, RAW_FILE the file.
 *
 * The file: "XSCUPTI1", the version of CUPTI in 4 bytes, 4 bytes of 0; then pieces, each a kind and
 * a length in 4 bytes, an address in 8, and the bytes: a text (kind 1) with the address that kernel
 * records have for it, or a buffer (kind 2).
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/cupti/cupti-abi.h"

#define BYTES	(64u << 10)

static int (*next_record)(uint8_t *buffer, size_t valid, void **record);
static int (*flush_all)(uint32_t flag);
static FILE *file;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void put(uint32_t kind, uint64_t address, const void *bytes, size_t len)
{
	const uint32_t head[2] = { kind, (uint32_t)len };

	fwrite(head, sizeof(head), 1, file);
	fwrite(&address, sizeof(address), 1, file);
	fwrite(bytes, len, 1, file);
}

static void request(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*buffer = aligned_alloc(8, BYTES);
	*size = *buffer ? BYTES : 0;
	*max_records = 0;
}

static void complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	const struct cupti_kernel *kernel;
	void *record = NULL;

	(void)context, (void)stream, (void)size;
	pthread_mutex_lock(&lock);
	while (!next_record(buffer, valid, &record)) {
		kernel = record;
		if (kernel->kind == CUPTI_KERNEL && kernel->name)
			put(1, (uintptr_t)kernel->name, kernel->name, strlen(kernel->name) + 1);
	}
	put(2, 0, buffer, valid);
	pthread_mutex_unlock(&lock);
	free(buffer);
}

static void at_exit(void)
{
	flush_all(CUPTI_FLUSH_FORCED);
	fclose(file);
}

__attribute__((visibility("default"))) int InitializeInjection(void);

int InitializeInjection(void)
{
	static const uint32_t kinds[] = {
		CUPTI_KERNEL, CUPTI_MEMCPY, CUPTI_MEMCPY_PEER, CUPTI_MEMSET, CUPTI_SYNC,
		CUPTI_OVERHEAD, CUPTI_EXTERNAL, CUPTI_CONTEXT, CUPTI_DEVICE, CUPTI_RUNTIME,
		CUPTI_DRIVER,
	};
	const char *named = getenv("XSPROF_CUPTI"), *path = getenv("RAW_FILE");
	void *lib = dlopen(named ? named : "libcupti.so", RTLD_NOW);
	int (*get_version)(uint32_t *version), (*enable)(uint32_t kind);
	int (*set_callbacks)(cupti_request_fn req, cupti_complete_fn comp);
	uint32_t head[2] = { 0, 0 };

	file = path ? fopen(path, "wb") : NULL;
	if (!lib || !file) {
		fprintf(stderr, "raw: %s\n", lib ? "RAW_FILE cannot be written" : dlerror());
		return 0;
	}
	get_version = (int (*)(uint32_t *))dlsym(lib, "cuptiGetVersion");
	enable = (int (*)(uint32_t))dlsym(lib, "cuptiActivityEnable");
	set_callbacks = (int (*)(cupti_request_fn, cupti_complete_fn))
			dlsym(lib, "cuptiActivityRegisterCallbacks");
	next_record = (int (*)(uint8_t *, size_t, void **))
		      dlsym(lib, "cuptiActivityGetNextRecord");
	flush_all = (int (*)(uint32_t))dlsym(lib, "cuptiActivityFlushAll");
	get_version(&head[0]);
	fwrite("XSCUPTI1", 8, 1, file);
	fwrite(head, sizeof(head), 1, file);
	if (set_callbacks(request, complete))
		fprintf(stderr, "raw: no callbacks\n");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (enable(kinds[i]))
			fprintf(stderr, "raw: kind %u is not enabled\n", kinds[i]);
	atexit(at_exit);
	return 1;
}
