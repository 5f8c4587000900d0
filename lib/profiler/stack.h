/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Stacks of ops.
 */
#ifndef XSP_PROFILER_STACK_H
#define XSP_PROFILER_STACK_H

#include "base/own.h"

/* The id of the stack above the caller's frame; XSPROF_STACK_MISSED without room. */
uint32_t xsp_stack_here(void *frame, void *caller) XSP_HIDDEN;

#endif /* XSP_PROFILER_STACK_H */
