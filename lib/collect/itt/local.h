/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Private header of the ITT collector: ids, maps, open tasks of a thread, and the counts of calls
 * that leave no record.
 *
 * The collector keeps no events: a call writes its record into a ring before it returns, so that a
 * program that ends by _exit() or a signal loses none. It never calls malloc(): allocators call it
 * with their locks held.
 */
#ifndef XSPROF_ITT_LOCAL_H
#define XSPROF_ITT_LOCAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <xsprof/xsprof.h>

#include "collect/itt/itt-abi.h"

#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* ---- the functions that the program may call ------------------------------------------------- */

struct itt_entry {
	const char	*name;
	void		*func;
};

/*
 * Each file's functions; the list ends with a NULL name. ISO C forbids the cast, POSIX's dlsym()
 * needs it.
 */
extern const struct itt_entry itt_task_entries[], itt_region_entries[], itt_frame_entries[],
	itt_late_entries[], itt_meta_entries[], itt_counter_entries[], itt_sync_entries[],
	itt_event_entries[], itt_heap_entries[], itt_model_entries[], itt_control_entries[],
	itt_name_entries[], itt_miss_entries[];

#define ITT_ENTRY(api, func)	{ "__itt_" #api, (void *)(func) }

/*
 * ITT_EXPORT() - also exports the function under its own name, for static parts that look functions
 * up singly. Tables use the static function: a symbol of the executable must not override it.
 */
