// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Forwards ranges to an ITT collector. This is the static part of ITT that programs compile in, as
 * far as tasks and marks need it. Owns the global structure that the collector reads and fills, and
 * the domain "xsprof". Holds no lock while it calls the collector.
 *
 * A collector with __itt_api_init() gets that structure and sets the functions itself; another one
 * is asked for the functions by name. Domains and string handles that a collector does not create
 * are created here, as structures that it can read.
 *
 * Our own collector records the same process through the same library. Forwarded ranges would be
 * recorded twice there, so it is not called; it is recognised by its version string.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "forward/names.h"
#include "forward/itt.h"
#include "forward/tool.h"

#define VARIABLE	"INTEL_LIBITTNOTIFY64"
#define GROUP_MARK	(1 << 3)
#define GROUP_STRUCTURE	(1 << 12)
#define GROUP_ALL	(-1)
#define STATE_FAILED	1
#define STATE_READY	4
#define SCOPE_TRACK	3

/* ---- structures that a collector reads ------------------------------------------------------ */

struct domain {
	int		flags;		/* 0: disabled by the collector */
	const char	*name;
	void		*wide_name;
	int		extra1;
	void		*extra2;	/* owned by the collector, both */
	struct domain	*next;
};

struct string {
	const char	*text;
	void		*wide_text;
	int		extra1;
	void		*extra2;
	struct string	*next;
};

struct id {
	unsigned long long	d1;
	unsigned long long	d2;
	unsigned long long	d3;
};

struct api {
	const char	*name;
	void		**func;
	void		*init;		/* initial value of @func */
	void		*null;		/* value for functions that the collector lacks */
	int		group;
};

/* As of build 20180723; fields of later builds exist at the end, unused. */
struct global {
	unsigned char	magic[8];
	unsigned long	major;
	unsigned long	minor;
	unsigned long	build;
	long		api_initialized;
	long		mutex_initialized;
	long		atomic_counter;
	pthread_mutex_t	mutex;		/* for the collector: we do not take it */
	void		*lib;
	void		*error_handler;
	const char	**path;
	struct api	*apis;
	struct global	*next;
	void		*threads;
	struct domain	*domains;
	struct string	*strings;
	int		state;
	void		*counters;
	void		*later[8];
};

_Static_assert(sizeof(struct domain) == 48, "struct domain");
_Static_assert(sizeof(struct string) == 40, "struct string");
_Static_assert(sizeof(struct id) == 24, "struct id");
_Static_assert(sizeof(struct api) == 40, "struct api");
_Static_assert(offsetof(struct global, mutex) == 56, "mutex");
_Static_assert(offsetof(struct global, apis) == 80 + sizeof(pthread_mutex_t), "apis");
_Static_assert(offsetof(struct global, counters) == 128 + sizeof(pthread_mutex_t), "counters");

/* ---- ours ----------------------------------------------------------------------------------- */

enum func {
	DOMAIN_CREATE, STRING_HANDLE_CREATE, TASK_BEGIN, TASK_END, MARK_CREATE, MARK, MARKER, FUNCS
};

static struct domain *make_domain(const char *name);
static struct string *make_string(const char *text);

static void *funcs[FUNCS];

#define API(n, text, own, its_group) \
	[n] = { "__itt_" text, &funcs[n], NULL, (void *)(own), its_group }

/* The last entry ends the list. */
static struct api apis[FUNCS + 1] = {
	API(DOMAIN_CREATE, "domain_create", make_domain, GROUP_STRUCTURE),
	API(STRING_HANDLE_CREATE, "string_handle_create", make_string, GROUP_STRUCTURE),
	API(TASK_BEGIN, "task_begin", NULL, GROUP_STRUCTURE),
	API(TASK_END, "task_end", NULL, GROUP_STRUCTURE),
	API(MARK_CREATE, "mark_create", NULL, GROUP_MARK),
	API(MARK, "mark", NULL, GROUP_MARK),
	API(MARKER, "marker", NULL, GROUP_STRUCTURE),
};

static const char *path;

static struct global global = {
	.magic = { 0xed, 0xab, 0xab, 0xec, 0x0d, 0xee, 0xda, 0x30 },
	.major = 3,
	.build = 20180723,
	.mutex_initialized = 1,
	.mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP,
	.path = &path,
	.apis = apis,
};

/* Set while the tool is loaded, constant afterwards. */
static struct domain *domain;
static struct xsp_told_names *names;

static bool load_tool(void);
static struct xsp_tool tool = { .load = load_tool };

/* Read at each call: collectors change them when they are attached or detached. */
#define CALL(func, type)	((type)__atomic_load_n(&funcs[func], __ATOMIC_ACQUIRE))

typedef struct domain *(*domain_fn)(const char *name);
typedef struct string *(*string_fn)(const char *text);
typedef void (*begin_fn)(const struct domain *domain, struct id task, struct id parent,
			 struct string *name);
typedef void (*end_fn)(const struct domain *domain);
typedef int (*mark_create_fn)(const char *name);
typedef int (*mark_fn)(int type, const char *parameter);
typedef void (*marker_fn)(const struct domain *domain, struct id id, struct string *name,
			  int scope);

/* Creates the only domain, while the tool is loaded. */
static struct domain *make_domain(const char *name)
{
	static struct domain made = { .flags = 1 };

	made.name = name;
	global.domains = &made;
	return &made;
}

/* @text must stay valid. Return: NULL without room: the task then has no name. */
static struct string *make_string(const char *text)
{
	struct string *s = xsp_told_alloc(names, sizeof(*s));

	if (!s)
		return NULL;
	s->text = text;
	s->next = __atomic_load_n(&global.strings, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&global.strings, &s->next, s, true, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED))
		;
	return s;
}

