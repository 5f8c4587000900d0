/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Pairing: from begin and end events to ranges.  Part of <xsprof/trace.h>, which includes it.
 */
#ifndef XSPROF_PAIRER_H
#define XSPROF_PAIRER_H

#include <xsprof/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- pairing: from begins and ends to ranges ------------------------------------------------ */

struct xsprof_pairer;

/* How a range ended. */
enum xsprof_range_end {
	XSPROF_RANGE_ENDED	= 0,
	XSPROF_RANGE_OPEN	= 1,	/* the trace, the producer or its thread ended inside it */
	XSPROF_RANGE_CUT	= 2,	/* no end of its own: closed by an outer one, or a pause */
};

/*
 * Records were lost inside the range, in rings that its thread writes to: an end or a begin may be
 * missing, so the end may be that of another range.  Of a range that is open at the end, and of an
 * async range without an end: its process lost records after its begin.  A range whose two times
 * are in one record has no such doubt.
 */
#define XSPROF_RANGEF_UNCERTAIN	0x1u
/*
 * It lies in another range of its name on its thread, so its time is in that one's too.  Of a
 * COMPLETE it is known only inside a BEGIN.
 */
#define XSPROF_RANGEF_RECURSIVE	0x2u
/*
 * A SPAN that its thread wrote of itself, after its end.  It need not nest in the ranges of that
 * thread; what the thread did meanwhile is known as of those.
 */
#define XSPROF_RANGEF_THREAD	0x4u
/*
 * It goes on: one around it ended first, and the rest of it is the next range of its name that
 * begins on its thread; of several of one name the outermost goes on first.
 */
#define XSPROF_RANGEF_CONTINUED	0x8u
/* Of one with how = OPEN: its thread ended there, and the process went on. */
#define XSPROF_RANGEF_THREAD_EXIT	0x10u

/**
 * struct xsprof_range - a range of a thread, or an async range
 * @begin_ns: begin
 * @end_ns: end
 * @self_ns: its time without that of its children; the whole time for async ranges
 * @producer: producer number
 * @pid: process id
 * @tid: thread id (of the begin)
 * @name: name id
 * @depth: number of open BEGINs around it; an enclosing COMPLETE is not known yet
 * @kind: the type of the record that began it (BEGIN, COMPLETE, SPAN, ASYNC_BEGIN, GPU)
 * @how: enum xsprof_range_end
 * @id: async id, correlation or span id
 * @flags: XSPROF_RANGEF_*
 * @reserved: 0
 */
struct xsprof_range {
	uint64_t	begin_ns;
	uint64_t	end_ns;
	uint64_t	self_ns;
	uint32_t	producer;
	uint32_t	pid;
	uint32_t	tid;
	uint32_t	name;
	uint32_t	depth;
	uint16_t	kind;
	uint16_t	how;
	uint64_t	id;
	uint32_t	flags;
	uint32_t	reserved;
};

/**
 * xsprof_pairer_new() - create a pairer for one trace
 * @trace: the trace whose events it will be given
 * @emit: called for every range when it ends
 * @data: passed to @emit
 * @pairer: set to the new handle
 *
 * It keeps a stack per thread, limited in depth (deeper begins are counted and left out) and in
 * number, and frees a producer's stacks when it ends. Self times are exact, except for a COMPLETE
 * with more than a few thousand children: these are off by the children that ended around its
 * begin.
 */
int xsprof_pairer_new(struct xsprof_trace *trace,
		      void (*emit)(void *data, const struct xsprof_range *range), void *data,
		      struct xsprof_pairer **pairer);
int xsprof_pairer_event(struct xsprof_pairer *pairer, const struct xsprof_event *ev);
/* No event followed until @ns: open ranges were open until then. */
void xsprof_pairer_pass(struct xsprof_pairer *pairer, uint64_t ns);
/* End all open ranges (how = OPEN); after this call the pairer can only be freed. */
int xsprof_pairer_finish(struct xsprof_pairer *pairer);
void xsprof_pairer_free(struct xsprof_pairer *pairer);

/**
 * struct xsprof_pairer_stats - what did not pair
 * @unmatched_ends: ends with nothing open (or with another name open)
 * @cut: ranges with how = CUT
 * @open: ranges with how = OPEN
 * @too_deep: begins beyond the depth limit
 */
struct xsprof_pairer_stats {
	uint64_t	unmatched_ends;
	uint64_t	cut;
	uint64_t	open;
	uint64_t	too_deep;
};

void xsprof_pairer_get_stats(const struct xsprof_pairer *pairer,
			     struct xsprof_pairer_stats *stats);

#ifdef __cplusplus
}
#endif

#endif /* XSPROF_PAIRER_H */
