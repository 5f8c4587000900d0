/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Annotations that the program added to recorded ops, by the number of their records in the trace,
 * which writers of files read again.
 */
#ifndef XSR_POST_H
#define XSR_POST_H

#include "result/handle.h"

/**
 * struct xsr_post - annotation of an op
 * @has_stack: it sets the stack
 * @has_module: it sets the modules
 * @stack: its frames; may be empty
 * @text: the frames as one text, separated by ';'
 * @module: modules
 */
struct xsr_post {
	bool			has_stack;
	bool			has_module;
	const struct xsr_stack	*stack;
	const char		*text;
	const char		*module;
};

/* NULL: record number @at has no annotation. */
static inline const struct xsr_post *xsr_post_find(const struct xsp_map *posts, uint64_t at)
{
	const uint64_t *found = posts && posts->used && at ? xsp_map_get(posts, at) : NULL;

	return found ? (const struct xsr_post *)(uintptr_t)*found : NULL;
}

/* The same for an event. */
static inline const struct xsr_post *xsr_post_of(const struct xsprof_profiler_event *ev)
{
	return ev->kind == XSPROF_EVENT_OP ? xsr_post_find(&ev->result->posts, ev->u.op.at) : NULL;
}

#endif /* XSR_POST_H */
