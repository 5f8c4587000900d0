// SPDX-License-Identifier: GPL-2.0-only
/*
 * An ITT collector for tests: checks its arguments against the interface, and logs each call. With
 * ITT_PLAIN it is an old collector without __itt_api_init(): its functions are looked up by name.
 *
 * XSPROF_TEST_TOOL=few	takes begins and ends of tasks, and makes no objects
 *		    markers	has markers, but no marks
 *		    off		switches our domain off, until it gets the task "on"
 *		    notasks	has everything except tasks
 *		    nodomain	has everything, but returns no domain
 */
#define TOOL_ITSELF
#include "tool.h"

#include "collect/itt/itt-abi.h"

static struct itt_domain domain_object = { .flags = 1 };
static struct itt_string strings[20000];
static unsigned int nr_strings;
static char marks[100][TOOL_NAME];
static int nr_marks;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#ifdef ITT_PLAIN
#define FUNCTION(type, name)	TOOL_EXPORT type __itt_##name
#else
#define FUNCTION(type, name)	static type __itt_##name
#endif

FUNCTION(struct itt_domain *, domain_create)(const char *name);
FUNCTION(struct itt_string *, string_handle_create)(const char *text);
FUNCTION(void, task_begin)(const struct itt_domain *domain, struct itt_id task,
			   struct itt_id parent, struct itt_string *name);
FUNCTION(void, task_end)(const struct itt_domain *domain);
FUNCTION(int, mark_create)(const char *name);
FUNCTION(int, mark)(int type, const char *parameter);
FUNCTION(void, marker)(const struct itt_domain *domain, struct itt_id id, struct itt_string *name,
		       int scope);
TOOL_EXPORT const char *__itt_api_version(void);

struct itt_domain *__itt_domain_create(const char *name)
{
	tool_note("domain", "%s", name);
	domain_object.name = name;
	domain_object.flags = !tool_is("off");
	return tool_is("nodomain") ? NULL : &domain_object;
}

/* The same text gets the same handle, as the interface requires. */
struct itt_string *__itt_string_handle_create(const char *text)
{
	struct itt_string *s = NULL;

	pthread_mutex_lock(&lock);
	for (unsigned int i = 0; i < nr_strings && nr_strings < 1000 && !s; i++)
		if (!strcmp(strings[i].text, text))
			s = &strings[i];
	if (!s) {
		if (nr_strings == sizeof(strings) / sizeof(strings[0]))
			abort();
		s = &strings[nr_strings++];
		s->text = strdup(text);
	}
	pthread_mutex_unlock(&lock);
	tool_note("string", "%s", text);
	return s;
}

static const char *check(const struct itt_domain *domain, struct itt_id id,
			 const struct itt_string *name)
{
	TOOL_NEED(domain && !strcmp(domain->name, "xsprof"));
	TOOL_NEED(!id.d1 && !id.d2 && !id.d3);
	return name ? name->text : "(none)";
}

void __itt_task_begin(const struct itt_domain *domain, struct itt_id task, struct itt_id parent,
		      struct itt_string *name)
{
	check(domain, parent, name);
	tool_note("begin", "%s", check(domain, task, name));
}

void __itt_task_end(const struct itt_domain *domain)
{
	TOOL_NEED(domain && !strcmp(domain->name, "xsprof"));
	tool_note("end", "%s", "");
}

int __itt_mark_create(const char *name)
{
	int n;

	pthread_mutex_lock(&lock);
	n = ++nr_marks;
	if (n == 100)
		abort();
	snprintf(marks[n], TOOL_NAME, "%s", name);
	pthread_mutex_unlock(&lock);
	tool_note("mark-create", "%s", name);
	return n;
}

int __itt_mark(int type, const char *parameter)
{
	int known;

	pthread_mutex_lock(&lock);
	known = nr_marks;
	pthread_mutex_unlock(&lock);
	TOOL_NEED(type > 0 && type <= known);
	TOOL_NEED(parameter && !*parameter);
	tool_note("mark", "%s", marks[type]);
	return 0;
}

void __itt_marker(const struct itt_domain *domain, struct itt_id id, struct itt_string *name,
		  int scope)
{
	TOOL_NEED(scope == ITT_SCOPE_TRACK);
	tool_note("marker", "%s", check(domain, id, name));
}

const char *__itt_api_version(void)
{
	return "ITT-API-Version 3.0.0 of a test";
}

TOOL_EXPORT void tool_switch(int on);
void tool_switch(int on)
{
	__atomic_store_n(&domain_object.flags, on, __ATOMIC_RELAXED);
}

#ifndef ITT_PLAIN
static const struct {
	const char	*name;
	void		*func;
	int		group;
} ours[] = {
	{ "__itt_task_begin", (void *)__itt_task_begin, 1 << 12 },
	{ "__itt_task_end", (void *)__itt_task_end, 1 << 12 },
	{ "__itt_marker", (void *)__itt_marker, 1 << 12 },
	{ "__itt_domain_create", (void *)__itt_domain_create, 1 << 12 },
	{ "__itt_string_handle_create", (void *)__itt_string_handle_create, 1 << 12 },
	{ "__itt_mark_create", (void *)__itt_mark_create, 1 << 3 },
	{ "__itt_mark", (void *)__itt_mark, 1 << 3 },
};

static unsigned int taken(void)
{
	if (tool_is("few"))
		return 2;
	return tool_is("markers") ? 5 : 7;
}

TOOL_EXPORT void __itt_api_init(struct itt_global *global, int groups);
void __itt_api_init(struct itt_global *global, int groups)
{
	static const unsigned char magic[8] = ITT_MAGIC_BYTES;
	struct itt_api *api = global->api_list;

	tool_note("init", "%s", "");
	TOOL_NEED(!memcmp(global->magic, magic, sizeof(magic)) && global->major == 3);
	TOOL_NEED(groups == -1 && global->lib && !global->domain_list && !global->string_list);
	TOOL_NEED(global->dll_path && !strcmp(*global->dll_path, getenv("INTEL_LIBITTNOTIFY64")));
	/* What a collector may rely on about the lock: it is free, and recursive. */
	TOOL_NEED(global->mutex_initialized && !pthread_mutex_trylock(&global->mutex));
	TOOL_NEED(!pthread_mutex_trylock(&global->mutex));
	pthread_mutex_unlock(&global->mutex);
	pthread_mutex_unlock(&global->mutex);
	for (; api->name; api++) {
		*api->func = api->null;
		for (unsigned int i = tool_is("notasks") ? 2 : 0; i < taken(); i++) {
			if (strcmp(api->name, ours[i].name))
				continue;
			TOOL_NEED(api->group == ours[i].group);
			*api->func = ours[i].func;
		}
	}
	tool_in_load();
}
#endif
