/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Passes the module's scheduler records to cause.h.
 */
#ifndef XSPROF_CAUSE_SCHED_H
#define XSPROF_CAUSE_SCHED_H

#include "cause/cause.h"

/*
 * @key: key of the thread, @thread: that of the thread of the same process in @ev->value. Return:
 *	false: not a scheduler record.
 */
bool cause_sched_event(struct cause *cause, const struct xsprof_event *ev, uint64_t key,
		       uint64_t thread);
/* The name of the other task in a record; NULL: none. */
const char *cause_sched_comm(const struct xsprof_event *ev, uint32_t *tid, size_t *len);

/* The key of a producer's thread. */
static inline uint64_t cause_key(const struct xsprof_trace *trace, uint32_t producer, uint32_t tid)
{
	/* In a pid namespace the process uses other thread ids than the kernel. */
	uint32_t key = xsprof_trace_kernel_tid(trace, producer, tid);

	return key ? key : (uint64_t)(producer + 1) << 32 | tid;
}

#endif /* XSPROF_CAUSE_SCHED_H */
