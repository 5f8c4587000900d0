// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Rank, world size and backends of this process, as the program states them when it makes its first
 * process group, which contains all ranks. The constructors and setGroupName() are called through
 * the PLT: ours interpose them and call c10d's.
 *
 * A backend is identified by its class, which an object has once its constructor has finished: it
 * is read when the group of the backend gets its name.
 */
#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "collect/torch/local.h"

#define BACKENDS	8u
#define CLASS		"ProcessGroup"	/* ProcessGroupGloo, ProcessGroupNCCL, ... */

#define TEXT_(x)	#x
#define TEXT(x)		TEXT_(x)
/* c10::intrusive_ptr<c10d::Store>, passed by address. */
#define WHOLE_STORE	_ZN4c10d12ProcessGroupC1EN3c1013intrusive_ptrINS_5StoreENS1_6detail34\
intrusive_target_default_null_typeIS3_EEEEii
#define BASE_STORE	_ZN4c10d12ProcessGroupC2EN3c1013intrusive_ptrINS_5StoreENS1_6detail34\
intrusive_target_default_null_typeIS3_EEEEii
/* The same up to 2.4, with options, passed by address too. */
#define WHOLE_OPTIONS	_ZN4c10d12ProcessGroupC1ERKN3c1013intrusive_ptrINS_5StoreENS1_6detail34\
intrusive_target_default_null_typeIS3_EEEEiiNS2_INS0_7OptionsENS5_ISA_EEEE
#define BASE_OPTIONS	_ZN4c10d12ProcessGroupC2ERKN3c1013intrusive_ptrINS_5StoreENS1_6detail34\
intrusive_target_default_null_typeIS3_EEEEiiNS2_INS0_7OptionsENS5_ISA_EEEE
#define NAME	_ZN4c10d12ProcessGroup12setGroupNameERKNSt7__cxx1112basic_stringIcSt11char_\
traitsIcESaIcEEE
#define NAME_OLD	_ZN4c10d12ProcessGroup12setGroupNameERKSs	/* old string ABI */

enum { NONE, MADE, NAMED };

static struct {
	int		state;
	int		rank;
	int		size;
	uint32_t	nr;
	const void	*backends[BACKENDS];	/* backends made since the group */
	char		names[64];		/* "gloo", "gloo,nccl"; empty: unknown */
} world;

static void tell(const char *key, int value)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", value);
	torch_user.fact(key, text);
}

void torch_groups_tell(void)
{
	int state = __atomic_load_n(&world.state, __ATOMIC_ACQUIRE);

	/* Not recorded now: torch_groups_tell() states it when recording starts. */
	if (state == NONE || !torch_user.fact)
		return;
	tell("distributed.rank", world.rank);
	tell("distributed.world_size", world.size);
	if (state == NAMED && *world.names)
		torch_user.fact("distributed.backend", world.names);
}

/* If several threads make a group at the same time, the first one counts. */
static void made(int rank, int size)
{
	static int begun;

	if (rank < 0 || size <= rank || __atomic_exchange_n(&begun, 1, __ATOMIC_RELAXED))
		return;
	world.rank = rank;
	world.size = size;
	/* Release: a thread that sees the state also sees rank and size. */
	__atomic_store_n(&world.state, MADE, __ATOMIC_RELEASE);
	torch_groups_tell();
}

static void made_backend(const void *object)
{
	if (__atomic_load_n(&world.state, __ATOMIC_ACQUIRE) != MADE)
		return;
	if (world.nr < BACKENDS)
		world.backends[world.nr++] = object;
}

/* The mangled class name, e.g. "N4c10d16ProcessGroupGlooE". */
static const char *class_of(const void *object)
{
	const char *table = torch_ptr(object, 0);

	return torch_ptr(torch_ptr(table - 8, 0), 8);
}

static void add_backend(const void *object)
{
	const char *name = strstr(class_of(object), CLASS);
	size_t len, at = strlen(world.names);

	if (!name)
		return;
	name += strlen(CLASS);
	len = strcspn(name, "E");
	/* A wrapper that checks the calls of another backend. */
	if (!len || !strncmp(name, "Wrapper", len) || at + len + 2 > sizeof(world.names))
		return;
	if (at)
		world.names[at++] = ',';
	for (size_t i = 0; i < len; i++)
		world.names[at++] = (char)tolower((unsigned char)name[i]);
	world.names[at] = '\0';
}

static void named(void)
{
	if (__atomic_load_n(&world.state, __ATOMIC_ACQUIRE) != MADE)
		return;
	for (uint32_t i = 0; i < world.nr; i++)
		add_backend(world.backends[i]);
	__atomic_store_n(&world.state, NAMED, __ATOMIC_RELEASE);
	torch_groups_tell();
}

/* Return: c10d's function. */
static void *real(const char *symbol, const void *caller)
{
	void *function = torch_real("/libtorch_cpu.so", symbol, caller);

	/* Found through the caller's own dependencies. */
	if (!function)
		abort();
	return function;
}

#define CALL(symbol, type, ...) \
	do { \
		type *function; \
		void *found = real(symbol, __builtin_return_address(0)); \
		memcpy(&function, &found, sizeof(found)); \
		function(__VA_ARGS__); \
	} while (0)

typedef void plain_fn(void *object, int rank, int size);
typedef void store_fn(void *object, void *store, int rank, int size);
typedef void options_fn(void *object, void *store, int rank, int size, void *options);
typedef void name_fn(void *object, const void *name);

/* Constructors of the complete object and of the base: both are called by name. */
#define PLAIN(symbol, note) \
	TORCH_EXPORT plain_fn symbol; \
	TORCH_EXPORT void symbol(void *object, int rank, int size) \
	{ \
		CALL(TEXT(symbol), plain_fn, object, rank, size); \
		note; \
	}

#define WITH_STORE(symbol) \
	TORCH_EXPORT store_fn symbol; \
	TORCH_EXPORT void symbol(void *object, void *store, int rank, int size) \
	{ \
		CALL(TEXT(symbol), store_fn, object, store, rank, size); \
		made(rank, size); \
	}

#define WITH_OPTIONS(symbol) \
	TORCH_EXPORT options_fn symbol; \
	TORCH_EXPORT void symbol(void *object, void *store, int rank, int size, void *options) \
	{ \
		CALL(TEXT(symbol), options_fn, object, store, rank, size, options); \
		made(rank, size); \
	}

#define SET_NAME(symbol) \
	TORCH_EXPORT name_fn symbol; \
	TORCH_EXPORT void symbol(void *object, const void *name) \
	{ \
		CALL(TEXT(symbol), name_fn, object, name); \
		named(); \
	}

PLAIN(_ZN4c10d12ProcessGroupC1Eii, made(rank, size))
PLAIN(_ZN4c10d12ProcessGroupC2Eii, made(rank, size))
PLAIN(_ZN4c10d7BackendC1Eii, made_backend(object))
PLAIN(_ZN4c10d7BackendC2Eii, made_backend(object))
WITH_STORE(WHOLE_STORE)
WITH_STORE(BASE_STORE)
WITH_OPTIONS(WHOLE_OPTIONS)
WITH_OPTIONS(BASE_OPTIONS)
SET_NAME(NAME)
SET_NAME(NAME_OLD)
