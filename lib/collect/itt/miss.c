// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Counts the ITT calls that leave no record. A count is recorded as a counter when it reaches a
 * power of two, and again at a regular exit: after _exit() it is at most a factor of two too low.
 * At a regular exit it is stated as a fact as well, which a full ring cannot lose.
 */
#include <inttypes.h>
#include <stdio.h>

#include "collect/itt/local.h"

#define API_TEXT(api)		"__itt_" #api,
#define CASE_TEXT(id, text)	text,

static const char *const texts[ITT_NR_MISSES] = {
	ITT_MISSED_APIS(API_TEXT)
	ITT_MISSED_CASES(CASE_TEXT)
};

static struct {
	uint64_t	n;
	uint64_t	shown;
	xsprof_name_t	name;
} misses[ITT_NR_MISSES];

static void show(enum itt_miss what, uint64_t n)
{
	xsprof_name_t name = __atomic_load_n(&misses[what].name, __ATOMIC_RELAXED);

	if (!name) {
		char text[160];
		int category;

		snprintf(text, sizeof(text), "not recorded: %s", texts[what]);
		/* Not by names.c, which counts its own failures here. */
		xsprof_init(NULL);
		category = xsprof_category("itt");
		name = xsprof_name_in(category < 0 ? 0 : category, text);
		__atomic_store_n(&misses[what].name, name, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&misses[what].shown, n, __ATOMIC_RELAXED);
	xsprof_counter(name, (int64_t)n);
}

void itt_miss(enum itt_miss what)
{
	uint64_t n = __atomic_add_fetch(&misses[what].n, 1, __ATOMIC_RELAXED);

	if (!(n & (n - 1)))
		show(what, n);
}

void itt_miss_flush(void)
{
	for (int i = 0; i < ITT_NR_MISSES; i++) {
		uint64_t n = __atomic_load_n(&misses[i].n, __ATOMIC_RELAXED);

		if (n != __atomic_load_n(&misses[i].shown, __ATOMIC_RELAXED))
			show(i, n);
	}
}

void itt_miss_reset(void)
{
	for (int i = 0; i < ITT_NR_MISSES; i++) {
		__atomic_store_n(&misses[i].n, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&misses[i].shown, 0, __ATOMIC_RELAXED);
	}
}

/*
 * They ignore their arguments, whatever they are, as the C calling conventions of x86-64 and arm64
 * allow, and return 0, as without a collector.
 */
#define API_FUNC(api) \
	static uintptr_t miss_##api(void) \
	{ \
		itt_miss(ITT_MISS_##api); \
		return 0; \
	} \
	ITT_EXPORT(api, miss_##api);
ITT_MISSED_APIS(API_FUNC)

ITT_EXPORT(av_saveA, miss_av_save);
ITT_EXPORT(pt_region_createA, miss_pt_region_create);

#define API_ENTRY(api)		ITT_ENTRY(api, miss_##api),

const struct itt_entry itt_miss_entries[] = {
	ITT_MISSED_APIS(API_ENTRY)
	/* Names used by the Windows macros and by some language bindings. */
	ITT_ENTRY(av_saveA, miss_av_save),
	ITT_ENTRY(pt_region_createA, miss_pt_region_create),
	{ NULL, NULL }
};

static void state(enum itt_miss what)
{
	uint64_t n = __atomic_load_n(&misses[what].n, __ATOMIC_RELAXED);
	char key[160], value[24];

	if (!n)
		return;
	snprintf(key, sizeof(key), "not recorded (itt): %s", texts[what]);
	snprintf(value, sizeof(value), "%" PRIu64, n);
	/* Where it has no place, there is the counter. */
	(void)xsprof_fact(key, value);
}

__attribute__((destructor)) static void miss_stop(void)
{
	itt_miss_flush();
	for (int i = 0; i < ITT_NR_MISSES; i++)
		state((enum itt_miss)i);
}
