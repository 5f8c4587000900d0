// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Records Python's garbage collections as ranges of the thread that runs them (the GIL is held, so
 * they stop all threads). We are a callback in gc.callbacks of the first interpreter.
 */
#include <string.h>

#include <xsprof/python-names.h>

#include "collect/common/say.h"
#include "collect/python/local.h"

/* ---- collections ----------------------------------------------------------------------------- */

#define OLDEST	2	/* the last generation: all is collected */

static xsprof_name_t name, key_generation, key_collected, key_uncollectable;
/* A collection of this thread is open in the trace. */
static __thread bool open __attribute__((tls_model("initial-exec")));

/* Return: false: the collector's info lacks the key. */
static bool get(void *info, const char *key, long *v)
{
	void *item = info ? cpython.dict_item(info, key) : NULL;

	*v = item ? cpython.number(item) : -1;
	/* The program may call us itself, with any arguments. */
	if (*v == -1)
		cpython.err_clear();
	return *v != -1;
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
	/* Nearly always 0. */
	if (get(info, "uncollectable", &v) && v)
		kv[n++] = xsprof_i64(key_uncollectable, v);
	python_user.end_args(kv, n);
	open = false;
}

/* The callback of gc.callbacks: (phase, info). */
static void *called(void *self, void *arguments)
{
	void (*met)(bool full);
	long generation;
	const char *phase = cpython_text_of(arguments, 0);
	void *info = phase ? cpython.tuple_item(arguments, 1) : NULL;

	(void)self;
	if (!info)
		cpython.err_clear();
	python_trace_look();
	/* Python reports what a handler of a signal raises here, as in all callbacks of gc. */
	if (!python_tasks_collects())
		return NULL;
	/* Relaxed: the function is always the same. Once: a thread of ours clears it. */
	met = __atomic_load_n(&python_gc_met, __ATOMIC_RELAXED);
	if (met)
		met(get(info, "generation", &generation) && generation == OLDEST);
	if (python_names_look())
		return NULL;
	if (!python_recorded())
		open = false;
	else if (phase && !strcmp(phase, "start"))
		begins(info);
	else if (open)
		ends(info);
	cpython.incref(cpython.none);
	return cpython.none;
}

static struct python_method method = { "xsprof", called, PYTHON_METH_VARARGS, NULL };

void (*python_gc_met)(bool full);

static void *added;	/* our callback in the list, with a reference */

/* The callback can be called until it is removed, and by a holder of a copy of the list. */
void python_gc_end(void)
{
	void *gc = added ? cpython.import("gc") : NULL;
	void *list = gc ? cpython.attribute(gc, "callbacks") : NULL;
	void *done = list ? cpython.call_method(list, "remove", "O", added) : NULL;

	/* The program may have removed it. */
	if (!done)
		cpython.err_clear();
	cpython_drop(added);
	added = NULL;
	cpython_drop(done);
	cpython_drop(list);
	cpython_drop(gc);
}

void python_gc_forget(void)
{
	added = NULL;
}

void python_gc_begin(int category)
{
	void *gc, *list, *function;

	/* A recording that ended without us, as when a thread cannot be made after a fork. */
	if (added)
		python_gc_end();
	name = python_user.name(category, XSPROF_PYTHON_COLLECTION);
	key_generation = python_user.name(0, "generation");
	key_collected = python_user.name(0, "collected");
	key_uncollectable = python_user.name(0, "uncollectable");
	gc = cpython.import("gc");
	list = gc ? cpython.attribute(gc, "callbacks") : NULL;
	function = list ? cpython.new_function(&method, NULL, NULL) : NULL;
	if (!function || cpython.append(list, function)) {
		cpython.err_clear();
		collect_say("Python: cannot add to gc.callbacks: its garbage collections are not "
			    "recorded");
		cpython_drop(function);
		function = NULL;
	}
	/* Hold a reference: the program may empty the list, which drops the list's. */
	added = function;
	cpython_drop(list);
	cpython_drop(gc);
}
