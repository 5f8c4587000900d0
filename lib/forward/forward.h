/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What the givers of ranges to other tools share: how a tool is loaded, once, and the names that
 * it has been told.  Nothing here is visible outside the library.
 */
#ifndef XSP_PROFILER_MIRROR_H
#define XSP_PROFILER_MIRROR_H

#include <errno.h>

#include <xsprof/mirror.h>

#include "ring/state.h"

/* To whom; a set. */
#define XSP_MIRROR_NVTX		(1u << 0)
#define XSP_MIRROR_ITT		(1u << 1)

/* ---- for ops -------------------------------------------------------------------------------- */
void xsp_mirror_push(unsigned int which, const char *name, uint32_t name_id) XSP_HIDDEN;
void xsp_mirror_pop(unsigned int which) XSP_HIDDEN;

/* ---- a tool --------------------------------------------------------------------------------- */

/* What struct xsp_tool's state is, but while it is being loaded. */
enum xsp_tool_state {
	XSP_TOOL_FRESH = 0,	/* nobody has looked for it */
	XSP_TOOL_ABSENT,
	XSP_TOOL_PRESENT,
	XSP_TOOL_STATES		/* from here on: a process id, see mirror.c */
};

/**
 * struct xsp_tool - a tool that may be there
 * @state: enum xsp_tool_state, or who loads it; a futex
 * @loader: thread id of the one that loads it, written by that one
 * @load: looks for it, loads it and gets all from it; true: it is there
 */
struct xsp_tool {
	uint32_t	state;
	uint32_t	loader;
	bool		(*load)(void);
};

int xsp_tool_load(struct xsp_tool *tool) XSP_HIDDEN;
const char *xsp_tool_path(const char *variable) XSP_HIDDEN;

/* Whoever is about to call a tool comes by here first.  Return: 0 or -ENOTCONN. */
static inline int xsp_tool_check(struct xsp_tool *tool)
{
	/* Acquire: pairs with the release of who loaded it; whoever sees it sees its functions. */
	uint32_t state = __atomic_load_n(&tool->state, __ATOMIC_ACQUIRE);

	if (likely(state == XSP_TOOL_PRESENT))
		return 0;
	return state == XSP_TOOL_ABSENT ? -ENOTCONN : xsp_tool_load(tool);
}

/* ---- names that a tool has been told -------------------------------------------------------- */

/**
 * struct xsp_told - a name that a tool has been told
 * @hash: of its text, not 0; taken by compare-and-exchange, 0 is free
 * @ready: @handle is set
 * @text: the name; NULL while it is being added
 * @handle: what the tool calls it, NULL where it gave nothing
 * @mark: what else the tool calls it; its giver's
 */
struct xsp_told {
	uint32_t	hash;
	uint32_t	ready;
	const char	*text;
	void		*handle;
	uint64_t	mark;
};

struct xsp_told_names;

struct xsp_told_names *xsp_told_new(void) XSP_HIDDEN;
void *xsp_told_alloc(struct xsp_told_names *names, size_t size) XSP_HIDDEN;
struct xsp_told *xsp_told_find(struct xsp_told_names *names, const char *text, uint32_t id,
				void *(*tell)(const char *text)) XSP_HIDDEN;

/* ---- mirror-nvtx.c, mirror-itt.c; @id as xsp_mirror_push() ----------------------------------- */
int xsp_nvtx_push(const char *name, uint32_t id) XSP_HIDDEN;
int xsp_nvtx_pop(void) XSP_HIDDEN;
int xsp_itt_push(const char *name, uint32_t id) XSP_HIDDEN;
int xsp_itt_pop(void) XSP_HIDDEN;

#endif /* XSP_PROFILER_MIRROR_H */
