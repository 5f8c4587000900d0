/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Which of the device's producers a recording is about.
 */
#ifndef XSP_DRAIN_FILTER_H
#define XSP_DRAIN_FILTER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <xsprof/ioctl.h>

#include "drain/ended.h"

/**
 * struct xsp_device_filter - which of the device's producers to read
 * @session: those of this session, 0 for none
 * @pids: those of these processes, as we see them
 * @starts: when each of them was started, as the device has it: a number may be another process'
 *	later; NULL, or 0 for one: it is not known
 * @nr_pids: how many
 * @ids: those of these numbers
 * @nr_ids: how many
 * @all: all that live, or come later, whosever they are
 * @own: of all only those of our own user
 * @go_on: they record on when we are done, and before us nobody has lost anything
 * @sched: what the scheduler does with their threads is wanted
 * @ended: but not those: one is through with them; NULL for none
 * @peek: they are only looked at: no tail is moved, nothing ends, nothing is switched off
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

/* Is this one of them?  @began: those that ended before are none, unless they are named. */
bool xsp_device_wants(const struct xsp_device_filter *filter, const struct xsprof_info *info,
		      uint64_t began);

#endif /* XSP_DRAIN_FILTER_H */
