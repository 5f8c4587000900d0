// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Selects the device's producers that belong to a recording, from what the kernel has reported of
 * them.
 */
#include <unistd.h>

#include "drain/filter.h"

bool xsp_device_wants(const struct xsp_device_filter *filter, const struct xsprof_info *info,
		      uint64_t began)
{
	uint32_t i;

	/* The kernel keeps ended producers and continues to list them. */
	if (filter->ended && xsp_ended_has(filter->ended, 0, info->id))
		return false;
	if (filter->session && info->session == filter->session)
		return true;
	for (i = 0; i < filter->nr_ids; i++)
		if (filter->ids[i] == info->id)
			return true;
	for (i = 0; i < filter->nr_pids; i++)
		if (info->pid && filter->pids[i] == (pid_t)info->pid &&
		    (!filter->starts || !filter->starts[i] ||
		     filter->starts[i] == info->start_time))
			return true;
	if (filter->own && info->uid != geteuid())
		return false;
	/* Exclude our own process. */
	return filter->all && info->pid != (uint32_t)getpid() &&
	       (info->state == XSPROF_STATE_LIVE || info->attached >= began);
}
