/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The ranges of a thread that are over.
 */
#ifndef XSR_PAST_H
#define XSR_PAST_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/**
 * struct xsr_past_range - a range that is over
 * @begin: ns
 * @end: ns
 * @around: set by xsr_past_add()
 * @id: the caller's, as are the others
 * @tag: may be changed where it is
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
 * A range that has just ended, the latest of its thread.  @past: NULL at first; @budget: ranges
 * that there is memory for, of all threads.
 */
void xsr_past_add(struct xsr_past **past, uint32_t *budget, const struct xsr_past_range *range);
void xsr_past_free(struct xsr_past *past, uint32_t *budget);
/* The innermost that was open at @ns, and the one around that; NULL for none. */
struct xsr_past_range *xsr_past_find(struct xsr_past *past, uint64_t ns);
struct xsr_past_range *xsr_past_around(struct xsr_past *past, const struct xsr_past_range *range);

#endif /* XSR_PAST_H */
