/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * A tool that ranges are forwarded to: loaded once, by the first thread that forwards something.
 */
#ifndef XSP_FORWARD_TOOL_H
#define XSP_FORWARD_TOOL_H

#include <errno.h>

#include "base/own.h"

/* Values of struct xsp_tool's state, except while it is being loaded. */
enum xsp_tool_state {
	XSP_TOOL_FRESH = 0,	/* not looked for yet */
	XSP_TOOL_ABSENT,
	XSP_TOOL_PRESENT,
	XSP_TOOL_STATES		/* from here on: a process id, see tool.c */
};

/**
 * struct xsp_tool - an optional tool
 * @state: enum xsp_tool_state, or the process id of the loader; a futex
 * @loader: thread id of the loading thread, written by that thread
 * @load: finds and loads the tool; true on success
 */
struct xsp_tool {
	uint32_t	state;
	uint32_t	loader;
	bool		(*load)(void);
};

int xsp_tool_load(struct xsp_tool *tool) XSP_HIDDEN;
const char *xsp_tool_path(const char *variable) XSP_HIDDEN;

/* To be called before each call of a tool. Return: 0: it is loaded; -ENOTCONN. */
static inline int xsp_tool_check(struct xsp_tool *tool)
{
	/* Acquire: pairs with the release in load(): its functions are visible with the state. */
	uint32_t state = __atomic_load_n(&tool->state, __ATOMIC_ACQUIRE);

	if (likely(state == XSP_TOOL_PRESENT))
		return 0;
	return state == XSP_TOOL_ABSENT ? -ENOTCONN : xsp_tool_load(tool);
}

#endif /* XSP_FORWARD_TOOL_H */
