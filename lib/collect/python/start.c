// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Starts sampling on request (XSPROF_PYTHON) while the process is recorded, after a pending call of
 * ours has found the layout of Python's memory.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/common/say.h"
#include "collect/python/native.h"
#include "collect/python/sample.h"

#define NEWEST_KNOWN	14u	/* 3.14 */

enum { OFF, NEW, BUSY, ASKED, READY };

static int state;
static bool met;	/* a GIL was initialised */

/* Return: samples per second; 0: threads are not sampled. */
static uint32_t asked_hz(void)
{
	const char *text = getenv("XSPROF_PYTHON");
	unsigned long hz = text ? strtoul(text, NULL, 10) : 0;

	return hz > PYTHON_HZ_MAX ? PYTHON_HZ_MAX : (uint32_t)hz;
}

const char *python_sample_why_not(void)
{
	const char *(*version)(void);

	if (!python_find(&version, "Py_GetVersion", NULL) || !python_functions_find())
		return "this version lacks required functions (3.9 has them)";
	if (strstr(version(), "free-threading"))
		return "a free-threaded build: the GIL, which shows the running thread, may be off";
	return NULL;
}

void python_sample_init(int category)
{
	uint32_t hz = asked_hz();
	const char *why;

	met = true;
	if (!hz || !python_user_can_sample())
		return;
	python_object = python_handle();
	why = python_sample_why_not();
	if (why) {
		collect_say("Python: %s: its frames are not recorded", why);
		return;
	}
	sample_peek_forked();
	python_code_init(category);
	python_tasks_init(category);
	python_tasks_find_init();
	python_native_init(category);
	python_tick_init(hz, category);
	python_ticker_own();
	state = NEW;
	python_sampling = true;
}

bool python_sample_met(void)
{
	return met;
}

static bool calls_by_trampolines;

static void *told(void *self, void *is)
{
	(void)self;
	calls_by_trampolines = python.number(is) > 0;
	python.incref(python.none);
	return python.none;
}

/* Leaves no exception set. */
static const char *why_not_found(void)
{
	static struct python_callee method = { "xsprof", told, PYTHON_METH_O, NULL };

	if (sample_peek_refused())
		return "this process may not read its own memory by process_vm_readv()";
	/* Versions before 3.12 lack the function. */
	if (!python_run("import sys\nxsprof(sys.is_stack_trampoline_active())\n", &method))
		python.err_clear();
	if (calls_by_trampolines)
		return "-X perf or PYTHONPERFSUPPORT calls functions through trampolines, which "
		       "hide the callers: run it without them";
	return "unexpected layout of frames";
}

int python_sample_find(void)
{
	void *type, *value, *trace;
	static bool found;

	if (found)
		return 1;
	python.err_fetch(&type, &value, &trace);
	/* A debug build adds fields to each object: the known offsets do not apply. */
	found = !strcmp(*(char *const *)((const char *)python.code_type + PYTHON_TYPE_NAME),
			"code") &&
		python_layout_find() && python_code_find();
	if (!found && !python_run_failed())
		return -1;
	if (!found) {
		collect_say("Python: %s: its frames are not recorded", why_not_found());
	} else if (python_native && !python_bounds_find()) {
		found = python_run_failed();
		if (!found)
			return -1;
		python_native_off("it does not mark functions called by C");
	}
	python.err_restore(type, value, trace);
	return found;
}

/* Called with the GIL, in the main thread. */
static int look_around(void *unused)
{
	int found = python_sample_find();

	(void)unused;
	if (!found)
		python_sampling = false;
	__atomic_store_n(&state, found > 0 ? READY : found ? NEW : OFF, __ATOMIC_RELEASE);
	return found < 0 ? -1 : 0;
}

static void ask_python(void)
{
	int (*initialized)(void), (*add_pending)(int (*call)(void *), void *argument);
	int is = NEW;

	if (!__atomic_compare_exchange_n(&state, &is, BUSY, false, __ATOMIC_RELAXED,
					 __ATOMIC_RELAXED))
		return;
	if (!python_find(&initialized, "Py_IsInitialized", NULL) ||
	    !python_find(&add_pending, "Py_AddPendingCall", NULL))
		return;
	/* The queue of pending calls is full: try later. */
	is = initialized() && !add_pending(look_around, NULL) ? ASKED : NEW;
	/* The call may have run already. */
	if (is == NEW)
		__atomic_store_n(&state, NEW, __ATOMIC_RELAXED);
}

void python_sample_look(void)
{
	int is = __atomic_load_n(&state, __ATOMIC_ACQUIRE);

	if (is == NEW && python_recorded())
		ask_python();
	else if (is == READY && python_recorded())
		python_tick_begin();
}

void python_sample_forks(void)
{
	python_tick_stop();
}

void python_sample_parent(void)
{
	python_tick_forked_parent();
}

void python_sample_forked(void)
{
	if (!python_sampling)
		return;
	sample_peek_forked();
	python_threads_forked();
	python_ask_forked();
	python_outside_forked();
	python_tasks_forked();
	/* In a forked child: another thread of the parent may have been in it. */
	if (state == BUSY)
		state = NEW;
	python_tick_forked();
	python_ticker_own();
}

/* In these versions each interpreter that runs initialises a GIL as we know it. */
static bool always_met(const char *version)
{
	unsigned int major, minor;

	return sscanf(version, "%u.%u", &major, &minor) == 2 && major == 3 && minor >= 7 &&
	       minor <= NEWEST_KNOWN && !strstr(version, "free-threading");
}

static __attribute__((destructor)) void ends(void)
{
	const char *(*version)(void);

	if (met || python_late || !asked_hz())
		return;
	*(void **)&version = dlsym(RTLD_DEFAULT, "Py_GetVersion");
	/* One that only printed its version has run nothing. */
	if (version && !always_met(version()))
		collect_say("Python: no GIL found, as in free-threaded builds and versions before "
			    "3.7: its frames are not recorded");
}
