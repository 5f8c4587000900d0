/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Which producers may have lost records, and since when. A thread writes to the ring of its current
 * CPU, and may have been on any CPU between two of its records: a hole in one ring therefore
 * affects all threads of the producer with a range open across it. Begins and ends have no number:
 * once one of them may be missing, no range that was open then has a certain end.
 */
#ifndef XST_LOSSES_H
#define XST_LOSSES_H

/* Everything is compiled hidden; what the public header declares is not. */
#pragma GCC visibility push(default)
#include <xsprof/trace.h>
#pragma GCC visibility pop

/* Producers equal modulo this share an entry: at worst a certain range is marked uncertain. */
#define XST_LOSS_PRODUCERS	256u

/**
 * struct xst_losses - losses of a trace so far
 * @count: number of times that records may be missing; each has a number, from 1 on
 * @hole: records may be missing at the latest event
 * @latest: by producer: number of its latest loss
 */
struct xst_losses {
	uint64_t	count;
	bool		hole;
	uint64_t	latest[XST_LOSS_PRODUCERS];
};

/* May records of its producer be missing right before @ev? */
static inline bool xst_losses_at(const struct xsprof_event *ev)
{
	/* The kernel's tracer has no begins and ends. */
	return (ev->type == XSPROF_EV_LOST || ev->flags & XSPROF_EVF_HOLE) &&
	       ev->producer != XSPROF_NO_PRODUCER;
}

/* The time up to which records may be missing, after @ev; @before: the same before @ev. */
static inline uint64_t xst_losses_until(const struct xsprof_event *ev, uint64_t before)
{
	if (!xst_losses_at(ev) || before == UINT64_MAX)
		return before;
	return ev->type == XSPROF_EV_LOST && ev->flags & XSPROF_EVF_HOLE ? UINT64_MAX : ev->ns;
}

/* To be called for every event of the trace, before its other handling. */
static inline void xst_losses_event(struct xst_losses *losses, const struct xsprof_event *ev)
{
	losses->hole = ev->flags & XSPROF_EVF_HOLE;
	if (xst_losses_at(ev))
		losses->latest[ev->producer % XST_LOSS_PRODUCERS] = ++losses->count;
}

/* Number of losses up to the latest event. In a hole more may follow, also for ranges begun now. */
static inline uint64_t xst_losses_now(const struct xst_losses *losses)
{
	return losses->count - losses->hole;
}

/* Has @producer lost records since loss number @since? */
static inline bool xst_losses_since(const struct xst_losses *losses, uint32_t producer,
				    uint64_t since)
{
	return losses->latest[producer % XST_LOSS_PRODUCERS] > since;
}

/* May a record of @producer be missing since the last call with @seen? */
static inline bool xst_losses_pass(const struct xst_losses *losses, uint32_t producer,
				   uint64_t *seen)
{
	bool lost = xst_losses_since(losses, producer, *seen);

	*seen = xst_losses_now(losses);
	return lost;
}

#endif /* XST_LOSSES_H */
