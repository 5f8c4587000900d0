/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What a program said of ops when they were recorded already: by the place of their records in the
 * trace, which is read again by who writes files.
 */
#ifndef XSR_POST_H
#define XSR_POST_H

#include "result/handle.h"

/**
 * struct xsr_post - what it said of one
 * @has_stack: of its stack
 * @has_module: of its modules
 * @stack: frames, of none there are 0
 * @text: the same as one text, with ';' between them
 * @module: modules
 */
struct xsr_post {
	bool			has_stack;
	bool			has_module;
	const struct xsr_stack	*stack;
	const char		*text;
	const char		*module;
};

/* NULL: it said nothing of record number @at. */
static inline const struct xsr_post *xsr_post_find(const struct xsp_map *posts, uint64_t at)
{
	const uint64_t *found = posts && posts->used && at ? xsp_map_get(posts, at) : NULL;

	return found ? (const struct xsr_post *)(uintptr_t)*found : NULL;
}

/* The same of an event. */
static inline const struct xsr_post *xsr_post_of(const struct xsprof_profiler_event *ev)
{
	return ev->kind == XSPROF_EVENT_OP ? xsr_post_find(&ev->result->posts, ev->u.op.at) : NULL;
}

#endif /* XSR_POST_H */
