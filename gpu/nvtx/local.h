/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Private header of the NVTX collector: handles, per-thread memory, names, and the counts of calls
 * that leave no record.
 *
 * The collector keeps no events: a call writes its record into a ring before it returns.  It never
 * calls malloc().  A handle that it gives to NVTX is an encoded number, not a pointer, and is never
 * dereferenced: invalid handles are recognised and counted.
 */
#ifndef XSPROF_NVTX_LOCAL_H
#define XSPROF_NVTX_LOCAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <xsprof/xsprof.h>

#include "gpu/nvtx/nvtx-abi.h"

#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* ---- handles --------------------------------------------------------------------------------- */

/* Tags in the top byte of a handle; user-space pointers do not have these values there. */
#define NVTX_TAG_DOMAIN	0x7cull
#define NVTX_TAG_STRING	0x7dull
#define NVTX_TAG_SYNC	0x7eull
#define NVTX_TAG_COUNTER 0x7bull

static inline uint64_t nvtx_handle(uint64_t tag, uint32_t high, uint32_t low)
{
	return tag << 56 | (uint64_t)(high & 0xffffff) << 32 | low;
}

static inline bool nvtx_is(const void *handle, uint64_t tag)
{
	return (uint64_t)(uintptr_t)handle >> 56 == tag;
}

/**
 * struct nvtx_domain - a decoded domain handle
 * @index: 0 is the default domain
 * @category: category of the library
 */
struct nvtx_domain {
	uint32_t	index;
	uint32_t	category;
};

/* The domain for NULL and for a handle that is not ours: the default one (names.c). */
struct nvtx_domain nvtx_domain_default(const void *handle);

/* Decodes a handle that the program passed. */
static inline struct nvtx_domain nvtx_domain_of(const void *handle)
{
	uint64_t h = (uintptr_t)handle;

	if (likely(nvtx_is(handle, NVTX_TAG_DOMAIN)))
		return (struct nvtx_domain){
			.index = (uint32_t)h, .category = (uint32_t)(h >> 32) & 63,
		};
	return nvtx_domain_default(handle);
}

/* ---- the memory of a thread (thread.c) ------------------------------------------------------- */

#define NVTX_DEPTH	320u	/* open ranges whose domain is kept */
#define NVTX_CACHED	128u	/* names of texts, by address */
#define NVTX_CACHED_LEN	48u	/* longer texts are not cached */

struct nvtx_open {
	xsprof_name_t	name;
	uint32_t	domain;
	uint32_t	level;		/* within the domain */
};

struct nvtx_cached {
	const char	*at;
	xsprof_name_t	name;
	uint32_t	category;
	char		text[NVTX_CACHED_LEN];
};

/**
 * struct nvtx_thread - a thread's open ranges and its cache of names
 * @depth: number of open ranges
 * @dead: number of these, the outermost ones, begun before the fork: the parent records their ends
 * @next: next on the free list
 * @open: domain and level of the open ranges, the outermost first; @depth may exceed it
 * @cache: names by address of the text; per thread, so it needs no lock and no ordering
 */
struct nvtx_thread {
	uint32_t		depth;
	uint32_t		dead;
	struct nvtx_thread	*next;
	struct nvtx_open	open[NVTX_DEPTH];
	struct nvtx_cached	cache[NVTX_CACHED];
};

extern __thread struct nvtx_thread *nvtx_thread __attribute__((tls_model("initial-exec")));

/* Return: new memory for this thread; NULL without memory, which is counted. */
struct nvtx_thread *nvtx_thread_new(void);

static inline struct nvtx_thread *nvtx_thread_get(void)
{
	struct nvtx_thread *t = nvtx_thread;

	return likely(t != NULL) ? t : nvtx_thread_new();
}

/* Guards changes of shared tables; taken around fork(), so that it is free in the child. */
void nvtx_lock(void);
void nvtx_unlock(void);

/* ---- our categories (category.c) ------------------------------------------------------------- */

extern uint32_t nvtx_default;	/* + 1 */

uint32_t nvtx_new_category(const char *name);
uint32_t nvtx_default_new(void);

/* The category of calls without a domain. */
static inline uint32_t nvtx_default_category(void)
{
	/* Relaxed: the library has created a category before it returns the number. */
	uint32_t c = __atomic_load_n(&nvtx_default, __ATOMIC_RELAXED);

	return likely(c) ? c - 1 : nvtx_default_new();
}

/* ---- names (names.c) ------------------------------------------------------------------------- */

#define NVTX_NO_NAME	"(no name)"

