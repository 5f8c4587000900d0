/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Finished ranges of a thread.
 */
#ifndef XSP_PAST_H
#define XSP_PAST_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/**
 * struct xsp_past_range - a finished range
 * @begin: ns
 * @end: ns
 * @around: number of the enclosing range; set by xsp_past_add()
 * @id: free for the caller, like those that follow
 * @tag: may be changed in place
 */
struct xsp_past_range {
	uint64_t	begin;
	uint64_t	end;
	uint64_t	around;
	uint64_t	id;
	uint64_t	tag;
	uint32_t	name;
	uint32_t	kind;
};

struct xsp_past;

/*
 * Adds a range that has just ended, the latest of its thread. @past: NULL at first; @budget: number
 * of ranges that may still be stored for all threads.
 */
void xsp_past_add(struct xsp_past **past, uint32_t *budget, const struct xsp_past_range *range);
void xsp_past_free(struct xsp_past *past, uint32_t *budget);
/* The innermost range open at @ns, and the range around one; NULL for none. */
struct xsp_past_range *xsp_past_find(struct xsp_past *past, uint64_t ns);
struct xsp_past_range *xsp_past_around(struct xsp_past *past, const struct xsp_past_range *range);

#endif /* XSP_PAST_H */
