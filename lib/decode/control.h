/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Interpretation of CONTROL events, shared by all code that closes ranges at them.
 */
#ifndef XSP_TRACE_CONTROL_H
#define XSP_TRACE_CONTROL_H

#include <stdbool.h>

#include <xsprof/trace.h>

/* Is @ev a known one? @enabled: categories whose open ranges continue. */
static inline bool xsp_control_enabled(const struct xsprof_event *ev, uint64_t *enabled)
{
	if (ev->type != XSPROF_REC_CONTROL || ev->aux < XSPROF_CONTROL_ENABLE ||
	    ev->aux > XSPROF_CONTROL_SWITCH)
		return false;
	*enabled = ev->aux == XSPROF_CONTROL_PAUSE ? 0 : ev->value;
	/* While one category is enabled, all open ranges get their ends. */
	if (ev->aux == XSPROF_CONTROL_SWITCH && ev->value)
		*enabled = UINT64_MAX;
	return true;
}

/* Is no marker of the producer seen from there on? */
static inline bool xsp_control_all_off(const struct xsprof_event *ev)
{
	uint64_t enabled;

	return xsp_control_enabled(ev, &enabled) && !enabled;
}

#endif /* XSP_TRACE_CONTROL_H */
