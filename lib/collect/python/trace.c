// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Records each call of a Python function as a range, on request: with sys.monitoring since 3.12,
 * else with the profile hook, which is per thread. A generator is in its function from a resume to
 * the next yield; an exception ends the calls that it leaves.
 *
 * A call is written at its end, as one record: ranges that the function begins may end after it,
 * and the other way round, as with a range made by a context manager.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/common/say.h"
#include "collect/python/local.h"

#define FEW	64u	/* initial room for the calls of a thread */
#define DEEP	65536u	/* deeper calls are not recorded */
#define NEAR	256u	/* with greenlets the call that ends is not always the innermost */

/* A call in progress. */
struct call {
	uint64_t	begin;		/* ticks; 0: was not recorded */
	xsprof_name_t	name;
};

/**
 * struct calls - a thread's calls in progress, the innermost last
 * @depth: number of calls
 * @room: size of @call
 * @call: the calls
 */
struct calls {
	uint32_t	depth;
	uint32_t	room;
	struct call	*call;
};

/* Not the general TLS model: it refers to glibc's dynamic linker by name. */
static __thread struct calls *calls __attribute__((tls_model("initial-exec")));

/* glibc's; other C libraries lack it. */
extern int __cxa_thread_atexit_impl(void (*call)(void *), void *arg, void *dso)
	__attribute__((weak));
extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
			     void *dso) __attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden")));

static void thread_ends(void *mem)
{
	struct calls *c = mem;

	calls = NULL;
	free(c->call);
	free(c);
}

/* In a forked child: calls open at the fork are recorded by the parent. */
static void forked(void)
{
	if (calls)
		calls->depth = 0;
}

/* Return: NULL: no memory, or no way to free it at the thread's end. */
static __attribute__((cold, noinline)) struct calls *make_calls(void)
{
	struct calls *c = __cxa_thread_atexit_impl ? calloc(1, sizeof(*c)) : NULL;

	if (c && __cxa_thread_atexit_impl(thread_ends, c, &__dso_handle)) {
		free(c);
		c = NULL;
	}
	calls = c;
	return c;
}

static __attribute__((cold, noinline)) bool grow(struct calls *c)
{
	uint32_t room = c->room ? 2 * c->room : FEW;
	struct call *call = room <= DEEP ? realloc(c->call, room * sizeof(*call)) : NULL;

	if (!call)
		return false;
	c->call = call;
	c->room = room;
	return true;
}

static bool is_recorded(xsprof_name_t name)
{
	return __atomic_load_n(&python_user.page->ctl.enabled, __ATOMIC_RELAXED) >>
	       (name >> XSPROF_NAME_SHIFT) & 1;
}

static void begins(xsprof_name_t name)
{
	struct calls *c = calls ? calls : make_calls();

	if (!c || (c->depth == c->room && !grow(c)))
		return;
	c->call[c->depth].name = name;
	/* Also while nothing is recorded: its end is not that of a call around it. */
	c->call[c->depth++].begin = is_recorded(name) ? python_user.now() : 0;
}

/* Ignores calls in progress when tracing began, and those that found no room. */
static void ends(xsprof_name_t name)
{
	struct calls *c = calls;
	uint32_t least, at;

	if (!c)
		return;
	least = c->depth > NEAR ? c->depth - NEAR : 0;
	for (at = c->depth; at > least && c->call[at - 1].name != name; at--)
		;
	if (at == least)
		return;
	if (c->call[at - 1].begin && is_recorded(name))
		python_user.complete(name, c->call[at - 1].begin);
	memmove(&c->call[at - 1], &c->call[at], (c->depth - at) * sizeof(*c->call));
	c->depth--;
}

/* ---- sys.monitoring -------------------------------------------------------------------------- */

static void *disable;	/* return value of a callback that disables events at that location */

static void *answer(void *object)
{
	cpython.incref(object);
	return object;
}

/* (code, offset) */
static void *monitor_begins(void *self, void *const *arguments, intptr_t nr)
{
	const struct python_code *code = nr ? python_code(arguments[0], false) : NULL;

	(void)self;
	if (!code || !code->wanted)
		return answer(disable);
	begins(code->name);
	return answer(cpython.none);
}

/* (code, offset, value) */
static void *monitor_ends(void *self, void *const *arguments, intptr_t nr)
{
	const struct python_code *code = nr ? python_code(arguments[0], false) : NULL;

	(void)self;
	if (!code || !code->wanted)
		return answer(disable);
	ends(code->name);
	return answer(cpython.none);
}

/* The same for events that cannot be disabled per location. */
static void *monitor_throws(void *self, void *const *arguments, intptr_t nr)
{
	const struct python_code *code = nr ? python_code(arguments[0], false) : NULL;

	(void)self;
	if (code && code->wanted)
		begins(code->name);
	return answer(cpython.none);
}

