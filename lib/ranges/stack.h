/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The ranges of one track: the open ones, and the latest closed ones, to decide whether another
 * range nests. A viewer draws a track only if its ranges nest strictly. Independent of the ranges'
 * meaning.
 */
#ifndef XSPROF_OUT_STACK_H
#define XSPROF_OUT_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define XSP_STACK_DEPTH	4096u		/* open ranges per track */
#define XSP_OPEN	UINT64_MAX	/* end of a range that is open */

/**
 * struct xsp_range - a range on a track
 * @begin: ns
 * @end: ns, XSP_OPEN while open
 * @note: text for its end, from malloc(), or NULL; owned by the user
 * @note_len: length of @note, which is terminated
 * @name: name id
 * @match: selected by the user
 * @shown: its begin was shown
 * @owed: number of expected ends of cut ranges directly inside it
 * @cut: its category was disabled: it closes when it becomes the innermost
 * @lost: records of its thread may be missing inside it: its end is uncertain
 * @owing: it is cut, but its own end will still come, and must not end another range
 * @run: number of closed ranges right before it, while it is open
 * @kind: free for the output
 * @index: free for the output
 * @tag: free for the output
 * @link: free for the output
 * @losses: number of losses of the trace before it
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
 * struct xsp_stack - ranges of a track in the order of their begins
 * @v: the ranges
 * @n: number of ranges
 * @room: capacity of @v
 * @open: number of open ranges
 * @run: number of closed ranges at the top, inside the innermost open one
 * @deep: number of begins that found no room, and whose ends are still to come
 * @bare: closed ranges are not kept: nesting is never asked
 * @floor: nothing is known of earlier times: no range may begin there
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

/* Memory of all stacks, bounded. */
struct xsp_budget {
	size_t	used;
	size_t	limit;
};

/*
 * Begins a range. Return: false if there is no room; the caller counts it in @deep, or shows it
 * otherwise.
 */
bool xsp_stack_begin(struct xsp_stack *stack, struct xsp_budget *budget, uint64_t ns,
		     uint32_t name, bool match, bool shown);
/* The innermost open range, or NULL. */
static inline struct xsp_range *xsp_stack_top(const struct xsp_stack *stack)
{
	return stack->open ? &stack->v[stack->n - 1 - stack->run] : NULL;
}

/* Ends the innermost open range. The result is valid until the next change of the stack. */
struct xsp_range *xsp_stack_end(struct xsp_stack *stack, uint64_t ns);
/*
 * Adds a finished range if it nests with all others. Ranges must come in the order of their ends.
 * Return: false if it does not nest, or may not.
 */
bool xsp_stack_complete(struct xsp_stack *stack, struct xsp_budget *budget, uint64_t begin,
			uint64_t end);
void xsp_stack_free(struct xsp_stack *stack, struct xsp_budget *budget);

#endif /* XSPROF_OUT_STACK_H */
