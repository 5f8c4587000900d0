// SPDX-License-Identifier: GPL-2.0-only
/*
 * A stand-in for libtorch_cpu.so: the functions that the collector calls, and objects whose layout
 * STAND_IN sets. A program makes ops with it whose names and shapes are known.
 *
 * STAND_IN="KIND SEED": good: a valid layout, another one with each seed; shuffled: fields have
 * swapped places; number, shape, type: as good, but libtorch's answer differs from the objects;
 * silent: it does not answer; name: operators share the memory of their schema; comms: a third of
 * the ops are collectives, with their arguments; comms-count, comms-text, comms-hash: these in
 * another form; thread: its answer takes as long as another thread needs for all ops.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT	__attribute__((visibility("default")))
#define OPS	3000

struct callback {
	void	*(*start)(void **ret, const void *fn);
	void	(*end)(const void *fn, void *context);
	double	probability;
	bool	scopes[10];
	bool	needs_inputs, needs_outputs, needs_ids;
};

struct vector {
	char	*begin, *end, *room;
};

static struct {
	unsigned int	thread, scope, fn, index, sequence, inputs, nr, forward, handle, sizes;
	char		kind[32];
} at;

static struct callback observers[2];
static uint64_t numbers = 100;

static unsigned int random_below(unsigned int n)
{
	static uint64_t x;

	if (!x)
		x = strtoull(strchr(getenv("STAND_IN"), ' ') + 1, NULL, 0) * 2 + 1;
	x = x * 6364136223846793005u + 1442695040888963407u;
	return (unsigned int)(x >> 33) % n;
}

static void put(void *object, unsigned int offset, uint64_t v)
{
	memcpy((char *)object + offset, &v, sizeof(v));
}

static uint64_t get(const void *object, unsigned int offset)
{
	uint64_t v;

	memcpy(&v, (const char *)object + offset, sizeof(v));
	return v;
}

static bool is(const char *kind)
{
	return !strcmp(at.kind, kind);
}

static void choose(void)
{
	unsigned int blank = 8 * random_below(9);
	unsigned int *fields[] = { &at.thread, &at.scope, &at.fn, &at.index, &at.sequence,
		&at.inputs, &at.nr, &at.forward, &at.handle };

	sscanf(getenv("STAND_IN"), "%31s", at.kind);
	at.thread = 24 + blank;
	at.scope = at.thread + 8;
	at.fn = at.scope + 8 + 8 * random_below(8);
	at.index = at.fn + 8;
	at.sequence = at.index + 8;
	at.inputs = at.sequence + 8;
	at.nr = at.inputs + 8;
	at.forward = at.nr + 8 + 8 * random_below(8);
	at.handle = at.forward + 8;
	at.sizes = 40 + 8 * random_below(10);
	if (!is("shuffled"))
		return;
	/* One or two pairs of fields have swapped places. */
	for (unsigned int i = random_below(2) + 1; i; i--) {
		unsigned int *one = fields[random_below(9)], *two = fields[random_below(9)];
		unsigned int v = *one;

		*one = *two;
		*two = v;
	}
}

static void *make_ops(void *arg);

/* ---- what libtorch exports ------------------------------------------------------------------ */

EXPORT uint64_t _ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE(struct callback cb)
{
	observers[0] = cb;
	return 1;
}

EXPORT uint64_t _ZN2at22addThreadLocalCallbackENS_22RecordFunctionCallbackE(struct callback cb)
{
	observers[1] = cb;
	return 2;
}

EXPORT void _ZN2at14removeCallbackEm(uint64_t handle)
{
	memset(&observers[handle - 1], 0, sizeof(observers[0]));
}

EXPORT uint64_t _ZN2at14RecordFunction15currentThreadIdEv(void)
{
	return 77;
}

EXPORT const char *_ZNK2at14RecordFunction4nameEv(const void *fn)
{
	const char *text = (const char *)(uintptr_t)get(fn, at.fn);

	return ((const char *)fn)[at.index] ? *(const char *const *)text : text;
}

EXPORT size_t _ZNK2at14RecordFunction10num_inputsEv(const void *fn)
{
	return get(fn, at.nr) + is("number");
}

EXPORT void _ZN2at14RecordFunctionC1ENS_11RecordScopeE(void *fn, uint8_t scope)
{
	put(fn, at.thread, 77);
	((char *)fn)[at.scope] = (char)scope;
	put(fn, at.handle, numbers++);
}

static void starts(void *fn)
{
	void *context;

	for (int i = 0; i < 2; i++)
		if (observers[i].start)
			observers[i].start(&context, fn);
}

EXPORT void _ZN2at14RecordFunction6beforeEPKcl(void *fn, const char *name, int64_t sequence)
{
	put(fn, at.fn, (uintptr_t)name);
	put(fn, at.sequence, (uint64_t)sequence);
	starts(fn);
}

EXPORT void _ZN2at14RecordFunctionD1Ev(void *fn)
{
	for (int i = 0; i < 2; i++)
		if (observers[i].end)
			observers[i].end(fn, NULL);
}

/* Another thread makes all of the ops; this one waits for it. */
static void wait_for_thread(void)
{
	static bool waits;
	pthread_t thread;

	if (waits)
		return;
	waits = true;
	if (pthread_create(&thread, NULL, make_ops, NULL) || pthread_join(thread, NULL))
		abort();
}

