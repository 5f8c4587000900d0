// SPDX-License-Identifier: GPL-2.0-only
/*
 * Acts as copies of NVTX of versions 2 and 3: no slot is written beyond the size that a copy
 * reports, nothing is read beyond the size of an attribute, and invalid values are survived. The
 * layouts are the collector's own; tests/nvtx/abi.c compares these with NVIDIA's.
 *
 * Usage: table recording|idle|threads
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/tap.h"
#include "gpu/nvtx/ext-abi.h"
#include "nvtx/copy.h"

static int (*init_extension)(struct nvtx_ext_info *info);

static void check_tables(void)
{
	static const unsigned int none[NVTX_MODULES];
	unsigned int sizes[NVTX_MODULES];
	bool good = true;

	has_version = true;
	copy_reset(&v3, sizes3);
	tap_ok("version 3 takes the collector", init_copy(&v3) == 1);
	tap_ok("all slots are filled but nvtxInitialize()",
	       filled(&v3, NVTX_CORE) == 15 && filled(&v3, NVTX_CUDA) == 8 &&
	       filled(&v3, NVTX_OPENCL) == 14 && filled(&v3, NVTX_CUDART) == 6 &&
	       filled(&v3, NVTX_CORE2) == 14 && filled(&v3, NVTX_SYNC) == 6);
	tap_ok("the version is told", told_version == 3);

	has_version = false;
	copy_reset(&v2, sizes2);
	tap_ok("version 2 takes the collector", init_copy(&v2) == 1);
	tap_ok("its 15 slots are filled and none behind",
	       filled(&v2, NVTX_CORE) == 15 && filled(&v2, NVTX_CORE2) == 14 &&
	       v2.slot[NVTX_CORE2][15] == fresh && !filled(&v2, NVTX_SYNC));
	tap_ok("a second copy has the same functions",
	       !memcmp(v2.slot[NVTX_CORE], v3.slot[NVTX_CORE], 16 * sizeof(nvtx_slot)));

	for (unsigned int n = 0; n <= 16; n++) {
		for (int m = 0; m < NVTX_MODULES; m++)
			sizes[m] = n;
		copy_reset(&other, sizes);
		init_copy(&other);
		for (int m = NVTX_CORE; m < NVTX_MODULES; m++)
			good = good && filled(&other, m) >= 0 &&
			       (m != NVTX_CORE || filled(&other, m) == (n ? (int)n - 1 : 0));
	}
	tap_ok("tables of each length: none is written behind its end", good);
	copy_reset(&other, sizes3);
	for (int m = 0; m < NVTX_MODULES; m++)
		other.table[m][5] = NULL;
	tap_ok("an entry that is NULL", init_copy(&other) == 1 && filled(&other, NVTX_CORE) == 14);
	copy_reset(&other, none);
	tap_ok("a copy without modules", init_copy(&other) == 1);
	tap_ok("no function to ask for tables", init(NULL) == 0);
	now = &v3;
	callbacks.struct_size = 8;
	tap_ok("a table of tables that is too short", init(get_export) == 0);
	callbacks = (struct nvtx_callbacks){ sizeof(callbacks), NULL };
	tap_ok("one without a function", init(get_export) == 0);
}

/* ---- levels ---------------------------------------------------------------------------------- */

typedef int (*push_fn)(const char *text);
typedef int (*pop_fn)(void);
typedef int (*push_in_fn)(void *domain, const struct nvtx_event *event);
typedef int (*pop_in_fn)(void *domain);
typedef void *(*create_fn)(const char *name);
typedef void *(*make_fn)(void *domain, const void *attributes);

static struct nvtx_event event(const char *text)
{
	return (struct nvtx_event){
		.version = 3, .size = sizeof(struct nvtx_event),
		.message_type = NVTX_MSG_ASCII, .message = text,
	};
}

static void *levels_of_thread(void *arg)
{
	push_fn push = F(push_fn, &v3, NVTX_CORE, NVTX_PUSH_A);
	pop_fn pop = F(pop_fn, &v3, NVTX_CORE, NVTX_POP);
	bool good = pop() < 0 && push("in a thread") == 0 && push("in a thread") == 1;

	*(bool *)arg = good && pop() == 1 && pop() == 0 && pop() < 0;
	return NULL;
}

