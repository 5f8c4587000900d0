// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Opens libxsprof-user when there is something to record: the copy that the program has loaded,
 * else the one beside us. Most processes of a command never load it.
 */
#include <dlfcn.h>
#include <errno.h>

#include "collect/torch/local.h"

#define TEXT_(x)	#x
#define TEXT(x)		TEXT_(x)
#define LIBRARY		"libxsprof-user.so." TEXT(XSPROF_VERSION_MAJOR)

static const uint32_t never;

struct torch_user torch_user = { .wanted = &never };

int torch_user_open(void)
{
	const struct {
		void		*to;
		const char	*symbol;
	} functions[] = {
		{ &torch_user.category, "xsprof_category" },
		{ &torch_user.name, "xsprof_name_in" },
		{ &torch_user.name_of_many, "xsprof_name_of_many" },
		{ &torch_user.begin, "xsprof_emit_op_begin" },
		{ &torch_user.end, "xsprof_emit_op_end" },
		{ &torch_user.end_earlier, "xsprof_emit_op_end_earlier" },
		{ &torch_user.end_continued, "xsprof_emit_op_end_continued" },
		{ &torch_user.memory, "xsprof_report_memory_usage" },
		{ &torch_user.out_of_memory, "xsprof_report_out_of_memory" },
		{ &torch_user.fact, "xsprof_fact" },
		{ &torch_user.iteration, "xsprof_ondemand_iteration" },
		{ &torch_user.stack_find, "xsprof_stack_find" },
		{ &torch_user.stack_add, "xsprof_stack_add" },
	};
	/* If the program has not loaded it, our DT_RUNPATH finds it in our folder. */
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL), *symbol;

	if (!library)
		return -ENOENT;
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		symbol = dlsym(library, functions[i].symbol);
		if (!symbol)
			return -ENOENT;
		memcpy(functions[i].to, &symbol, sizeof(symbol));
	}
	symbol = dlsym(library, "xsprof_op_details");
	if (!symbol)
		return -ENOENT;
	torch_user.details = symbol;
	symbol = dlsym(library, "xsprof_op_wanted");
	if (!symbol)
		return -ENOENT;
	/*
	 * Release: a thread that sees it, in an allocator perhaps, sees the functions, and
	 * torch_detail, which was set before.
	 */
	__atomic_store_n(&torch_user.wanted, symbol, __ATOMIC_RELEASE);
	return 0;
}
