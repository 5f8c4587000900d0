// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Forwards ranges to a tool that implements NVTX version 3. This is the part of NVTX that programs
 * compile in. Owns the tables to which the tool writes its functions. Supports ranges, marks and
 * what they need; loads a tool exactly as NVTX's headers do.
 *
 * The tool requests a table of pointers to slots by module, and writes to the slots for which it
 * has a function. Empty slots are never called. Slots of unrelated modules exist because tools
 * write to them without a check.
 */
#include <dlfcn.h>
#include <stddef.h>

#include "forward/names.h"
#include "forward/nvtx.h"
#include "forward/tool.h"

#define VERSION		3u
#define VARIABLE	"NVTX_INJECTION64_PATH"
#define ENTRY		"InitializeInjectionNvtx2"

typedef void (*slot_fn)(void);

enum export_table { EXPORT_CALLBACKS = 1, EXPORT_VERSION = 3 };

enum module {
	MODULE_CORE = 1, MODULE_CUDA, MODULE_OPENCL, MODULE_CUDART, MODULE_CORE2, MODULE_SYNC,
	MODULES
};

/* Numbers of the slots that we call. */
enum core_slot {
	CORE_MARK_EX = 1, CORE_MARK = 2, CORE_PUSH_EX = 8, CORE_PUSH = 9, CORE_POP = 11,
};

enum core2_slot {
	CORE2_MARK_EX = 1, CORE2_PUSH_EX = 4, CORE2_POP = 5, CORE2_REGISTER_STRING = 10,
	CORE2_DOMAIN_CREATE = 12,
};

struct callbacks_table {
	size_t	struct_size;
	int	(*get_module)(uint32_t module, slot_fn ***table, unsigned int *size);
};

struct version_table {
	size_t		struct_size;
	uint32_t	version;
	uint32_t	reserved;
	void		(*set_tool_version)(uint32_t version);
};

enum message_type { MESSAGE_TEXT = 1, MESSAGE_HANDLE = 3 };

struct event {
	uint16_t	version;
	uint16_t	size;
	uint32_t	category;
	int32_t		color_type;
	uint32_t	color;
	int32_t		payload_type;
	int32_t		reserved;
	uint64_t	payload;
	int32_t		message_type;
	const void	*message;
};

_Static_assert(offsetof(struct event, payload) == 24, "payload");
_Static_assert(offsetof(struct event, message) == 40, "message");
_Static_assert(sizeof(struct event) == 48, "struct event");
_Static_assert(sizeof(struct version_table) == 24, "struct version_table");

/* Slots by module, including slot 0, which is unused, and the terminator. */
#define MAX_SLOTS	16
static const unsigned int nr_slots[MODULES] = {
	[MODULE_CORE] = 16, [MODULE_CUDA] = 9, [MODULE_OPENCL] = 15, [MODULE_CUDART] = 7,
	[MODULE_CORE2] = 16, [MODULE_SYNC] = 7,
};

static slot_fn slots[MODULES][MAX_SLOTS];
static slot_fn *tables[MODULES][MAX_SLOTS + 1];

/* Set while the tool is loaded, constant afterwards. */
static void *domain;
static bool in_domain;		/* use this domain, not the default one */
static struct xsp_told_names *names;

static bool load_tool(void);
static struct xsp_tool tool = { .load = load_tool };

/* ---- what the tool asks for ----------------------------------------------------------------- */

static int get_module(uint32_t module, slot_fn ***table, unsigned int *size)
{
	if (module < MODULE_CORE || module >= MODULES)
		return 0;
	if (size)
		*size = nr_slots[module];
	if (table)
		*table = tables[module];
	return 1;
}

/* No version of a tool has required a difference so far. */
static void set_tool_version(uint32_t version)
{
	(void)version;
}

static const void *get_export_table(uint32_t id)
{
	static const struct callbacks_table callbacks = { sizeof(callbacks), get_module };
	static const struct version_table version = {
		sizeof(version), VERSION, 0, set_tool_version
	};

	switch (id) {
	case EXPORT_CALLBACKS:
		return &callbacks;
	case EXPORT_VERSION:
		return &version;
	default:
		return NULL;
	}
}

/* ---- what we ask for ------------------------------------------------------------------------ */

/* Read at each call: some tools change their functions at run time. */
#define CALL_SLOT(module, number, type) \
	((type)__atomic_load_n(&slots[module][number], __ATOMIC_ACQUIRE))

typedef int (*text_fn)(const char *text);
typedef int (*event_fn)(const struct event *event);
typedef int (*domain_event_fn)(void *domain, const struct event *event);
typedef void (*mark_fn)(const char *text);
typedef void (*mark_event_fn)(const struct event *event);
typedef void (*domain_mark_fn)(void *domain, const struct event *event);
typedef int (*pop_fn)(void);
typedef int (*domain_pop_fn)(void *domain);
typedef void *(*domain_create_fn)(const char *name);
typedef void *(*register_fn)(void *domain, const char *text);

static void make_tables(void)
{
	for (int m = MODULE_CORE; m < MODULES; m++)
		for (unsigned int i = 1; i < nr_slots[m]; i++)
			tables[m][i] = &slots[m][i];
}

