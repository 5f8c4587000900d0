// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Matches begins and ends: see opens.h.
 */
#include <errno.h>

#include "ranges/opens.h"

void xsp_opens_losses(const struct xsp_opens_walk *walk, struct xsp_opens *opens)
{
	struct xsp_stack *stack = &opens->stack;
	uint32_t at = stack->open ? stack->n - stack->run : 0;

	if (!opens->owner ||
	    !xst_losses_pass(&walk->losses, opens->owner->producer, &opens->seen))
		return;
	/*
	 * Everything below a marked one is marked: in a hole the cost is that of new ranges only.
	 */
	while (at && !stack->v[at - 1].lost) {
		stack->v[at - 1].lost = true;
		at -= 1 + stack->v[at - 1].run;
	}
}

/* Notes that the thread has a range of @category. */
static int join(struct xsp_opens_walk *walk, struct xsp_opens *opens, uint32_t category)
{
	struct xsp_budget *budget = &walk->budget;
	int took;

	if (budget->limit - budget->used < sizeof(struct xsp_category_item))
		return -ENOMEM;
	took = xsp_by_category_join(&opens->owner->open, &opens->member, opens, category);
	if (took < 0)
		return took;
	budget->used += (size_t)took;
	return 0;
}

int xsp_opens_begin(struct xsp_opens_walk *walk, struct xsp_opens *opens, uint64_t ns,
		    uint32_t name, bool match, bool shown)
{
	struct xsp_stack *stack = &opens->stack;
	uint32_t category = xsp_category_of(name);
	bool joined = opens->member.mask >> category & 1;
	int err = 0;

	/* Inside a left-out range all are left out: ends do not tell their category. */
	if (stack->deep || stack->open == XSP_STACK_DEPTH)
		err = -E2BIG;
	else if (!opens->owner || (!joined && join(walk, opens, category)) ||
		 !xsp_stack_begin(stack, &walk->budget, ns, name, match, shown))
		err = -ENOMEM;
	if (err)
		stack->deep++;
	else
		xsp_stack_top(stack)->losses = xst_losses_now(&walk->losses);
	return err;
}

/* Number of ends to come that belong to no range any more. */
static uint32_t *owed_by_top(struct xsp_opens *opens)
{
	struct xsp_range *top = xsp_stack_top(&opens->stack);

	return top ? &top->owed : &opens->owed;
}

/* Removes ranges at the top that were cut, and kept only for those inside them. */
static void close_cut(struct xsp_opens_walk *walk, struct xsp_opens *opens, uint64_t ns)
{
	const struct xsp_range *range;

	while ((range = xsp_stack_top(&opens->stack)) && range->cut) {
		uint32_t owed = range->owed + range->owing;

		walk->ops->close(walk->data, opens, ns, true);
		xsp_stack_end(&opens->stack, ns);
		opens->cut--;
		*owed_by_top(opens) += owed;
	}
}

void xsp_opens_take(struct xsp_opens_walk *walk, struct xsp_opens *opens, uint64_t ns)
{
	xsp_stack_end(&opens->stack, ns);
	if (opens->cut)
		close_cut(walk, opens, ns);
}

static void cut_one(struct xsp_opens_walk *walk, struct xsp_opens *opens, uint32_t at, uint64_t ns)
{
	if (walk->ops->cut)
		walk->ops->cut(walk->data, opens, at, ns);
	opens->stack.v[at].cut = true;
	opens->cut++;
}

void xsp_opens_cut(struct xsp_opens_walk *walk, struct xsp_opens *opens, struct xsp_range *range,
		   uint64_t ns)
{
	cut_one(walk, opens, (uint32_t)(range - opens->stack.v), ns);
	close_cut(walk, opens, ns);
}

/* The innermost range ends because an end around it came, or none will come. */
static void close_top(struct xsp_opens_walk *walk, struct xsp_opens *opens, uint64_t ns)
{
	const struct xsp_range *range = xsp_stack_top(&opens->stack);
	bool cut = range->cut;

	walk->ops->close(walk->data, opens, ns, cut);
	xsp_stack_end(&opens->stack, ns);
	opens->cut -= cut;
}

