// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Loads a tool that ranges are forwarded to, once per process.  Does not know the tool's interface.
 *
 * The first thread that has something for the tool loads it.  It holds no lock meanwhile, since
 * the tool may take any lock of the process, start threads, or call back into this file; it only
 * stores its process id in the tool's state word.  The other threads wait for the word to change,
 * with a time limit: a thread that waits inside the constructor of a library holds the loader's
 * lock, which the tool may need.  After the limit a thread goes on without the tool, as all do
 * until it is loaded.
 *
 * The child of a fork inherits a loaded tool.  Where another thread of the parent was loading it,
 * no thread of the child finishes that: the tool is absent there.
 */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "forward/tool.h"

#define PATIENCE	5	/* seconds */

/* No tool: its word while a process loads it. */
static uint32_t word_of(pid_t pid)
{
	return (uint32_t)pid << 2 | XSP_TOOL_STATES;
}

static void wake_all(struct xsp_tool *tool)
{
	syscall(SYS_futex, &tool->state, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* Return: false when the time was up before the word changed. */
static bool wait_while(struct xsp_tool *tool, uint32_t word)
{
	struct timespec until;

	/* An absolute time: signals that come faster than it would else have no end. */
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += PATIENCE;
	while (__atomic_load_n(&tool->state, __ATOMIC_ACQUIRE) == word) {
		if (syscall(SYS_futex, &tool->state, FUTEX_WAIT_BITSET_PRIVATE, word, &until,
			    NULL, FUTEX_BITSET_MATCH_ANY) &&
		    errno == ETIMEDOUT)
			return false;
	}
	return true;
}

static void load(struct xsp_tool *tool)
{
	bool there;

	__atomic_store_n(&tool->loader, (uint32_t)syscall(SYS_gettid), __ATOMIC_RELAXED);
	there = tool->load();
	/* Whatever a waiter has made of the word meanwhile.  Pairs with xsp_tool_check(). */
	__atomic_store_n(&tool->state, there ? XSP_TOOL_PRESENT : XSP_TOOL_ABSENT,
			 __ATOMIC_RELEASE);
	wake_all(tool);
}

/**
 * xsp_tool_load() - load a tool, or wait for the thread that does
 * @tool: a tool
 *
 * Return: 0: it is there; -ENOTCONN: it is not, or the caller is its own loading.
 */
XSP_COLD int xsp_tool_load(struct xsp_tool *tool)
{
	uint32_t word = XSP_TOOL_FRESH, mine = word_of(getpid());
	int err = errno;

	if (__atomic_compare_exchange_n(&tool->state, &word, mine, false, __ATOMIC_ACQUIRE,
					__ATOMIC_ACQUIRE)) {
		load(tool);
	} else if (word == mine) {
		if (__atomic_load_n(&tool->loader, __ATOMIC_RELAXED) !=
			    (uint32_t)syscall(SYS_gettid) &&
		    !wait_while(tool, word)) {
			__atomic_compare_exchange_n(&tool->state, &word, XSP_TOOL_ABSENT, false,
						    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
			wake_all(tool);
		}
	} else if (word >= XSP_TOOL_STATES) {
		__atomic_compare_exchange_n(&tool->state, &word, XSP_TOOL_ABSENT, false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	}
	word = __atomic_load_n(&tool->state, __ATOMIC_ACQUIRE);
	errno = err;
	return word == XSP_TOOL_PRESENT ? 0 : -ENOTCONN;
}

/**
 * xsp_tool_path() - what the environment names as a tool
 * @variable: its name
 *
 * Our own collectors are none, by their names and before they are loaded: they would bring
 * another copy of this library into a program that has it linked in.
 *
 * Return: the path, NULL for none; of the environment.
 */
const char *xsp_tool_path(const char *variable)
{
	const char *path = secure_getenv(variable), *file;

	if (!path || !*path)
		return NULL;
	file = strrchr(path, '/');
	file = file ? file + 1 : path;
	return strncmp(file, "libxsprof-", strlen("libxsprof-")) ? path : NULL;
}
