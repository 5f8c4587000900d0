/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Tracks the open ranges of each thread and matches ends to ranges, for all users: the pairer makes
 * ranges of the matches; tracks keep the stacks for outputs.
 *
 * Ends of a disabled category are not recorded. An end without a name may belong to a range that
 * was cut before: the range around it counts such ends (@owed). During a pause no ends come at all.
 */
#ifndef XSP_OPENS_H
#define XSP_OPENS_H

#include "ranges/by-category.h"
#include "ranges/losses.h"
#include "ranges/stack.h"

/**
 * struct xsp_opens_owner - a producer
 * @open: threads with open ranges, by category
 * @producer: its number
 * @controls: number of events that switched categories
 * @pauses: of these, events that disabled all
 */
struct xsp_opens_owner {
	struct xsp_by_category	open;
	uint32_t		producer;
	uint32_t		controls;
	uint32_t		pauses;
};

/**
 * struct xsp_opens - a thread
 * @stack: its ranges
 * @owner: its producer; NULL: nothing of it can be remembered
 * @seen: losses up to its latest record
 * @member: its items by category of its ranges
 * @owed: as in struct xsp_range, outside of all ranges
 * @cut: number of cut ranges in @stack
 * @controls: value of the owner's @controls when last handled
 * @pauses: the same for @pauses
 */
struct xsp_opens {
	struct xsp_stack		stack;
	struct xsp_opens_owner		*owner;
	uint64_t			seen;
	struct xsp_category_items	member;
	uint32_t			owed;
	uint32_t			cut;
	uint32_t			controls;
	uint32_t			pauses;
};

/**
 * struct xsp_opens_ops - callbacks for ranges without an end of their own
 * @cut: its category was disabled; it stays at @at for ranges inside it. NULL if not needed
 * @close: the innermost range is about to be removed: it had been cut, or (not @cut) an end around
 *	it came, or no end will come
 */
struct xsp_opens_ops {
	void	(*cut)(void *data, struct xsp_opens *opens, uint32_t at, uint64_t ns);
	void	(*close)(void *data, struct xsp_opens *opens, uint64_t ns, bool cut);
};

/**
 * struct xsp_opens_walk - state of a walk over a trace
 * @ops: callbacks
 * @data: passed to them
 * @budget: memory of all stacks
 * @losses: losses of the trace so far
 */
struct xsp_opens_walk {
	const struct xsp_opens_ops	*ops;
	void				*data;
	struct xsp_budget		budget;
	struct xst_losses		losses;
};

/* Initialises @opens, which is all zeros. */
static inline void xsp_opens_init(struct xsp_opens *opens, struct xsp_opens_owner *owner)
{
	opens->owner = owner;
	opens->controls = owner->controls;
	opens->pauses = owner->pauses;
}

/*
 * The effect of category switches on a thread is applied when the thread is next used: there may be
 * as many threads, and as many switches, as records.
 */
static inline void xsp_opens_catch_up(struct xsp_opens *opens)
{
	const struct xsp_opens_owner *owner = opens->owner;

	if (opens->controls == owner->controls)
		return;
	opens->controls = owner->controls;
	opens->stack.deep = 0;
	/* No end comes during a pause, and later ones cannot be attributed. */
	if (opens->pauses != owner->pauses)
		opens->owed = 0;
	opens->pauses = owner->pauses;
}

/* If the thread may have lost records since its latest one, its open ranges have no certain end. */
void xsp_opens_losses(const struct xsp_opens_walk *walk, struct xsp_opens *opens);

/* Return: 0; -E2BIG: too many are open, -ENOMEM.  One that is left out has an end to come. */
int xsp_opens_begin(struct xsp_opens_walk *walk, struct xsp_opens *opens, uint64_t ns,
		    uint32_t name, bool match, bool shown);

/**
 * xsp_opens_end - the range that an end ends: the innermost, or the innermost of that name
 * @walk: trace
 * @opens: thread
 * @ns: when
 * @name: 0: it has none
 * @aux: XSPROF_END_*
 * @range: the innermost now: those inside it have been closed; xsp_opens_take() takes it off
 *
 * Return: 0; -ENOENT: nothing was open; -EALREADY: it is the end of one that was cut or left out;
 * -ETIME: @range ended earlier, and what is inside it goes on: xsp_opens_cut() takes it off.
 */
int xsp_opens_end(struct xsp_opens_walk *walk, struct xsp_opens *opens, uint64_t ns, uint32_t name,
		  uint32_t aux, struct xsp_range **range);
void xsp_opens_take(struct xsp_opens_walk *walk, struct xsp_opens *opens, uint64_t ns);
void xsp_opens_cut(struct xsp_opens_walk *walk, struct xsp_opens *opens, struct xsp_range *range,
		   uint64_t ns);

/* Cuts what @owner has open of the categories that are not in @enabled. */
void xsp_opens_control(struct xsp_opens_walk *walk, struct xsp_opens_owner *owner,
		       uint64_t enabled, uint64_t ns);

/* No more ends will come. */
void xsp_opens_close_all(struct xsp_opens_walk *walk, struct xsp_opens *opens, uint64_t ns);

/* Removes the thread from its owner's lists, and frees its stack. */
void xsp_opens_forget(struct xsp_opens_walk *walk, struct xsp_opens *opens);

#endif /* XSP_OPENS_H */
