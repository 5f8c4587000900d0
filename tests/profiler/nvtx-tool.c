// SPDX-License-Identifier: GPL-2.0-only
/*
 * An NVTX tool for tests: checks its arguments against the interface, and logs each call. It shares
 * only the interface's constants with the library.
 *
 * XSPROF_TEST_TOOL=core	takes the plain functions, without domains
 *		    ex		the same with attributes
 *		    texts	has domains, but registers no strings
 *		    nodomain	has all functions, but returns no domain
 *		    refuse	refuses to initialize
 *		    nothing	initializes, and takes no function
 *		    levels	takes all, and returns no levels
 */
#include <stdint.h>

#define TOOL_ITSELF
#include "tool.h"

enum { CORE = 1, CUDA, OPENCL, CUDART, CORE2, SYNC };

struct attributes {
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

typedef void (*fn)(void);

struct callbacks {
	size_t	struct_size;
	int	(*get_table)(uint32_t module, fn ***table, unsigned int *size);
};

struct version {
	size_t		struct_size;
	uint32_t	version;
	uint32_t	reserved;
	void		(*set)(uint32_t version);
};

/* The target of a registered string. */
#define STRINGS	20000
static struct registered {
	int	magic;
	char	text[TOOL_NAME];
} strings[STRINGS];
static unsigned int nr_strings;

static int domain_object;
static __thread int level, plain_level;

static void *domain_create(const char *name)
{
	tool_note("domain", "%s", name);
	return tool_is("nodomain") ? NULL : &domain_object;
}

static void *register_string(void *domain, const char *text)
{
	unsigned int at = __atomic_fetch_add(&nr_strings, 1, __ATOMIC_RELAXED);

	TOOL_NEED(domain == &domain_object);
	tool_note("register", "%s", text);
	if (at >= STRINGS)
		abort();
	strings[at].magic = 77;
	snprintf(strings[at].text, TOOL_NAME, "%s", text);
	return &strings[at];
}

static const char *text_of(const struct attributes *a)
{
	const struct registered *string = a->message;

	TOOL_NEED(a->version == 3 && a->size == 48);
	TOOL_NEED(!a->category && !a->color_type && !a->color && !a->payload_type);
	if (a->message_type == 3) {
		TOOL_NEED(string >= strings && string < strings + STRINGS && string->magic == 77);
		return string->text;
	}
	TOOL_NEED(a->message_type == 1);
	return a->message;
}

static int given(int is)
{
	return tool_is("levels") ? -2 : is;
}

static int domain_push(void *domain, const struct attributes *a)
{
	TOOL_NEED(domain == &domain_object);
	tool_note(a->message_type == 3 ? "push" : "push-text", "%s", text_of(a));
	return given(level++);
}

static int domain_pop(void *domain)
{
	TOOL_NEED(domain == &domain_object);
	tool_note("pop", "%d", level - 1);
	return given(level ? --level : -1);
}

static void domain_mark(void *domain, const struct attributes *a)
{
	TOOL_NEED(domain == &domain_object);
	tool_note("mark", "%s", text_of(a));
}

static int plain_push(const char *text)
{
	tool_note("plain-push", "%s", text);
	return plain_level++;
}

static int plain_push_ex(const struct attributes *a)
{
	TOOL_NEED(a->message_type == 1);
	return plain_push(text_of(a));
}

static int plain_pop(void)
{
	tool_note("plain-pop", "%d", plain_level - 1);
	return plain_level ? --plain_level : -1;
}

static void plain_mark(const char *text)
{
	tool_note("plain-mark", "%s", text);
}

static void plain_mark_ex(const struct attributes *a)
{
	TOOL_NEED(a->message_type == 1);
	plain_mark(text_of(a));
}

/* For slots that must not be called. */
static void never(void)
{
	tool_note("bad", "a slot of something else is called");
}

static fn **table_of(const struct callbacks *callbacks, uint32_t module, unsigned int size)
{
	unsigned int n = 0;
	fn **table = NULL;

	TOOL_NEED(callbacks->get_table(module, &table, &n) == 1);
	TOOL_NEED(n == size && table && !table[0] && !table[size]);
	for (unsigned int i = 1; i < size; i++)
		TOOL_NEED(table[i]);
	return table;
}

static void all_never(fn **table, unsigned int size)
{
	for (unsigned int i = 1; i < size; i++)
		*table[i] = never;
}

static void fill(const struct callbacks *callbacks)
{
	fn **core = table_of(callbacks, CORE, 16), **core2 = table_of(callbacks, CORE2, 16);

	all_never(table_of(callbacks, CUDA, 9), 9);
	all_never(table_of(callbacks, OPENCL, 15), 15);
	all_never(table_of(callbacks, CUDART, 7), 7);
	all_never(table_of(callbacks, SYNC, 7), 7);
	TOOL_NEED(callbacks->get_table(0, &core, NULL) == 0);
	TOOL_NEED(callbacks->get_table(7, &core, NULL) == 0);
	TOOL_NEED(callbacks->get_table(CORE, NULL, NULL) == 1);
	if (tool_is("nothing"))
		return;
	if (tool_is("ex")) {
		*core[1] = (fn)plain_mark_ex;
		*core[8] = (fn)plain_push_ex;
		*core[11] = (fn)plain_pop;
		return;
	}
	all_never(core, 16);
	*core[2] = (fn)plain_mark;
	*core[9] = (fn)plain_push;
	*core[11] = (fn)plain_pop;
	if (tool_is("core"))
		return;
	all_never(core2, 16);
	*core2[1] = (fn)domain_mark;
	*core2[4] = (fn)domain_push;
	*core2[5] = (fn)domain_pop;
	*core2[10] = tool_is("texts") ? NULL : (fn)register_string;
	*core2[12] = (fn)domain_create;
}

TOOL_EXPORT int InitializeInjectionNvtx2(const void *(*get_table)(uint32_t id));
int InitializeInjectionNvtx2(const void *(*get_table)(uint32_t id))
{
	const struct callbacks *callbacks = get_table(1);
	const struct version *version = get_table(3);

	tool_note("init", "%s", "");
	TOOL_NEED(callbacks && callbacks->struct_size == sizeof(*callbacks));
	TOOL_NEED(version && version->struct_size == sizeof(*version) && version->version == 3);
	TOOL_NEED(!get_table(0) && !get_table(2) && !get_table(4));
	if (version)
		version->set(3);
	if (callbacks)
		fill(callbacks);
	tool_in_load();
	return !tool_is("refuse");
}
