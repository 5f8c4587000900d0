// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Looks up the functions of CPython's API in the process.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "collect/common/python-api.h"

struct python_api python;
void *python_object;

bool python_find(void *to, const char *name, const char *other)
{
	void *symbol = dlsym(python_object ? python_object : RTLD_DEFAULT, name);

	if (!symbol && other)
		symbol = dlsym(python_object ? python_object : RTLD_DEFAULT, other);
	memcpy(to, &symbol, sizeof(symbol));
	return symbol;
}

bool python_functions_find(void)
{
	struct python_api *p = &python;
	const struct {
		void		*to;
		const char	*name;
		const char	*other;
	} needed[] = {
		{ &p->this_state, "PyGILState_GetThisThreadState", NULL },
		{ &p->current_state, "PyThreadState_GetUnchecked", "_PyThreadState_UncheckedGet" },
		{ &p->finalizing, "Py_IsFinalizing", "_Py_IsFinalizing" },
		{ &p->first_interpreter, "PyInterpreterState_Head", NULL },
		{ &p->next_interpreter, "PyInterpreterState_Next", NULL },
		{ &p->ensure, "PyGILState_Ensure", NULL },
		{ &p->release, "PyGILState_Release", NULL },
		{ &p->frame, "PyThreadState_GetFrame", NULL },
		{ &p->back, "PyFrame_GetBack", NULL },
		{ &p->code, "PyFrame_GetCode", NULL },
		{ &p->addr_line, "PyCode_Addr2Line", NULL },
		{ &p->incref, "Py_IncRef", NULL },
		{ &p->decref, "Py_DecRef", NULL },
		{ &p->attribute, "PyObject_GetAttrString", NULL },
		{ &p->text, "PyUnicode_AsUTF8", NULL },
		{ &p->encode, "PyUnicode_AsEncodedString", NULL },
		{ &p->bytes, "PyBytes_AsString", NULL },
		{ &p->number, "PyLong_AsLong", NULL },
		{ &p->dict_next, "PyDict_Next", NULL },
		{ &p->own_dict, "PyObject_GenericGetDict", NULL },
		{ &p->repr, "PyObject_Repr", NULL },
		{ &p->type, "PyObject_Type", NULL },
		{ &p->err_clear, "PyErr_Clear", NULL },
		{ &p->err_fetch, "PyErr_Fetch", NULL },
		{ &p->err_restore, "PyErr_Restore", NULL },
		{ &p->weak_new, "PyWeakref_NewRef", NULL },
		{ &p->pointer_new, "PyLong_FromVoidPtr", NULL },
		{ &p->pointer_get, "PyLong_AsVoidPtr", NULL },
		{ &p->function_new, "PyCFunction_NewEx", NULL },
		{ &p->none, "_Py_NoneStruct", NULL },
		{ &p->code_type, "PyCode_Type", NULL },
		{ &p->text_type, "PyUnicode_Type", NULL },
	};

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!python_find(needed[i].to, needed[i].name, needed[i].other))
			return false;
	(void)python_find(&p->gc_disable, "PyGC_Disable", NULL);
	(void)python_find(&p->gc_enable, "PyGC_Enable", NULL);
	return true;
}
