// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Functions that the program calls when the user named a second tool: each calls ours and the
 * tool's.
 *
 * The program gets the tool's handles, so that the tool sees the calls it would see alone; a map
 * leads from the tool's handle to ours.  If the tool makes no handle, the program gets ours, which
 * is never passed to the tool.  The tool may change its functions at any time.
 */
#include "gpu/nvtx/chain.h"

#define OURS(type, module, slot)	((type)nvtx_ours[module][slot])
#define THEIRS(type, module, slot) \
	((type)__atomic_load_n(&nvtx_theirs[module][slot], __ATOMIC_ACQUIRE))

/* ---- handles --------------------------------------------------------------------------------- */

static void *our_handle(enum nvtx_kind kind, void *handle)
{
	uint64_t ours;

	return handle && nvtx_chain_get(kind, (uintptr_t)handle, &ours) ? (void *)(uintptr_t)ours :
									  handle;
}

static void *their_handle(void *handle, uint64_t tag)
{
	return nvtx_is(handle, tag) ? NULL : handle;
}

/* Return: the handle for the program. */
static void *both_handles(enum nvtx_kind kind, void *theirs, void *ours)
{
	if (!theirs)
		return ours;
	nvtx_chain_put(kind, (uintptr_t)theirs, (uintptr_t)ours);
	return theirs;
}

/* The event with the tool's registered string replaced by ours. */
static const struct nvtx_event *our_event(const struct nvtx_event *event, struct nvtx_event *copy)
{
	if (!event || event->size < sizeof(*event) || event->message_type != NVTX_MSG_REGISTERED)
		return event;
	*copy = *event;
	copy->size = sizeof(*copy);
	copy->message = our_handle(NVTX_KIND_STRING, (void *)(uintptr_t)event->message);
	return copy;
}

static const struct nvtx_event *their_event(const struct nvtx_event *event,
					    struct nvtx_event *copy)
{
	if (!event || event->size < sizeof(*event) ||
	    event->message_type != NVTX_MSG_REGISTERED || !nvtx_is(event->message, NVTX_TAG_STRING))
		return event;
	*copy = *event;
	copy->size = sizeof(*copy);
	copy->message_type = NVTX_MSG_NONE;
	copy->message = NULL;
	return copy;
}

/* ---- calls without handles: up to two words, passed on as they are --------------------------- */

typedef int (*words_fn)(uintptr_t a, uintptr_t b);

static int both_words(uint32_t module, uint32_t slot, uintptr_t a, uintptr_t b)
{
	words_fn theirs = THEIRS(words_fn, module, slot);
	int ret = OURS(words_fn, module, slot)(a, b);

	if (theirs)
		theirs(a, b);
	return ret;
}

#define WORDS_CALLS(X) \
	X(NVTX_CORE, NVTX_MARK_A) X(NVTX_CORE, NVTX_MARK_W) X(NVTX_CORE, NVTX_PUSH_A) \
	X(NVTX_CORE, NVTX_PUSH_W) X(NVTX_CORE, NVTX_POP) X(NVTX_CORE, NVTX_NAME_CATEGORY_A) \
	X(NVTX_CORE, NVTX_NAME_CATEGORY_W) X(NVTX_CORE, NVTX_NAME_THREAD_A) \
	X(NVTX_CORE, NVTX_NAME_THREAD_W) \
	X(NVTX_CUDA, 1) X(NVTX_CUDA, 2) X(NVTX_CUDA, 3) X(NVTX_CUDA, 4) X(NVTX_CUDA, 5) \
	X(NVTX_CUDA, 6) X(NVTX_CUDA, 7) X(NVTX_CUDA, 8) \
	X(NVTX_OPENCL, 1) X(NVTX_OPENCL, 2) X(NVTX_OPENCL, 3) X(NVTX_OPENCL, 4) X(NVTX_OPENCL, 5) \
	X(NVTX_OPENCL, 6) X(NVTX_OPENCL, 7) X(NVTX_OPENCL, 8) X(NVTX_OPENCL, 9) \
	X(NVTX_OPENCL, 10) X(NVTX_OPENCL, 11) X(NVTX_OPENCL, 12) X(NVTX_OPENCL, 13) \
	X(NVTX_OPENCL, 14) \
	X(NVTX_CUDART, 1) X(NVTX_CUDART, 2) X(NVTX_CUDART, 3) X(NVTX_CUDART, 4) X(NVTX_CUDART, 5) \
	X(NVTX_CUDART, 6)

