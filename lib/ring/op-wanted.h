/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Which ops are recorded, and what of them, for a session, a recorder, or another tool.
 */
#ifndef XSP_RING_OP_WANTED_H
#define XSP_RING_OP_WANTED_H

#include <xsprof/profiler.h>

#include "ring/state.h"

/* Bits of xsprof_op_wanted above those of scopes. */
#define XSP_OP_DEVICE	(1u << 28)	/* a device puts events into its stream for them */
#define XSP_OP_OFF	(1u << 29)	/* a session leaves them out for now, and keeps account */
#define XSP_OP_JOINED	(1u << 30)	/* of threads that have joined the session, and no others */
#define XSP_OP_MIRROR	(1u << 31)	/* ops are forwarded */

/* Of an op what is kept: bits of struct xsp_ops.flags. */
#define XSP_OPS_INPUTS	((uint32_t)XSPROF_DETAIL_INPUTS)
#define XSP_OPS_STACK	((uint32_t)XSPROF_DETAIL_STACK)
#define XSP_OPS_MODULES	((uint32_t)XSPROF_DETAIL_MODULES)
#define XSP_OPS_MEMORY	((uint32_t)XSPROF_DETAIL_MEMORY)

/**
 * struct xsp_ops - what the path of ops looks at
 * @flags: XSP_OPS_*
 * @session: number of the session that runs, 0 for none
 * @mirror: where ops are forwarded to, XSP_MIRROR_*
 * @mirrored: which: bits of xsprof_op_wanted as the session alone would have them
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
/* In the child of a fork. */
void xsp_ops_child(void) XSP_HIDDEN;
/* The process is a producer, or nobody records it. */
void xsp_ops_attached(void) XSP_HIDDEN;
/* A session begins, with bits of xsprof_op_wanted; @number 0: it ends. */
void xsp_ops_session(uint32_t number, uint32_t wanted, uint32_t flags, uint32_t mirror) XSP_HIDDEN;
void xsp_ops_toggle(bool on) XSP_HIDDEN;
/* @mine: the producer is there for sessions alone, no recorder's; from the next update on. */
void xsp_ops_producer(bool mine) XSP_HIDDEN;

#endif /* XSP_RING_OP_WANTED_H */
