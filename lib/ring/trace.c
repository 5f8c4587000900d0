// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Sends markers to the kernel's tracers (trace-cmd, perf, bpftrace): converts a record to an event
 * there. Called after the record was written to its ring or lost, and changes neither; never waits,
 * and keeps errno: it runs in signal handlers.
 */
#include <errno.h>

#include "base/clock.h"
#include "ring/backend.h"

#define NO_EVENT	XSPROF_EMIT_KINDS

static uint32_t kind_of(uint32_t type)
{
	switch (type) {
	case XSPROF_REC_BEGIN:
		return XSPROF_EMIT_BEGIN;
	case XSPROF_REC_END:
		return XSPROF_EMIT_END;
	case XSPROF_REC_INSTANT:
	case XSPROF_REC_STEP:
		return XSPROF_EMIT_INSTANT;
	case XSPROF_REC_COUNTER_I64:
	case XSPROF_REC_COUNTER_F64:
		return XSPROF_EMIT_COUNTER;
	case XSPROF_REC_COMPLETE:
	case XSPROF_REC_SPAN:
		return XSPROF_EMIT_COMPLETE;
	case XSPROF_REC_GPU:
		return XSPROF_EMIT_GPU;
	case XSPROF_REC_OP:
		return XSPROF_EMIT_BEGIN;
	default:
		return NO_EVENT;
	}
}

/* Fills the part that depends on the type. @word: the record from its name on; @now: its time. */
static void fill(struct xsprof_emit *e, uint32_t type, const uint64_t *word, uint64_t now)
{
	switch (type) {
	case XSPROF_REC_INSTANT:
		e->aux = (uint32_t)(word[0] >> 32);
		if (e->aux > XSPROF_SCOPE_GLOBAL)
			e->aux = XSPROF_SCOPE_THREAD;
		break;
	case XSPROF_REC_STEP:
		e->aux = XSPROF_SCOPE_PROCESS;
		e->value = word[1];
		break;
	case XSPROF_REC_COUNTER_F64:
		e->flags = XSPROF_EMIT_DOUBLE;
		/* fall through */
	case XSPROF_REC_COUNTER_I64:
		e->value = word[1];
		break;
	case XSPROF_REC_COMPLETE:
		e->value = word[1] + now;
		break;
	case XSPROF_REC_SPAN:
		e->value = word[3] > word[2] ? word[3] - word[2] : 0;
		break;
	case XSPROF_REC_GPU:
		e->size = sizeof(*e);
		e->aux = (uint32_t)(word[0] >> 32);
		e->value = word[1];
		e->begin = word[2];
		e->end = word[3];
		e->clock = (uint32_t)word[4];
		e->device = (uint32_t)(word[4] >> 32);
		e->stream = (uint32_t)(word[5] >> 32);
		break;
	}
}

/**
 * xsp_trace_send() - send a marker to the kernel's tracers, if they want its kind
 * @hdr: first word of its record
 * @payload: the words after its timestamp
 * @add_ticks: as in xsp_put_slow()
 * @ticks: its time, 0 if the ring could not take it
 *
 * If sending fails the tracer loses it; the ring's counts are independent.
 */
XSP_COLD void xsp_trace_send(uint64_t hdr, const uint64_t *payload, uint64_t add_ticks,
			     uint64_t ticks)
{
	uint32_t type = hdr >> 32 & 0xff, kind = kind_of(type), name = (uint32_t)payload[0];
	struct xsprof_emit e = {
		.size = offsetof(struct xsprof_emit, begin), .kind = kind, .ticks = ticks,
	};
	int err = errno;

	if (kind == NO_EVENT || !xsp_kept.backend || !xsp_kept.backend->emit ||
	    !(__atomic_load_n(&xsprof_ctl_page.ctl.emit_types, __ATOMIC_RELAXED) >> kind & 1))
		return;
	if (!ticks && add_ticks)
		ticks = xsp_ticks(xsp_kept.clock);
	fill(&e, type, payload, ticks);
	if (name) {
		e.name = (uintptr_t)xsp_name_text(name, &e.name_len);
		e.category = (uintptr_t)xsp_category_text(name >> XSPROF_NAME_SHIFT,
							  &e.category_len);
	}
	(void)xsp_kept.backend->emit(&e);
	errno = err;
}
