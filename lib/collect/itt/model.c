// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Annotations of parallelism models (sites, tasks, locks, allocations), recorded as ranges, sync
 * operations and allocations. Annotations that only a simulation of parallelism can use (uses of
 * memory, iterations that begin where the last one ended) are counted in miss.c.
 */
#include "collect/itt/names.h"

static void begin(xsprof_name_t name)
{
	itt_task_push(0);
	xsprof_begin(name);
}

static void end(void)
{
	itt_task_end(0);
}

static void model_begin(void *handle, void *instance, const char *name)
{
	(void)handle;
	(void)instance;
	begin(itt_intern(ITT_CAT_MODEL, name));
}
ITT_EXPORT(model_site_begin, model_begin);
ITT_EXPORT(model_task_begin, model_begin);

static void model_end(void *handle, void *instance)
{
	(void)handle;
	(void)instance;
	end();
}
ITT_EXPORT(model_site_end, model_end);
ITT_EXPORT(model_task_end, model_end);

static void model_begin_named(const char *name)
{
	begin(itt_intern(ITT_CAT_MODEL, name));
}
ITT_EXPORT(model_site_beginA, model_begin_named);
ITT_EXPORT(model_task_beginA, model_begin_named);

static void model_begin_len(const char *name, size_t len)
{
	begin(itt_intern_len(ITT_CAT_MODEL, name, len));
}
ITT_EXPORT(model_site_beginAL, model_begin_len);
ITT_EXPORT(model_task_beginAL, model_begin_len);

ITT_EXPORT(model_site_end_2, end);
ITT_EXPORT(model_task_end_2, end);

static void model_lock_acquire(void *lock)
{
	xsprof_sync_op(itt_intern(ITT_CAT_MODEL, "lock"), XSPROF_SYNC_ACQUIRED, lock);
}
ITT_EXPORT(model_lock_acquire, model_lock_acquire);
ITT_EXPORT(model_lock_acquire_2, model_lock_acquire);

static void model_lock_release(void *lock)
{
	xsprof_sync_op(itt_intern(ITT_CAT_MODEL, "lock"), XSPROF_SYNC_RELEASING, lock);
}
ITT_EXPORT(model_lock_release, model_lock_release);
ITT_EXPORT(model_lock_release_2, model_lock_release);

static void model_record_allocation(void *addr, size_t size)
{
	xsprof_name_t name = itt_intern(ITT_CAT_MODEL, "allocation");

	if (xsprof_wants(name))
		xsprof_alloc(name, addr, size, XSPROF_DEVICE_CPU, 0, 0);
}
ITT_EXPORT(model_record_allocation, model_record_allocation);

static void model_record_deallocation(void *addr)
{
	xsprof_name_t name = itt_intern(ITT_CAT_MODEL, "allocation");

	if (xsprof_wants(name))
		xsprof_free(name, addr, 0, XSPROF_DEVICE_CPU, 0, 0);
}
ITT_EXPORT(model_record_deallocation, model_record_deallocation);

const struct itt_entry itt_model_entries[] = {
	ITT_ENTRY(model_site_begin, model_begin),
	ITT_ENTRY(model_task_begin, model_begin),
	ITT_ENTRY(model_site_end, model_end),
	ITT_ENTRY(model_task_end, model_end),
	ITT_ENTRY(model_site_beginA, model_begin_named),
	ITT_ENTRY(model_task_beginA, model_begin_named),
	ITT_ENTRY(model_site_beginAL, model_begin_len),
	ITT_ENTRY(model_task_beginAL, model_begin_len),
	ITT_ENTRY(model_site_end_2, end),
	ITT_ENTRY(model_task_end_2, end),
	ITT_ENTRY(model_lock_acquire, model_lock_acquire),
	ITT_ENTRY(model_lock_acquire_2, model_lock_acquire),
	ITT_ENTRY(model_lock_release, model_lock_release),
	ITT_ENTRY(model_lock_release_2, model_lock_release),
	ITT_ENTRY(model_record_allocation, model_record_allocation),
	ITT_ENTRY(model_record_deallocation, model_record_deallocation),
	{ NULL, NULL }
};