EXPORT struct vector _ZN5torch8profiler4impl10inputSizesERKN2at14RecordFunctionEb(const void *fn,
										 bool flatten)
{
	const char *value = (const char *)(uintptr_t)get(fn, at.inputs);
	uint64_t n = get(fn, at.nr);
	struct vector all, *one;

	(void)flatten;
	if (is("thread"))
		wait_for_thread();
	all.begin = calloc(n, sizeof(*one));
	all.end = all.room = all.begin + n * sizeof(*one);
	one = (struct vector *)all.begin;
	for (uint64_t i = 0; i < n; i++, value += 16) {
		const char *tensor = (const char *)(uintptr_t)get(value, 0);
		uint64_t ndim = get(tensor, at.sizes);

		one[i].begin = malloc(8 * ndim);
		one[i].end = one[i].room = one[i].begin + 8 * ndim;
		memcpy(one[i].begin, tensor + at.sizes + 8, 8 * ndim);
		/* Not in the first ops. */
		if (is("shape") && numbers > 150)
			put(one[i].begin, 0, 4711);
	}
	return all;
}

struct text {
	char	*data;
	size_t	len;
	char	own[16];
};

static void say(struct text *text, const char *what)
{
	text->len = strlen(what);
	text->data = text->len < 16 ? text->own : malloc(text->len + 1);
	strcpy(text->data, what);
}

/* std::unordered_map<std::string, std::string> of libstdc++. */
struct map {
	void		*buckets;
	size_t		nr_buckets;
	struct node	*first;
	size_t		nr, policy[2];
	void		*single;
};

struct node {
	struct node	*next;
	struct text	key, value;
	size_t		hash;
};

#define SAVE_META _ZN5torch8profiler4impl12saveNcclMetaB5cxx11ERKN2at14RecordFunctionERKNS1_18\
SaveNcclMetaConfigE

EXPORT void *SAVE_META(struct map *map, const void *fn, const bool *config)
{
	static const char *const said[][2] = {
		{ "Seq", "4711" }, { "Collective name", "\"allreduce\"" },
		{ "Process Group Description", "\"longer than fifteen\"" },
		{ "Comms Id", "18446744073709551615" }, { "Process Group Ranks", "[0, 1]" },
		{ "Src Rank", "-1" },
	};

	(void)fn;
	memset(map, 0, sizeof(*map));
	map->buckets = &map->single;
	map->nr_buckets = 1;
	for (size_t i = 0; config[1] && i < sizeof(said) / sizeof(said[0]); i++) {
		struct node *node = calloc(1, sizeof(*node) + 16);

		if (is("comms-hash"))
			node = (struct node *)((char *)node + 8);
		say(&node->key, said[i][0]);
		say(&node->value, said[i][1]);
		if (is("comms-hash"))
			node = (struct node *)((char *)node - 8);
		if (is("comms-text"))
			node->value.data = (char *)0x10;
		node->next = map->first;
		map->first = node;
		map->nr++;
	}
	map->nr += is("comms-count");
	return map;
}

EXPORT void _ZdlPv(void *data)
{
	free(data);
}

EXPORT int32_t aoti_torch_get_sizes(const void *value, int64_t **sizes)
{
	*sizes = (int64_t *)(uintptr_t)(get(value, 0) + at.sizes + 8);
	return is("silent");
}

EXPORT int32_t aoti_torch_get_dtype(const void *value, int32_t *type)
{
	*type = *(const uint16_t *)(uintptr_t)(get(value, 0) + at.sizes + 104) +
		(is("type") && numbers > 150);
	return 0;
}

EXPORT void *_ZN2at27getStepCallbacksUnlessEmptyENS_11RecordScopeE(void *ret, uint8_t scope)
{
	(void)scope;
	return ret;
}

/* ---- a program's ops ------------------------------------------------------------------------ */

/* Like FunctionSchema: a string first; the arguments follow further on. */
struct schema {
	const char	*name;
	uint64_t	more[11];
};

static struct schema schemas[] = {
	{ .name = "aten::zero" }, { .name = "aten::one" }, { .name = "aten::two" },
};

static void *(*steps)(void *ret, uint8_t scope);

static void *make_ops(void *arg)
{
	static struct schema shared;
	_Alignas(16) char tensor[2][400] = { { 0 } }, value[2][16] = { { 0 } }, fn[1024];

	for (int i = 0; i < OPS; i++) {
		char room[128];

		steps(room, 0);
		memset(fn, 0, sizeof(fn));
		for (int k = 0; k < 2; k++) {
			char *sizes = tensor[k] + at.sizes;

			/* [7, i % 5 + 2]: of op i % 3 */
			put(sizes, 0, 2);
			put(sizes, 8, 7);
			put(sizes, 16, (uint64_t)i % 5 + 2);
			put(sizes, 48, (uint64_t)i % 5 + 2);
			put(sizes, 56, 1);
			put(sizes, 104, 6);
			put(value[k], 0, (uintptr_t)tensor[k]);
			put(value[k], 8, 1);
		}
		_ZN2at14RecordFunctionC1ENS_11RecordScopeE(fn, 0);
		shared = schemas[i % 3];
		put(fn, at.fn, is("name") ? (uintptr_t)&shared : (uintptr_t)&schemas[i % 3]);
		fn[at.index] = 1;
		put(fn, at.sequence, (uint64_t)-1);
		put(fn, at.inputs, (uintptr_t)value);
		put(fn, at.nr, 2);
		starts(fn);
		_ZN2at14RecordFunctionD1Ev(fn);
	}
	return arg;
}

EXPORT void stand_in_ops(void *(*of_program)(void *ret, uint8_t scope));

EXPORT void stand_in_ops(void *(*of_program)(void *ret, uint8_t scope))
{
	/* The layout stays the same, however often ops are made. */
	if (!*at.kind)
		choose();
	steps = of_program;
	if (!strncmp(at.kind, "comms", 5))
		schemas[0].name = "record_param_comms";
	make_ops(NULL);
}
