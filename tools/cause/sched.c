// SPDX-License-Identifier: GPL-2.0-only
/*
 * Passes the module's scheduler records, of the threads of a producer, to the machine of cause.h.
 * They say less about other tasks than the kernel's tracer: tasks that the user may not see stay
 * unknown.
 */
#include <string.h>

#include "cause/sched.h"

static uint32_t who_of(const struct xsprof_event *ev)
{
	return ev->aux & XSPROF_SCHED_WHO;
}

static enum cause_state state_of(uint32_t aux)
{
	switch ((aux & XSPROF_SCHED_STATE) >> XSPROF_SCHED_STATE_SHIFT) {
	case 'R':
		return CAUSE_STATE_RUN;
	case 'D':
		return CAUSE_STATE_DISK;
	case 'X':
	case 'Z':
		return CAUSE_STATE_DEAD;
	default:
		return CAUSE_STATE_SLEEP;
	}
}

/* The key of the other task: @thread if it belongs to the same process. */
static uint64_t other_of(const struct xsprof_event *ev, uint64_t thread)
{
	switch (who_of(ev)) {
	case XSPROF_SCHED_IDLE:
		return 0;
	case XSPROF_SCHED_THREAD:
		return thread;
	case XSPROF_SCHED_PROCESS:
	case XSPROF_SCHED_KERNEL:
		return (uint32_t)ev->value;
	default:
		return CAUSE_NOBODY_KNOWS;
	}
}

static void wake(struct cause *cause, const struct xsprof_event *ev, uint64_t key,
		 uint64_t thread)
{
	struct cause_who who = { .context = CAUSE_IN_TASK, .vec = -1 };

	who.tid = other_of(ev, thread);
	if (who_of(ev) == XSPROF_SCHED_IRQ)
		who.context = CAUSE_IN_IRQ;
	else if (who.tid == CAUSE_NOBODY_KNOWS)
		who.context = CAUSE_IN_NOTHING;
	if (who.context != CAUSE_IN_TASK)
		who.tid = 0;
	cause_wakeup(cause, ev->ns, key, -1, &who);
}

bool cause_sched_event(struct cause *cause, const struct xsprof_event *ev, uint64_t key,
		       uint64_t thread)
{
	cause_hear(cause, ev->cpu, ev->ns);
	switch (ev->type) {
	case XSPROF_REC_SCHED_IN:
		cause_enter(cause, ev->cpu, ev->ns, key);
		break;
	case XSPROF_REC_SCHED_OUT:
		cause_leave(cause, ev->cpu, ev->ns, key, state_of(ev->aux),
			    other_of(ev, thread));
		break;
	case XSPROF_REC_SCHED_WAKE:
		wake(cause, ev, key, thread);
		break;
	case XSPROF_REC_SCHED_MIGRATE:
		if (ev->value >> 32 <= INT32_MAX)
			cause_migrate(cause, ev->ns, key, (int32_t)(ev->value >> 32));
		break;
	default:
		return false;
	}
	cause_seen(cause, ev->cpu, ev->ns);
	return true;
}

const char *cause_sched_comm(const struct xsprof_event *ev, uint32_t *tid, size_t *len)
{
	const struct xsprof_rec_sched *rec = (const struct xsprof_rec_sched *)ev->rec;

	if ((ev->type != XSPROF_REC_SCHED_OUT && ev->type != XSPROF_REC_SCHED_WAKE) ||
	    ev->rec_size < sizeof(*rec) || !ev->value)
		return NULL;
	*tid = (uint32_t)ev->value;
	*len = strnlen((const char *)rec->comm, sizeof(rec->comm));
	return (const char *)rec->comm;
}
