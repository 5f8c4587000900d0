// SPDX-License-Identifier: GPL-2.0-only
/*
 * Walks buffers with CUPTI's own function and with the stand-in's: buffers that the stand-in fills,
 * and those of a real device. Both must find the same records, and the same end.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/cupti/cupti-abi.h"
#include "tests/gpu/oracle-steps.h"
#include "tests/gpu/stand-in.h"

#define BYTES	65536u
#define FUNCTION(lib, name)	((__typeof__(&(name)))function(lib, #name))

int cuptiActivityEnable(uint32_t kind);
int cuptiActivityFlushAll(uint32_t flag);
int cuptiActivityRegisterCallbacks(cupti_request_fn req, cupti_complete_fn comp);
int cuptiActivityRegisterTimestampCallback(uint64_t (*now)(void));

static next_fn theirs, ours;
static long stepped;
static uint64_t memory[BYTES / 8];

static void *function(void *lib, const char *name)
{
	void *f = dlsym(lib, name);

	if (!f) {
		printf("%s\n", dlerror());
		exit(1);
	}
	return f;
}

static void step(uint8_t *buffer, size_t valid)
{
	void *a = NULL, *b = NULL;
	int is, wanted;

	do {
		wanted = theirs(buffer, valid, &a);
		is = ours(buffer, valid, &b);
		if (is != wanted || (!is && a != b)) {
			printf("after %ld records, of kind %u: %d and %d\n", stepped,
			       b ? *(uint32_t *)b : 0, wanted, is);
			exit(1);
		}
		stepped += !is;
	} while (!is);
}

static void request(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*buffer = (uint8_t *)memory;
	*size = BYTES;
	*max_records = 0;
}

static void complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	(void)context, (void)stream, (void)size;
	step(buffer, valid);
}

static uint64_t now(void)
{
	return 1000000;
}

/* Return: the number of records. */
static long fill(void *lib)
{
	struct cupti_managed_config moves = { .scope = 2, .counter = CUPTI_TO_DEVICE, .on = 1 };
	int (*configure)(struct cupti_managed_config *configs, uint32_t nr);
	long n = 0;

	configure = (__typeof__(configure))function(lib,
					"cuptiActivityConfigureUnifiedMemoryCounter");
	FUNCTION(lib, stand_in_initialised)();
	(void)configure(&moves, 1);
	for (int i = 0; i < 100; i++) {
		FUNCTION(lib, stand_in_device)(3);
		FUNCTION(lib, stand_in_context)(5);
		FUNCTION(lib, stand_in_call)(false, 1);
		FUNCTION(lib, stand_in_call)(true, 1);
		FUNCTION(lib, stand_in_kernel)(1, 7, "kernel", 0);
		FUNCTION(lib, stand_in_memcpy)(2, 7, 4096);
		FUNCTION(lib, stand_in_peer)(3, 7, 4096);
		FUNCTION(lib, stand_in_memset)(4, 7, 4096);
		FUNCTION(lib, stand_in_sync)(5, 7, 3);
		FUNCTION(lib, stand_in_event)(6, 7, 1, 1);
		FUNCTION(lib, stand_in_sync_event)(7, 7, 1, 1);
		FUNCTION(lib, stand_in_graph)(8, 7, 5);
		FUNCTION(lib, stand_in_memory)(9, true, 4096, 0);
		FUNCTION(lib, stand_in_managed)(1, 4096);
		FUNCTION(lib, stand_in_overhead)(1);
		FUNCTION(lib, stand_in_external)(10, 4, 70);
		FUNCTION(lib, stand_in_pool)(11, 1, 1);
		FUNCTION(lib, stand_in_jit)(12, 1, 1);
		FUNCTION(lib, stand_in_links)();
		n += 24;	/* a device record comes with its context record */
	}
	(void)FUNCTION(lib, cuptiActivityFlushAll)(CUPTI_FLUSH_FORCED);
	return n;
}

/* Replays what raw.c wrote. Return: the number of buffers, 0: the file cannot be read. */
static long real(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint32_t head[4];
	long buffers = 0;

	if (!file || fread(head, sizeof(head), 1, file) != 1 || memcmp(head, "XSCUPTI1", 8))
		return 0;
	while (fread(head, sizeof(head), 1, file) == 1 && head[1] <= BYTES &&
	       fread(memory, head[1], 1, file) == 1) {
		if (head[0] != 2)
			continue;
		step((uint8_t *)memory, head[1]);
		buffers++;
	}
	fclose(file);
	return buffers;
}

/* Loads the stand-in, which plays @version. */
static void *load(const char *path, uint32_t version)
{
	void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!lib) {
		printf("%s\n", dlerror());
		exit(1);
	}
	((struct stand_in *)function(lib, "stand_in"))->version = version;
	return lib;
}

void oracle_length(const char *path, uint32_t version, uint32_t kind, size_t length)
{
	size_t (*length_of)(uint32_t kind) =
		(size_t (*)(uint32_t))function(load(path, version), "stand_in_length");

	if (length_of(kind) == length)
		return;
	printf("kind %u has %zu bytes, of the stand-in %zu\n", kind, length, length_of(kind));
	exit(1);
}

long oracle_steps(next_fn next, const char *path, uint32_t version, const char *raw)
{
	void *lib = load(path, version);
	long wanted;

	theirs = next;
	ours = (next_fn)function(lib, "cuptiActivityGetNextRecord");
	for (uint32_t kind = 1; kind < 64; kind++)
		(void)FUNCTION(lib, cuptiActivityEnable)(kind);
	(void)FUNCTION(lib, cuptiActivityRegisterTimestampCallback)(now);
	(void)FUNCTION(lib, cuptiActivityRegisterCallbacks)(request, complete);
	wanted = fill(lib);
	if (stepped != wanted) {
		printf("%ld records of %ld\n", stepped, wanted);
		exit(1);
	}
	if (raw && !real(raw)) {
		printf("%s: no buffers\n", raw);
		exit(1);
	}
	return stepped;
}
