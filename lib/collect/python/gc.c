// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Python's garbage collector: its collections are ranges of the thread that they stop, and of all
 * others, as the lock is held. We are one of gc.callbacks of the first interpreter. Python runs a
 * pending call of ours to become that, in its main thread, when it comes to it.
 */
#include <string.h>

#include "collect/common/say.h"
#include "collect/python/local.h"

#define METH_VARARGS	1

/* PyMethodDef: the same in each version. */
struct method {
	const char	*name;
	void		*(*function)(void *self, void *arguments);
	int		flags;
	const char	*doc;
};

/* Functions of CPython's interface that are the same in all versions. */
static struct {
	int		(*initialized)(void);
	int		(*add_pending)(int (*call)(void *), void *argument);
	void		*(*import)(const char *name);
	void		*(*attribute)(void *object, const char *name);
	void		*(*new_function)(struct method *method, void *self, void *module);
	int		(*append)(void *list, void *object);
	void		*(*tuple_item)(void *tuple, intptr_t at);
	void		*(*dict_item)(void *dict, const char *key);
	long		(*number)(void *object);
	const char	*(*text)(void *object);
	void		(*incref)(void *object);
	void		(*decref)(void *object);
	void		(*err_clear)(void);
	void		*none;
} api;

static bool find_api(void)
{
	const struct {
		void		*to;
		const char	*name;
	} symbols[] = {
		{ &api.initialized, "Py_IsInitialized" },
		{ &api.add_pending, "Py_AddPendingCall" },
		{ &api.import, "PyImport_ImportModule" },
		{ &api.attribute, "PyObject_GetAttrString" },
		{ &api.new_function, "PyCFunction_NewEx" },
		{ &api.append, "PyList_Append" },
		{ &api.tuple_item, "PyTuple_GetItem" },
		{ &api.dict_item, "PyDict_GetItemString" },
		{ &api.number, "PyLong_AsLong" },
		{ &api.text, "PyUnicode_AsUTF8" },
		{ &api.incref, "Py_IncRef" },
		{ &api.decref, "Py_DecRef" },
		{ &api.err_clear, "PyErr_Clear" },
		{ &api.none, "_Py_NoneStruct" },
	};

	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		void *symbol = python_symbol(symbols[i].name);

		if (!symbol) {
			collect_say("Python has no %s: its collections are not recorded",
				    symbols[i].name);
			return false;
		}
		memcpy(symbols[i].to, &symbol, sizeof(symbol));
	}
	return true;
}

/* ---- collections ----------------------------------------------------------------------------- */

static xsprof_name_t name, key_generation, key_collected, key_uncollectable;
/* The collection of this thread that is open in the trace. */
static __thread bool open __attribute__((tls_model("initial-exec")));

/* Return: false: the collector does not say. */
static bool get(void *info, const char *key, long *v)
{
	void *item = info ? api.dict_item(info, key) : NULL;

	if (!item)
		return false;
	*v = api.number(item);
	return true;
}

static void begins(void *info)
{
	struct xsprof_kv kv;
	long generation;
	bool known = get(info, "generation", &generation);

	if (known)
		kv = xsprof_i64(key_generation, generation);
	python_user.begin(name, &kv, known);
	open = true;
}

static void ends(void *info)
{
	struct xsprof_kv kv[2];
	size_t n = 0;
	long v;

	if (get(info, "collected", &v))
		kv[n++] = xsprof_i64(key_collected, v);
	/* Nearly always none. */
	if (get(info, "uncollectable", &v) && v)
		kv[n++] = xsprof_i64(key_uncollectable, v);
	python_user.end_args(kv, n);
	open = false;
}

/* gc's callback: (phase, info). */
static void *called(void *self, void *arguments)
{
	const char *phase;

	(void)self;
	if (python_recorded()) {
		phase = api.text(api.tuple_item(arguments, 0));
		if (phase && !strcmp(phase, "start"))
			begins(api.tuple_item(arguments, 1));
		else if (phase && open)
			ends(api.tuple_item(arguments, 1));
	} else {
		open = false;
	}
	api.incref(api.none);
	return api.none;
}

static struct method method = { "xsprof", called, METH_VARARGS, NULL };

static int become_callback(void *unused)
{
	void *gc = api.import("gc");
	void *list = gc ? api.attribute(gc, "callbacks") : NULL;
	void *function = list ? api.new_function(&method, NULL, NULL) : NULL;

	(void)unused;
	if (!function || api.append(list, function)) {
		api.err_clear();
		collect_say("Python does not let us be one of gc.callbacks: its collections are "
			    "not recorded");
	}
	/* The list has the reference that lasts. */
	if (function)
		api.decref(function);
	if (list)
		api.decref(list);
	if (gc)
		api.decref(gc);
	return 0;
}

void python_gc_look(void)
{
	enum { NEW, BUSY, ASKED };
	static int state;
	int is = NEW, category;

	/* Each collection is a little slower from then on: only where somebody records. */
	if (__builtin_expect(__atomic_load_n(&state, __ATOMIC_RELAXED) != NEW, 1) ||
	    !python_recorded())
		return;
	/* Relaxed: what it reads was there before the first lock was. */
	if (!__atomic_compare_exchange_n(&state, &is, BUSY, false, __ATOMIC_RELAXED,
					 __ATOMIC_RELAXED))
		return;
	if (!api.initialized && !find_api())
		return;
	if (!api.initialized()) {
		__atomic_store_n(&state, NEW, __ATOMIC_RELAXED);
		return;
	}
	category = python_user.category("python");
	if (category < 0)
		category = 0;
	name = python_user.name(category, "garbage collection");
	key_generation = python_user.name(0, "generation");
	key_collected = python_user.name(0, "collected");
	key_uncollectable = python_user.name(0, "uncollectable");
	/* No room among those that are pending: at a later time. */
	__atomic_store_n(&state, api.add_pending(become_callback, NULL) ? NEW : ASKED,
			 __ATOMIC_RELAXED);
}
