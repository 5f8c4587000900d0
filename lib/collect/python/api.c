// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Functions of CPython's API that are the same in all versions.
 */
#include <string.h>

#include "collect/common/say.h"
#include "collect/python/local.h"

struct cpython cpython;

bool cpython_find(void)
{
	const struct {
		void		*to;
		const char	*name;
	} symbols[] = {
		{ &cpython.initialized, "Py_IsInitialized" },
		{ &cpython.add_pending, "Py_AddPendingCall" },
		{ &cpython.at_exit, "Py_AtExit" },
		{ &cpython.main_interpreter, "PyInterpreterState_Main" },
		{ &cpython.new_state, "PyThreadState_New" },
		{ &cpython.this_state, "PyGILState_GetThisThreadState" },
		{ &cpython.take_gil, "PyEval_RestoreThread" },
		{ &cpython.clear_state, "PyThreadState_Clear" },
		{ &cpython.delete_state, "PyThreadState_DeleteCurrent" },
		{ &cpython.import, "PyImport_ImportModule" },
		{ &cpython.modules, "PyImport_GetModuleDict" },
		{ &cpython.attribute, "PyObject_GetAttrString" },
		{ &cpython.own_dict, "PyObject_GenericGetDict" },
		{ &cpython.module_dict, "PyModule_GetDict" },
		{ &cpython.type, "PyObject_Type" },
		{ &cpython.call_method, "PyObject_CallMethod" },
		{ &cpython.new_function, "PyCFunction_NewEx" },
		{ &cpython.append, "PyList_Append" },
		{ &cpython.list_size, "PyList_Size" },
		{ &cpython.list_item, "PyList_GetItem" },
		{ &cpython.tuple_item, "PyTuple_GetItem" },
		{ &cpython.dict_item, "PyDict_GetItemString" },
		{ &cpython.dict_values, "PyDict_Values" },
		{ &cpython.number, "PyLong_AsLong" },
		{ &cpython.text, "PyUnicode_AsUTF8" },
		{ &cpython.set_profile, "PyEval_SetProfile" },
		{ &cpython.new_capsule, "PyCapsule_New" },
		{ &cpython.incref, "Py_IncRef" },
		{ &cpython.decref, "Py_DecRef" },
		{ &cpython.err_clear, "PyErr_Clear" },
		{ &cpython.err_occurred, "PyErr_Occurred" },
		{ &cpython.err_is, "PyErr_ExceptionMatches" },
		{ &cpython.exception, "PyExc_Exception" },
		{ &cpython.none, "_Py_NoneStruct" },
		{ &cpython.frame_type, "PyFrame_Type" },
		{ &cpython.int_type, "PyLong_Type" },
	};
	void *symbol;

	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		symbol = python_symbol(symbols[i].name);
		if (!symbol) {
			collect_say("Python has no %s: its garbage collections and functions are "
				    "not recorded", symbols[i].name);
			return false;
		}
		memcpy(symbols[i].to, &symbol, sizeof(symbol));
	}
	symbol = python_symbol("Py_IsFinalizing");
	if (!symbol)
		symbol = python_symbol("_Py_IsFinalizing");
	memcpy(&cpython.finalizing, &symbol, sizeof(symbol));
	/* Since 3.9. */
	symbol = python_symbol("PyFrame_GetCode");
	memcpy(&cpython.frame_code, &symbol, sizeof(symbol));
	symbol = python_symbol("PyThreadState_GetInterpreter");
	memcpy(&cpython.interpreter_of, &symbol, sizeof(symbol));
	return true;
}

const char *cpython_text_of(void *tuple, intptr_t at)
{
	void *item = cpython.tuple_item(tuple, at);
	const char *text = item ? cpython.text(item) : NULL;

	if (!text)
		cpython.err_clear();
	return text;
}

void cpython_drop(void *object)
{
	if (object)
		cpython.decref(object);
}
