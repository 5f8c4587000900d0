// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Calls about the process and its threads: pause and resume, names of threads, modules, tracks, and
 * histograms (arrays of values reported at once).
 */
#include "collect/itt/names.h"

#define MAX_TRACKS	4096u	/* and groups, and histograms */
#define MAX_BARS	32u	/* bars recorded; the number of others is recorded too */

/* ---- pause and resume ------------------------------------------------------------------------ */

/* Odd while paused; programs may also resume when not paused. */
static void change_pauses(uint32_t paused)
{
	uint32_t old = __atomic_load_n(&itt_pauses, __ATOMIC_RELAXED);

	while ((old & 1) != paused &&
	       !__atomic_compare_exchange_n(&itt_pauses, &old, old + 1, true, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED))
		;
}

static void pause_(void)
{
	xsprof_pause();
	change_pauses(1);
}
ITT_EXPORT(pause, pause_);
ITT_EXPORT(detach, pause_);

static void resume(void)
{
	change_pauses(0);
	xsprof_resume();
}
ITT_EXPORT(resume, resume);

static void pause_scoped(int scope)
{
	if (scope == ITT_COLLECTION_OFFLOAD)
		itt_miss(ITT_MISS_PAUSE);
	else
		pause_();
}
ITT_EXPORT(pause_scoped, pause_scoped);

static void resume_scoped(int scope)
{
	if (scope == ITT_COLLECTION_OFFLOAD)
		itt_miss(ITT_MISS_PAUSE);
	else
		resume();
}
ITT_EXPORT(resume_scoped, resume_scoped);

/* ---- threads --------------------------------------------------------------------------------- */

static void thread_set_name(const char *name)
{
	if (name)
		xsprof_thread_name(name);
}
ITT_EXPORT(thread_set_name, thread_set_name);
ITT_EXPORT(thread_set_nameA, thread_set_name);

/* @len applies if the text has no end; runtimes pass 0 for a terminated text. */
static int thr_name_set(const char *name, int len)
{
	char text[256];
	size_t n = 0, max = sizeof(text) - 1;

	if (!name)
		return -1;
	if (len > 0 && (size_t)len < max)
		max = (size_t)len;
	for (; n < max && name[n]; n++)
		text[n] = name[n];
	text[n] = 0;
	return xsprof_thread_name(text) ? -1 : 0;
}
ITT_EXPORT(thr_name_set, thr_name_set);
ITT_EXPORT(thr_name_setA, thr_name_set);

/* ---- modules --------------------------------------------------------------------------------- */

static void module_load(void *start, void *end, const char *path)
{
	const struct xsprof_kv kv[] = {
		xsprof_str(XSPROF_NAME("path"), path), xsprof_ptr(XSPROF_NAME("start"), start),
		xsprof_ptr(XSPROF_NAME("end"), end),
	};

	itt_note(itt_intern(ITT_CAT_ITT, "module load"), kv, ARRAY_SIZE(kv));
}
ITT_EXPORT(module_load, module_load);
ITT_EXPORT(module_loadA, module_load);

static void module_unload(void *start)
{
	const struct xsprof_kv kv = xsprof_ptr(XSPROF_NAME("start"), start);

	itt_note(itt_intern(ITT_CAT_ITT, "module unload"), &kv, 1);
}
ITT_EXPORT(module_unload, module_unload);

static void note_module(const char *what, const struct itt_module *module)
{
	const struct itt_section *s;
	struct xsprof_kv kv[3 + 16];
	size_t n = 0, i;

	if (!module)
		return;
	kv[n++] = xsprof_str(XSPROF_NAME("path"), module->name);
	kv[n++] = xsprof_u64(XSPROF_NAME("size"), module->size);
	kv[n++] = xsprof_u64(XSPROF_NAME("sections"), module->nr_sections);
	for (i = 0; module->sections && i < module->nr_sections && n < ARRAY_SIZE(kv); i++) {
		s = &module->sections[i];
		kv[n++] = xsprof_ptr(xsprof_name(s->name ? s->name : "section"), s->start);
	}
	itt_note(itt_intern(ITT_CAT_ITT, what), kv, n);
}

static void module_load_with_sections(const struct itt_module *module)
{
	note_module("module load", module);
}
ITT_EXPORT(module_load_with_sections, module_load_with_sections);

static void module_unload_with_sections(const struct itt_module *module)
{
	note_module("module unload", module);
}
ITT_EXPORT(module_unload_with_sections, module_unload_with_sections);

