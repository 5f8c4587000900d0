// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Opens libxsprof-user when an interpreter starts: the copy that the program has loaded, else the
 * one beside us. Most processes of a command never load it.
 */
#include <dlfcn.h>
#include <string.h>

#include "collect/common/say.h"
#include "collect/python/local.h"

#define TEXT_(x)	#x
#define TEXT(x)		TEXT_(x)
#define LIBRARY		"libxsprof-user.so." TEXT(XSPROF_VERSION_MAJOR)

struct python_user python_user;

struct symbol {
	void		*to;
	const char	*name;
};

static bool find(const struct symbol *symbols, size_t nr, const char *what)
{
	/* If the program has not loaded it, our DT_RUNPATH finds it in our folder. */
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL), *symbol;

	for (size_t i = 0; i < nr; i++) {
		symbol = library ? dlsym(library, symbols[i].name) : NULL;
		if (!symbol) {
			collect_say("%s: not found, or too old: %s not recorded", LIBRARY,
				    what);
			return false;
		}
		memcpy(symbols[i].to, &symbol, sizeof(symbol));
	}
	return true;
}

bool python_user_open(void)
{
	const struct symbol symbols[] = {
		{ &python_user.category, "xsprof_category" },
		{ &python_user.name, "xsprof_name_in" },
		{ &python_user.begin, "xsprof_begin_args" },
		{ &python_user.complete, "xsprof_emit_complete" },
		{ &python_user.end, "xsprof_emit_end" },
		{ &python_user.end_args, "xsprof_end_args" },
		{ &python_user.instant, "xsprof_instant_args" },
		{ &python_user.span, "xsprof_span" },
		{ &python_user.now, "xsprof_now" },
		{ &python_user.name_thread, "xsprof_thread_name_of" },
		{ &python_user.page, "xsprof_ctl_page" },
	};

	return find(symbols, sizeof(symbols) / sizeof(symbols[0]),
		    "waits for the GIL and collections are");
}

bool python_user_can_sample(void)
{
	const struct symbol symbols[] = {
		{ &python_user.fact, "xsprof_fact" },
		{ &python_user.stack_find, "xsprof_stack_find" },
		{ &python_user.stack_add, "xsprof_stack_add" },
		{ &python_user.sample, "xsprof_sample" },
	};

	return find(symbols, sizeof(symbols) / sizeof(symbols[0]), "its frames are");
}

bool python_user_can_state(void)
{
	const struct symbol fact = { &python_user.fact, "xsprof_fact" };

	return find(&fact, 1, "calls of its modules are");
}

bool python_user_can_join(void)
{
	const struct symbol symbols[] = {
		{ &python_user.join, "xsprof_join" },
		{ &python_user.leave, "xsprof_leave" },
	};

	return find(symbols, sizeof(symbols) / sizeof(symbols[0]), "a running process is");
}
