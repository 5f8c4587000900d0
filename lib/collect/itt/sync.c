// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Synchronisation objects and stitched stacks.
 *
 * Waits and releases pass an address only: the name given at the creation is kept in a map; objects
 * that do not fit have a common name. Allocators and runtimes call these functions with their locks
 * held: nothing here may call malloc() or wait.
 */
#include <stdio.h>

#include "collect/itt/names.h"

static struct itt_map objects;	/* by address: v[0] = name */

static xsprof_name_t unnamed(void)
{
	static xsprof_name_t name;
	xsprof_name_t n = __atomic_load_n(&name, __ATOMIC_RELAXED);

	if (!n) {
		n = itt_intern(ITT_CAT_SYNC, "User Synchronization");
		__atomic_store_n(&name, n, __ATOMIC_RELAXED);
	}
	return n;
}

static xsprof_name_t name_of(const void *addr)
{
	uint64_t v[3];

	return itt_map_get(&objects, (uintptr_t)addr, v) ? (xsprof_name_t)v[0] : unnamed();
}

static xsprof_name_t give_name(const void *addr, const char *type, const char *name)
{
	uint64_t v[3] = { 0 };
	char text[512];

	if (!type && (!name || !*name))
		v[0] = unnamed();
	else if (name && *name && type)
		snprintf(text, sizeof(text), "%.250s: %.250s", type, name);
	else
		snprintf(text, sizeof(text), "%.500s", type ? type : name);
	if (!v[0])
		v[0] = itt_intern(ITT_CAT_SYNC, text);
	if (!itt_map_put(&objects, (uintptr_t)addr, v))
		itt_miss(ITT_MISS_SYNC_FULL);
	return (xsprof_name_t)v[0];
}

static void sync_create(void *addr, const char *type, const char *name, int attribute)
{
	(void)attribute;	/* barrier or mutex: the type's text says it too */
	xsprof_sync_op(give_name(addr, type, name), XSPROF_SYNC_CREATE, addr);
}
ITT_EXPORT(sync_create, sync_create);
ITT_EXPORT(sync_createA, sync_create);
ITT_EXPORT(sync_set_name, sync_create);
ITT_EXPORT(sync_set_nameA, sync_create);

static void sync_rename(void *addr, const char *name)
{
	xsprof_sync_op(give_name(addr, NULL, name), XSPROF_SYNC_RENAME, addr);
}
ITT_EXPORT(sync_rename, sync_rename);
ITT_EXPORT(sync_renameA, sync_rename);

static void sync_destroy(void *addr)
{
	uint64_t v[3] = { unnamed() };

	itt_map_take(&objects, (uintptr_t)addr, v);
	xsprof_sync_op((xsprof_name_t)v[0], XSPROF_SYNC_DESTROY, addr);
}
ITT_EXPORT(sync_destroy, sync_destroy);

#define SYNC(op, code) \
	static void sync_##op(void *addr) \
	{ \
		if (xsprof_enabled()) \
			xsprof_sync_op(name_of(addr), code, addr); \
	} \
	ITT_EXPORT(sync_##op, sync_##op); \
	ITT_EXPORT(fsync_##op, sync_##op); \
	ITT_EXPORT(notify_sync_##op, sync_##op)

SYNC(prepare, XSPROF_SYNC_PREPARE);
SYNC(cancel, XSPROF_SYNC_CANCEL);
SYNC(acquired, XSPROF_SYNC_ACQUIRED);
SYNC(releasing, XSPROF_SYNC_RELEASING);

/* The oldest form, with lengths. */
static int notify_sync_name(void *addr, const char *type, int type_len, const char *name,
			    int name_len, int attribute)
{
	char t[251], n[251];

	(void)attribute;
	snprintf(t, sizeof(t), "%.*s", type && type_len > 0 ? type_len : 0, type ? type : "");
	snprintf(n, sizeof(n), "%.*s", name && name_len > 0 ? name_len : 0, name ? name : "");
	xsprof_sync_op(give_name(addr, *t ? t : NULL, n), XSPROF_SYNC_CREATE, addr);
	return 0;
}
ITT_EXPORT(notify_sync_name, notify_sync_name);
ITT_EXPORT(notify_sync_nameA, notify_sync_name);

/* ---- stacks: where work is handed out, and which threads take it up -------------------------- */

static xsprof_name_t stitch_name(void)
{
	static xsprof_name_t name;
	xsprof_name_t n = __atomic_load_n(&name, __ATOMIC_RELAXED);

	if (!n) {
		n = itt_intern(ITT_CAT_STITCH, "handed out");
		__atomic_store_n(&name, n, __ATOMIC_RELAXED);
	}
	return n;
}

/* Never NULL: LLVM's OpenMP runtime relies on it. */
static void *stack_caller_create(void)
{
	static uint64_t last;
	uint64_t id = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);

	if (xsprof_enabled())
		xsprof_flow_start(stitch_name(), id);
	return (void *)(uintptr_t)id;
}
ITT_EXPORT(stack_caller_create, stack_caller_create);

static void stack_caller_destroy(void *caller)
{
	if (xsprof_enabled())
		xsprof_flow_end(stitch_name(), (uintptr_t)caller);
}
ITT_EXPORT(stack_caller_destroy, stack_caller_destroy);

static void stack_callee_enter(void *caller)
{
	if (xsprof_enabled())
		xsprof_flow_step(stitch_name(), (uintptr_t)caller);
}
ITT_EXPORT(stack_callee_enter, stack_callee_enter);

/* Nothing to record: the next enter or the destruction implies it. */
static void stack_callee_leave(void *caller)
{
	(void)caller;
}
ITT_EXPORT(stack_callee_leave, stack_callee_leave);

#define SYNC_ENTRIES(op) \
	ITT_ENTRY(sync_##op, sync_##op), ITT_ENTRY(fsync_##op, sync_##op), \
	ITT_ENTRY(notify_sync_##op, sync_##op)

const struct itt_entry itt_sync_entries[] = {
	ITT_ENTRY(sync_create, sync_create),
	ITT_ENTRY(sync_createA, sync_create),
	ITT_ENTRY(sync_set_name, sync_create),
	ITT_ENTRY(sync_set_nameA, sync_create),
	ITT_ENTRY(sync_rename, sync_rename),
	ITT_ENTRY(sync_renameA, sync_rename),
	ITT_ENTRY(sync_destroy, sync_destroy),
	SYNC_ENTRIES(prepare),
	SYNC_ENTRIES(cancel),
	SYNC_ENTRIES(acquired),
	SYNC_ENTRIES(releasing),
	ITT_ENTRY(notify_sync_name, notify_sync_name),
	ITT_ENTRY(notify_sync_nameA, notify_sync_name),
	ITT_ENTRY(stack_caller_create, stack_caller_create),
	ITT_ENTRY(stack_caller_destroy, stack_caller_destroy),
	ITT_ENTRY(stack_callee_enter, stack_callee_enter),
	ITT_ENTRY(stack_callee_leave, stack_callee_leave),
	{ NULL, NULL }
};