static void check_levels(void)
{
	push_fn push = F(push_fn, &v3, NVTX_CORE, NVTX_PUSH_A);
	push_fn push2 = F(push_fn, &v2, NVTX_CORE, NVTX_PUSH_A);
	pop_fn pop = F(pop_fn, &v3, NVTX_CORE, NVTX_POP);
	push_in_fn push_in = F(push_in_fn, &v3, NVTX_CORE2, NVTX_DOMAIN_PUSH_EX);
	pop_in_fn pop_in = F(pop_in_fn, &v3, NVTX_CORE2, NVTX_DOMAIN_POP);
	create_fn create = F(create_fn, &v3, NVTX_CORE2, NVTX_DOMAIN_CREATE_A);
	void *a = create("a"), *b = create("b"), *again = create("a");
	struct nvtx_event in_a = event("in a"), in_b = event("in b");
	pthread_t thread;
	bool good;
	int i;

	tap_ok("domains have handles of their own", a && b && a != b && a != again);
	tap_ok("levels count up from 0", push("outer") == 0 && push("inner") == 1);
	tap_ok("each thread counts its own",
	       pthread_create(&thread, NULL, levels_of_thread, &good) == 0 &&
	       !pthread_join(thread, NULL) && good);
	tap_ok("each domain counts its own, over all copies",
	       push_in(a, &in_a) == 0 && push_in(b, &in_b) == 0 && push_in(a, &in_a) == 1 &&
	       push2("third") == 2);
	tap_ok("a pop ends the innermost range of its domain",
	       pop_in(b) == 0 && pop_in(b) < 0 && pop_in(again) < 0);
	tap_ok("pops return the levels of the pushes",
	       pop() == 2 && pop_in(a) == 1 && pop_in(a) == 0 && pop() == 1 && pop() == 0 &&
	       pop() < 0);
	for (i = 0, good = true; i < 1000; i++)
		good = good && push("deep") == i;
	while (i--)
		good = good && pop() == i;
	tap_ok("a thousand levels", good);
}

/* A forked child ends what its parent had open, which does not count as an end. */
static void check_fork(void)
{
	push_fn push = F(push_fn, &v3, NVTX_CORE, NVTX_PUSH_A);
	pop_fn pop = F(pop_fn, &v3, NVTX_CORE, NVTX_POP);
	bool good = true;
	int i, status;
	pid_t pid;

	for (i = 0; i < 400; i++)
		good = good && push("deep") == i;
	pid = fork();
	if (!pid) {
		while (i-- > 300)
			good = good && pop() == i;
		for (i = 0; i < 3; i++)
			good = good && push("of a child") == 300 && pop() == 300;
		_exit(!good);
	}
	while (i--)
		good = good && pop() == i;
	tap_ok("levels in the child of a fork, deeper than domains are known",
	       good && pid > 0 && waitpid(pid, &status, 0) == pid && !status);
}

/* ---- hostile --------------------------------------------------------------------------------- */

/* Returns a copy of @thing with no readable memory after its @size bytes. */
static const void *at_the_end(const void *thing, size_t size)
{
	static char *pages;

	if (!pages) {
		pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			     0);
		if (pages == MAP_FAILED || mprotect(pages + 4096, 4096, PROT_NONE))
			abort();
	}
	return memcpy(pages + 4096 - size, thing, size);
}

static void check_short(void)
{
	push_in_fn push_in = F(push_in_fn, &v3, NVTX_CORE2, NVTX_DOMAIN_PUSH_EX);
	pop_fn pop = F(pop_fn, &v3, NVTX_CORE, NVTX_POP);
	make_fn resource = F(make_fn, &v3, NVTX_CORE2, NVTX_RESOURCE_CREATE);
	make_fn sync = F(make_fn, &v3, NVTX_SYNC, NVTX_SYNC_CREATE);
	struct nvtx_resource r = { .version = 3 };
	struct nvtx_sync_object s = { .version = 3 };
	struct nvtx_event e = event("not to be read");
	bool good = true;

	e.category = 7;
	e.color_type = NVTX_COLOR_TYPE_ARGB;
	e.payload_type = NVTX_PAYLOAD_U64;
	e.payload.u64 = 77;
	for (uint16_t size = 0; size < sizeof(e); size++) {
		e.size = size;
		good = good && push_in(NULL, at_the_end(&e, size < 4 ? 4 : size)) == 0 &&
		       pop() == 0;
	}
	tap_ok("attributes of each length: nothing is read behind their end", good);
	for (uint16_t size = 0; size < sizeof(r); size++) {
		r.size = s.size = size;
		resource(NULL, at_the_end(&r, size < 4 ? 4 : size));
		if (size < sizeof(s))
			sync(NULL, at_the_end(&s, size < 4 ? 4 : size));
	}
	tap_ok("resources and sync objects too", true);
}

