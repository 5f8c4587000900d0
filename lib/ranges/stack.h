/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The ranges of one track: those open now, and below them the latest that closed, so that it
 * can be said whether another range nests.  A viewer draws a track only when its ranges nest
 * strictly.  It never knows what a range means.
 */
#ifndef XSPROF_OUT_STACK_H
#define XSPROF_OUT_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define XSP_STACK_DEPTH	4096u		/* open ranges on one track */
#define XSP_OPEN	UINT64_MAX	/* end of a range that is open */

/**
 * struct xsp_range - a range on a track
 * @begin: ns
 * @end: ns, XSP_OPEN while open
 * @note: text that belongs to its end, malloc()ed, or NULL; owned by who put it there
 * @note_len: bytes of @note, which a 0 follows
 * @name: name id
 * @match: the user wants it
 * @shown: its begin was shown
 * @owed: ends to come of ranges right inside it that were cut
 * @cut: its category was turned off: it closes when it is the innermost
 * @lost: records of its thread may be missing inside it: its end is not certain
 * @owing: and yet an end of its own will come, which must not end another
 * @run: closed ranges right before it, while it is open
 * @kind: what it is to the output
 * @index: likewise
 * @tag: likewise
 * @link: likewise
 * @losses: those of the trace before it
 */
struct xsp_range {
	uint64_t	begin;
	uint64_t	end;
	char		*note;
	uint64_t	index;
	uint64_t	tag;
	uint64_t	link;
	uint64_t	losses;
	uint32_t	note_len;
	uint32_t	name;
	uint32_t	owed;
	bool		match;
	bool		shown;
	bool		cut;
	bool		owing;
	bool		lost;
	uint8_t		run;
	uint8_t		kind;
};

/**
 * struct xsp_stack - a track's ranges in the order of their begins
 * @v: the ranges
 * @n: how many
 * @room: how many @v can hold
 * @open: how many of them are open
 * @run: closed ranges at the top, inside the innermost open one
 * @deep: begins that found no room: as many ends will come without a range
 * @bare: ranges that closed are not kept: whether another nests is not asked
 * @floor: nothing is known of what was before: no range may begin there
 */
struct xsp_stack {
	struct xsp_range	*v;
	uint32_t		n;
	uint32_t		room;
	uint32_t		open;
	uint32_t		deep;
	uint32_t		run;
	bool			bare;
	uint64_t		floor;
};

/* The memory of all stacks, bounded. */
struct xsp_budget {
	size_t	used;
	size_t	limit;
};

/* Return: false when there is no room; the caller counts it in @deep or shows it otherwise. */
bool xsp_stack_begin(struct xsp_stack *stack, struct xsp_budget *budget, uint64_t ns,
		     uint32_t name, bool match, bool shown);
/* The innermost open range, or NULL. */
static inline struct xsp_range *xsp_stack_top(const struct xsp_stack *stack)
{
	return stack->open ? &stack->v[stack->n - 1 - stack->run] : NULL;
}

/* Ends the innermost open range.  The result stays good until the stack is touched again. */
struct xsp_range *xsp_stack_end(struct xsp_stack *stack, uint64_t ns);
/*
 * Takes in a range that is over, if it nests with all that is there.  Ranges must come in the
 * order of their ends.  Return: false when it does not nest, or may not.
 */
bool xsp_stack_complete(struct xsp_stack *stack, struct xsp_budget *budget, uint64_t begin,
			uint64_t end);
void xsp_stack_free(struct xsp_stack *stack, struct xsp_budget *budget);

#endif /* XSPROF_OUT_STACK_H */
