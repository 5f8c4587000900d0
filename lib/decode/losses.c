// SPDX-License-Identifier: LGPL-2.1-only
/*
 * How much of what was recorded is missing in a trace: the counts of its rings, or of a session,
 * whose rings count from their own beginning.
 */
#include <inttypes.h>
#include <stdio.h>

#include "decode/losses.h"

void xsp_losses_of(struct xsprof_trace *trace, struct xsp_losses *losses)
{
	struct xsprof_trace_info info = { .size_of = sizeof(info) };
	const char *own = xsprof_trace_host_fact(trace, "session_lost");

	*losses = (struct xsp_losses){ 0 };
	if (own && sscanf(own, "%" SCNu64 " %" SCNu64 " %" SCNu64, &losses->records,
			  &losses->slots, &losses->bad_slots) == 3)
		return;
	*losses = (struct xsp_losses){ 0 };
	if (xsprof_trace_get_info(trace, &info) < 0)
		return;
	losses->records = info.lost_records;
	losses->slots = info.lost_slots;
	losses->bad_slots = info.bad_slots;
}
