/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Times of ops on a device by its own events, where no collector records its kernels: the calls of
 * a session, and those of ops.
 */
#ifndef XSP_PROFILER_OP_TIME_H
#define XSP_PROFILER_OP_TIME_H

#include <xsprof/profiler.h>

#include "base/own.h"

/**
 * xsp_op_time_find() - the callbacks that a session in that state uses
 * @state: of the session
 * @stubs: set to them, NULL: none
 *
 * Return: 0; -ENODEV: it needs some and there are none, or no device; -ENOMEM.
 */
int xsp_op_time_find(uint32_t state, const struct xsprof_device_stubs **stubs) XSP_HIDDEN;
/* The session of that number begins, or ends: then what is open stays without a time. */
void xsp_op_time_begin(const struct xsprof_device_stubs *stubs, uint32_t number) XSP_HIDDEN;
void xsp_op_time_end(void) XSP_HIDDEN;
/* At the end of the program: no callback is called any more, its code may be gone. */
void xsp_op_time_quit(void) XSP_HIDDEN;
/* In the child of a fork. */
void xsp_op_time_forget(void) XSP_HIDDEN;

/*
 * An op begins: first, before its record is written; then, behind it.  @keep: it is of the
 * session.  Return: what the record is to say of it, 0: it gets no time and there is no second.
 */
uint32_t xsp_op_time_begins(bool keep) XSP_HIDDEN;
void xsp_op_time_began(void) XSP_HIDDEN;
/* Not @now: at a time that is not known, so that it has none on the device. */
void xsp_op_time_ends(bool now) XSP_HIDDEN;

/* Ranges of state PRIVATEUSE1 where it has no other backend. */
void xsp_op_time_push(const char *name) XSP_HIDDEN;
void xsp_op_time_pop(void) XSP_HIDDEN;

#endif /* XSP_PROFILER_OP_TIME_H */