/* The end of a range that was cut before, as in a pause, is not expected any more. */
static struct xsp_range *find_earlier(struct xsp_opens *opens, uint32_t name)
{
	struct xsp_stack *stack = &opens->stack;
	uint32_t at = stack->open ? stack->n - stack->run : 0, *owed = owed_by_top(opens);

	while (at && (stack->v[at - 1].end != XSP_OPEN || stack->v[at - 1].name != name ||
		      (stack->v[at - 1].cut && !stack->v[at - 1].owing)))
		at--;
	if (!at)
		*owed -= *owed != 0;
	else if (stack->v[at - 1].cut)
		stack->v[at - 1].owing = false;
	else
		return &stack->v[at - 1];
	return NULL;
}

int xsp_opens_end(struct xsp_opens_walk *walk, struct xsp_opens *opens, uint64_t ns, uint32_t name,
		  uint32_t aux, struct xsp_range **range)
{
	struct xsp_stack *stack = &opens->stack;
	uint32_t *owed = owed_by_top(opens);
	uint32_t at = stack->open ? stack->n - stack->run : 0;

	/* The innermost ranges are the left-out ones. */
	if (stack->deep) {
		stack->deep--;
		return -EALREADY;
	}
	if (aux & XSPROF_END_EARLIER) {
		*range = find_earlier(opens, name);
		return *range ? -ETIME : -EALREADY;
	}
	while (name && at && (stack->v[at - 1].end != XSP_OPEN || stack->v[at - 1].cut ||
			      stack->v[at - 1].name != name))
		at--;
	if (*owed && (!name || !at)) {
		(*owed)--;
		return -EALREADY;
	}
	if (!at)
		return -ENOENT;
	/* Ranges inside it did not get their own end. */
	while (xsp_stack_top(stack) != &stack->v[at - 1])
		close_top(walk, opens, ns);
	*range = &stack->v[at - 1];
	return 0;
}

/* While other categories are enabled, ends have no name and continue to come. */
static void cut_some(struct xsp_opens_walk *walk, struct xsp_opens *opens, uint64_t enabled,
		     uint64_t ns)
{
	struct xsp_stack *stack = &opens->stack;

	xsp_opens_losses(walk, opens);
	for (uint32_t i = stack->n; i--;) {
		struct xsp_range *range = &stack->v[i];

		if (range->end != XSP_OPEN || enabled >> xsp_category_of(range->name) & 1)
			continue;
		range->owing = enabled && (!range->cut || range->owing);
		if (!range->cut)
			cut_one(walk, opens, i, ns);
	}
	close_cut(walk, opens, ns);
}

void xsp_opens_control(struct xsp_opens_walk *walk, struct xsp_opens_owner *owner,
		       uint64_t enabled, uint64_t ns)
{
	struct xsp_opens *opens;

	while ((opens = xsp_by_category_any(&owner->open, ~enabled)) != NULL) {
		xsp_opens_catch_up(opens);
		walk->budget.used -= xsp_by_category_leave(&opens->member, ~enabled);
		cut_some(walk, opens, enabled, ns);
	}
	owner->controls++;
	owner->pauses += !enabled;
}

void xsp_opens_close_all(struct xsp_opens_walk *walk, struct xsp_opens *opens, uint64_t ns)
{
	struct xsp_range *range;

	while ((range = xsp_stack_top(&opens->stack)) != NULL) {
		/* If no end was seen, any ring may have lost it: the thread may have moved. */
		if (!range->cut && xst_losses_since(&walk->losses, opens->owner->producer,
						    range->losses))
			range->lost = true;
		close_top(walk, opens, ns);
	}
	opens->stack.deep = 0;
}

void xsp_opens_forget(struct xsp_opens_walk *walk, struct xsp_opens *opens)
{
	walk->budget.used -= xsp_by_category_leave(&opens->member, ~0ull);
	xsp_stack_free(&opens->stack, &walk->budget);
}