static void open_domain(void)
{
	domain_create_fn create = CALL_SLOT(MODULE_CORE2, CORE2_DOMAIN_CREATE, domain_create_fn);

	/* All three are needed: a begin in one domain does not match an end in another. */
	if (!create || !CALL_SLOT(MODULE_CORE2, CORE2_PUSH_EX, domain_event_fn) ||
	    !CALL_SLOT(MODULE_CORE2, CORE2_POP, domain_pop_fn))
		return;
	domain = create("xsprof");
	in_domain = domain != NULL;
	if (in_domain && CALL_SLOT(MODULE_CORE2, CORE2_REGISTER_STRING, register_fn))
		names = xsp_told_new();
}

static bool load_tool(void)
{
	const char *path = xsp_tool_path(VARIABLE);
	int (*init)(const void *(*)(uint32_t));
	void *lib = path ? dlopen(path, RTLD_LAZY) : NULL;

	if (!lib)
		return false;
	init = (int (*)(const void *(*)(uint32_t)))dlsym(lib, ENTRY);
	make_tables();
	if (!init || !init(get_export_table)) {
		/* Its slots are never called, whatever it has written to them. */
		dlclose(lib);
		return false;
	}
	open_domain();
	return true;
}

static void *tell(const char *text)
{
	register_fn fn = CALL_SLOT(MODULE_CORE2, CORE2_REGISTER_STRING, register_fn);

	return fn ? fn(domain, text) : NULL;
}

static struct event text_event(const char *name)
{
	return (struct event){
		.version = VERSION, .size = sizeof(struct event),
		.message_type = MESSAGE_TEXT, .message = name,
	};
}

/* Handles belong to our domain: an event of another one has its text. */
static struct event domain_event(const char *name, uint32_t id)
{
	struct xsp_told *told = xsp_told_find(names, name, id, tell);
	struct event event = text_event(name);

	if (told && told->handle) {
		event.message_type = MESSAGE_HANDLE;
		event.message = told->handle;
	}
	return event;
}

static int push_in_domain(const char *name, uint32_t id)
{
	domain_event_fn fn = CALL_SLOT(MODULE_CORE2, CORE2_PUSH_EX, domain_event_fn);
	struct event event;

	if (!fn)
		return -1;
	event = domain_event(name, id);
	return fn(domain, &event);
}

static int push_plain(const char *name)
{
	text_fn fn = CALL_SLOT(MODULE_CORE, CORE_PUSH, text_fn);
	event_fn fn_ex = CALL_SLOT(MODULE_CORE, CORE_PUSH_EX, event_fn);
	struct event event;

	if (fn)
		return fn(name);
	if (!fn_ex)
		return -1;
	event = text_event(name);
	return fn_ex(&event);
}

/* Levels are >= 0: negative results of a tool have no known meaning. */
static int level_of(int level)
{
	return level >= 0 ? level : -EOPNOTSUPP;
}

/* Return: as xsprof_nvtx_range_push(). */
int xsp_nvtx_push(const char *name, uint32_t id)
{
	int err = errno, level = xsp_tool_check(&tool);

	if (level < 0)
		return level;
	level = in_domain ? push_in_domain(name, id) : push_plain(name);
	errno = err;
	return level_of(level);
}

/* Return: as xsprof_nvtx_range_pop(). */
int xsp_nvtx_pop(void)
{
	int err = errno, level = xsp_tool_check(&tool);

	if (level < 0)
		return level;
	level = -1;
	if (in_domain) {
		domain_pop_fn fn = CALL_SLOT(MODULE_CORE2, CORE2_POP, domain_pop_fn);

		if (fn)
			level = fn(domain);
	} else {
		pop_fn fn = CALL_SLOT(MODULE_CORE, CORE_POP, pop_fn);

		if (fn)
			level = fn();
	}
	errno = err;
	return level_of(level);
}

static void give_mark(const char *name)
{
	domain_mark_fn in = CALL_SLOT(MODULE_CORE2, CORE2_MARK_EX, domain_mark_fn);
	mark_fn plain = CALL_SLOT(MODULE_CORE, CORE_MARK, mark_fn);
	mark_event_fn plain_ex = CALL_SLOT(MODULE_CORE, CORE_MARK_EX, mark_event_fn);
	struct event event;

	if (in_domain && in) {
		event = domain_event(name, 0);
		in(domain, &event);
	} else if (plain) {
		plain(name);
	} else if (plain_ex) {
		event = text_event(name);
		plain_ex(&event);
	}
}

/* ---- public --------------------------------------------------------------------------------- */

bool xsprof_nvtx_available(void)
{
	return !xsp_tool_check(&tool);
}

int xsprof_nvtx_range_push(const char *name)
{
	return name ? xsp_nvtx_push(name, 0) : -EINVAL;
}

int xsprof_nvtx_range_pop(void)
{
	return xsp_nvtx_pop();
}

void xsprof_nvtx_mark(const char *name)
{
	int err = errno;

	if (!name || xsp_tool_check(&tool))
		return;
	give_mark(name);
	errno = err;
}