/* ---- tracks and histograms: handles that live for ever, of bounded number -------------------- */

static void *make(size_t size)
{
	static uint32_t nr;
	void *p = NULL;

	itt_lock();
	if (nr < MAX_TRACKS) {
		p = itt_alloc(size);
		nr += !!p;
	}
	itt_unlock();
	if (!p)
		itt_miss(ITT_MISS_MEMORY);
	return p;
}

static struct itt_track_group *track_group_create(struct itt_string *name, int type)
{
	struct itt_track_group *g = make(sizeof(*g));

	if (g) {
		g->name = name;
		g->type = type;
	}
	return g;
}
ITT_EXPORT(track_group_create, track_group_create);

static struct itt_track *track_create(struct itt_track_group *group, struct itt_string *name,
				      int type)
{
	struct itt_track *t = make(sizeof(*t));

	if (t) {
		t->name = name;
		t->group = group;
		t->type = type;
	}
	return t;
}
ITT_EXPORT(track_create, track_create);

/* Records an instant: the thread's later events belong to that track. */
static void set_track(const struct itt_track *track)
{
	struct xsprof_kv kv[2];
	size_t n = 0;

	if (!xsprof_enabled())
		return;
	if (track)
		kv[n++] = xsprof_str(XSPROF_NAME("track"), itt_text(track->name));
	if (track && track->group)
		kv[n++] = xsprof_str(XSPROF_NAME("group"), itt_text(track->group->name));
	itt_note(itt_intern(ITT_CAT_ITT, "set track"), kv, n);
}
ITT_EXPORT(set_track, set_track);

static struct itt_histogram *histogram_create(const struct itt_domain *domain, const char *name,
					      int x_type, int y_type)
{
	struct itt_histogram *h;

	if (!name)
		return NULL;
	h = make(sizeof(*h));
	if (!h)
		return NULL;
	itt_lock();
	h->name = itt_strdup(name);
	itt_unlock();
	h->domain = domain;
	h->x_type = x_type;
	h->y_type = y_type;
	return h;
}
ITT_EXPORT(histogram_create, histogram_create);
ITT_EXPORT(histogram_createA, histogram_create);

static void histogram_submit(const struct itt_histogram *histogram, size_t length,
			     const void *x, const void *y)
{
	struct xsprof_kv kv[2 * MAX_BARS + 1];
	xsprof_name_t name;
	size_t n = 0;

	if (!histogram || !xsprof_enabled())
		return;
	name = xsprof_name_in((int)(itt_domain_name(histogram->domain) >> XSPROF_NAME_SHIFT),
			      histogram->name ? histogram->name : "histogram");
	if (x)
		n = itt_values(kv, MAX_BARS, XSPROF_NAME("x"), histogram->x_type, length, x);
	if (y)
		n += itt_values(kv + n, MAX_BARS, XSPROF_NAME("y"), histogram->y_type, length, y);
	if (!n && length)
		itt_miss(ITT_MISS_METADATA);
	if (length > MAX_BARS)
		kv[n++] = xsprof_u64(XSPROF_NAME("(more values)"), length - MAX_BARS);
	itt_note(name, kv, n);
}
ITT_EXPORT(histogram_submit, histogram_submit);

const struct itt_entry itt_control_entries[] = {
	ITT_ENTRY(pause, pause_),
	ITT_ENTRY(resume, resume),
	ITT_ENTRY(pause_scoped, pause_scoped),
	ITT_ENTRY(resume_scoped, resume_scoped),
	ITT_ENTRY(detach, pause_),
	ITT_ENTRY(thread_set_name, thread_set_name),
	ITT_ENTRY(thread_set_nameA, thread_set_name),
	ITT_ENTRY(thr_name_set, thr_name_set),
	ITT_ENTRY(thr_name_setA, thr_name_set),
	ITT_ENTRY(module_load, module_load),
	ITT_ENTRY(module_loadA, module_load),
	ITT_ENTRY(module_unload, module_unload),
	ITT_ENTRY(module_load_with_sections, module_load_with_sections),
	ITT_ENTRY(module_unload_with_sections, module_unload_with_sections),
	ITT_ENTRY(track_group_create, track_group_create),
	ITT_ENTRY(track_create, track_create),
	ITT_ENTRY(set_track, set_track),
	ITT_ENTRY(histogram_create, histogram_create),
	ITT_ENTRY(histogram_createA, histogram_create),
	ITT_ENTRY(histogram_submit, histogram_submit),
	{ NULL, NULL }
};
