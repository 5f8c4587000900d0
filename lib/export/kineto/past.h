/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Finished ranges of a thread.
 */
#ifndef XSR_PAST_H
#define XSR_PAST_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/**
 * struct xsr_past_range - a finished range
 * @begin: ns
 * @end: ns
 * @around: number of the enclosing range; set by xsr_past_add()
 * @id: free for the caller, like those that follow
 * @tag: may be changed in place
 */
struct xsr_past_range {
	uint64_t	begin;
	uint64_t	end;
	uint64_t	around;
	uint64_t	id;
	uint64_t	tag;
	uint32_t	name;
	uint32_t	kind;
};

struct xsr_past;

/*
 * Adds a range that has just ended, the latest of its thread. @past: NULL at first; @budget: number
 * of ranges that may still be stored for all threads.
 */
void xsr_past_add(struct xsr_past **past, uint32_t *budget, const struct xsr_past_range *range);
void xsr_past_free(struct xsr_past *past, uint32_t *budget);
/* The innermost range open at @ns, and the range around one; NULL for none. */
struct xsr_past_range *xsr_past_find(struct xsr_past *past, uint64_t ns);
struct xsr_past_range *xsr_past_around(struct xsr_past *past, const struct xsr_past_range *range);

#endif /* XSR_PAST_H */
