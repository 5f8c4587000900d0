/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Selects the device's producers that belong to a recording.
 */
#ifndef XSP_DRAIN_FILTER_H
#define XSP_DRAIN_FILTER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <xsprof/ioctl.h>

#include "drain/ended.h"

/**
 * struct xsp_device_filter - which producers of the device to read
 * @session: producers of this session, 0 for none
 * @pids: producers of these processes, in our namespace
 * @starts: start times of @pids as the device reports them, as a pid may be reused; NULL, or 0 for
 *	an entry: unknown
 * @nr_pids: number of @pids
 * @ids: producers with these numbers
 * @nr_ids: number of @ids
 * @all: all producers that live or come later
 * @own: with @all: only those of our user
 * @go_on: they continue to record after we finish, and losses before we came are not counted
 * @sched: record scheduler events of their threads
 * @ended: exclude these: finished; NULL for none
 * @peek: only peek: no tail is moved, and nothing is ended or switched off
 */
struct xsp_device_filter {
	uint64_t	session;
	const pid_t	*pids;
	const uint64_t	*starts;
	uint32_t	nr_pids;
	const uint64_t	*ids;
	uint32_t	nr_ids;
	const struct xsp_ended *ended;
	bool		all;
	bool		own;
	bool		go_on;
	bool		sched;
	bool		peek;
};

/*
 * Does the filter select this producer? @began: producers that ended before are excluded unless
 * listed.
 */
bool xsp_device_wants(const struct xsp_device_filter *filter, const struct xsprof_info *info,
		      uint64_t began);

#endif /* XSP_DRAIN_FILTER_H */
