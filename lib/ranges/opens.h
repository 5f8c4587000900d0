/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What is open on each thread, and which range an end ends: the one place where begins and ends
 * meet.  The pairer makes ranges of it; the tracks keep the stacks, for an output to look at.
 *
 * An end of a category that is off does not come, and an end without a name may be that of a
 * range that was cut before: those around it owe it.  In a pause no end comes at all.
 */
#ifndef XSP_OPENS_H
#define XSP_OPENS_H

#include "ranges/by-category.h"
#include "ranges/losses.h"
#include "ranges/stack.h"

/**
 * struct xsp_opens_owner - a producer
 * @open: those of its threads that have ranges, by category
 * @producer: its number
 * @controls: events that switched categories
 * @pauses: of them, those that switched all off
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
 * @member: by the categories of its ranges
 * @owed: as in struct xsp_range, outside of all
 * @cut: ranges in @stack that were cut
 * @controls: of the owner's, those that it knows of
 * @pauses: likewise
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
 * struct xsp_opens_ops - what happens to a range without an end of its own
 * @cut: its category was switched off; it stays at @at for those inside it.  NULL when of no
 *	interest
 * @close: the innermost is about to be taken off: it has been cut, or (not @cut) an end around it
 *	came, or no end comes any more
 */
struct xsp_opens_ops {
	void	(*cut)(void *data, struct xsp_opens *opens, uint32_t at, uint64_t ns);
	void	(*close)(void *data, struct xsp_opens *opens, uint64_t ns, bool cut);
};

/**
 * struct xsp_opens_walk - a trace that is walked
 * @ops: of who walks
 * @data: passed to them
 * @budget: the memory of all stacks
 * @losses: of the trace up to now
 */
struct xsp_opens_walk {
	const struct xsp_opens_ops	*ops;
	void				*data;
	struct xsp_budget		budget;
	struct xst_losses		losses;
};

/* @opens is all zeros. */
static inline void xsp_opens_init(struct xsp_opens *opens, struct xsp_opens_owner *owner)
{
	opens->owner = owner;
	opens->controls = owner->controls;
	opens->pauses = owner->pauses;
}

/*
 * What an event that switches categories does to every thread of its producer is done when the
 * thread is next looked at: there may be as many threads, and as many such events, as records.
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

/* No end comes any more. */
void xsp_opens_close_all(struct xsp_opens_walk *walk, struct xsp_opens *opens, uint64_t ns);

/* Takes the thread out of its owner's lists, and frees its stack. */
void xsp_opens_forget(struct xsp_opens_walk *walk, struct xsp_opens *opens);

#endif /* XSP_OPENS_H */
