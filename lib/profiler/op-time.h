/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Times of ops on a device from its own events, if no collector records its kernels: functions for
 * sessions and for ops.
 */
#ifndef XSP_PROFILER_OP_TIME_H
#define XSP_PROFILER_OP_TIME_H

#include <xsprof/profiler.h>

#include "base/own.h"

/**
 * xsp_op_time_find() - find the callbacks for a session
 * @state: state of the session
 * @stubs: set to the callbacks, NULL: none
 *
 * Return: 0; -ENODEV: callbacks or a device are required but missing; -ENOMEM.
 */
int xsp_op_time_find(uint32_t state, const struct xsprof_device_stubs **stubs) XSP_HIDDEN;
/* Session @number begins, or ends: open ops then get no time. */
void xsp_op_time_begin(const struct xsprof_device_stubs *stubs, uint32_t number) XSP_HIDDEN;
void xsp_op_time_end(void) XSP_HIDDEN;
/* At the end of the program: calls no callback any more, as its code may be unloaded. */
void xsp_op_time_quit(void) XSP_HIDDEN;
/* In a forked child. */
void xsp_op_time_forget(void) XSP_HIDDEN;

/*
 * An op begins: the first is called before its record is written, the second after it. @keep: it
 * belongs to the session. Return: a value for the op's record, 0: no time is measured, skip the
 * second.
 */
uint32_t xsp_op_time_begins(bool keep) XSP_HIDDEN;
void xsp_op_time_began(void) XSP_HIDDEN;
/* @now: false: it ended at an unknown earlier time, so it gets no device time. */
void xsp_op_time_ends(bool now) XSP_HIDDEN;

/* Ranges of state PRIVATEUSE1 without another backend. */
void xsp_op_time_push(const char *name) XSP_HIDDEN;
void xsp_op_time_pop(void) XSP_HIDDEN;

#endif /* XSP_PROFILER_OP_TIME_H */
