/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What the files of the profiler's session API share: session.c has the session and who is in it,
 * op.c ops on their way into the rings, stack.c their stacks, schedule.c steps, recorder.c what
 * drains the rings into a file of the session's own.
 */
#ifndef XSP_PROFILER_LOCAL_H
#define XSP_PROFILER_LOCAL_H

#include <xsprof/profiler.h>

#include "ring/state.h"

/* Bits of xsprof_op_wanted above those of scopes. */
#define XSP_OP_DEVICE	(1u << 28)	/* a device puts events into its stream for them */
#define XSP_OP_OFF	(1u << 29)	/* a session leaves them out for now, and keeps account */
#define XSP_OP_JOINED	(1u << 30)	/* of threads that have joined the session, and no others */
#define XSP_OP_MIRROR	(1u << 31)	/* somebody else is told of ops */

/* Of an op what is kept: bits of struct xsp_ops.flags. */
#define XSP_OPS_INPUTS	0x1u
#define XSP_OPS_STACK	0x2u
#define XSP_OPS_MODULES	0x4u
#define XSP_OPS_MEMORY	0x8u

/**
 * struct xsp_ops - what the path of ops looks at
 * @flags: XSP_OPS_*
 * @session: number of the session that runs, 0 for none
 * @mirror: whom ops are given to, XSP_MIRROR_*
 * @mirrored: which: bits of xsprof_op_wanted as the session alone would have them
 */
struct xsp_ops {
	uint32_t	flags;
	uint32_t	session;
	uint32_t	mirror;
	uint32_t	mirrored;
};

extern struct xsp_ops xsp_ops XSP_HIDDEN;

/* ---- ops.c: who wants ops, and what of them ---- */
void xsp_ops_update(void) XSP_HIDDEN;
/* A session begins, with bits of xsprof_op_wanted; @number 0: it ends. */
void xsp_ops_session(uint32_t number, uint32_t wanted, uint32_t flags, uint32_t mirror) XSP_HIDDEN;
void xsp_ops_toggle(bool on) XSP_HIDDEN;
/* The op is given to whom it is to be given; the second takes back what the first gave. */
void xsp_ops_mirror(const struct xsprof_op *op) XSP_HIDDEN;
void xsp_ops_unmirror(void) XSP_HIDDEN;
bool xsp_ops_sessions_own(const struct xsprof_op *op) XSP_HIDDEN;
/* Has a backend of one's own registered? */
bool xsp_ops_has_backend(void) XSP_HIDDEN;

/* ---- op.c ---- */

/* Has this thread joined the session? */
static inline bool xsp_op_joined(void)
{
	return xsp_thread.session == __atomic_load_n(&xsp_ops.session, __ATOMIC_RELAXED);
}

/* ---- stack.c ---- */

/* The stack above its caller's frame as an id; where there is no room XSPROF_STACK_MISSED. */
uint32_t xsp_stack_here(void *frame, void *caller) XSP_HIDDEN;
uint64_t xsp_stacks_missed(void) XSP_HIDDEN;
/* The stacks that are known are in another producer's arena, or nobody's. */
void xsp_stacks_forget(void) XSP_HIDDEN;

/* ---- recorder.c ---- */
struct xsp_recorder;

/**
 * xsp_recorder_open() - record this process into a file without a name
 * @out: the recorder
 *
 * Where nobody records it makes the process a producer of its own; else it looks at what goes to
 * whoever does, and takes nothing away from him.
 */
int xsp_recorder_prepare(const struct xsprof_profiler_config *config) XSP_HIDDEN;
/* Is the process a producer because of sessions alone? */
bool xsp_recorder_is_own(void) XSP_HIDDEN;
int xsp_recorder_open(const struct xsprof_profiler_config *config, struct xsp_recorder **out)
	XSP_HIDDEN;
/* The end: the file has all of it.  @fd: its descriptor, the caller's from now on. */
int xsp_recorder_close(struct xsp_recorder *recorder, int *fd) XSP_HIDDEN;
/* What there is so far, in a file of its own; @fd as above.  It goes on. */
int xsp_recorder_copy(struct xsp_recorder *recorder, int *fd) XSP_HIDDEN;
/* All that was recorded before the call is in the file. */
void xsp_recorder_catch_up(struct xsp_recorder *recorder) XSP_HIDDEN;
/* In the child of a fork: what was the parent's. */
void xsp_recorder_forget(struct xsp_recorder *recorder) XSP_HIDDEN;
/* At the end of the program. */
void xsp_recorder_exit(void) XSP_HIDDEN;

/* ---- trace-library.c ---- */
void *xsp_trace_function(const char *name) XSP_HIDDEN;

#endif /* XSP_PROFILER_LOCAL_H */