static void check_nonsense(void)
{
	push_in_fn push_in = F(push_in_fn, &v3, NVTX_CORE2, NVTX_DOMAIN_PUSH_EX);
	pop_in_fn pop_in = F(pop_in_fn, &v3, NVTX_CORE2, NVTX_DOMAIN_POP);
	struct nvtx_event e = event(NULL);
	void *bad = (void *)0x1234;
	bool good = true;
	int i;

	for (int m = NVTX_CORE; m < NVTX_MODULES; m++)
		for (i = 1; i < (int)v3.size[m]; i++) {
			/* A pushed range stays open. */
			if (m == NVTX_CORE2 && i == NVTX_INITIALIZE)
				continue;
			F(void (*)(void *, void *, void *), &v3, m, i)(NULL, NULL, NULL);
		}
	tap_ok("NULL for every argument", true);
	while (F(pop_fn, &v3, NVTX_CORE, NVTX_POP)() >= 0)
		;
	for (i = -1; i < 9; i++) {
		e.message_type = i;
		e.message = i == NVTX_MSG_REGISTERED ? bad : NULL;
		e.payload_type = i;
		e.color_type = i;
		good = good && push_in(bad, &e) == 0 && pop_in(bad) == 0;
	}
	tap_ok("types and handles that do not exist", good);
	for (i = NVTX_SYNC_DESTROY; i <= NVTX_SYNC_RELEASING; i++)
		F(void (*)(void *), &v3, NVTX_SYNC, i)(bad);
	F(void (*)(uint64_t), &v3, NVTX_CORE, NVTX_END)(7);
	F(void (*)(void *, uint64_t), &v3, NVTX_CORE2, NVTX_DOMAIN_END)(bad, ~0ull << 32);
	tap_ok("ends and operations of nothing", true);
}

/* ---- extensions ------------------------------------------------------------------------------ */

#define EXT_SLOTS	20

static intptr_t ext_slots[EXT_SLOTS];

/* Return: whether no slot beyond @n was filled, and the entry point returned @want. */
static bool ext_init(uint16_t module, size_t n, int want)
{
	struct nvtx_ext_segment segment = { .nr_slots = n, .slots = ext_slots };
	struct nvtx_ext_info info = {
		.version = 3, .size = sizeof(info), .module = module, .nr_segments = 1,
		.segments = &segment,
	};
	bool good;

	memset(ext_slots, 0, sizeof(ext_slots));
	good = init_extension(&info) == want;
	for (size_t i = n; i < EXT_SLOTS; i++)
		good = good && !ext_slots[i];
	return good;
}

static void check_payloads(void)
{
	static const struct nvtx_schema_entry entries[] = {
		{ .type = NVTX_TYPE_U64, .name = "a" }, { .type = NVTX_TYPE_U16, .name = "b" },
		{ .type = NVTX_TYPE_CSTRING, .length = 5, .name = "c" },
		{ .type = NVTX_TYPE_I32, .name = "d", .offset = UINT64_MAX },
		{ .type = NVTX_TYPE_CHAR, .flags = NVTX_ENTRY_ARRAY_FIXED, .length = UINT64_MAX },
		{ .type = UINT64_MAX, .flags = UINT64_MAX, .length = 3 },
		/* Behind their length it is 0 again. */
		{ .type = NVTX_TYPE_CSTRING, .length = UINT64_MAX - 7, .name = "e", .offset = 8 },
		{ .type = NVTX_TYPE_CHAR, .flags = NVTX_ENTRY_ARRAY_FIXED, .name = "f",
		  .length = UINT64_MAX - 7, .offset = 8 },
	};
	struct nvtx_schema_attr attr = {
		.mask = NVTX_SCHEMA_HAS_ENTRIES | NVTX_SCHEMA_HAS_NR_ENTRIES, .entries = entries,
		.nr_entries = sizeof(entries) / sizeof(entries[0]),
	};
	void (*mark)(void *, const struct nvtx_payload *, size_t);
	uint64_t (*schema)(void *, const void *), (*enumeration)(void *, const void *);
	char data[64] = "0123456789abcdefghij";
	struct nvtx_payload p[20] = { { 0 } };
	uint64_t id;

	ext_init(NVTX_EXT_PAYLOAD, EXT_SLOTS, 1);
	schema = (uint64_t (*)(void *, const void *))ext_slots[NVTX_EXT_SCHEMA_REGISTER];
	enumeration = (uint64_t (*)(void *, const void *))ext_slots[NVTX_EXT_ENUM_REGISTER];
	mark = (void (*)(void *, const struct nvtx_payload *, size_t))ext_slots[NVTX_EXT_MARK];
	id = schema(NULL, &attr);
	tap_ok("a schema, and none", id && !schema(NULL, NULL) && !enumeration(NULL, NULL));
	for (size_t size = 0; size < sizeof(data); size++) {
		p[0] = (struct nvtx_payload){ id, size, at_the_end(data, size) };
		mark(NULL, p, 1);
	}
	tap_ok("payloads of each length: nothing is read behind their end", true);
	for (uint64_t type = 0; type < 200; type++) {
		p[0] = (struct nvtx_payload){ type, 1, at_the_end(data, 1) };
		mark(NULL, p, 1);
		p[0].data = NULL;
		mark(NULL, p, 1);
	}
	mark(NULL, NULL, 3);
	mark(NULL, p, 20);
	tap_ok("payloads of each type, without data, and too many", true);
}

