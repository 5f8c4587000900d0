// SPDX-License-Identifier: GPL-2.0-only
/*
 * The buffers of the stand-in for libcupti: writes records to the collector's buffers, and returns
 * these in the ways in which CUPTI does.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpu/cupti/cupti-abi.h"
#include "tests/gpu/replay.h"

#define STRANGE		63u
#define HELD		1024u
#define NAMES_BYTES	65536u
#define INVALID_KIND	21

EXPORT struct stand_in stand_in;
EXPORT uint32_t stand_in_enabled[64], stand_in_refused, stand_in_requested;
EXPORT uint32_t stand_in_flushed;
EXPORT void (*stand_in_after_flush)(void);

struct buffer {
	uint8_t		*data;
	size_t		size;
	size_t		used;
	char		*names;		/* with stand_in.free_names: memory of a module */
	size_t		names_used;
};

/* Held like CUPTI's own lock, also during calls of the collector. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cupti_request_fn request;
static cupti_complete_fn complete;
static uint64_t records;

static struct buffer shared;
static __thread struct buffer *mine;
static struct buffer *all[HELD];	/* buffers of threads */
static uint32_t nr_all;
static struct buffer held[HELD];	/* full, but not yet returned */
static uint32_t nr_held;

static uint32_t version(void)
{
	return stand_in.version ? stand_in.version : 1300;
}

/* The sizes in the headers of these versions. */
EXPORT size_t stand_in_length(uint32_t kind)
{
	uint32_t v = version();

	switch (kind) {
	case CUPTI_KERNEL:
		return v < 1200 ? 200 : v < 1300 ? 208 : v < 1301 ? 216 : v < 1303 ? 224 :
		       v < 1304 ? 232 : 248;
	case CUPTI_MEMCPY:
		return v < 1208 ? 88 : v < 1304 ? 96 : 112;
	case CUPTI_MEMCPY_PEER:
		return 96;
	case CUPTI_MEMSET:
		return v < 1304 ? 88 : 104;
	case CUPTI_DRIVER:
	case CUPTI_RUNTIME:
		return 40;
	case CUPTI_EXTERNAL:
		return 24;
	case CUPTI_SYNC:
		return v < 1208 ? 40 : 56;
	case CUPTI_EVENT:
		return v < 1208 ? 24 : v < 1305 ? 56 : 80;
	case CUPTI_NVLINK:
		return v < 1302 ? 136 : 88;
	case CUPTI_PCIE:
		return 168;
	case CUPTI_MEMORY:
		return v < 1206 ? 120 : 128;
	case CUPTI_POOL:
		return v < 1300 ? 72 : 80;
	case CUPTI_JIT:
		return v < 1204 ? 64 : 72;
	case CUPTI_GRAPH:
		return v < 1203 ? 48 : 56;
	case CUPTI_MANAGED:
		return v < 1208 ? 64 : 104;
	case CUPTI_OVERHEAD:
		return v < 1203 ? 40 : v < 1204 ? 48 : 56;
	case CUPTI_DEVICE:
		return v < 1202 ? 176 : v < 1303 ? 184 : 192;
	case CUPTI_CONTEXT:
		return v < 1204 ? 16 : v < 1205 ? 24 : v < 1301 ? 32 : 40;
	default:
		return 64;
	}
}

uint64_t stand_in_records(void)
{
	return records;
}

/* ---- returning buffers ----------------------------------------------------------------------- */

/* Does what the program does while CUPTI calls the collector. */
static void in_callback(void)
{
	uint32_t what = stand_in.in_callback;

	stand_in.in_callback = 0;
	if (what == STAND_IN_EXIT)
		exit(3);
	/* Like Python's children, the child exits normally. */
	if (what == STAND_IN_FORK && !fork())
		exit(0);
	if (what == STAND_IN_FORK)
		wait(NULL);
}

static void give(struct buffer *b)
{
	if (!b->data)
		return;
	if (stand_in.invalid_tail && b->used + 8 <= b->size) {
		memset(b->data + b->used, 0, 8);
		b->used += 8;
	}
	in_callback();
	complete(NULL, 0, b->data, b->size, b->used);
	b->data = NULL;
	/* Unloads the program's module. */
	if (b->names)
		munmap(b->names, NAMES_BYTES);
	b->names = NULL;
	b->names_used = 0;
}

/* Without the lock: the parent's thread that holds it does not exist in the child. */
EXPORT void stand_in_give(const char *name)
{
	const struct cupti_kernel k = {
		.kind = CUPTI_KERNEL, .start = 1, .end = 2, .correlation = 1, .name = name,
	};
	struct buffer b = { .data = NULL };
	size_t max = 0;

	request(&b.data, &b.size, &max);
	if (!b.data)
		return;
	memcpy(b.data, &k, sizeof(k));
	b.used = stand_in_length(CUPTI_KERNEL);
	give(&b);
}

/* CUPTI returns buffers in any order: here the last first. */
static void give_held(void)
{
	while (nr_held)
		give(&held[--nr_held]);
}

