// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Names of threads, resources and sync objects.
 */
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gpu/nvtx/local.h"

static uint32_t last_object;

static uint32_t new_number(void)
{
	return __atomic_add_fetch(&last_object, 1, __ATOMIC_RELAXED);
}

static void note(xsprof_name_t name, const struct xsprof_kv *kv, size_t n)
{
	if (xsprof_wants(name))
		xsprof_instant_args(name, kv, n);
}

/* ---- threads --------------------------------------------------------------------------------- */

static void name_thread(uint32_t tid, const char *name)
{
	if (!name)
		return;
	/* What a thread says of itself comes before what others say of it. */
	if (tid == (uint32_t)syscall(SYS_gettid))
		(void)xsprof_thread_name(name);
	else
		(void)xsprof_thread_name_of(tid, name);
}

static void name_thread_wide(uint32_t tid, const void *name)
{
	char utf8[NVTX_TEXT_MAX];

	if (!name)
		return;
	nvtx_wide_text(utf8, sizeof(utf8), name);
	name_thread(tid, utf8);
}

/* ---- resources ------------------------------------------------------------------------------- */

static const char *type_text(int32_t type)
{
	switch (type) {
	case NVTX_RESOURCE_POINTER:
		return "pointer";
	case NVTX_RESOURCE_HANDLE:
		return "handle";
	case NVTX_RESOURCE_THREAD_NATIVE:
		return "thread";
	case NVTX_RESOURCE_THREAD_POSIX:
		return "pthread";
	default:
		return NULL;
	}
}

static bool is_own_thread(const struct nvtx_resource *r)
{
	return (r->type == NVTX_RESOURCE_THREAD_NATIVE &&
		r->identifier == (uint64_t)syscall(SYS_gettid)) ||
	       (r->type == NVTX_RESOURCE_THREAD_POSIX &&
		r->identifier == (uint64_t)(uintptr_t)pthread_self());
}

static void *resource_create(const void *domain, const struct nvtx_resource *attributes)
{
	struct nvtx_domain d = nvtx_domain_of(domain);
	struct nvtx_thread *t = nvtx_thread_get();
	struct nvtx_resource r = { .size = 0 };
	uint32_t number = new_number();
	struct xsprof_kv kv[4];
	xsprof_name_t name;

	if (attributes && attributes->size >= sizeof(r))
		r = *attributes;
	else if (attributes)
		nvtx_miss(NVTX_MISS_SIZE);
	if (!t)
		return NULL;
	if (r.message_type == NVTX_MSG_ASCII && r.message && is_own_thread(&r))
		(void)xsprof_thread_name(r.message);
	name = nvtx_message(t, d.category, r.message_type, r.message);
	kv[0] = xsprof_u64(XSPROF_NAME("resource"), number);
	kv[1] = xsprof_namev(XSPROF_NAME("name"), name);
	kv[2] = xsprof_ptr(XSPROF_NAME("identifier"), (void *)(uintptr_t)r.identifier);
	kv[3] = type_text(r.type) ? xsprof_str(XSPROF_NAME("type"), type_text(r.type)) :
				    xsprof_u64(XSPROF_NAME("type"), (uint32_t)r.type);
	note(xsprof_name_in((int)d.category, "resource"), kv, ARRAY_SIZE(kv));
	return (void *)(uintptr_t)number;
}

static void resource_destroy(const void *handle)
{
	const struct xsprof_kv kv = xsprof_u64(XSPROF_NAME("resource"), (uintptr_t)handle);

	if (handle)
		note(xsprof_name_in((int)nvtx_default_category(), "resource destroyed"), &kv, 1);
}

/* ---- sync objects: the handle is the name and a number --------------------------------------- */

static void *sync_create(const void *domain, const struct nvtx_sync_object *attributes)
{
	struct nvtx_domain d = nvtx_domain_of(domain);
	struct nvtx_sync_object s = { .size = 0 };
	struct nvtx_thread *t = nvtx_thread_get();
	xsprof_name_t name;
	void *handle;

	if (attributes && attributes->size >= sizeof(s))
		s = *attributes;
	else if (attributes)
		nvtx_miss(NVTX_MISS_SIZE);
	if (!t)
		return NULL;
	name = nvtx_message(t, d.category, s.message_type, s.message);
	handle = (void *)(uintptr_t)nvtx_handle(NVTX_TAG_SYNC, new_number(), name);
	xsprof_sync_op(name, XSPROF_SYNC_CREATE, handle);
	return handle;
}

static void sync_op(const void *handle, uint32_t op)
{
	if (likely(nvtx_is(handle, NVTX_TAG_SYNC)))
		xsprof_sync_op((xsprof_name_t)(uintptr_t)handle, op, handle);
	else
		nvtx_miss(NVTX_MISS_SYNC);
}

#define SYNC(func, op) \
	static void sync_##func(const void *handle) \
	{ \
		sync_op(handle, op); \
	}

SYNC(destroy, XSPROF_SYNC_DESTROY)
SYNC(start, XSPROF_SYNC_PREPARE)
SYNC(failed, XSPROF_SYNC_CANCEL)
SYNC(success, XSPROF_SYNC_ACQUIRED)
SYNC(releasing, XSPROF_SYNC_RELEASING)

const struct nvtx_entry nvtx_object_entries[] = {
	NVTX_ENTRY(NVTX_CORE, NVTX_NAME_THREAD_A, name_thread),
	NVTX_ENTRY(NVTX_CORE, NVTX_NAME_THREAD_W, name_thread_wide),
	NVTX_ENTRY(NVTX_CORE2, NVTX_RESOURCE_CREATE, resource_create),
	NVTX_ENTRY(NVTX_CORE2, NVTX_RESOURCE_DESTROY, resource_destroy),
	NVTX_ENTRY(NVTX_SYNC, NVTX_SYNC_CREATE, sync_create),
	NVTX_ENTRY(NVTX_SYNC, NVTX_SYNC_DESTROY, sync_destroy),
	NVTX_ENTRY(NVTX_SYNC, NVTX_SYNC_ACQUIRE_START, sync_start),
	NVTX_ENTRY(NVTX_SYNC, NVTX_SYNC_ACQUIRE_FAILED, sync_failed),
	NVTX_ENTRY(NVTX_SYNC, NVTX_SYNC_ACQUIRE_SUCCESS, sync_success),
	NVTX_ENTRY(NVTX_SYNC, NVTX_SYNC_RELEASING, sync_releasing),
	{ 0, 0, NULL }
};
