/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The recorder's priority: on busy CPUs it may run too late, when rings are full.
 */
#ifndef XSPROF_RECORD_REALTIME_H
#define XSPROF_RECORD_REALTIME_H

#include <stdint.h>

/* Parses --realtime's argument, NULL for the default. Return: -1, or TOOL_USAGE after a message. */
int realtime_take(const char *text, uint32_t *priority);
/*
 * Checks that this process may use it, before anything is started. Return: 0, or TOOL_USAGE after a
 * message.
 */
int realtime_check(uint32_t priority);
void realtime_begin(uint32_t priority);

#endif /* XSPROF_RECORD_REALTIME_H */
