/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The threads of a session, and since when they are in it; under the session's lock.  @shared: a
 * recorder takes all ops, too.
 */
#ifndef XSP_PROFILER_MEMBERS_H
#define XSP_PROFILER_MEMBERS_H

#include <xsprof/result.h>

#include "base/own.h"

struct xsp_members {
	uint32_t		*tids;
	struct xsprof_absence	*absences;
	uint32_t		nr_tids;
	uint32_t		room_tids;
	uint32_t		nr_absences;
	uint32_t		room_absences;
};

/* Of the calling thread alone.  0 or -ENOMEM, as the others. */
int xsp_members_begin(struct xsp_members *members) XSP_HIDDEN;
int xsp_members_join(struct xsp_members *members, bool shared) XSP_HIDDEN;
int xsp_members_leave(struct xsp_members *members, bool shared) XSP_HIDDEN;
/* Of all of them. */
int xsp_members_toggle(struct xsp_members *members, bool shared, bool on) XSP_HIDDEN;

#endif /* XSP_PROFILER_MEMBERS_H */
