// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Forwards ops of a session to another tool, or to a backend registered by the program. Owns the
 * backend, and the record of which open ops of a thread were forwarded.
 */
#include <errno.h>
#include <string.h>

#include "forward/forward.h"
#include "profiler/op-mirror.h"
#include "profiler/op-time.h"
#include "ring/op-wanted.h"

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
 * Which open ops of the thread were forwarded in this session, as a stack of bits, innermost
 * lowest. Ops nested deeper than its bits are treated like the last one it covers.
 */
static __thread struct {
	uint64_t	given;
	uint32_t	deep;
	uint32_t	session;
} mine __attribute__((tls_model("initial-exec")));

/* Does the session itself want the op, whatever a recorder wants? */
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

	/* Ends of ops that were open at the end of another session do not belong to this one. */
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
		xsp_op_time_push(name);
}

void xsp_ops_unmirror(void)
{
	const struct xsprof_profiler_backend *b = __atomic_load_n(&backend, __ATOMIC_ACQUIRE);
	uint32_t to = __atomic_load_n(&xsp_ops.mirror, __ATOMIC_RELAXED);
	bool given;

	/* The op began before the session. */
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
		xsp_op_time_pop();
}
