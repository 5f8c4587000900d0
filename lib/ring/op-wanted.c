// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Which ops are recorded, and with which details: the union of what a session, a recorder and
 * forwarding to another tool want. Owns the word that every op tests.
 */
#include "ring/op-wanted.h"

uint32_t xsprof_op_wanted;
uint32_t xsprof_op_details;
struct xsp_ops xsp_ops;

static struct {
	uint32_t	wanted;		/* by the session */
	uint32_t	flags;
	uint32_t	number;
	uint32_t	mirror;
	bool		off;		/* switched off by the session for now */
} session;

static bool sessions_producer;
static bool recorded;		/* a recorder records ops */
static bool inherited;		/* the parent's were: the first op attaches */

/**
 * xsp_ops_update() - recompute the word after a change
 *
 * With a recorder all ops are wanted, whatever a session leaves out; the session's result leaves
 * these out itself.
 */
void xsp_ops_update(void)
{
	uint32_t wanted = session.wanted, flags = session.flags, own;

	/* Ops still take the path, so that their ends match begins when it is on again. */
	if (session.off) {
		wanted = (wanted & ~XSPROF_OP_ALL) | XSP_OP_OFF;
		flags = 0;
	}
	own = wanted;
	recorded = inherited || (xsp_attached() && !sessions_producer);
	__atomic_store_n(&xsprof_op_details, flags | (recorded ? XSPROF_DETAIL_RECORDER : 0),
			 __ATOMIC_RELAXED);
	if (recorded) {
		wanted |= XSPROF_OP_ALL;
		wanted &= ~XSP_OP_JOINED;
		flags |= XSP_OPS_INPUTS | XSP_OPS_MODULES | XSP_OPS_MEMORY;
	}
	__atomic_store_n(&xsp_ops.flags, flags, __ATOMIC_RELAXED);
	__atomic_store_n(&xsp_ops.session, session.number, __ATOMIC_RELAXED);
	__atomic_store_n(&xsp_ops.mirror, session.mirror, __ATOMIC_RELAXED);
	__atomic_store_n(&xsp_ops.mirrored, own, __ATOMIC_RELAXED);
	/*
	 * Ops load these words relaxed: an op that sees an old word beside a new one runs
	 * concurrently with the change, and is recorded with more or fewer details. Threads join a
	 * session through its lock, which orders everything stored before.
	 */
	__atomic_store_n(&xsprof_op_wanted, wanted, __ATOMIC_RELEASE);
}

void xsp_ops_session(uint32_t number, uint32_t wanted, uint32_t flags, uint32_t mirror)
{
	session.number = number;
	session.wanted = wanted;
	session.flags = flags;
	session.mirror = mirror;
	session.off = false;
	xsp_ops_update();
}

/*
 * A forked child has no session; its parent's recorder may record it too. Until it is a producer,
 * ops must take the slow path to make it one, as markers do.
 */
void xsp_ops_child(void)
{
	inherited = recorded;
	xsp_ops_session(0, 0, 0, 0);
}

void xsp_ops_attached(void)
{
	inherited = false;
	xsp_ops_update();
}

void xsp_ops_toggle(bool on)
{
	session.off = !on;
	xsp_ops_update();
}

void xsp_ops_producer(bool mine)
{
	sessions_producer = mine;
}
