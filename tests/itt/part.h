/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A hand-made static ittnotify part, for tests that act as the program: its table, its lists, and
 * how it finds and calls a collector. It checks nothing.
 */
#ifndef XSPROF_TESTS_ITT_PART_H
#define XSPROF_TESTS_ITT_PART_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/itt/itt-abi.h"

/* Every ITT function on Linux, old and new, with its suffixed variants. */
#define PART_APIS(X) \
	X(domain_create) X(domain_createA) X(string_handle_create) X(string_handle_createA) \
	X(counter_create) X(counter_createA) X(counter_create_typed) X(counter_create_typedA) \
	X(counter_create_v3) X(counter_createA_v3) X(counter_inc) X(counter_dec) \
	X(counter_inc_delta) X(counter_dec_delta) X(counter_inc_v3) X(counter_dec_v3) \
	X(counter_inc_delta_v3) X(counter_dec_delta_v3) X(counter_set_value) \
	X(counter_set_value_v3) X(counter_set_value_ex) X(counter_destroy) \
	X(bind_context_metadata_to_counter) X(pause) X(resume) X(pause_scoped) X(resume_scoped) \
	X(detach) X(thread_set_name) X(thread_set_nameA) X(thread_ignore) X(thr_name_set) \
	X(thr_name_setA) X(thr_ignore) X(histogram_create) X(histogram_createA) \
	X(histogram_submit) X(module_load) X(module_loadA) X(module_unload) \
	X(module_load_with_sections) X(module_unload_with_sections) X(sync_create) \
	X(sync_createA) X(sync_set_name) X(sync_set_nameA) X(sync_rename) X(sync_renameA) \
	X(sync_destroy) X(sync_prepare) X(sync_cancel) X(sync_acquired) X(sync_releasing) \
	X(fsync_prepare) X(fsync_cancel) X(fsync_acquired) X(fsync_releasing) \
	X(notify_sync_name) X(notify_sync_nameA) X(notify_sync_prepare) X(notify_sync_cancel) \
	X(notify_sync_acquired) X(notify_sync_releasing) X(suppress_push) X(suppress_pop) \
	X(suppress_mark_range) X(suppress_clear_range) X(model_site_begin) X(model_site_end) \
	X(model_task_begin) X(model_task_end) X(model_lock_acquire) X(model_lock_release) \
	X(model_lock_acquire_2) X(model_lock_release_2) X(model_record_allocation) \
	X(model_record_deallocation) X(model_induction_uses) X(model_reduction_uses) \
	X(model_observe_uses) X(model_clear_uses) X(model_site_beginA) X(model_site_beginAL) \
	X(model_task_beginA) X(model_task_beginAL) X(model_iteration_taskA) \
	X(model_iteration_taskAL) X(model_site_end_2) X(model_task_end_2) \
	X(model_disable_push) X(model_disable_pop) X(model_aggregate_task) \
	X(heap_function_create) X(heap_function_createA) X(heap_allocate_begin) \
	X(heap_allocate_end) X(heap_free_begin) X(heap_free_end) X(heap_reallocate_begin) \
	X(heap_reallocate_end) X(heap_internal_access_begin) X(heap_internal_access_end) \
	X(heap_record_memory_growth_begin) X(heap_record_memory_growth_end) \
	X(heap_reset_detection) X(heap_record) X(id_create) X(id_destroy) X(id_create_ex) \
	X(id_destroy_ex) X(get_timestamp) X(region_begin) X(region_end) X(frame_begin_v3) \
	X(frame_end_v3) X(frame_submit_v3) X(frame_create) X(frame_createA) X(frame_begin) \
	X(frame_end) X(task_group) X(task_begin) X(task_begin_fn) X(task_end) X(task_begin_ex) \
	X(task_begin_fn_ex) X(task_end_ex) X(task_begin_overlapped) X(task_begin_overlapped_ex) \
	X(task_end_overlapped) X(task_end_overlapped_ex) X(marker) X(marker_ex) X(metadata_add) \
	X(metadata_str_add) X(metadata_str_addA) X(metadata_add_with_scope) \
	X(metadata_str_add_with_scope) X(metadata_str_add_with_scopeA) \
	X(formatted_metadata_add) X(formatted_metadata_add_overlapped) X(relation_add) \
	X(relation_add_to_current) X(relation_add_ex) X(relation_add_to_current_ex) \
	X(event_create) X(event_createA) X(event_start) X(event_end) X(memory_read) \
	X(memory_write) X(memory_update) X(state_get) X(state_set) X(obj_mode_set) \
	X(thr_mode_set) X(pt_region_create) X(pt_region_createA) X(mark_create) X(mark_createA) \
	X(mark) X(markA) X(mark_off) X(mark_global) X(mark_globalA) X(mark_global_off) \
	X(stack_caller_create) X(stack_caller_destroy) X(stack_callee_enter) \
	X(stack_callee_leave) X(clock_domain_create) X(clock_domain_reset) \
	X(track_group_create) X(track_create) X(set_track) X(av_save) X(av_saveA)

#define PART_TEXT(api)	"__itt_" #api,
static const char *const part_apis[] = { PART_APIS(PART_TEXT) };
#define PART_NR		(sizeof(part_apis) / sizeof(part_apis[0]))

#define PART_MAX	6000

struct part {
	struct itt_global	global;
	struct itt_api		list[PART_MAX];
	void			*func[PART_MAX];
};

static void part_init_func(void)
{
}

static void part_null_func(void)
{
}

static inline void part_reset(struct part *part)
{
	static const unsigned char magic[8] = ITT_MAGIC_BYTES;

	memset(part, 0, sizeof(*part));
	memcpy(part->global.magic, magic, sizeof(magic));
	part->global.major = 3;
	part->global.build = ITT_BUILD_COUNTERS;
	part->global.api_list = part->list;
}

static inline void part_set(struct part *part, size_t i, const char *name)
{
	part->list[i].name = name;
	part->func[i] = (void *)part_init_func;
	part->list[i].func = &part->func[i];
	part->list[i].init = (void *)part_init_func;
	part->list[i].null = (void *)part_null_func;
	part->list[i].group = -1;
}

/* All functions, in order; a NULL name ends the list. */
static inline void part_fill(struct part *part)
{
	part_reset(part);
	for (size_t i = 0; i < PART_NR; i++)
		part_set(part, i, part_apis[i]);
}

static inline void *part_func(const struct part *part, const char *name)
{
	for (size_t i = 0; part->list[i].name; i++)
		if (!strcmp(part->list[i].name, name))
			return part->func[i];
	fprintf(stderr, "%s: not in the table of the test\n", name);
	exit(1);
}

/* Like real parts: the environment names the collector. */
static inline void *part_open(void)
{
	const char *path = getenv("INTEL_LIBITTNOTIFY64");
	void *lib = path ? dlopen(path, RTLD_LAZY) : NULL;

	if (!lib) {
		fprintf(stderr, "INTEL_LIBITTNOTIFY64: %s\n", path ? dlerror() : "not set");
		exit(1);
	}
	return lib;
}

typedef void (*part_init_t)(struct itt_global *global, int groups);

#endif /* XSPROF_TESTS_ITT_PART_H */