static void is_full(struct buffer *b)
{
	if (!stand_in.in_flight) {
		give(b);
		return;
	}
	if (nr_held == stand_in.in_flight || nr_held == HELD)
		give_held();
	held[nr_held++] = *b;
	*b = (struct buffer){ .data = NULL };
}

/* ---- records --------------------------------------------------------------------------------- */

static struct buffer *of_thread(void)
{
	if (!stand_in.per_thread)
		return &shared;
	if (!mine && nr_all < HELD)
		mine = all[nr_all++] = calloc(1, sizeof(*mine));
	return mine ? mine : &shared;
}

/* Returns the name's copy in a module that is unloaded after the buffer is returned. */
static const char *name_in_module(struct buffer *b, const char *name)
{
	size_t len = strlen(name) + 1;
	char *at;

	if (!b->names) {
		b->names = mmap(NULL, NAMES_BYTES, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (b->names == MAP_FAILED)
			abort();
	}
	for (at = b->names; at < b->names + b->names_used; at += strlen(at) + 1)
		if (!strcmp(at, name))
			return at;
	if (b->names_used + len > NAMES_BYTES)
		abort();
	b->names_used += len;
	return memcpy(at, name, len);
}

/* Return: whether there is room for @n bytes. */
static bool get(struct buffer *b, size_t n)
{
	size_t max = 0;

	if (b->data && b->used + n + (stand_in.invalid_tail ? 8 : 0) > b->size)
		is_full(b);
	if (b->data)
		return true;
	request(&b->data, &b->size, &max);
	b->used = 0;
	stand_in_requested += !!b->data;
	return b->data;
}

static void put(const void *record, size_t len)
{
	uint32_t kind = *(const uint32_t *)record;
	size_t n = stand_in_length(kind);
	struct buffer *b = of_thread();
	uint8_t longest[256] = { 0 };
	struct cupti_kernel *kernel = (struct cupti_kernel *)longest;

	memcpy(longest, record, len < n ? len : n);
	if (!get(b, n)) {
		stand_in_refused++;
		stand_in.dropped++;
		return;
	}
	if (stand_in.free_names && kind == CUPTI_KERNEL && kernel->name)
		kernel->name = name_in_module(b, kernel->name);
	memcpy(b->data + b->used, longest, n);
	b->used += n;
	records++;
}

uint64_t stand_in_put(const void *record, size_t len)
{
	uint32_t kind = *(const uint32_t *)record;

	pthread_mutex_lock(&lock);
	if (request && kind < 64 && (stand_in_enabled[kind] || kind == STRANGE))
		put(record, len);
	pthread_mutex_unlock(&lock);
	if (stand_in.strange && kind != STRANGE && !(records & 7)) {
		const uint32_t strange[16] = { STRANGE };

		(void)stand_in_put(strange, sizeof(strange));
	}
	return records;
}

/* ---- CUPTI's functions ----------------------------------------------------------------------- */

EXPORT int cuptiActivityRegisterCallbacks(cupti_request_fn req, cupti_complete_fn comp);
EXPORT int cuptiActivityFlushAll(uint32_t flag);
EXPORT uint32_t stand_in_kept(void);
EXPORT int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, void **record);
EXPORT int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *dropped);

int cuptiActivityRegisterCallbacks(cupti_request_fn req, cupti_complete_fn comp)
{
	if (stand_in_mixes())
		return 14;
	request = req;
	complete = comp;
	return 0;
}

int cuptiActivityFlushAll(uint32_t flag)
{
	__atomic_fetch_add(&stand_in_flushed, 1, __ATOMIC_RELAXED);
	while (stand_in.hang && flag & CUPTI_FLUSH_FORCED)
		pause();
	pthread_mutex_lock(&lock);
	/* Buffers with unfinished activities are returned only if forced. */
	if (!stand_in.busy || flag & CUPTI_FLUSH_FORCED) {
		give_held();
		give(&shared);
		for (uint32_t i = nr_all; i-- > 0;)
			give(all[i]);
	}
	pthread_mutex_unlock(&lock);
	if (stand_in_after_flush && flag & CUPTI_FLUSH_FORCED)
		stand_in_after_flush();
	return 0;
}

uint32_t stand_in_kept(void)
{
	uint32_t n;

	pthread_mutex_lock(&lock);
	n = nr_held + (shared.data != NULL);
	for (uint32_t i = 0; i < nr_all; i++)
		n += all[i]->data != NULL;
	pthread_mutex_unlock(&lock);
	return n;
}

int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, void **record)
{
	uint8_t *next = buffer;

	if (stand_in_mixes())
		return 14;
	if (*record)
		next = (uint8_t *)*record + stand_in_length(**(uint32_t **)record);
	if (next >= buffer + valid)
		return CUPTI_MAX_LIMIT;
	if (!*(uint32_t *)next)
		return INVALID_KIND;
	*record = next;
	return 0;
}

int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *dropped)
{
	if (stand_in_mixes())
		return 14;
	(void)context, (void)stream;
	pthread_mutex_lock(&lock);
	*dropped = stand_in.dropped;
	stand_in.dropped = 0;
	pthread_mutex_unlock(&lock);
	return 0;
}
