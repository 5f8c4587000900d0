/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A stand-in for Python's tables of threads, for libxsprof-user, and for the clock: what the
 * collector of Python calls when it names threads.
 */
#ifndef TEST_PYTHON_STAND_IN_H
#define TEST_PYTHON_STAND_IN_H

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "collect/python/local.h"

#define THREADS	16u
#define KNOWN	16384	/* thread ids that differ by this have the same places */

/* An object of Python: what it is depends on where it is. */
struct object {
	struct object	*type;
	struct object	*id;
	struct object	*name;
	const char	*text;
	long		number;
};

struct cpython cpython;
struct python_user python_user;

static union xsprof_ctl_page page = { .ctl.enabled = 1 };
static struct object none, int_type, thread_type, dummy_type, main_thread, modules, module,
		     module_dict, active, limbo, interpreter, other_interpreter;
static struct object threads[THREADS], ids[THREADS], names[THREADS];
static uint32_t nr_threads;
static bool imported, ends, interrupted;

static uint64_t now_ns, look_ns;
static uint32_t looks, nr_named, nr_asked;
static int name_error, room;
static char said[512];		/* what the library was told */

/* ---- what the collector calls ---------------------------------------------------------------- */

int clock_gettime(clockid_t id, struct timespec *ts)
{
	(void)id;
	ts->tv_sec = (time_t)(now_ns / 1000000000u);
	ts->tv_nsec = (long)(now_ns % 1000000000u);
	return 0;
}

void cpython_drop(void *object)
{
	(void)object;
}

static void keep(void *object)
{
	(void)object;
}

static void *all_modules(void)
{
	return &modules;
}

static void *dict_of_module(void *of)
{
	return of == &module ? &module_dict : NULL;
}

static void *dict_of(void *object, void *unused)
{
	(void)unused;
	return object;
}

static void *item(void *dict, const char *key)
{
	struct object *thread = dict;

	if (dict == &modules)
		return imported && !strcmp(key, "threading") ? &module : NULL;
	if (dict == &module_dict) {
		if (!strcmp(key, "_DummyThread"))
			return &dummy_type;
		if (!strcmp(key, "_main_thread"))
			return &main_thread;
		return !strcmp(key, "_active") ? &active : !strcmp(key, "_limbo") ? &limbo : NULL;
	}
	return !strcmp(key, "_native_id") ? thread->id : !strcmp(key, "_name") ? thread->name :
	       NULL;
}

/* All threads are in the first table. */
static void *values(void *dict)
{
	now_ns += look_ns / 2;
	looks += dict == &active;
	return dict;
}

static intptr_t size(void *list)
{
	return list == &active ? (intptr_t)nr_threads + 1 : 0;
}

static void *at(void *list, intptr_t i)
{
	(void)list;
	return i ? &threads[i - 1] : &main_thread;
}

static void *type(void *object)
{
	return ((struct object *)object)->type;
}

static long number(void *object)
{
	return ((struct object *)object)->number;
}

static const char *text(void *object)
{
	return ((struct object *)object)->text;
}

static int is_exception(void *of)
{
	(void)of;
	return 0;
}

static void *occurred(void)
{
	return interrupted ? &none : NULL;
}

static void clear(void)
{
}

static int finalizing(void)
{
	return ends;
}

static void *main_interpreter(void)
{
	return &interpreter;
}

static void *interpreter_of(void *state)
{
	return state;
}

/* Of the calling thread; in it the interpreter alone matters. */
static void *state;

static void *this_state(void)
{
	return state;
}

static int (*asked_for)(void *);

static int add_pending(int (*call)(void *), void *argument)
{
	(void)argument;
	nr_asked++;
	if (!room)
		return -1;
	asked_for = call;
	return 0;
}

static int name_thread(uint32_t tid, const char *name)
{
	size_t len = strlen(said);

	snprintf(said + len, sizeof(said) - len, "%u=%s ", tid, name);
	nr_named++;
	return name_error;
}

static void *exception = &none;

static void set_up(void)
{
	cpython = (struct cpython){
		.modules = all_modules, .module_dict = dict_of_module, .own_dict = dict_of,
		.dict_item = item, .dict_values = values, .list_size = size, .list_item = at,
		.type = type, .number = number, .text = text, .incref = keep,
		.err_is = is_exception, .err_occurred = occurred, .err_clear = clear,
		.exception = &exception, .finalizing = finalizing, .none = &none,
		.int_type = &int_type, .main_interpreter = main_interpreter,
		.interpreter_of = interpreter_of, .this_state = this_state,
		.add_pending = add_pending,
	};
	python_user = (struct python_user){
		.page = &page, .name_thread = name_thread,
	};
	main_thread = (struct object){ .type = &thread_type };
	imported = true;
}

#endif /* TEST_PYTHON_STAND_IN_H */
