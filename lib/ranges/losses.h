/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Which threads may have lost records, and since when.  A thread writes to the ring of the CPU it
 * is on, so a loss in a ring concerns the threads that have written to it.  Begins and ends have
 * no number: once one of them may be missing, no range that was open then has a certain end.
 */
#ifndef XST_LOSSES_H
#define XST_LOSSES_H

/* Everything is compiled hidden; what the public header declares is not. */
#pragma GCC visibility push(default)
#include <xsprof/trace.h>
#pragma GCC visibility pop

/*
 * Rings and producers above these share a place with a lower one.  That can only make a certain
 * range uncertain, never the other way.
 */
#define XST_LOSS_RINGS		64u
#define XST_LOSS_PRODUCERS	256u
#define XST_LOSS_ANY		XST_LOSS_RINGS	/* of whichever ring of the producer */

/**
 * struct xst_losses - the losses of a trace up to now
 * @count: how many; each has its number, from 1 on
 * @latest: number of the latest, by producer and ring
 */
struct xst_losses {
	uint64_t	count;
	uint64_t	latest[XST_LOSS_PRODUCERS][XST_LOSS_RINGS + 1];
};

/**
 * struct xst_loss_mark - what a thread has to know of losses
 * @rings: bits of the rings in which it has written
 * @seen: losses up to its latest record
 */
struct xst_loss_mark {
	uint64_t	rings;
	uint64_t	seen;
};

/* A LOST event. */
void xst_losses_add(struct xst_losses *losses, const struct xsprof_event *ev);
bool xst_losses_of_thread(const struct xst_losses *losses, uint32_t producer,
			  const struct xst_loss_mark *mark);

/* Has @producer lost anything since loss number @since? */
static inline bool xst_losses_since(const struct xst_losses *losses, uint32_t producer,
				    uint64_t since)
{
	return losses->latest[producer % XST_LOSS_PRODUCERS][XST_LOSS_ANY] > since;
}

/* The thread wrote to ring @cpu: takes note of it. */
static inline void xst_losses_wrote(struct xst_loss_mark *mark, int32_t cpu)
{
	mark->rings |= 1ull << ((uint32_t)cpu % XST_LOSS_RINGS);
}

/* May a record of the thread be missing since the last time it was asked? */
static inline bool xst_losses_pass(const struct xst_losses *losses, uint32_t producer,
				   struct xst_loss_mark *mark)
{
	bool lost = mark->seen != losses->count && xst_losses_of_thread(losses, producer, mark);

	mark->seen = losses->count;
	return lost;
}

#endif /* XST_LOSSES_H */
