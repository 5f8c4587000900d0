// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Looks up the functions of libtorch that the collector calls, by their mangled names. Python loads
 * libtorch with RTLD_LOCAL, so all loaded libraries are searched.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>

#include "collect/torch/local.h"

struct torch_api torch_api;

struct search {
	const char	*part;
	void		*library;
};

static int look(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *search = arg;

	(void)size;
	if (!info->dlpi_name || !strstr(info->dlpi_name, search->part))
		return 0;
	search->library = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
	return search->library != NULL;
}

void *torch_library(const char *part)
{
	struct search search = { .part = part };

	dl_iterate_phdr(look, &search);
	return search.library;
}

void *torch_find_for(const void *caller, const char *symbol)
{
	Dl_info info;
	void *object;

	if (!dladdr(caller, &info) || !info.dli_fname)
		return NULL;
	object = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	return object ? dlsym(object, symbol) : NULL;
}

void *torch_real(const char *part, const char *symbol, const void *caller)
{
	void *library = torch_library(part);
	void *function = library ? dlsym(library, symbol) : NULL;

	/*
	 * libtorch may be linked statically into another library, which then exports the function.
	 */
	if (!function)
		function = dlsym(RTLD_NEXT, symbol);
	if (!function)
		function = torch_find_for(caller, symbol);
	return function;
}

/*
 * A program linked with libtorch may have copies of its variables (copy relocations), which all
 * libraries then use.
 */
static const char *find_undefined(void *library)
{
	static const char symbol[] = "_ZN3c1019UndefinedTensorImpl10_singletonE";
	const char *found = dlsym(RTLD_DEFAULT, symbol);

	return found ? found : dlsym(library, symbol);
}

int torch_api_find(void)
{
	const struct {
		void		*to;
		const char	*symbol;
		bool		needed;
	} functions[] = {
		{ &torch_api.add_global,
		  "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE", true },
		{ &torch_api.add_local,
		  "_ZN2at22addThreadLocalCallbackENS_22RecordFunctionCallbackE", true },
		{ &torch_api.remove, "_ZN2at14removeCallbackEm", true },
		{ &torch_api.thread_id, "_ZN2at14RecordFunction15currentThreadIdEv", true },
		{ &torch_api.fn_new, "_ZN2at14RecordFunctionC1ENS_11RecordScopeE", true },
		{ &torch_api.fn_delete, "_ZN2at14RecordFunctionD1Ev", true },
		{ &torch_api.before_text, "_ZN2at14RecordFunction6beforeEPKcl", false },
		{ &torch_api.before_name,
		  "_ZN2at14RecordFunction6beforeESt7variantIJSt17basic_string_viewIcSt11"
		  "char_traitsIcEESt17reference_wrapperIKN3c1014FunctionSchemaEEEEl", false },
		{ &torch_api.fn_name, "_ZNK2at14RecordFunction4nameEv", true },
		{ &torch_api.nr_inputs, "_ZNK2at14RecordFunction10num_inputsEv", false },
		{ &torch_api.input_sizes,
		  "_ZN5torch8profiler4impl10inputSizesERKN2at14RecordFunctionEb", false },
		{ &torch_api.input_types,
		  "_ZN5torch8profiler4impl10inputTypesB5cxx11ERKN2at14RecordFunctionE", false },
		{ &torch_api.old_input_types,
		  "_ZN5torch8profiler4impl10inputTypesERKN2at14RecordFunctionE", false },
		{ &torch_api.old_text_delete, "_ZNSsD1Ev", false },
		{ &torch_api.is_tensor_list, "_ZNK3c106IValue12isTensorListEv", false },
		{ &torch_api.is_int_list, "_ZNK3c106IValue9isIntListEv", false },
		{ &torch_api.is_double_list, "_ZNK3c106IValue12isDoubleListEv", false },
		{ &torch_api.is_bool_list, "_ZNK3c106IValue10isBoolListEv", false },
		{ &torch_api.string_new, "_ZN3c106ivalue14ConstantString6createEPKc", false },
		{ &torch_api.get_sizes, "aoti_torch_get_sizes", false },
		{ &torch_api.get_dtype, "aoti_torch_get_dtype", false },
		{ &torch_api.get_data, "aoti_torch_get_data_ptr", false },
		{ &torch_api.save_meta,
		  "_ZN5torch8profiler4impl12saveNcclMetaB5cxx11ERKN2at14RecordFunctionERKNS1_18"
		  "SaveNcclMetaConfigE", false },
		{ &torch_api.backward, "_ZN5torch8autograd25get_current_graph_task_idEv", false },
		{ &torch_api.free, "_ZdlPv", false },
	};
	void *library = torch_library("/libtorch_cpu.so"), *function;

	if (!library)
		return -ENOENT;
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		function = dlsym(library, functions[i].symbol);
		if (!function && functions[i].needed)
			return -ENOSYS;
		memcpy(functions[i].to, &function, sizeof(function));
	}
	torch_api.undefined = find_undefined(library);
	return torch_api.before_text || torch_api.before_name ? 0 : -ENOSYS;
}
