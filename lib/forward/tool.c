// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Loads a tool that ranges are forwarded to, once per process. Independent of the tool's interface.
 *
 * The first thread that forwards something loads the tool. It holds no lock meanwhile, since the
 * tool may take any lock of the process, start threads, or call back into this file; it only stores
 * its process id in the tool's state word. Other threads wait for the word to change, with a time
 * limit: a thread that waits inside a library's constructor holds the loader's lock, which the tool
 * may need. After the limit a thread continues without the tool, until it is loaded.
 *
 * A forked child inherits a loaded tool. If another thread of the parent was loading it, no thread
 * of the child will finish that: the tool is absent there.
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

/* The state word while process @pid loads the tool: not a state. */
static uint32_t word_of(pid_t pid)
{
	return (uint32_t)pid << 2 | XSP_TOOL_STATES;
}

static void wake_all(struct xsp_tool *tool)
{
	syscall(SYS_futex, &tool->state, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* Return: false at the time limit. */
static bool wait_while(struct xsp_tool *tool, uint32_t word)
{
	struct timespec until;

	/* An absolute time: with a relative one frequent signals would extend the wait forever. */
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
	/* Whatever a waiting thread made of the word. Release: pairs with xsp_tool_check(). */
	__atomic_store_n(&tool->state, there ? XSP_TOOL_PRESENT : XSP_TOOL_ABSENT,
			 __ATOMIC_RELEASE);
	wake_all(tool);
}

/**
 * xsp_tool_load() - load a tool, or wait for the thread that loads it
 * @tool: a tool
 *
 * Return: 0: loaded; -ENOTCONN: absent, or called while this thread loads it.
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
 * xsp_tool_path() - path of a tool from the environment
 * @variable: name of the variable
 *
 * Our own collectors are excluded, by name and before they are loaded: they would load another copy
 * of this library into a program that is linked with the archive.
 *
 * Return: the path, NULL for none; points into the environment.
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
