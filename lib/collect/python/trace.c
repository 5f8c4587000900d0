// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Each call of a Python function as a range, on request: by sys.monitoring from 3.12 on, else by
 * the profile hook, which each thread has of its own. A generator is in its function from where it
 * goes on to where it yields; an exception ends the ranges of the functions that it leaves.
 */
#include <stdlib.h>
#include <string.h>

#include "collect/common/say.h"
#include "collect/python/local.h"

#define DEEP	4096u	/* calls of a thread that are remembered; Python itself ends at 1000 */

/**
 * struct calls - the calling thread's calls under way
 * @depth: how many
 * @recorded: those that have an open range, a bit each
 */
struct calls {
	uint32_t	depth;
	uint64_t	recorded[DEEP / 64];
};

/* Not the general model: that needs the dynamic linker of glibc by its name. */
static __thread struct calls calls __attribute__((tls_model("initial-exec")));

static void begins(xsprof_name_t name)
{
	uint64_t enabled = __atomic_load_n(&python_user.page->ctl.enabled, __ATOMIC_RELAXED);
	uint64_t bit = 1ull << calls.depth % 64;

	if (calls.depth < DEEP) {
		calls.recorded[calls.depth / 64] &= ~bit;
		if (enabled)
			calls.recorded[calls.depth / 64] |= bit;
		if (enabled >> (name >> XSPROF_NAME_SHIFT) & 1)
			python_user.begin_plain(name);
		else if (enabled)
			python_user.skip();
	}
	calls.depth++;
}

/* A call that was under way when tracing began has no range. */
static void ends(void)
{
	if (!calls.depth)
		return;
	calls.depth--;
	if (calls.depth < DEEP && calls.recorded[calls.depth / 64] >> calls.depth % 64 & 1 &&
	    python_recorded())
		python_user.end();
}

/* ---- sys.monitoring -------------------------------------------------------------------------- */

static void *disable;	/* what a callback returns that wants no more of that place */

static void *answer(void *object)
{
	cpython.incref(object);
	return object;
}

/* (code, offset) */
static void *monitor_begins(void *self, void *const *arguments, intptr_t nr)
{
	const struct python_code *code = nr ? python_code(arguments[0]) : NULL;

	(void)self;
	if (!code || !code->wanted)
		return answer(disable);
	begins(code->name);
	return answer(cpython.none);
}

/* (code, offset, value) */
static void *monitor_ends(void *self, void *const *arguments, intptr_t nr)
{
	const struct python_code *code = nr ? python_code(arguments[0]) : NULL;

	(void)self;
	if (!code || !code->wanted)
		return answer(disable);
	ends();
	return answer(cpython.none);
}

/* The same of events of all places, which cannot be disabled for one. */
static void *monitor_throws(void *self, void *const *arguments, intptr_t nr)
{
	const struct python_code *code = nr ? python_code(arguments[0]) : NULL;

	(void)self;
	if (code && code->wanted)
		begins(code->name);
	return answer(cpython.none);
}

static void *monitor_unwinds(void *self, void *const *arguments, intptr_t nr)
{
	const struct python_code *code = nr ? python_code(arguments[0]) : NULL;

	(void)self;
	if (code && code->wanted)
		ends();
	return answer(cpython.none);
}

static struct monitor {
	const char		*event;
	struct python_method	method;
} monitors[] = {
	{ "PY_START", { "xsprof", monitor_begins, PYTHON_METH_FASTCALL, NULL } },
	{ "PY_RESUME", { "xsprof", monitor_begins, PYTHON_METH_FASTCALL, NULL } },
	{ "PY_THROW", { "xsprof", monitor_throws, PYTHON_METH_FASTCALL, NULL } },
	{ "PY_RETURN", { "xsprof", monitor_ends, PYTHON_METH_FASTCALL, NULL } },
	{ "PY_YIELD", { "xsprof", monitor_ends, PYTHON_METH_FASTCALL, NULL } },
	{ "PY_UNWIND", { "xsprof", monitor_unwinds, PYTHON_METH_FASTCALL, NULL } },
};

