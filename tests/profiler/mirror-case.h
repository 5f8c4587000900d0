/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For tests of forwarded ranges: runs each case in its own process, since a process looks for a
 * tool only once; and reads the tool's log.
 */
#ifndef XSP_TEST_PROFILER_MIRROR_CASE_H
#define XSP_TEST_PROFILER_MIRROR_CASE_H

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "profiler/tool.h"
#include "common/tap.h"

#define THREADS	8

static const char *mirror_variable;	/* the environment variable that names the tool */
static char mirror_dir[PATH_MAX];	/* folder of this program */

/* Sets the folder of the tests' libraries, which is the program's. */
__attribute__((unused)) static void mirror_start(const char *variable)
{
	ssize_t n = readlink("/proc/self/exe", mirror_dir, sizeof(mirror_dir) - 1);

	if (n < 0)
		tap_bail("/proc/self/exe: %s", strerror(errno));
	mirror_dir[n] = '\0';
	*strrchr(mirror_dir, '/') = '\0';
	mirror_variable = variable;
}

/*
 * Runs a case. @tool is a file beside the program, unless it is empty or has a slash; NULL: no
 * tool.
 */
__attribute__((unused)) static void mirror_case(const char *what, const char *tool,
						const char *kind, void (*run)(void))
{
	bool beside = tool && *tool && !strchr(tool, '/');
	char path[2 * PATH_MAX];
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		tap_bail("fork: %s", strerror(errno));
	if (!pid) {
		snprintf(path, sizeof(path), "%s%s%s", beside ? mirror_dir : "",
			 beside ? "/" : "", tool ? tool : "");
		unsetenv(mirror_variable);
		unsetenv("XSPROF_TEST_TOOL");
		if (tool)
			setenv(mirror_variable, path, 1);
		if (kind)
			setenv("XSPROF_TEST_TOOL", kind, 1);
		run();
		exit(tap_bad != 0);
	}
	if (waitpid(pid, &status, 0) != pid)
		tap_bail("waitpid: %s", strerror(errno));
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		tap_wrong("status 0x%x", status);
	tap_result("%s", what);
}

/* Returns the loaded tool, or NULL. */
__attribute__((unused)) static void *mirror_tool(void)
{
	return dlopen(getenv(mirror_variable), RTLD_LAZY | RTLD_NOLOAD);
}

__attribute__((unused)) static const struct tool_call *mirror_log(size_t *n)
{
	void *tool = mirror_tool();
	tool_log_fn fn = tool ? (tool_log_fn)dlsym(tool, "tool_log") : NULL;

	if (!fn) {
		tap_wrong("the tool is not loaded, or is none of the tests'");
		*n = 0;
		return NULL;
	}
	return fn(n);
}

/* Counts the tool's calls of @what with @name; NULL: any name. */
__attribute__((unused)) static size_t mirror_count(const char *what, const char *name)
{
	size_t n, found = 0;
	const struct tool_call *log = mirror_log(&n);

	for (size_t i = 0; i < n; i++)
		found += !strcmp(log[i].what, what) && (!name || !strcmp(log[i].name, name));
	return found;
}

/* The log must have exactly these calls: "push a", "pop 0", ...; NULL ends the list. */
__attribute__((unused)) static void mirror_expect(const char *const *calls)
{
	size_t n, i;
	const struct tool_call *log = mirror_log(&n);
	char line[2 * TOOL_NAME];

	for (i = 0; i < n && calls[i]; i++) {
		snprintf(line, sizeof(line), "%s%s%s", log[i].what, *log[i].name ? " " : "",
			 log[i].name);
		if (strcmp(line, calls[i]))
			tap_wrong("call %zu of the tool is '%s', not '%s'", i, line, calls[i]);
	}
	if (i < n)
		tap_wrong("%zu calls of the tool, not %zu: then '%s %s'", n, i, log[i].what,
			  log[i].name);
	else if (calls[i])
		tap_wrong("%zu calls of the tool: '%s' is missing", n, calls[i]);
}

#define EXPECT(...)	mirror_expect((const char *const[]){ __VA_ARGS__, NULL })

__attribute__((unused)) static void mirror_nothing_bad(void)
{
	size_t n;
	const struct tool_call *log = mirror_log(&n);

	for (size_t i = 0; i < n; i++)
		if (!strcmp(log[i].what, "bad"))
			tap_wrong("%s", log[i].name);
}

/* Starts this many threads at once. */
static pthread_barrier_t mirror_barrier;

__attribute__((unused)) static void mirror_race(void *(*thread_main)(void *))
{
	pthread_t thread[THREADS];

	pthread_barrier_init(&mirror_barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, thread_main, NULL))
			tap_bail("pthread_create");
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

#endif /* XSP_TEST_PROFILER_MIRROR_CASE_H */
