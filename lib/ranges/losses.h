/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Which producers may have lost records, and since when.  A thread writes to the ring of the CPU
 * it is on, and may have been on any CPU between two of its records: so a hole in one ring
 * concerns all threads of the producer that have a range open across it.  Begins and ends have no
 * number: once one of them may be missing, no range that was open then has a certain end.
 */
#ifndef XST_LOSSES_H
#define XST_LOSSES_H

/* Everything is compiled hidden; what the public header declares is not. */
#pragma GCC visibility push(default)
#include <xsprof/trace.h>
#pragma GCC visibility pop

/* Numbers equal modulo this share an entry: a certain range may become uncertain, no more. */
#define XST_LOSS_PRODUCERS	256u

/**
 * struct xst_losses - the losses of a trace up to now
 * @count: how many times a record may have been missing; each has its number, from 1 on
 * @hole: at the latest event one may be
 * @latest: number of the latest, by producer
 */
struct xst_losses {
	uint64_t	count;
	bool		hole;
	uint64_t	latest[XST_LOSS_PRODUCERS];
};

/* Records of its producer may be missing right before @ev. */
static inline bool xst_losses_at(const struct xsprof_event *ev)
{
	/* The kernel's tracer has no begins and ends. */
	return (ev->type == XSPROF_EV_LOST || ev->flags & XSPROF_EVF_HOLE) &&
	       ev->producer != XSPROF_NO_PRODUCER;
}

/* Up to when records may be missing, by all events up to @ev; @before: up to the one before it. */
static inline uint64_t xst_losses_until(const struct xsprof_event *ev, uint64_t before)
{
	if (!xst_losses_at(ev) || before == UINT64_MAX)
		return before;
	return ev->type == XSPROF_EV_LOST && ev->flags & XSPROF_EVF_HOLE ? UINT64_MAX : ev->ns;
}

/* Every event of the trace, before all else that is done with it. */
static inline void xst_losses_event(struct xst_losses *losses, const struct xsprof_event *ev)
{
	losses->hole = ev->flags & XSPROF_EVF_HOLE;
	if (xst_losses_at(ev))
		losses->latest[ev->producer % XST_LOSS_PRODUCERS] = ++losses->count;
}

/* Up to the latest event.  In a hole more are to come, whatever is begun then. */
static inline uint64_t xst_losses_now(const struct xst_losses *losses)
{
	return losses->count - losses->hole;
}

/* Has @producer lost anything since loss number @since? */
static inline bool xst_losses_since(const struct xst_losses *losses, uint32_t producer,
				    uint64_t since)
{
	return losses->latest[producer % XST_LOSS_PRODUCERS] > since;
}

/* May a record of a thread of @producer be missing since the last time it was asked with @seen? */
static inline bool xst_losses_pass(const struct xst_losses *losses, uint32_t producer,
				   uint64_t *seen)
{
	bool lost = xst_losses_since(losses, producer, *seen);

	*seen = xst_losses_now(losses);
	return lost;
}

#endif /* XST_LOSSES_H */
