// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Entry points: how a static ittnotify part finds the collector and gets its functions.
 *
 * The static part holds its own lock while it calls us. A process may have several, each with its
 * own table, lists and version. Everything read from one is bounded and checked, and no pointer to
 * it is kept. Without a recorder every function gets the static part's null function and costs what
 * it costs without a collector.
 */
#include <errno.h>
#include <string.h>

#include "collect/itt/names.h"

#define MAX_APIS	4096u		/* 156 is the longest known */
#define MAX_OBJECTS	65536u		/* of a list, which may be circular */
#define TABLE		1024u		/* a power of two, twice our functions or more */

static const struct itt_entry *const files[] = {
	itt_task_entries, itt_region_entries, itt_frame_entries, itt_late_entries, itt_meta_entries,
	itt_counter_entries, itt_sync_entries, itt_event_entries, itt_heap_entries,
	itt_model_entries, itt_control_entries, itt_name_entries, itt_miss_entries,
};

static const struct itt_entry *table[TABLE];
static bool table_full_of_ours;

static uint32_t hash_name(const char *name)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; name[i] && i < 128; i++)
		h = (h ^ (unsigned char)name[i]) * 16777619u;
	return h;
}

/* Called under itt_lock(). */
static void fill_table(void)
{
	if (table_full_of_ours)
		return;
	for (size_t f = 0; f < ARRAY_SIZE(files); f++)
		for (const struct itt_entry *e = files[f]; e->name; e++) {
			uint32_t at = hash_name(e->name);

			while (table[at % TABLE])
				at++;
			table[at % TABLE] = e;
		}
	table_full_of_ours = true;
}

static void *find_func(const char *name)
{
	for (uint32_t at = hash_name(name); table[at % TABLE]; at++)
		if (!strcmp(table[at % TABLE]->name, name))
			return table[at % TABLE]->func;
	return NULL;
}

/*
 * An unknown function keeps the static part's null function. A record notes it: newer programs may
 * use functions that this collector lacks.
 */
static void note_unknown(const char *api)
{
	const struct xsprof_kv kv = xsprof_str(xsprof_name("function"), api);

	itt_note(itt_intern(ITT_CAT_ITT, "not recorded: unknown function"), &kv, 1);
}

static void fill_apis(struct itt_global *global, bool recording)
{
	struct itt_api *api = global->api_list;

	for (uint32_t i = 0; api && i < MAX_APIS && api[i].name; i++) {
		void *func = recording ? find_func(api[i].name) : NULL;

		if (!api[i].func)
			continue;
		if (recording && !func && strcmp(api[i].name, "__itt_api_version") &&
		    strcmp(api[i].name, "__itt_enable_attach"))
			note_unknown(api[i].name);
		__atomic_store_n(api[i].func, func ? func : api[i].null, __ATOMIC_RELEASE);
	}
}

/* Adopts objects that the program created before the collector was loaded. */
static void adopt_lists(struct itt_global *global)
{
	struct itt_string *s = global->string_list;
	struct itt_domain *d = global->domain_list;
	uint32_t i;

	for (i = 0; d && i < MAX_OBJECTS; i++, d = d->next) {
		d->flags = 1;
		itt_made_domain(d->name, itt_adopt_domain(d), global);
	}
	if (d)
		itt_miss(ITT_MISS_MALFORMED);
	for (i = 0; s && i < MAX_OBJECTS; i++, s = s->next)
		if (!s->extra2)
			itt_adopt_string(s);
	if (s)
		itt_miss(ITT_MISS_MALFORMED);
	if (global->build >= ITT_BUILD_COUNTERS) {
		struct itt_counter *c = global->counter_list;

		for (i = 0; c && i < MAX_OBJECTS; i++, c = c->next)
			itt_adopt_counter(c);
		if (c)
			itt_miss(ITT_MISS_MALFORMED);
	}
}

static bool is_global(const struct itt_global *global)
{
	static const unsigned char magic[8] = ITT_MAGIC_BYTES;

	return global && !memcmp(global->magic, magic, sizeof(magic)) && global->major == 3 &&
	       global->api_list;
}

bool itt_is_recording(void)
{
	int err = xsprof_init(NULL);

	return !err || err == -EAGAIN || err == -EBUSY || err == -EALREADY;
}

/* Entry points, called by the static part; their names are the interface. */
__attribute__((visibility("default"))) void __itt_api_init(struct itt_global *global, int groups);
__attribute__((visibility("default"))) void __itt_api_fini(struct itt_global *global);
__attribute__((visibility("default"))) const char *__itt_api_version(void);

/*
 * @groups are the groups enabled by the program; it never calls functions of other groups, so all
 * can be filled.
 */
void __itt_api_init(struct itt_global *global, int groups)
{
	bool recording = itt_is_recording();

	(void)groups;
	if (!is_global(global))
		return;
	if (recording) {
		itt_lock();
		fill_table();
		itt_unlock();
		adopt_lists(global);
	}
	fill_apis(global, recording);
}

void __itt_api_fini(struct itt_global *global)
{
	(void)global;
	itt_miss_flush();
}

const char *__itt_api_version(void)
{
	return "ITT-API-Version 3.0.0 (20180723) xsprof " XSPROF_VERSION;
}

/* ---- fork ----------------------------------------------------------------------------------- */

static void in_child(void)
{
	itt_unlock();
	itt_miss_reset();
}

__attribute__((constructor)) static void init_start(void)
{
	/* If it fails, a child forked while another thread holds the lock can never take it. */
	(void)pthread_atfork(itt_lock, itt_unlock, in_child);
}
