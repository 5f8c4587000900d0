// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The ranges of one track: see stack.h.
 *
 * Closed ranges are kept only while a later range could enclose them: those inside the innermost
 * open range, and of these the latest few; older ones are merged into one, which can only turn the
 * answer into "may not nest".
 */
#include <stdlib.h>

#include "ranges/stack.h"

#define CLOSED_MAX	16u	/* closed ranges in sequence */

static bool grow(struct xsp_stack *stack, struct xsp_budget *budget)
{
	uint32_t room = stack->room ? stack->room * 2 : 8;
	size_t more = (room - stack->room) * sizeof(*stack->v);
	struct xsp_range *v;

	if (budget->used + more > budget->limit)
		return false;
	v = realloc(stack->v, room * sizeof(*v));
	if (!v)
		return false;
	budget->used += more;
	stack->v = v;
	stack->room = room;
	return true;
}

bool xsp_stack_begin(struct xsp_stack *stack, struct xsp_budget *budget, uint64_t ns,
		     uint32_t name, bool match, bool shown)
{
	if (stack->open >= XSP_STACK_DEPTH)
		return false;
	if (stack->n == stack->room && !grow(stack, budget))
		return false;
	stack->v[stack->n++] = (struct xsp_range){
		.begin = ns, .end = XSP_OPEN, .name = name, .match = match, .shown = shown,
		.run = (uint8_t)stack->run,
	};
	stack->open++;
	stack->run = 0;
	return true;
}

/* Merges the older half of the closed ranges at the top into one. */
static void melt(struct xsp_stack *stack)
{
	struct xsp_range *first = &stack->v[stack->n - stack->run];
	uint32_t half = stack->run / 2, i;

	first->end = first[half - 1].end;
	for (i = 1; i + half <= stack->run; i++)
		first[i] = first[i + half - 1];
	stack->n -= half - 1;
	stack->run -= half - 1;
}

struct xsp_range *xsp_stack_end(struct xsp_stack *stack, uint64_t ns)
{
	struct xsp_range *range;

	stack->n -= stack->run;
	stack->open--;
	range = &stack->v[stack->n - 1];
	range->end = ns;
	if (stack->bare) {
		stack->n--;
		return range;
	}
	stack->run = range->run + 1;
	if (stack->run > CLOSED_MAX)
		melt(stack);
	return &stack->v[stack->n - 1];
}

bool xsp_stack_complete(struct xsp_stack *stack, struct xsp_budget *budget, uint64_t begin,
			uint64_t end)
{
	uint32_t n = stack->n;
	const struct xsp_range *top;

	if (begin < stack->floor || end < begin)
		return false;
	if (n && stack->v[n - 1].end != XSP_OPEN && end < stack->v[n - 1].end)
		return false;
	for (; n; n--) {
		top = &stack->v[n - 1];
		if (top->end == XSP_OPEN) {
			if (begin < top->begin)
				return false;
			break;
		}
		if (begin >= top->end)
			break;
		if (begin > top->begin)
			return false;
	}
	if (n == stack->room && !grow(stack, budget))
		return false;
	stack->run -= stack->n - n;
	stack->n = n;
	stack->v[stack->n++] = (struct xsp_range){ .begin = begin, .end = end };
	stack->run++;
	if (stack->run > CLOSED_MAX)
		melt(stack);
	return true;
}

void xsp_stack_free(struct xsp_stack *stack, struct xsp_budget *budget)
{
	uint32_t i;

	for (i = 0; i < stack->n; i++)
		if (stack->v[i].end == XSP_OPEN)
			free(stack->v[i].note);
	free(stack->v);
	budget->used -= stack->room * sizeof(*stack->v);
	*stack = (struct xsp_stack){ 0 };
}
