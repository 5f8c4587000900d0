/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The recorder's own priority: on CPUs that others keep busy it comes too late to rings that fill.
 */
#ifndef XSPROF_RECORD_REALTIME_H
#define XSPROF_RECORD_REALTIME_H

#include <stdint.h>

/* --realtime's argument, NULL for the default.  Return: -1, or TOOL_USAGE after a message. */
int realtime_take(const char *text, uint32_t *priority);
/*
 * May this process have it?  Asked before anything is started, whose priority it is not to be.
 * Return: 0, or TOOL_USAGE after a message.
 */
int realtime_check(uint32_t priority);
void realtime_begin(uint32_t priority);

#endif /* XSPROF_RECORD_REALTIME_H */
