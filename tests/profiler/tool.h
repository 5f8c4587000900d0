/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The log of calls that the tests' tools keep, and functions to read it, found by dlsym(). Each
 * tool has one log, for all threads.
 *
 * XSPROF_TEST_TOOL sets the kind of tool; each tool's file lists the words. While it is being
 * loaded it calls the program's test_in_load(), if there is one.
 */
#ifndef XSP_TEST_PROFILER_TOOL_H
#define XSP_TEST_PROFILER_TOOL_H

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TOOL_NAME	64
#define TOOL_CALLS	60000

/**
 * struct tool_call - a call that a tool got
 * @tid: thread
 * @what: "push", "pop", ...; "bad" for an invalid call
 * @name: its subject, or what was invalid
 */
struct tool_call {
	int		tid;
	char		what[12];
	char		name[TOOL_NAME];
};

/* The log and its length; it does not change while no thread calls the tool. */
typedef const struct tool_call *(*tool_log_fn)(size_t *n);

#ifdef TOOL_ITSELF
#define TOOL_EXPORT	__attribute__((visibility("default")))

static struct tool_call tool_calls[TOOL_CALLS];
static size_t tool_nr;
static pthread_mutex_t tool_lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((format(printf, 2, 3))) static void tool_note(const char *what, const char *fmt, ...)
{
	struct tool_call *c;
	va_list ap;

	pthread_mutex_lock(&tool_lock);
	if (tool_nr == TOOL_CALLS)
		abort();	/* an incomplete log is worse than none */
	c = &tool_calls[tool_nr++];
	c->tid = (int)syscall(SYS_gettid);
	snprintf(c->what, sizeof(c->what), "%s", what);
	va_start(ap, fmt);
	vsnprintf(c->name, sizeof(c->name), fmt, ap);
	va_end(ap);
	pthread_mutex_unlock(&tool_lock);
	/* Tools may change the program's errno. */
	errno = EXDEV;
}

#define TOOL_NEED(cond) do { \
	if (!(cond)) \
		tool_note("bad", "%d: %s", __LINE__, #cond); \
} while (0)

TOOL_EXPORT const struct tool_call *tool_log(size_t *n);
const struct tool_call *tool_log(size_t *n)
{
	*n = tool_nr;
	return tool_calls;
}

static void tool_before_fork(void)
{
	pthread_mutex_lock(&tool_lock);
}

static void tool_after_fork(void)
{
	pthread_mutex_unlock(&tool_lock);
}

/* If a child could not write to the log it would hang, hiding what is tested. */
__attribute__((constructor)) static void tool_start(void)
{
	pthread_atfork(tool_before_fork, tool_after_fork, tool_after_fork);
}

__attribute__((unused)) static bool tool_is(const char *kind)
{
	const char *is = getenv("XSPROF_TEST_TOOL");

	return is && !strcmp(is, kind);
}

__attribute__((unused)) static void tool_in_load(void)
{
	void (*program)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "test_in_load");

	if (program)
		program();
}
#endif

#endif /* XSP_TEST_PROFILER_TOOL_H */
