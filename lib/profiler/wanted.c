// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Who wants ops, and what of them: a session, a recorder, a tool that listens to another
 * interface.  Owns the word that every op tests.
 */
#include <errno.h>
#include <string.h>

#include "profiler/op-time.h"
#include "profiler/session.h"

uint32_t xsprof_op_wanted;

static struct {
	uint32_t	wanted;		/* by the session */
	uint32_t	flags;
	uint32_t	number;
	uint32_t	mirror;
	bool		off;		/* toggled */
} session;

/**
 * xsp_ops_update() - after anything has changed of who wants ops
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
	if (xsp_attached() && !xsp_recorder_is_own()) {
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

void xsp_ops_toggle(bool on)
{
	session.off = !on;
	xsp_ops_update();
}

/* ---- mirrors -------------------------------------------------------------------------------- */

static const struct xsprof_profiler_backend *backend;

int xsprof_profiler_register_backend(const struct xsprof_profiler_backend *ops)
{
	if (ops && (ops->size < sizeof(*ops) || !ops->range_push || !ops->range_pop))
		return -EINVAL;
	__atomic_store_n(&backend, ops, __ATOMIC_RELEASE);
	return 0;
}

bool xsp_ops_has_backend(void)
{
	return __atomic_load_n(&backend, __ATOMIC_RELAXED);
}

/*
 * Which of the thread's open ops were given away in this session, as a stack of bits, innermost
 * lowest.  Those that are deeper than it reaches are as the last that it reaches was.
 */
static __thread struct {
	uint64_t	given;
	uint32_t	deep;
	uint32_t	session;
} mine __attribute__((tls_model("initial-exec")));

/* The session's own, whatever a recorder wants beside it. */
bool xsp_ops_sessions_own(const struct xsprof_op *op)
{
	uint32_t wanted = __atomic_load_n(&xsp_ops.mirrored, __ATOMIC_RELAXED);

	return op->scope < XSPROF_OP_SCOPES && wanted >> op->scope & 1 &&
	       (!(wanted & XSP_OP_JOINED) || xsp_op_joined());
}

void xsp_ops_mirror(const struct xsprof_op *op)
{
	const struct xsprof_profiler_backend *b = __atomic_load_n(&backend, __ATOMIC_ACQUIRE);
	uint32_t to = __atomic_load_n(&xsp_ops.mirror, __ATOMIC_RELAXED), len;
	uint32_t session_now = __atomic_load_n(&xsp_ops.session, __ATOMIC_RELAXED);
	bool give = xsp_ops_sessions_own(op);
	char name[XSPROF_TEXT_MAX + 1];
	const char *text;

	/* Ends of ops that were open at the end of another session are not of this one. */
	if (mine.session != session_now) {
		mine.session = session_now;
		mine.deep = 0;
		mine.given = 0;
	}
	if (mine.deep++ < 64)
		mine.given = mine.given << 1 | give;
	if (!(mine.given & 1))
		return;
	if (to != XSP_MIRROR_BACKEND) {
		xsp_mirror_push(to, NULL, op->name);
		return;
	}
	text = xsp_name_text(op->name, &len);
	memcpy(name, text, len);
	name[len] = '\0';
	if (b)
		b->range_push(b->data, name);
	else
		xsp_device_push(name);
}

void xsp_ops_unmirror(void)
{
	const struct xsprof_profiler_backend *b = __atomic_load_n(&backend, __ATOMIC_ACQUIRE);
	uint32_t to = __atomic_load_n(&xsp_ops.mirror, __ATOMIC_RELAXED);
	bool given;

	/* The end of one that began before the session. */
	if (mine.session != __atomic_load_n(&xsp_ops.session, __ATOMIC_RELAXED))
		return;
	if (!mine.deep)
		return;
	given = mine.given & 1;
	if (--mine.deep < 64)
		mine.given >>= 1;
	if (!given)
		return;
	if (to != XSP_MIRROR_BACKEND)
		xsp_mirror_pop(to);
	else if (b)
		b->range_pop(b->data);
	else
		xsp_device_pop();
}
