/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What a CONTROL event says: one meaning for all who close ranges by it.
 */
#ifndef XSP_TRACE_CONTROL_H
#define XSP_TRACE_CONTROL_H

#include <stdbool.h>

#include <xsprof/trace.h>

/* Whether @ev is one that is known; @enabled: the categories whose open ranges go on. */
static inline bool xsp_control_enabled(const struct xsprof_event *ev, uint64_t *enabled)
{
	if (ev->type != XSPROF_REC_CONTROL || ev->aux < XSPROF_CONTROL_ENABLE ||
	    ev->aux > XSPROF_CONTROL_SWITCH)
		return false;
	*enabled = ev->aux == XSPROF_CONTROL_PAUSE ? 0 : ev->value;
	/* With one left on, all that are open get their ends. */
	if (ev->aux == XSPROF_CONTROL_SWITCH && ev->value)
		*enabled = UINT64_MAX;
	return true;
}

/* From there on no marker of its producer is seen. */
static inline bool xsp_control_all_off(const struct xsprof_event *ev)
{
	uint64_t enabled;

	return xsp_control_enabled(ev, &enabled) && !enabled;
}

#endif /* XSP_TRACE_CONTROL_H */