#define ITT_EXPORT(api, func) \
	extern __typeof__(func) __itt_##api \
		__attribute__((alias(#func), visibility("default")))

/* Attaches if needed: in a forked child the first marker would do it. */
bool itt_is_recording(void);

/* ---- ids ------------------------------------------------------------------------------------- */

static inline uint64_t itt_mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

/* A domain's id as one word; 0 only for the null id. */
static inline uint64_t itt_id(xsprof_name_t domain, const struct itt_id *id)
{
	uint64_t h;

	if (!(id->d1 | id->d2 | id->d3))
		return 0;
	h = itt_mix(id->d1 + 0x9e3779b97f4a7c15ull);
	h = itt_mix(h + id->d2);
	h = itt_mix(h + id->d3);
	h = itt_mix(h + domain);
	return h ? h : 1;
}

/* ---- maps (map.c): lock-free, of fixed size ---------------------------------------------- */

struct itt_slot {
	uint64_t	key;		/* 0: free, 1: being filled */
	uint64_t	v[3];
};

#define ITT_MAP_SETS	4096u
#define ITT_MAP_WAYS	8u

struct itt_map {
	struct itt_slot	slot[ITT_MAP_SETS][ITT_MAP_WAYS];
};

struct itt_slot *itt_map_find(struct itt_map *map, uint64_t key);
bool itt_map_get(struct itt_map *map, uint64_t key, uint64_t v[3]);
struct itt_slot *itt_map_put(struct itt_map *map, uint64_t key, const uint64_t v[3]);
bool itt_map_take(struct itt_map *map, uint64_t key, uint64_t v[3]);

/* Elements of an array as arguments with one key, at most @max. Return: 0 for an unknown type. */
size_t itt_values(struct xsprof_kv *kv, size_t max, xsprof_name_t key, int type, size_t count,
		  const void *data);

/* Adopts a counter of the static part (counter.c). */
void itt_adopt_counter(struct itt_counter *counter);

/* Zeroed memory that is never freed, or NULL; called under itt_lock(). */
void *itt_alloc(size_t size);
char *itt_strdup(const char *text);
/* Guards the creation of shared objects; taken around fork(), so that it is free in the child. */
void itt_lock(void);
void itt_unlock(void);

/* ---- the thread's open tasks ----------------------------------------------------------------- */

#define ITT_DEPTH	16u	/* tasks whose ids are kept */
#define ITT_LATE	4u	/* open tasks whose begin had an explicit time */
#define ITT_EVENTS	4u	/* events that may still end */

struct itt_late {
	xsprof_name_t	name;
	uint32_t	depth;
	uint64_t	begin;
	uint64_t	id;
	uint64_t	parent;
};

/* Small: static TLS has little room for libraries that are loaded late. */
struct itt_thread {
	uint32_t	depth;
	uint32_t	nr_late;
	uint32_t	nr_events;
	uint32_t	dead;		/* of depth: tasks that a pause has ended */
	uint32_t	pauses;		/* value of itt_pauses when that was determined */
	uint64_t	ids[ITT_DEPTH];
	struct itt_late	late[ITT_LATE];
	struct {
		uint64_t	event;
		uint64_t	begin;
	} events[ITT_EVENTS];
};

extern __thread struct itt_thread itt_thread __attribute__((tls_model("initial-exec")));

/* Incremented at each pause and resume: odd while paused. */
extern uint32_t itt_pauses;

/* Functions of task.c; @end: 0, or an explicit time in ticks. */
void itt_task_push(uint64_t id);
/* The ids that are not 0 as arguments. Return: their number. */
size_t itt_id_args(struct xsprof_kv kv[2], uint64_t id, uint64_t parent);
void itt_task_begin(const struct itt_domain *domain, struct itt_id task, struct itt_id parent,
		    struct itt_string *name);
void itt_task_end(uint64_t end);
void itt_open_begin(xsprof_name_t domain, xsprof_name_t name, uint64_t begin, uint64_t id,
		    uint64_t parent);
void itt_open_end(xsprof_name_t domain, uint64_t end, uint64_t id);
void itt_marker(const struct itt_domain *domain, struct itt_id id, struct itt_string *name,
		int scope);
void itt_relation_add(const struct itt_domain *domain, struct itt_id head, int relation,
		      struct itt_id tail);
void itt_relation_add_to_current(const struct itt_domain *domain, int relation,
				 struct itt_id tail);

#define ITT_RELATION_CHILD_OF	5u

/* Records an instant with up to four arguments. */
void itt_note(xsprof_name_t name, const struct xsprof_kv *kv, size_t n);

/* ---- calls that leave no record (miss.c) ------------------------------------------------- */

/* ITT functions without a corresponding record: counted by name. */
#define ITT_MISSED_APIS(X) \
	X(thread_ignore) X(thr_ignore) X(suppress_push) X(suppress_pop) X(suppress_mark_range) \
	X(suppress_clear_range) X(model_induction_uses) X(model_reduction_uses) \
	X(model_observe_uses) X(model_clear_uses) X(model_disable_push) X(model_disable_pop) \
	X(model_aggregate_task) X(model_iteration_taskA) X(model_iteration_taskAL) \
	X(heap_internal_access_begin) X(heap_internal_access_end) \
	X(heap_record_memory_growth_begin) X(heap_record_memory_growth_end) \
	X(heap_reset_detection) X(heap_record) X(memory_read) X(memory_write) X(memory_update) \
	X(state_get) X(state_set) X(obj_mode_set) X(thr_mode_set) X(av_save) X(pt_region_create)

/* Other cases for which there is no record. */
#define ITT_MISSED_CASES(X) \
	X(ITT_MISS_END, "task_end without task_begin") \
	X(ITT_MISS_OVERLAPPED_END, "end of an overlapped task or region that is not open") \
	X(ITT_MISS_OPEN_FULL, "overlapped tasks beyond the number that may be open") \
	X(ITT_MISS_GROUP_FULL, "names of task groups beyond the number that are kept") \
	X(ITT_MISS_TIMESTAMP, "given times not used: the time of the call is") \
	X(ITT_MISS_LATE_FULL, "tasks with given times nested too deep") \
	X(ITT_MISS_RELATION, "relations to a current task without an id") \
	X(ITT_MISS_EVENT, "event or mark of an unknown number") \
	X(ITT_MISS_EVENT_END, "event_end without event_start") \
	X(ITT_MISS_SYNC_FULL, "names of sync objects beyond the number that are kept") \
	X(ITT_MISS_COUNTER, "counter calls on an unknown counter") \
	X(ITT_MISS_COUNTER_FULL, "counters beyond the number that are kept") \
	X(ITT_MISS_METADATA, "metadata of an unknown type") \
	X(ITT_MISS_PAUSE, "pause or resume of another device") \
	X(ITT_MISS_JIT, "code made at run time of which too little is told, or in an unknown way") \
	X(ITT_MISS_MEMORY, "objects not created: out of memory") \
	X(ITT_MISS_MALFORMED, "malformed lists of the static part")

#define ITT_MISS_API_ID(api)		ITT_MISS_##api,
#define ITT_MISS_CASE_ID(id, text)	id,

enum itt_miss {
	ITT_MISSED_APIS(ITT_MISS_API_ID)
	ITT_MISSED_CASES(ITT_MISS_CASE_ID)
	ITT_NR_MISSES,
};

void itt_miss(enum itt_miss what);
/* Records the exact counts; at exit, and when a static part is unloaded. */
void itt_miss_flush(void);
/* In a forked child: resets the counts, which the parent records. */
void itt_miss_reset(void);

#endif /* XSPROF_ITT_LOCAL_H */
