/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Which ops are recorded, and with which details, for a session, a recorder, or another tool.
 */
#ifndef XSP_RING_OP_WANTED_H
#define XSP_RING_OP_WANTED_H

#include <xsprof/profiler.h>

#include "ring/state.h"

/* Bits of xsprof_op_wanted above those of scopes. */
#define XSP_OP_DEVICE	(1u << 28)	/* a device adds events to its stream for ops */
#define XSP_OP_OFF	(1u << 29)	/* the session leaves ops out for now, but tracks them */
#define XSP_OP_JOINED	(1u << 30)	/* only ops of threads that have joined the session */
#define XSP_OP_MIRROR	(1u << 31)	/* ops are forwarded */

/* Details recorded of an op: bits of struct xsp_ops.flags. */
#define XSP_OPS_INPUTS	((uint32_t)XSPROF_DETAIL_INPUTS)
#define XSP_OPS_STACK	((uint32_t)XSPROF_DETAIL_STACK)
#define XSP_OPS_MODULES	((uint32_t)XSPROF_DETAIL_MODULES)
#define XSP_OPS_MEMORY	((uint32_t)XSPROF_DETAIL_MEMORY)

/**
 * struct xsp_ops - words read by the path of ops
 * @flags: XSP_OPS_*
 * @session: number of the running session, 0 for none
 * @mirror: tools that ops are forwarded to, XSP_MIRROR_*
 * @mirrored: which ops: bits of xsprof_op_wanted as for the session alone
 */
struct xsp_ops {
	uint32_t	flags;
	uint32_t	session;
	uint32_t	mirror;
	uint32_t	mirrored;
};

extern struct xsp_ops xsp_ops XSP_HIDDEN;

/* Has this thread joined the session? */
static inline bool xsp_op_joined(void)
{
	return xsp_thread.session == __atomic_load_n(&xsp_ops.session, __ATOMIC_RELAXED);
}

void xsp_ops_update(void) XSP_HIDDEN;
/* In a forked child. */
void xsp_ops_child(void) XSP_HIDDEN;
/* The process has become a producer, or found that there is no recorder. */
void xsp_ops_attached(void) XSP_HIDDEN;
/* A session begins, with bits of xsprof_op_wanted; @number 0: it ends. */
void xsp_ops_session(uint32_t number, uint32_t wanted, uint32_t flags, uint32_t mirror) XSP_HIDDEN;
void xsp_ops_toggle(bool on) XSP_HIDDEN;
/* @mine: the producer exists for sessions only, without a recorder; applied at the next update. */
void xsp_ops_producer(bool mine) XSP_HIDDEN;

#endif /* XSP_RING_OP_WANTED_H */
