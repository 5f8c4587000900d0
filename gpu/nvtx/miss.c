// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Counts the NVTX calls that leave no record.  A count is recorded as a counter when it reaches a
 * power of two, and again at a regular exit: after _exit() it is at most a factor of two too low.
 * At a regular exit it is stated as a fact as well, which a full ring cannot lose.
 */
#include <inttypes.h>
#include <stdio.h>

#include "gpu/nvtx/local.h"

#define API_TEXT(api, n)	"nvtxName" #api,
#define NAME_TEXT(api)		"nvtxName" #api,
#define EXT_TEXT(api, n)	"nvtx" #api,
#define CASE_TEXT(id, text)	text,

static const char *const texts[NVTX_NR_MISSES] = {
	NVTX_MISSED_CUDA(API_TEXT)
	NVTX_MISSED_CUDART(API_TEXT)
	NVTX_MISSED_OPENCL(API_TEXT)
	NVTX_MISSED_NAMES(NAME_TEXT)
	NVTX_MISSED_EXT(EXT_TEXT)
	NVTX_MISSED_CASES(CASE_TEXT)
};

static struct {
	uint64_t	n;
	uint64_t	shown;
	xsprof_name_t	name;
} misses[NVTX_NR_MISSES];

static xsprof_name_t name_of(enum nvtx_miss what)
{
	xsprof_name_t name = __atomic_load_n(&misses[what].name, __ATOMIC_RELAXED);
	char text[160];

	if (name)
		return name;
	snprintf(text, sizeof(text), "not recorded: %s", texts[what]);
	name = xsprof_name_in((int)nvtx_default_category(), text);
	__atomic_store_n(&misses[what].name, name, __ATOMIC_RELAXED);
	return name;
}

static void show(enum nvtx_miss what, uint64_t n)
{
	__atomic_store_n(&misses[what].shown, n, __ATOMIC_RELAXED);
	xsprof_counter(name_of(what), (int64_t)n);
}

/* The program may fill the name table: intern ours first. */
void nvtx_own_names(void)
{
	static const char *const keys[] = {
		"name", "category", "color", "payload", "id", "thread", "resource", "identifier",
		"type",
	};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		(void)xsprof_name(keys[i]);
	(void)xsprof_name_in((int)nvtx_default_category(), "attributes");
	for (int i = NVTX_MISS_POP; i < NVTX_NR_MISSES; i++)
		(void)name_of((enum nvtx_miss)i);
}

__attribute__((cold, noinline)) void nvtx_miss(enum nvtx_miss what)
{
	uint64_t n = __atomic_add_fetch(&misses[what].n, 1, __ATOMIC_RELAXED);

	if (!(n & (n - 1)))
		show(what, n);
}

void nvtx_miss_reset(void)
{
	for (int i = 0; i < NVTX_NR_MISSES; i++) {
		__atomic_store_n(&misses[i].n, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&misses[i].shown, 0, __ATOMIC_RELAXED);
	}
}

/*
 * They ignore their arguments, whatever they are, as the C calling conventions of x86-64 and arm64
 * allow.
 */
#define API_FUNC(api, n) \
	static void miss_##api(void) \
	{ \
		nvtx_miss(NVTX_MISS_##api); \
	}
NVTX_MISSED_CUDA(API_FUNC)
NVTX_MISSED_CUDART(API_FUNC)
NVTX_MISSED_OPENCL(API_FUNC)

#define ENTRIES(module, api, n) \
	NVTX_ENTRY(module, 2 * (n) + 1, miss_##api), NVTX_ENTRY(module, 2 * (n) + 2, miss_##api),
#define CUDA_ENTRIES(api, n)	ENTRIES(NVTX_CUDA, api, n)
#define CUDART_ENTRIES(api, n)	ENTRIES(NVTX_CUDART, api, n)
#define OPENCL_ENTRIES(api, n)	ENTRIES(NVTX_OPENCL, api, n)

const struct nvtx_entry nvtx_miss_entries[] = {
	NVTX_MISSED_CUDA(CUDA_ENTRIES)
	NVTX_MISSED_CUDART(CUDART_ENTRIES)
	NVTX_MISSED_OPENCL(OPENCL_ENTRIES)
	{ 0, 0, NULL }
};

static void state(enum nvtx_miss what, uint64_t n)
{
	char key[160], value[24];

	snprintf(key, sizeof(key), "not recorded (nvtx): %s", texts[what]);
	snprintf(value, sizeof(value), "%" PRIu64, n);
	/* Where it has no place, there is the counter. */
	(void)xsprof_fact(key, value);
}

__attribute__((destructor)) static void miss_stop(void)
{
	for (int i = 0; i < NVTX_NR_MISSES; i++) {
		uint64_t n = __atomic_load_n(&misses[i].n, __ATOMIC_RELAXED);

		if (n != __atomic_load_n(&misses[i].shown, __ATOMIC_RELAXED))
			show(i, n);
		if (n)
			state((enum nvtx_miss)i, n);
	}
}
