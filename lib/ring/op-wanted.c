// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Which ops are recorded, and what of them: the sum of what a session, a recorder and forwarding to
 * another tool ask for.  Owns the word that every op tests.
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
	bool		off;		/* toggled */
} session;

static bool sessions_producer;
static bool recorded;		/* ops are, for a recorder */
static bool inherited;		/* so were the parent's: the first op makes us a producer */

/**
 * xsp_ops_update() - after a change of any of these
 *
 * With a recorder all ops are wanted, whatever a session leaves out of them; the session's result
 * leaves that out by itself.
 */
void xsp_ops_update(void)
{
	uint32_t wanted = session.wanted, flags = session.flags, own;

	/* Ops go on to be seen, so that ends find their own begins when it is on again. */
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
	 * Ops load all of these relaxed: one that sees an old word beside a new one is one that
	 * runs at the same time as the change, and is kept with more or less of it.  Who joins a
	 * session, or is in one, has come by its lock, which orders all that was stored before.
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
 * The child of a fork has no session; what its parent had a recorder for goes on.  Until it is a
 * producer itself, ops have to come as far as a marker does to make it one.
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
