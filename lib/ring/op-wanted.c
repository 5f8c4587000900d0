// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Which ops are recorded, and with which details: the union of what a session, a recorder and
 * forwarding to another tool want. Owns the word that every op tests.
 */
#include "ring/op-wanted.h"

uint32_t xsprof_op_wanted;
uint32_t xsprof_op_details;
struct xsp_ops xsp_ops;

/*
 * Written by the session under its lock. The words below are written by the thread that makes the
 * process a producer, and by the one that ends that; each of these threads may update.
 */
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
static uint32_t changes;

#define GET(var)	__atomic_load_n(&(var), __ATOMIC_RELAXED)
#define SET(var, value)	__atomic_store_n(&(var), value, __ATOMIC_RELAXED)

static void update(void)
{
	uint32_t wanted = GET(session.wanted), flags = GET(session.flags), own;
	bool by_recorder = GET(inherited) || (xsp_attached() && !GET(sessions_producer));

	/* Ops still take the path, so that their ends match begins when it is on again. */
	if (GET(session.off)) {
		wanted = (wanted & ~XSPROF_OP_ALL) | XSP_OP_OFF;
		flags = 0;
	}
	own = wanted;
	SET(recorded, by_recorder);
	SET(xsprof_op_details, flags | (by_recorder ? XSPROF_DETAIL_RECORDER : 0));
	if (by_recorder) {
		wanted |= XSPROF_OP_ALL;
		wanted &= ~XSP_OP_JOINED;
		flags |= XSP_OPS_INPUTS | XSP_OPS_MODULES | XSP_OPS_MEMORY;
	}
	SET(xsp_ops.flags, flags);
	SET(xsp_ops.session, GET(session.number));
	SET(xsp_ops.mirror, GET(session.mirror));
	SET(xsp_ops.mirrored, own);
	/*
	 * Ops load these words relaxed: an op that sees an old word beside a new one runs
	 * concurrently with the change, and is recorded with more or fewer details. Threads join a
	 * session through its lock, which orders everything stored before.
	 */
	__atomic_store_n(&xsprof_op_wanted, wanted, __ATOMIC_RELEASE);
}

/**
 * xsp_ops_update() - recompute the words after a change
 *
 * With a recorder all ops are wanted, whatever a session leaves out; the session's result leaves
 * these out itself. Signal-safe, as a handler's marker may attach the process: so without a lock.
 */
void xsp_ops_update(void)
{
	uint32_t seen;

	/* Release: a thread that sees the number sees the change. */
	__atomic_add_fetch(&changes, 1, __ATOMIC_RELEASE);
	do {
		/*
		 * Two threads may store at the same time, and words of the earlier change may be
		 * the last ones. The fences, before the stores and after them, see to it that the
		 * thread whose stores come last then sees the number of the other, and stores
		 * again.
		 */
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		seen = __atomic_load_n(&changes, __ATOMIC_ACQUIRE);
		update();
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	} while (GET(changes) != seen);
}

void xsp_ops_session(uint32_t number, uint32_t wanted, uint32_t flags, uint32_t mirror)
{
	SET(session.number, number);
	SET(session.wanted, wanted);
	SET(session.flags, flags);
	SET(session.mirror, mirror);
	SET(session.off, false);
	xsp_ops_update();
}

/*
 * A forked child has no session; its parent's recorder may record it too. Until it is a producer,
 * ops must take the slow path to make it one, as markers do.
 */
void xsp_ops_child(void)
{
	SET(inherited, GET(recorded));
	xsp_ops_session(0, 0, 0, 0);
}

void xsp_ops_attached(void)
{
	SET(inherited, false);
	xsp_ops_update();
}

void xsp_ops_toggle(bool on)
{
	SET(session.off, !on);
	xsp_ops_update();
}

void xsp_ops_producer(bool mine)
{
	SET(sessions_producer, mine);
}
