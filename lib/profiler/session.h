/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The session: begin, join, toggle, end; for the layers above.
 */
#ifndef XSP_PROFILER_SESSION_H
#define XSP_PROFILER_SESSION_H

#include <xsprof/result.h>

#include "base/own.h"
#include "profiler/recorder.h"

/*
 * The kind of caller: set around each call of an on-demand client, in its thread. The program
 * cannot end a session that the library's own client began.
 */
enum xsp_session_caller {
	XSP_CALLER_PROGRAM = 0,
	XSP_CALLER_CLIENT,	/* registered by the program */
	XSP_CALLER_LIBRARY,	/* the library's own */
};

extern __thread enum xsp_session_caller xsp_session_caller
	__attribute__((tls_model("initial-exec"))) XSP_HIDDEN;

/*
 * Checks and copies a configuration of any version; @to points to @experimental. Memory that they
 * point to stays the caller's.
 */
int xsp_session_copy(const struct xsprof_profiler_config *config,
		     struct xsprof_profiler_config *to, struct xsprof_experimental *experimental)
	XSP_HIDDEN;
/* What a session of @state needs: a recorder; XSP_MIRROR_...; and, by its @config, XSP_OPS_... */
bool xsp_session_records(uint32_t state) XSP_HIDDEN;
uint32_t xsp_session_mirror(uint32_t state) XSP_HIDDEN;
uint32_t xsp_session_flags(const struct xsprof_profiler_config *config) XSP_HIDDEN;

/* The program's function for a finished result; zeros: none. */
struct xsp_finish {
	int	(*each)(void *data, struct xsprof_profiler_event *ev);
	void	*data;
};

/*
 * Like the public functions, without the schedule. @finish: set to the function for
 * xsp_session_finish(); NULL: not wanted.
 */
int xsp_session_begin(const struct xsprof_profiler_config *config, uint32_t activities,
		      uint32_t scopes) XSP_HIDDEN;
int xsp_session_end(struct xsprof_result **result, struct xsp_finish *finish) XSP_HIDDEN;
/*
 * Called without a lock; @result may be NULL. Return: 0; the result of the program's function;
 * -errno.
 */
int xsp_session_finish(struct xsprof_result *result, const struct xsp_finish *finish) XSP_HIDDEN;
/* The session's result begins here, at the program's step number @step, recorded next. */
void xsp_session_restart(uint64_t step) XSP_HIDDEN;
/* The session ends next, at the begin of the program's step number @step. */
void xsp_session_steps_to(uint64_t step) XSP_HIDDEN;
/*
 * A result of the records so far; the session continues. Return: 0; -ENOENT: no session; as at its
 * end.
 */
int xsp_session_so_far(struct xsprof_result **result) XSP_HIDDEN;
/*
 * Losses of the latest result of a session requested from outside. Called by the thread that
 * requests these results: no other changes them.
 */
void xsp_session_lost(struct xsp_recorder_lost *lost) XSP_HIDDEN;

/*
 * Sets a metadata key of the trace: @json is taken over on success. With @append it is added to a
 * list, and not taken over. Return: 0; -ENOENT: no session; -E2BIG, -ENOMEM, -EEXIST.
 */
int xsp_session_metadata(const char *key, char *json, bool append) XSP_HIDDEN;
/* The sync point at its begin. Return: 0; -ENOENT: no session; -ENODATA: it records nothing. */
int xsp_session_begun(struct xsprof_sync *sync) XSP_HIDDEN;
/* Waits until everything recorded before the call is in its file. */
void xsp_session_catch_up(void) XSP_HIDDEN;

#endif /* XSP_PROFILER_SESSION_H */