#define WORDS_FUNC(module, slot) \
	static int words_##module##_##slot(uintptr_t a, uintptr_t b) \
	{ \
		return both_words(module, slot, a, b); \
	}
WORDS_CALLS(WORDS_FUNC)

/* ---- events ---------------------------------------------------------------------------------- */

typedef int (*event_fn)(const struct nvtx_event *event);
typedef int (*domain_event_fn)(void *domain, const struct nvtx_event *event);

static int both_events(uint32_t slot, const struct nvtx_event *event)
{
	event_fn theirs = THEIRS(event_fn, NVTX_CORE, slot);
	struct nvtx_event copy;
	int ret = OURS(event_fn, NVTX_CORE, slot)(our_event(event, &copy));

	if (theirs)
		theirs(their_event(event, &copy));
	return ret;
}

static int both_domain_events(uint32_t slot, void *domain, const struct nvtx_event *event)
{
	domain_event_fn theirs = THEIRS(domain_event_fn, NVTX_CORE2, slot);
	struct nvtx_event copy;
	int ret = OURS(domain_event_fn, NVTX_CORE2, slot)(our_handle(NVTX_KIND_DOMAIN, domain),
							  our_event(event, &copy));

	if (theirs)
		theirs(their_handle(domain, NVTX_TAG_DOMAIN), their_event(event, &copy));
	return ret;
}

static int mark_ex(const struct nvtx_event *event)
{
	return both_events(NVTX_MARK_EX, event);
}

static int push_ex(const struct nvtx_event *event)
{
	return both_events(NVTX_PUSH_EX, event);
}

static int domain_mark_ex(void *domain, const struct nvtx_event *event)
{
	return both_domain_events(NVTX_DOMAIN_MARK_EX, domain, event);
}

static int domain_push_ex(void *domain, const struct nvtx_event *event)
{
	return both_domain_events(NVTX_DOMAIN_PUSH_EX, domain, event);
}

static int domain_pop(void *domain)
{
	typedef int (*fn)(void *domain);
	fn theirs = THEIRS(fn, NVTX_CORE2, NVTX_DOMAIN_POP);
	int ret = OURS(fn, NVTX_CORE2, NVTX_DOMAIN_POP)(our_handle(NVTX_KIND_DOMAIN, domain));

	if (theirs)
		theirs(their_handle(domain, NVTX_TAG_DOMAIN));
	return ret;
}

/* ---- started ranges -------------------------------------------------------------------------- */

/* Maps the id that the program gets to ours until the range ends. */
static uint64_t both_ids(uint64_t theirs, uint64_t ours)
{
	nvtx_chain_put(NVTX_KIND_RANGE, theirs ? theirs : ours, ours);
	return theirs ? theirs : ours;
}

static uint64_t start_ex(const struct nvtx_event *event)
{
	typedef uint64_t (*fn)(const struct nvtx_event *event);
	fn theirs = THEIRS(fn, NVTX_CORE, NVTX_START_EX);
	struct nvtx_event copy;
	uint64_t ours = OURS(fn, NVTX_CORE, NVTX_START_EX)(our_event(event, &copy));

	return both_ids(theirs ? theirs(their_event(event, &copy)) : 0, ours);
}

static uint64_t start_text(uint32_t slot, const void *text)
{
	typedef uint64_t (*fn)(const void *text);
	fn theirs = THEIRS(fn, NVTX_CORE, slot);
	uint64_t ours = OURS(fn, NVTX_CORE, slot)(text);

	return both_ids(theirs ? theirs(text) : 0, ours);
}

static uint64_t start(const void *text)
{
	return start_text(NVTX_START_A, text);
}

static uint64_t start_wide(const void *text)
{
	return start_text(NVTX_START_W, text);
}

static uint64_t domain_start_ex(void *domain, const struct nvtx_event *event)
{
	typedef uint64_t (*fn)(void *domain, const struct nvtx_event *event);
	fn theirs = THEIRS(fn, NVTX_CORE2, NVTX_DOMAIN_START_EX);
	struct nvtx_event copy;
	uint64_t ours = OURS(fn, NVTX_CORE2, NVTX_DOMAIN_START_EX)(
		our_handle(NVTX_KIND_DOMAIN, domain), our_event(event, &copy));

	return both_ids(theirs ? theirs(their_handle(domain, NVTX_TAG_DOMAIN),
					their_event(event, &copy)) : 0, ours);
}

