/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Steps of the program, and the schedule of sessions that follows them.
 */
#ifndef XSP_PROFILER_SCHEDULE_H
#define XSP_PROFILER_SCHEDULE_H

#include "base/own.h"

bool xsp_schedule_runs(void) XSP_HIDDEN;
/* Ends the schedule. Return: 0; -ENOENT: there was none. */
int xsp_schedule_end(void) XSP_HIDDEN;
/* @step: called at each step, before it is recorded; NULL for none. */
void xsp_schedule_at_step(void (*step)(void)) XSP_HIDDEN;

#endif /* XSP_PROFILER_SCHEDULE_H */
