// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Loads a second tool that the user named, passes it tables of ours in place of the program's, and
 * maps the tool's handles to ours.  chain-calls.c has the functions that forward calls.
 */
#include <dlfcn.h>
#include <stdlib.h>

#include "gpu/nvtx/chain.h"

#define VARIABLE	"XSPROF_NVTX_TOOL"
#define SLOTS		16384u	/* of a map; a power of two */
#define PROBES		64u
#define TAKEN		1ull	/* a freed slot: a search continues after it */

nvtx_slot nvtx_ours[NVTX_MODULES][NVTX_CHAIN_SLOTS];
nvtx_slot nvtx_theirs[NVTX_MODULES][NVTX_CHAIN_SLOTS];

/* The copy of NVTX whose tables the tool requests, while it does so in this thread. */
static __thread const struct nvtx_callbacks *program __attribute__((tls_model("initial-exec")));
static __thread nvtx_get_export program_export __attribute__((tls_model("initial-exec")));

/* ---- the tool -------------------------------------------------------------------------------- */

/*
 * Takes no lock: dlopen() counts references, so a race is harmless, and a tool may itself contain a
 * copy of NVTX that calls us from its constructor.
 */
void *nvtx_chain_find(const char *name)
{
	const char *path = secure_getenv(VARIABLE);
	void *lib = path && *path ? dlopen(path, RTLD_LAZY) : NULL;
	void *func = lib ? dlsym(lib, name) : NULL;
	Dl_info mine, its;

	if (path && *path && !lib)
		nvtx_miss(NVTX_MISS_TOOL);
	/* Not ourselves, whatever the path is called. */
	if (!func || (dladdr(func, &its) && dladdr((void *)nvtx_theirs, &mine) &&
		      its.dli_fbase == mine.dli_fbase))
		return NULL;
	return func;
}

static int get_module(uint32_t module, nvtx_slot ***table, unsigned int *size)
{
	static nvtx_slot *tables[NVTX_MODULES][NVTX_CHAIN_SLOTS];
	unsigned int n = 0;

	if (!program)
		return 0;
	if (module < NVTX_CORE || module >= NVTX_MODULES)
		return program->get_module(module, table, size);
	if (!program->get_module(module, NULL, &n))
		return 0;
	if (n > NVTX_CHAIN_SLOTS)
		n = NVTX_CHAIN_SLOTS;
	/* Every thread stores the same. */
	for (unsigned int i = 0; i < NVTX_CHAIN_SLOTS; i++)
		__atomic_store_n(&tables[module][i], &nvtx_theirs[module][i], __ATOMIC_RELAXED);
	if (table)
		*table = tables[module];
	if (size)
		*size = n;
	return 1;
}

static const void *get_export(uint32_t id)
{
	static const struct nvtx_callbacks callbacks = { sizeof(callbacks), get_module };

	if (id == NVTX_EXPORT_CALLBACKS)
		return &callbacks;
	return program_export ? program_export(id) : NULL;
}

bool nvtx_chain_init(nvtx_get_export of_program)
{
	int (*init)(nvtx_get_export) =
		(int (*)(nvtx_get_export))nvtx_chain_find("InitializeInjectionNvtx2");
	const struct nvtx_callbacks *outer = program;
	nvtx_get_export outer_export = program_export;
	bool good;

	if (!init)
		return false;
	program = of_program(NVTX_EXPORT_CALLBACKS);
	program_export = of_program;
	good = init(get_export);
	program = outer;
	program_export = outer_export;
	return good;
}

/* ---- handles --------------------------------------------------------------------------------- */

/* Written under nvtx_lock(), read without it: the key is stored after the value. */
static struct {
	uint64_t	key;
	uint64_t	value;
} maps[NVTX_KINDS][SLOTS];

static uint32_t place(uint64_t key, uint32_t probe)
{
	return ((uint32_t)(key * 0x9e3779b97f4a7c15ull >> 40) + probe) % SLOTS;
}

/* Return: the index of the slot, SLOTS: not found. */
static uint32_t find(enum nvtx_kind kind, uint64_t key)
{
	for (uint32_t i = 0; i < PROBES; i++) {
		uint32_t at = place(key, i);
		uint64_t k = __atomic_load_n(&maps[kind][at].key, __ATOMIC_ACQUIRE);

		if (k == key)
			return at;
		if (!k)
			break;
	}
	return SLOTS;
}

/* A key is never 0 or TAKEN, nor is a tool's handle. */
static uint64_t key_of(uint64_t theirs)
{
	return theirs + 2;
}

void nvtx_chain_put(enum nvtx_kind kind, uint64_t theirs, uint64_t ours)
{
	uint64_t key = key_of(theirs);
	uint32_t at;

	nvtx_lock();
	at = find(kind, key);
	for (uint32_t i = 0; at == SLOTS && i < PROBES; i++)
		if (maps[kind][place(key, i)].key <= TAKEN)
			at = place(key, i);
	if (at < SLOTS) {
		__atomic_store_n(&maps[kind][at].value, ours, __ATOMIC_RELAXED);
		__atomic_store_n(&maps[kind][at].key, key, __ATOMIC_RELEASE);
	}
	nvtx_unlock();
	if (at == SLOTS)
		nvtx_miss(NVTX_MISS_HANDLE);
}

bool nvtx_chain_get(enum nvtx_kind kind, uint64_t theirs, uint64_t *ours)
{
	uint32_t at = find(kind, key_of(theirs));

	if (at == SLOTS)
		return false;
	*ours = __atomic_load_n(&maps[kind][at].value, __ATOMIC_RELAXED);
	return true;
}

struct nvtx_domain nvtx_chain_domain(const void *handle)
{
	uint64_t ours;

	if (handle && !nvtx_is(handle, NVTX_TAG_DOMAIN) &&
	    nvtx_chain_get(NVTX_KIND_DOMAIN, (uintptr_t)handle, &ours))
		handle = (const void *)(uintptr_t)ours;
	return nvtx_domain_of(handle);
}

bool nvtx_chain_take(enum nvtx_kind kind, uint64_t theirs, uint64_t *ours)
{
	uint32_t at;

	nvtx_lock();
	at = find(kind, key_of(theirs));
	if (at < SLOTS) {
		*ours = maps[kind][at].value;
		__atomic_store_n(&maps[kind][at].key, TAKEN, __ATOMIC_RELEASE);
	}
	nvtx_unlock();
	return at < SLOTS;
}
