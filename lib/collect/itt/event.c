// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Events and marks: the old API, which identifies them by small numbers.
 *
 * The start of an event is recorded as an instant, since most events never end; if an end comes,
 * the time since the start is recorded as a span too. Marks are instants.
 */
#include "collect/itt/names.h"

#define MAX_NUMBERS	16384u

/* Event or mark number n, from 1 on, is names[n]. */
struct numbers {
	xsprof_name_t	names[MAX_NUMBERS];
	uint32_t	nr;
};

static struct numbers events, marks;

static int number_of(struct numbers *list, xsprof_name_t name)
{
	uint32_t i;

	itt_lock();
	for (i = 1; i <= list->nr && list->names[i] != name; i++)
		;
	if (i > list->nr) {
		if (i < MAX_NUMBERS) {
			__atomic_store_n(&list->names[i], name, __ATOMIC_RELAXED);
			list->nr = i;
		} else {
			i = 0;
		}
	}
	itt_unlock();
	if (!i)
		itt_miss(ITT_MISS_MEMORY);
	return (int)i;
}

static xsprof_name_t name_of(struct numbers *list, int number)
{
	xsprof_name_t name = 0;

	if (number > 0 && (uint32_t)number < MAX_NUMBERS)
		name = __atomic_load_n(&list->names[number], __ATOMIC_RELAXED);
	if (!name)
		itt_miss(ITT_MISS_EVENT);
	return name;
}

/* ---- events ---------------------------------------------------------------------------------- */

/* A length <= 0: the text is terminated. */
static int event_create(const char *name, int len)
{
	if (!name)
		return 0;
	return number_of(&events, itt_intern_len(ITT_CAT_ITT, name,
						 len > 0 ? (size_t)len : XSPROF_TEXT_MAX));
}
ITT_EXPORT(event_create, event_create);
ITT_EXPORT(event_createA, event_create);

static int event_start(int event)
{
	struct itt_thread *t = &itt_thread;
	xsprof_name_t name = name_of(&events, event);

	if (!name)
		return -1;
	xsprof_instant(name);
	if (t->nr_events == ITT_EVENTS) {
		/* Replace the oldest: most likely it has no end. */
		for (uint32_t i = 1; i < ITT_EVENTS; i++)
			t->events[i - 1] = t->events[i];
		t->nr_events--;
	}
	t->events[t->nr_events].event = (uint64_t)event;
	t->events[t->nr_events++].begin = xsprof_now();
	return 0;
}
ITT_EXPORT(event_start, event_start);

static int event_end(int event)
{
	struct itt_thread *t = &itt_thread;
	xsprof_name_t name = name_of(&events, event);
	uint32_t i = t->nr_events;

	if (!name)
		return -1;
	while (i && t->events[i - 1].event != (uint64_t)event)
		i--;
	if (!i) {
		itt_miss(ITT_MISS_EVENT_END);
		return -1;
	}
	if (xsprof_wants(name))
		xsprof_span(name, t->events[i - 1].begin, xsprof_now(), 0, 0);
	for (t->nr_events--; i <= t->nr_events; i++)
		t->events[i - 1] = t->events[i];
	return 0;
}
ITT_EXPORT(event_end, event_end);

/* ---- marks ----------------------------------------------------------------------------------- */

static int mark_create(const char *name)
{
	return name ? number_of(&marks, itt_intern(ITT_CAT_ITT, name)) : 0;
}
ITT_EXPORT(mark_create, mark_create);
ITT_EXPORT(mark_createA, mark_create);

static int mark_any(int mark, const char *parameter, uint32_t scope)
{
	xsprof_name_t name = name_of(&marks, mark);
	struct xsprof_kv kv[2];
	size_t n = 0;

	if (!name)
		return -1;
	if (!parameter) {
		xsprof_mark(name, scope);
		return 0;
	}
	if (!xsprof_wants(name))
		return 0;
	kv[n++] = xsprof_str(XSPROF_NAME("parameter"), parameter);
	if (scope != XSPROF_SCOPE_THREAD)
		kv[n++] = xsprof_i64(XSPROF_NAME("scope"), scope);
	itt_note(name, kv, n);
	return 0;
}

static int mark(int type, const char *parameter)
{
	return mark_any(type, parameter, XSPROF_SCOPE_THREAD);
}
ITT_EXPORT(mark, mark);
ITT_EXPORT(markA, mark);

static int mark_global(int type, const char *parameter)
{
	return mark_any(type, parameter, XSPROF_SCOPE_PROCESS);
}
ITT_EXPORT(mark_global, mark_global);
ITT_EXPORT(mark_globalA, mark_global);

static int mark_off(int type)
{
	return mark_any(type, "(off)", XSPROF_SCOPE_THREAD);
}
ITT_EXPORT(mark_off, mark_off);

static int mark_global_off(int type)
{
	return mark_any(type, "(off)", XSPROF_SCOPE_PROCESS);
}
ITT_EXPORT(mark_global_off, mark_global_off);

const struct itt_entry itt_event_entries[] = {
	ITT_ENTRY(event_create, event_create),
	ITT_ENTRY(event_createA, event_create),
	ITT_ENTRY(event_start, event_start),
	ITT_ENTRY(event_end, event_end),
	ITT_ENTRY(mark_create, mark_create),
	ITT_ENTRY(mark_createA, mark_create),
	ITT_ENTRY(mark, mark),
	ITT_ENTRY(markA, mark),
	ITT_ENTRY(mark_global, mark_global),
	ITT_ENTRY(mark_globalA, mark_global),
	ITT_ENTRY(mark_off, mark_off),
	ITT_ENTRY(mark_global_off, mark_global_off),
	{ NULL, NULL }
};