/* The name of a text, "(no name)" for NULL; looks into the thread's cache first. */
xsprof_name_t nvtx_text_slow(struct nvtx_thread *t, uint32_t category, const char *text);
xsprof_name_t nvtx_wide(uint32_t category, const void *text);
/* Converts a wide text to UTF-8 and cuts it to @size. */
void nvtx_wide_text(char *out, size_t size, const void *text);
/* The name of NVTX category @id of the domain, or 0. */
xsprof_name_t nvtx_category_name(uint32_t domain, uint32_t id);

static inline struct nvtx_cached *nvtx_cached_at(struct nvtx_thread *t, const char *text)
{
	uint64_t at = (uintptr_t)text * 0x9e3779b97f4a7c15ull;

	return &t->cache[at >> 57];
}
_Static_assert(NVTX_CACHED == 1u << (64 - 57), "the bits that are left of an address");

/* Compares the text as well as the address: programs reuse buffers for names. */
static inline xsprof_name_t nvtx_text(struct nvtx_thread *t, uint32_t category, const char *text)
{
	const struct nvtx_cached *c = nvtx_cached_at(t, text);

	if (likely(c->at == text && c->category == category && text && !strcmp(c->text, text)))
		return c->name;
	return nvtx_text_slow(t, category, text);
}

/* Did the text not fit into the name table? Then it becomes an argument. */
static inline bool nvtx_no_room(xsprof_name_t name)
{
	return (name & XSPROF_NAME_FULL) == XSPROF_NAME_FULL;
}

/* ---- attributes (event.c) -------------------------------------------------------------------- */

#define NVTX_ARGS	28u
#define NVTX_TEXT_MAX	1024u	/* of a wide text */
#define NVTX_LIST	128u	/* list elements of all arguments of an event */

/**
 * struct nvtx_said - the decoded attributes of a call
 * @name: the message, or (no name)
 * @n: number of arguments
 * @kv: the arguments
 * @text: memory for texts of arguments
 * @list: memory for lists of arguments
 */
struct nvtx_said {
	xsprof_name_t		name;
	uint32_t		n;
	struct xsprof_kv	kv[NVTX_ARGS];
	char			color[16];
	char			text[NVTX_TEXT_MAX];
	int32_t			list[NVTX_LIST];
};

struct nvtx_payload;

/* Decodes payloads into arguments (payload.c); if @said->name is 0, a field may set it. */
void nvtx_read_payloads(struct nvtx_said *said, struct nvtx_domain domain,
			const struct nvtx_payload *payloads, size_t n);
/* Decodes the attributes of a call. @event may be NULL and of any size. */
void nvtx_read_event(struct nvtx_thread *t, struct nvtx_domain domain,
		     const struct nvtx_event *event, struct nvtx_said *said);
/* The name, in @category, of a message. */
xsprof_name_t nvtx_message(struct nvtx_thread *t, uint32_t category, int32_t type,
			   const void *message);

/* Record a mark, and the arguments of an asynchronous range. */
void nvtx_mark_said(const struct nvtx_said *said);
void nvtx_note_attributes(struct nvtx_domain domain, uint64_t id, const struct nvtx_said *said);
uint64_t nvtx_start_said(struct nvtx_domain domain, const struct nvtx_said *said);
void nvtx_end(uint64_t id);
/* Push and pop a range of this thread (range.c); both return the level. */
int nvtx_push_said(uint32_t domain, const struct nvtx_said *said);
int nvtx_pop(uint32_t domain);
/* Adds arguments to the range that ends. */
int nvtx_pop_said(uint32_t domain, const struct nvtx_said *said);

/* Does the event contain nothing but a message? */
static inline bool nvtx_is_plain(const struct nvtx_event *event)
{
	return event && event->size >= sizeof(*event) &&
	       !(event->category | (uint32_t)event->color_type | (uint32_t)event->payload_type);
}

/* The name of a plain event; makes no call for registered strings and cached texts. */
static inline xsprof_name_t nvtx_plain_name(struct nvtx_thread *t, uint32_t category,
					    const struct nvtx_event *event)
{
	if (likely(event->message_type == NVTX_MSG_REGISTERED &&
		   nvtx_is(event->message, NVTX_TAG_STRING)))
		return (xsprof_name_t)(uintptr_t)event->message;
	if (likely(event->message_type == NVTX_MSG_ASCII))
		return nvtx_text(t, category, event->message);
	return nvtx_message(t, category, event->message_type, event->message);
}

/* The attributes of a call with a message only. */
static inline struct nvtx_event nvtx_text_event(int32_t type, const void *message)
{
	return (struct nvtx_event){
		.version = 3, .size = sizeof(struct nvtx_event),
		.message_type = type, .message = message,
	};
}

