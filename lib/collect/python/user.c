// SPDX-License-Identifier: LGPL-2.1-only
/*
 * libxsprof-user, opened when a Python begins: the one that the program has
 * already, else the one beside us. What most processes of a command are has nothing of it.
 */
#include <dlfcn.h>
#include <string.h>

#include "collect/common/say.h"
#include "collect/python/local.h"

#define TEXT_(x)	#x
#define TEXT(x)		TEXT_(x)
#define LIBRARY		"libxsprof-user.so." TEXT(XSPROF_VERSION_MAJOR)

struct python_user python_user;

bool python_user_open(void)
{
	const struct {
		void		*to;
		const char	*symbol;
	} symbols[] = {
		{ &python_user.category, "xsprof_category" },
		{ &python_user.name, "xsprof_name_in" },
		{ &python_user.begin, "xsprof_begin_args" },
		{ &python_user.complete, "xsprof_emit_complete" },
		{ &python_user.end, "xsprof_emit_end" },
		{ &python_user.end_args, "xsprof_end_args" },
		{ &python_user.instant, "xsprof_instant_args" },
		{ &python_user.span, "xsprof_span" },
		{ &python_user.now, "xsprof_now" },
		{ &python_user.page, "xsprof_ctl_page" },
	};
	/* If the program has not loaded it, our DT_RUNPATH finds it in our folder. */
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL), *symbol;

	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		symbol = library ? dlsym(library, symbols[i].symbol) : NULL;
		if (!symbol) {
			collect_say("%s: not what a Python needs to be recorded: waits for the "
				    "GIL and collections are not", LIBRARY);
			return false;
		}
		memcpy(symbols[i].to, &symbol, sizeof(symbol));
	}
	return true;
}