/* An id that is not in the map becomes 0, which our function counts as unknown. */
static void our_end(uint64_t id)
{
	uint64_t ours = 0;

	(void)nvtx_chain_take(NVTX_KIND_RANGE, id, &ours);
	OURS(void (*)(uint64_t), NVTX_CORE, NVTX_END)(ours);
}

static void end(uint64_t id)
{
	typedef void (*fn)(uint64_t id);
	fn theirs = THEIRS(fn, NVTX_CORE, NVTX_END);

	our_end(id);
	if (theirs)
		theirs(id);
}

static void domain_end(void *domain, uint64_t id)
{
	typedef void (*fn)(void *domain, uint64_t id);
	fn theirs = THEIRS(fn, NVTX_CORE2, NVTX_DOMAIN_END);

	our_end(id);
	if (theirs)
		theirs(their_handle(domain, NVTX_TAG_DOMAIN), id);
}

/* ---- what makes and destroys handles --------------------------------------------------------- */

static void *domain_create_text(uint32_t slot, const void *text)
{
	typedef void *(*fn)(const void *text);
	fn theirs = THEIRS(fn, NVTX_CORE2, slot);
	void *ours = OURS(fn, NVTX_CORE2, slot)(text);

	return both_handles(NVTX_KIND_DOMAIN, theirs ? theirs(text) : NULL, ours);
}

static void *domain_create(const void *text)
{
	return domain_create_text(NVTX_DOMAIN_CREATE_A, text);
}

static void *domain_create_wide(const void *text)
{
	return domain_create_text(NVTX_DOMAIN_CREATE_W, text);
}

/* Creates a string, resource or sync object of a domain, from attributes or a text. */
static void *create_in(uint32_t module, uint32_t slot, enum nvtx_kind kind, void *domain,
		       const void *what)
{
	typedef void *(*fn)(void *domain, const void *what);
	fn theirs = THEIRS(fn, module, slot);
	void *ours = OURS(fn, module, slot)(our_handle(NVTX_KIND_DOMAIN, domain), what);

	return both_handles(kind, theirs ? theirs(their_handle(domain, NVTX_TAG_DOMAIN), what) :
				  NULL, ours);
}

static void *register_string(void *domain, const void *text)
{
	return create_in(NVTX_CORE2, NVTX_REGISTER_STRING_A, NVTX_KIND_STRING, domain, text);
}

static void *register_string_wide(void *domain, const void *text)
{
	return create_in(NVTX_CORE2, NVTX_REGISTER_STRING_W, NVTX_KIND_STRING, domain, text);
}

static void *resource_create(void *domain, const void *attributes)
{
	return create_in(NVTX_CORE2, NVTX_RESOURCE_CREATE, NVTX_KIND_RESOURCE, domain, attributes);
}

static void *sync_create(void *domain, const void *attributes)
{
	return create_in(NVTX_SYNC, NVTX_SYNC_CREATE, NVTX_KIND_SYNC, domain, attributes);
}

typedef void (*handle_fn)(void *handle);

static void domain_destroy(void *domain)
{
	handle_fn theirs = THEIRS(handle_fn, NVTX_CORE2, NVTX_DOMAIN_DESTROY);
	uint64_t ours;

	(void)nvtx_chain_take(NVTX_KIND_DOMAIN, (uintptr_t)domain, &ours);
	if (theirs && !nvtx_is(domain, NVTX_TAG_DOMAIN))
		theirs(domain);
}

static void resource_destroy(void *resource)
{
	handle_fn theirs = THEIRS(handle_fn, NVTX_CORE2, NVTX_RESOURCE_DESTROY);
	uint64_t ours = (uintptr_t)resource;
	bool is_theirs = nvtx_chain_take(NVTX_KIND_RESOURCE, (uintptr_t)resource, &ours);

	OURS(handle_fn, NVTX_CORE2, NVTX_RESOURCE_DESTROY)((void *)(uintptr_t)ours);
	if (theirs && is_theirs)
		theirs(resource);
}

static void name_category_text(uint32_t slot, void *domain, uint32_t id, const void *text)
{
	typedef void (*fn)(void *domain, uint32_t id, const void *text);
	fn theirs = THEIRS(fn, NVTX_CORE2, slot);

	OURS(fn, NVTX_CORE2, slot)(our_handle(NVTX_KIND_DOMAIN, domain), id, text);
	if (theirs)
		theirs(their_handle(domain, NVTX_TAG_DOMAIN), id, text);
}