static void *monitor_unwinds(void *self, void *const *arguments, intptr_t nr)
{
	const struct python_code *code = nr ? python_code(arguments[0], false) : NULL;

	(void)self;
	if (code && code->wanted)
		ends(code->name);
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

/* Return: the events, 0: an event does not exist. */
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

/* Return: true if monitoring works and a tool id was free. */
static bool monitor(void *monitoring)
{
	void *events = cpython.attribute(monitoring, "events");
	bool done = false;
	long all;

	disable = cpython.attribute(monitoring, "DISABLE");
	/* Tool ids 3 and 4 are not reserved for a purpose. */
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

static void *sys;			/* module sys; NULL: the profile hook is not used */
static xsprof_name_t taken_name, back_name;
/* The hook of this thread was replaced by another tool's. */
static __thread bool taken __attribute__((tls_model("initial-exec")));

static int hook(void *object, void *frame, int what, void *argument)
{
	const struct python_code *known;
	void *code;

	(void)object;
	(void)argument;
	if (what != HOOK_CALL && what != HOOK_RETURN)
		return 0;
	code = cpython.frame_code(frame);
	known = python_code(code, true);
	cpython.decref(code);
	if (!known->wanted)
		return 0;
	if (what == HOOK_CALL)
		begins(known->name);
	else
		ends(known->name);
	return 0;
}

/* The hook of this thread was replaced, or the thread ends: ends of calls are no longer seen. */
static void hook_is_gone(void *capsule)
{
	(void)capsule;
	taken = true;
	if (calls)
		calls->depth = 0;
	/* Not for other threads: it is unknown whether they are ending. */
	if (python_recorded() && (pid_t)syscall(SYS_gettid) == getpid() && cpython.finalizing &&
	    !cpython.finalizing())
		python_user.instant(taken_name, NULL, 0);
}

static bool set_hook(void)
{
	static char nothing;
	void *capsule = cpython.new_capsule(&nothing, NULL, hook_is_gone);

	if (!capsule) {
		cpython.err_clear();
		return false;
	}
	taken = false;
	cpython.set_profile(hook, capsule);
	/* The thread holds a reference as long as the hook is ours. */
	cpython.decref(capsule);
	return true;
}

void python_trace_look(void)
{
	void *current;

	if (__builtin_expect(!taken, 1) || !sys)
		return;
	current = cpython.call_method(sys, "getprofile", NULL);
	if (!current)
		cpython.err_clear();
	if (current == cpython.none && set_hook() && python_recorded())
		python_user.instant(back_name, NULL, 0);
	cpython_drop(current);
}

/* Callback of threading.setprofile(): (frame, event, argument); first call in a new thread. */
static void *thread_begins(void *self, void *arguments)
{
	const char *event = cpython_text_of(arguments, 1);

	(void)self;
	/* The program may call it itself, with any arguments. */
	if (!event || cpython_type(cpython.tuple_item(arguments, 0)) != cpython.frame_type)
		return answer(cpython.none);
	if (set_hook() && !strcmp(event, "call"))
		hook(NULL, cpython.tuple_item(arguments, 0), HOOK_CALL, NULL);
	return answer(cpython.none);
}

static struct python_method thread_method = {
	"xsprof", thread_begins, PYTHON_METH_VARARGS, NULL,
};

static bool profile(void)
{
	int category = python_user.category("python_function");
	void *threading, *function;
	bool done;

	if (!cpython.frame_code)
		return false;
	if (category < 0)
		category = 0;
	taken_name = python_user.name(category, "functions not recorded: another has the hook");
	back_name = python_user.name(category, "functions recorded again");
	threading = cpython.import("threading");
	function = cpython.new_function(&thread_method, NULL, NULL);
	done = threading && function &&
	       succeeded(cpython.call_method(threading, "setprofile", "O", function));
	cpython_drop(function);
	cpython_drop(threading);
	if (!done)
		cpython.err_clear();
	return done && set_hook();
}

void python_trace_begin(void)
{
	const char *wanted = getenv("XSPROF_PYTHON_TRACE");
	void *module, *monitoring;

	if (!wanted || !*wanted)
		return;
	/* The user has been told. */
	if (python_is_free_threaded())
		return;
	module = cpython.import("sys");
	if (!module) {
		cpython.err_clear();
		return;
	}
	python_codes_init(wanted, module);
	if (__register_atfork)
		(void)__register_atfork(NULL, NULL, forked, NULL);
	monitoring = cpython.attribute(module, "monitoring");
	if (!monitoring)
		cpython.err_clear();
	if (monitoring && !monitor(monitoring)) {
		collect_say("Python: sys.monitoring has no free tool id: functions are not "
			    "recorded");
	} else if (!monitoring) {
		sys = module;
		if (!profile())
			collect_say("Python: recording functions needs Python 3.9 or newer");
	}
	cpython_drop(monitoring);
}