static void check_extensions(void)
{
	bool good = !init_extension(NULL);

	for (size_t n = 0; n < EXT_SLOTS; n++)
		good = good && ext_init(NVTX_EXT_PAYLOAD, n, 1) &&
		       ext_init(NVTX_EXT_COUNTERS, n, 1);
	tap_ok("tables of extensions of each length", good);
	tap_ok("an extension that is not known", ext_init(1, EXT_SLOTS, 0) && !ext_slots[0]);
	check_payloads();
}

static void check_idle(void)
{
	copy_reset(&v3, sizes3);
	tap_ok("with no recorder a copy is told that there is no tool", init_copy(&v3) == 0);
	tap_ok("nor are there extensions",
	       ext_init(NVTX_EXT_PAYLOAD, EXT_SLOTS, 0) && !ext_slots[NVTX_EXT_PUSH]);
	tap_ok("and no slot is filled",
	       !filled(&v3, NVTX_CORE) && !filled(&v3, NVTX_CORE2) && !filled(&v3, NVTX_SYNC));
}

/* ---- threads --------------------------------------------------------------------------------- */

#define THREADS	4
#define ROUNDS	2000

static uint64_t started[THREADS][ROUNDS / 20];
static pthread_barrier_t barrier;

static void start_some(int thread)
{
	uint64_t (*start)(const char *) = F(uint64_t (*)(const char *), &v3, NVTX_CORE,
					    NVTX_START_A);
	void (*end)(uint64_t) = F(void (*)(uint64_t), &v3, NVTX_CORE, NVTX_END);

	for (int i = 0; i < ROUNDS / 20; i++)
		started[thread][i] = start("started");
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < ROUNDS / 20; i++)
		end(started[(thread + 1) % THREADS][i]);
}

static void *work(void *arg)
{
	push_fn push = F(push_fn, &v3, NVTX_CORE, NVTX_PUSH_A);
	pop_fn pop = F(pop_fn, &v3, NVTX_CORE, NVTX_POP);
	push_in_fn push_in = F(push_in_fn, &v3, NVTX_CORE2, NVTX_DOMAIN_PUSH_EX);
	pop_in_fn pop_in = F(pop_in_fn, &v3, NVTX_CORE2, NVTX_DOMAIN_POP);
	void *domain = F(create_fn, &v3, NVTX_CORE2, NVTX_DOMAIN_CREATE_A)("shared");
	void *(*string)(void *, const char *) = F(void *(*)(void *, const char *), &v3, NVTX_CORE2,
						  NVTX_REGISTER_STRING_A);
	void (*category)(uint32_t, const char *) = F(void (*)(uint32_t, const char *), &v3,
						     NVTX_CORE, NVTX_NAME_CATEGORY_A);
	struct nvtx_event registered = event(NULL), categorized = event("categorized");
	int thread = *(int *)arg, levels = 0;
	char text[32];

	registered.message_type = NVTX_MSG_REGISTERED;
	registered.message = string(domain, "registered");
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < ROUNDS; i++) {
		snprintf(text, sizeof(text), "name %d", i % 50);
		category((uint32_t)i % 20 + 1, "a category");
		categorized.category = (uint32_t)i % 20 + 1;
		levels += push(text) + push_in(domain, &registered) + push_in(NULL, &categorized);
		levels -= pop() + pop_in(domain) + pop();
	}
	start_some(thread);
	*(int *)arg = levels;
	return NULL;
}

static void check_threads(void)
{
	pthread_t thread[THREADS];
	int arg[THREADS];
	bool good = true;

	copy_reset(&v3, sizes3);
	init_copy(&v3);
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++) {
		arg[i] = i;
		if (pthread_create(&thread[i], NULL, work, &arg[i]))
			abort();
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		good = good && !arg[i];
	}
	tap_ok("many threads at once", good);
}

int main(int argc, char **argv)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *lib = path ? dlopen(path, RTLD_LAZY) : NULL;

	init = lib ? (int (*)(nvtx_get_export))dlsym(lib, "InitializeInjectionNvtx2") : NULL;
	if (lib)
		init_extension = (int (*)(struct nvtx_ext_info *))
				 dlsym(lib, "InitializeInjectionNvtxExtension");
	if (!init || !init_extension || argc != 2)
		tap_bail("no collector: %s", lib ? "no entry point" : dlerror());
	if (!strcmp(argv[1], "idle")) {
		check_idle();
	} else if (!strcmp(argv[1], "threads")) {
		check_threads();
	} else {
		check_tables();
		check_levels();
		check_fork();
		check_short();
		check_nonsense();
		check_extensions();
	}
	return tap_done();
}
