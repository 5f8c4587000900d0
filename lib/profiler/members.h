/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Threads of a session, and when they joined; guarded by the session's lock. @shared: a recorder
 * records all ops too.
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

/* For the calling thread only. Return: 0 or -ENOMEM, like the others. */
int xsp_members_begin(struct xsp_members *members) XSP_HIDDEN;
int xsp_members_join(struct xsp_members *members, bool shared) XSP_HIDDEN;
int xsp_members_leave(struct xsp_members *members, bool shared) XSP_HIDDEN;
/* For all threads. */
int xsp_members_toggle(struct xsp_members *members, bool shared, bool on) XSP_HIDDEN;

#endif /* XSP_PROFILER_MEMBERS_H */
