/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of tasks for reports that say which task another waited for.
 */
#ifndef XSPROF_REPORT_COMMS_H
#define XSPROF_REPORT_COMMS_H

#include <xsprof/trace.h>

#define REPORT_COMM	64u	/* bytes of a name, including the terminator */

struct report_comms;

/* Return: 0 or -errno. */
int report_comms_new(const struct xsprof_trace *trace, struct report_comms **comms);
void report_comms_free(struct report_comms *comms);
/* To be called for every event, in order. */
void report_comms_event(struct report_comms *comms, const struct xsprof_event *ev);
/* The name of the task with @key of cause.h, as of the latest event; a long one is cut. */
void report_comms_copy(const struct report_comms *comms, char to[REPORT_COMM], uint64_t key);

#endif /* XSPROF_REPORT_COMMS_H */