static bool succeeded(void *result)
{
	if (!result)
		cpython.err_clear();
	cpython_drop(result);
	return result;
}

/* Return: the events, 0: one could not be had. */
static long register_callbacks(void *monitoring, void *events, int tool)
{
	long all = 0;

	for (size_t i = 0; i < sizeof(monitors) / sizeof(monitors[0]); i++) {
		void *number = cpython.attribute(events, monitors[i].event);
		long event = number ? cpython.number(number) : 0;
		void *function = cpython.new_function(&monitors[i].method, NULL, NULL);
		bool done = event && function &&
			    succeeded(cpython.call_method(monitoring, "register_callback", "ilO",
							 tool, event, function));

		cpython_drop(function);
		cpython_drop(number);
		if (!done)
			return 0;
		all |= event;
	}
	return all;
}

/* Return: whether it has what it needs, and nobody else has the places of tools. */
static bool monitor(void *monitoring)
{
	void *events = cpython.attribute(monitoring, "events");
	bool done = false;
	long all;

	disable = cpython.attribute(monitoring, "DISABLE");
	/* 3 and 4 are nobody's in particular. */
	for (int tool = 4; events && disable && tool > 2 && !done; tool--) {
		if (!succeeded(cpython.call_method(monitoring, "use_tool_id", "is", tool,
						  "xsprof")))
			continue;
		all = register_callbacks(monitoring, events, tool);
		done = all && succeeded(cpython.call_method(monitoring, "set_events", "il", tool,
							   all));
	}
	cpython_drop(events);
	return done;
}

/* ---- the profile hook ------------------------------------------------------------------------ */

enum { HOOK_CALL = 0, HOOK_RETURN = 3 };

static int hook(void *object, void *frame, int what, void *argument)
{
	const struct python_code *known;
	void *code;

	(void)object;
	(void)argument;
	if (what != HOOK_CALL && what != HOOK_RETURN)
		return 0;
	code = cpython.frame_code(frame);
	known = python_code(code);
	cpython.decref(code);
	if (!known || !known->wanted)
		return 0;
	if (what == HOOK_CALL)
		begins(known->name);
	else
		ends();
	return 0;
}

/* threading.setprofile()'s: (frame, event, argument), the first in a new thread. */
static void *thread_begins(void *self, void *arguments)
{
	const char *event = cpython.text(cpython.tuple_item(arguments, 1));

	(void)self;
	cpython.set_profile(hook, NULL);
	if (event && !strcmp(event, "call"))
		hook(NULL, cpython.tuple_item(arguments, 0), HOOK_CALL, NULL);
	return answer(cpython.none);
}

static struct python_method thread_method = {
	"xsprof", thread_begins, PYTHON_METH_VARARGS, NULL,
};

static bool profile(void)
{
	void *threading, *function;
	bool done;

	if (!cpython.frame_code)
		return false;
	threading = cpython.import("threading");
	function = cpython.new_function(&thread_method, NULL, NULL);
	done = threading && function &&
	       succeeded(cpython.call_method(threading, "setprofile", "O", function));
	cpython_drop(function);
	cpython_drop(threading);
	if (done)
		cpython.set_profile(hook, NULL);
	else
		cpython.err_clear();
	return done;
}

void python_trace_begin(void)
{
	const char *wanted = getenv("XSPROF_PYTHON_TRACE");
	void *sys, *monitoring;
	bool done;

	if (!wanted || !*wanted)
		return;
	if (strstr(cpython.version(), "free-threading")) {
		collect_say("Python: of a build without its global lock functions are not "
			    "recorded");
		return;
	}
	python_codes_init(wanted);
	sys = cpython.import("sys");
	monitoring = sys ? cpython.attribute(sys, "monitoring") : NULL;
	if (!monitoring)
		cpython.err_clear();
	done = monitoring ? monitor(monitoring) : profile();
	if (!done)
		collect_say("Python: it has neither room for one more tool in sys.monitoring "
			    "(3.12) nor the profile hook of 3.9: functions are not recorded");
	cpython_drop(monitoring);
	cpython_drop(sys);
}
