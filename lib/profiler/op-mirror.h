/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Forwards ops of a session to another tool or to a backend registered by the program.
 */
#ifndef XSP_PROFILER_OP_MIRROR_H
#define XSP_PROFILER_OP_MIRROR_H

#include <xsprof/profiler.h>

#include "base/own.h"

/* The callbacks of a backend; the other bits are in forward.h. */
#define XSP_MIRROR_BACKEND	(1u << 8)

/* An op begins; the last one ends. Forwards it if a session asks for that. */
void xsp_ops_mirror(const struct xsprof_op *op) XSP_HIDDEN;
void xsp_ops_unmirror(void) XSP_HIDDEN;
bool xsp_ops_sessions_own(const struct xsprof_op *op) XSP_HIDDEN;
/* Has the program registered a backend? */
bool xsp_ops_has_backend(void) XSP_HIDDEN;

#endif /* XSP_PROFILER_OP_MIRROR_H */