/* ---- loading -------------------------------------------------------------------------------- */

static bool is_ours(void *lib)
{
	const char *(*version)(void) = (const char *(*)(void))dlsym(lib, "__itt_api_version");
	const char *text = version ? version() : NULL;

	return text && strstr(text, " xsprof ");
}

/* Return: false if the library is not a collector. */
static bool fill_functions(void *lib)
{
	void (*init)(struct global *global, int groups);

	init = (void (*)(struct global *, int))dlsym(lib, "__itt_api_init");
	if (init) {
		init(&global, GROUP_ALL);
	} else if (dlsym(lib, "__itt_api_version")) {
		for (int i = 0; i < FUNCS; i++) {
			void *func = dlsym(lib, apis[i].name);

			funcs[i] = func ? func : apis[i].null;
		}
	} else {
		return false;
	}
	return true;
}

static bool load_tool(void)
{
	domain_fn create;
	void *lib;

	path = xsp_tool_path(VARIABLE);
	lib = path ? dlopen(path, RTLD_LAZY) : NULL;
	if (!lib)
		return false;
	if (is_ours(lib))
		goto no_tool;
	names = xsp_told_new();
	global.lib = lib;
	global.state = STATE_READY;
	if (!fill_functions(lib))
		goto no_tool;
	/* From now on the collector has our structure, and stays loaded. */
	global.api_initialized = 1;
	if (!CALL(TASK_BEGIN, begin_fn) || !CALL(TASK_END, end_fn))
		return false;
	create = CALL(DOMAIN_CREATE, domain_fn);
	domain = create ? create("xsprof") : make_domain("xsprof");
	return domain != NULL;
no_tool:
	global.lib = NULL;
	global.state = STATE_FAILED;
	dlclose(lib);
	return false;
}

/* ---- tasks ---------------------------------------------------------------------------------- */

static void *tell(const char *text)
{
	string_fn fn = CALL(STRING_HANDLE_CREATE, string_fn);

	return fn ? fn(text) : make_string(text);
}

/*
 * A name that is not cached is passed again: a collector returns the same handle for the same text.
 */
static struct string *string_of(const char *name, uint32_t id)
{
	struct xsp_told *told = xsp_told_find(names, name, id, tell);
	string_fn fn = CALL(STRING_HANDLE_CREATE, string_fn);

	if (told)
		return told->handle;
	/* Our own handle would have to stay forever, and so would @name. */
	return fn && fn != make_string ? fn(name) : NULL;
}

static bool is_on(void)
{
	return __atomic_load_n(&domain->flags, __ATOMIC_RELAXED);
}

static void begin_task(struct string *name)
{
	begin_fn fn = CALL(TASK_BEGIN, begin_fn);

	if (fn)
		fn(domain, (struct id){ 0, 0, 0 }, (struct id){ 0, 0, 0 }, name);
}

static void end_task(void)
{
	end_fn fn = CALL(TASK_END, end_fn);

	if (fn)
		fn(domain);
}

/* Return: as xsprof_itt_range_push(). */
int xsp_itt_push(const char *name, uint32_t id)
{
	int err = errno, ret = xsp_tool_check(&tool);

	if (ret < 0)
		return ret;
	if (is_on())
		begin_task(string_of(name, id));
	errno = err;
	return 0;
}

/* Return: as xsprof_itt_range_pop(). */
int xsp_itt_pop(void)
{
	int err = errno, ret = xsp_tool_check(&tool);

	if (ret < 0)
		return ret;
	if (is_on())
		end_task();
	errno = err;
	return 0;
}

/* ---- marks ---------------------------------------------------------------------------------- */

#define MARK_MAKING	(1ull << 32)	/* in struct xsp_told.mark, above the number */
#define MARK_MADE	(1ull << 33)

/*
 * The number of a mark type: created once per name, as a collector may create another one at each
 * call. Return: false: none, or not yet.
 */
static bool mark_of(const char *name, mark_create_fn create, int *type)
{
	struct xsp_told *told = xsp_told_find(names, name, 0, tell);
	uint64_t mark = 0;

	if (!told)
		return false;
	if (__atomic_compare_exchange_n(&told->mark, &mark, MARK_MAKING, false, __ATOMIC_RELAXED,
					__ATOMIC_RELAXED)) {
		mark = MARK_MADE | (uint32_t)create(told->text);
		__atomic_store_n(&told->mark, mark, __ATOMIC_RELAXED);
	}
	*type = (int)(uint32_t)mark;
	return mark & MARK_MADE;
}

/* Uses what the collector has: a mark, a marker in our domain, or a task of zero length. */
static void give_mark(const char *name)
{
	mark_create_fn create = CALL(MARK_CREATE, mark_create_fn);
	marker_fn marker = CALL(MARKER, marker_fn);
	mark_fn mark = CALL(MARK, mark_fn);
	int type;

	if (create && mark && mark_of(name, create, &type)) {
		mark(type, "");
	} else if (!is_on()) {
		return;
	} else if (marker) {
		marker(domain, (struct id){ 0, 0, 0 }, string_of(name, 0), SCOPE_TRACK);
	} else {
		begin_task(string_of(name, 0));
		end_task();
	}
}

/* ---- public --------------------------------------------------------------------------------- */

bool xsprof_itt_is_available(void)
{
	return !xsp_tool_check(&tool);
}

int xsprof_itt_range_push(const char *name)
{
	return name ? xsp_itt_push(name, 0) : -EINVAL;
}

int xsprof_itt_range_pop(void)
{
	return xsp_itt_pop();
}

void xsprof_itt_mark(const char *name)
{
	int err = errno;

	if (!name || xsp_tool_check(&tool))
		return;
	give_mark(name);
	errno = err;
}