/* ---- the functions that the program may call ------------------------------------------------- */

struct nvtx_entry {
	uint32_t	module;
	uint32_t	slot;
	nvtx_slot	func;
};

/* The functions of each file by module and slot; each list ends with module 0. */
extern const struct nvtx_entry nvtx_range_entries[], nvtx_event_entries[], nvtx_name_entries[],
	nvtx_object_entries[], nvtx_handle_entries[], nvtx_miss_entries[];

#define NVTX_ENTRY(module, slot, func)	{ module, slot, (nvtx_slot)(func) }

/* ---- calls that leave no record (miss.c) ----------------------------------------------------- */

/* Calls that name CUDA and OpenCL objects: slots 2n + 1 (ASCII) and 2n + 2 (wide). */
#define NVTX_MISSED_CUDA(X)	X(CuDevice, 0) X(CuEvent, 3)
#define NVTX_MISSED_CUDART(X)	X(CudaDevice, 0) X(CudaEvent, 2)
#define NVTX_MISSED_OPENCL(X) \
	X(ClDevice, 0) X(ClContext, 1) X(ClCommandQueue, 2) X(ClMemObject, 3) X(ClSampler, 4) \
	X(ClProgram, 5) X(ClEvent, 6)

/* The others, where nothing knows the handle (handle.c). */
#define NVTX_MISSED_NAMES(X)	X(CuContext) X(CuStream) X(CudaStream)

/* Calls of the payload extension. */
#define NVTX_MISSED_EXT(X) \
	X(TimeDomainRegister, 0) X(TimerSource, 1) X(TimerSourceWithData, 2) X(ScopeRegister, 3) \
	X(TimeSyncPoint, 4) X(TimeSyncPointTable, 5) X(TimestampConversionFactor, 6) \
	X(EventSubmit, 7) X(EventBatchSubmit, 8)

/* Other cases for which there is no record. */
#define NVTX_MISSED_CASES(X) \
	X(NVTX_MISS_POP, "pop without push") \
	X(NVTX_MISS_END, "end of a range that was not started") \
	X(NVTX_MISS_SPLIT, "ranges cut in two: an enclosing range of another domain ended first") \
	X(NVTX_MISS_DEEP, "domains of ranges nested too deep") \
	X(NVTX_MISS_SIZE, "attributes shorter than their fields") \
	X(NVTX_MISS_TYPE, "attributes of an unknown type") \
	X(NVTX_MISS_PAYLOAD, "payloads of an unknown schema") \
	X(NVTX_MISS_FIELDS, "payloads with fields left out") \
	X(NVTX_MISS_SCHEMA, "schemas and enumerations beyond the limit") \
	X(NVTX_MISS_COUNTER, "unknown counters, and samples of them") \
	X(NVTX_MISS_SAMPLES, "counter samples in groups or batches, or without a value") \
	X(NVTX_MISS_EXTENSION, "extensions other than payloads and counters") \
	X(NVTX_MISS_DOMAIN, "unknown domains: the default one is used") \
	X(NVTX_MISS_STRING, "unknown registered strings") \
	X(NVTX_MISS_SYNC, "operations on an unknown sync object") \
	X(NVTX_MISS_CATEGORY, "category names beyond the limit") \
	X(NVTX_MISS_TOOL, "the tool in XSPROF_NVTX_TOOL: it cannot be loaded") \
	X(NVTX_MISS_HANDLE, "handles of that tool beyond the limit") \
	X(NVTX_MISS_MEMORY, "ranges of a thread that is out of memory")

#define NVTX_MISS_API_ID(api, n)	NVTX_MISS_##api,
#define NVTX_MISS_NAME_ID(api)		NVTX_MISS_##api,
#define NVTX_MISS_CASE_ID(id, text)	id,

enum nvtx_miss {
	NVTX_MISSED_CUDA(NVTX_MISS_API_ID)
	NVTX_MISSED_CUDART(NVTX_MISS_API_ID)
	NVTX_MISSED_OPENCL(NVTX_MISS_API_ID)
	NVTX_MISSED_NAMES(NVTX_MISS_NAME_ID)
	NVTX_MISSED_EXT(NVTX_MISS_API_ID)
	NVTX_MISSED_CASES(NVTX_MISS_CASE_ID)
	NVTX_NR_MISSES,
};

void nvtx_miss(enum nvtx_miss what);
/* Interns the names that the collector itself needs before the program fills the table. */
void nvtx_own_names(void);
/* In a forked child: resets the counts, which the parent records. */
void nvtx_miss_reset(void);

#endif /* XSPROF_NVTX_LOCAL_H */
