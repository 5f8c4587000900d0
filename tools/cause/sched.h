/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The scheduler's records of the module, as cause.h wants them.
 */
#ifndef XSPROF_CAUSE_SCHED_H
#define XSPROF_CAUSE_SCHED_H

#include "cause/cause.h"

/*
 * @key is the thread's, @thread that of the thread of the same process which @ev->value names.
 * Return: false: no record of the scheduler.
 */
bool cause_sched_event(struct cause *cause, const struct xsprof_event *ev, uint64_t key,
		       uint64_t thread);
/* The name that a record tells of the other one; NULL: none. */
const char *cause_sched_comm(const struct xsprof_event *ev, uint32_t *tid, size_t *len);

/* The key of a producer's thread. */
static inline uint64_t cause_key(const struct xsprof_trace *trace, uint32_t producer, uint32_t tid)
{
	/* In a pid namespace of its own a process knows its threads by other numbers. */
	uint32_t key = xsprof_trace_kernel_tid(trace, producer, tid);

	return key ? key : (uint64_t)(producer + 1) << 32 | tid;
}

#endif /* XSPROF_CAUSE_SCHED_H */