static void domain_name_category(void *domain, uint32_t id, const void *text)
{
	name_category_text(NVTX_DOMAIN_NAME_CATEGORY_A, domain, id, text);
}

static void domain_name_category_wide(void *domain, uint32_t id, const void *text)
{
	name_category_text(NVTX_DOMAIN_NAME_CATEGORY_W, domain, id, text);
}

static void both_syncs(uint32_t slot, void *handle)
{
	handle_fn theirs = THEIRS(handle_fn, NVTX_SYNC, slot);

	OURS(handle_fn, NVTX_SYNC, slot)(our_handle(NVTX_KIND_SYNC, handle));
	if (theirs && !nvtx_is(handle, NVTX_TAG_SYNC))
		theirs(handle);
}

static void sync_destroy(void *handle)
{
	uint64_t ours;

	both_syncs(NVTX_SYNC_DESTROY, handle);
	(void)nvtx_chain_take(NVTX_KIND_SYNC, (uintptr_t)handle, &ours);
}

#define SYNC_CALLS(X) \
	X(NVTX_SYNC_ACQUIRE_START) X(NVTX_SYNC_ACQUIRE_FAILED) X(NVTX_SYNC_ACQUIRE_SUCCESS) \
	X(NVTX_SYNC_RELEASING)

#define SYNC_FUNC(slot) \
	static void sync_##slot(void *handle) \
	{ \
		both_syncs(slot, handle); \
	}
SYNC_CALLS(SYNC_FUNC)

#define WORDS_ENTRY(module, slot)	NVTX_ENTRY(module, slot, words_##module##_##slot),
#define SYNC_ENTRY(slot)		NVTX_ENTRY(NVTX_SYNC, slot, sync_##slot),

const struct nvtx_entry nvtx_chain_entries[] = {
	WORDS_CALLS(WORDS_ENTRY)
	SYNC_CALLS(SYNC_ENTRY)
	NVTX_ENTRY(NVTX_CORE, NVTX_MARK_EX, mark_ex),
	NVTX_ENTRY(NVTX_CORE, NVTX_PUSH_EX, push_ex),
	NVTX_ENTRY(NVTX_CORE, NVTX_START_EX, start_ex),
	NVTX_ENTRY(NVTX_CORE, NVTX_START_A, start),
	NVTX_ENTRY(NVTX_CORE, NVTX_START_W, start_wide),
	NVTX_ENTRY(NVTX_CORE, NVTX_END, end),
	NVTX_ENTRY(NVTX_CORE2, NVTX_DOMAIN_MARK_EX, domain_mark_ex),
	NVTX_ENTRY(NVTX_CORE2, NVTX_DOMAIN_START_EX, domain_start_ex),
	NVTX_ENTRY(NVTX_CORE2, NVTX_DOMAIN_END, domain_end),
	NVTX_ENTRY(NVTX_CORE2, NVTX_DOMAIN_PUSH_EX, domain_push_ex),
	NVTX_ENTRY(NVTX_CORE2, NVTX_DOMAIN_POP, domain_pop),
	NVTX_ENTRY(NVTX_CORE2, NVTX_RESOURCE_CREATE, resource_create),
	NVTX_ENTRY(NVTX_CORE2, NVTX_RESOURCE_DESTROY, resource_destroy),
	NVTX_ENTRY(NVTX_CORE2, NVTX_DOMAIN_NAME_CATEGORY_A, domain_name_category),
	NVTX_ENTRY(NVTX_CORE2, NVTX_DOMAIN_NAME_CATEGORY_W, domain_name_category_wide),
	NVTX_ENTRY(NVTX_CORE2, NVTX_REGISTER_STRING_A, register_string),
	NVTX_ENTRY(NVTX_CORE2, NVTX_REGISTER_STRING_W, register_string_wide),
	NVTX_ENTRY(NVTX_CORE2, NVTX_DOMAIN_CREATE_A, domain_create),
	NVTX_ENTRY(NVTX_CORE2, NVTX_DOMAIN_CREATE_W, domain_create_wide),
	NVTX_ENTRY(NVTX_CORE2, NVTX_DOMAIN_DESTROY, domain_destroy),
	NVTX_ENTRY(NVTX_SYNC, NVTX_SYNC_CREATE, sync_create),
	NVTX_ENTRY(NVTX_SYNC, NVTX_SYNC_DESTROY, sync_destroy),
	{ 0, 0, NULL }
};
