/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The session: begun, joined, toggled, ended, as what stands above drives it.
 */
#ifndef XSP_PROFILER_SESSION_H
#define XSP_PROFILER_SESSION_H

#include <xsprof/result.h>

#include "base/own.h"
#include "profiler/recorder.h"

/*
 * Who calls: set around each call of a client that records on demand, in its thread.  A session
 * that the library's own client began is not the program's to end.
 */
enum xsp_session_caller {
	XSP_CALLER_PROGRAM = 0,
	XSP_CALLER_CLIENT,	/* that the program has registered */
	XSP_CALLER_LIBRARY,	/* the library's own */
};

extern __thread enum xsp_session_caller xsp_session_caller
	__attribute__((tls_model("initial-exec"))) XSP_HIDDEN;

/*
 * A configuration of any version, checked; @to points to @experimental.  What they point to stays
 * the caller's.
 */
int xsp_session_copy(const struct xsprof_profiler_config *config,
		     struct xsprof_profiler_config *to, struct xsprof_experimental *experimental)
	XSP_HIDDEN;
/* What a session of @state wants: a recorder; XSP_MIRROR_...; and XSP_OPS_... by its @config. */
bool xsp_session_records(uint32_t state) XSP_HIDDEN;
uint32_t xsp_session_mirror(uint32_t state) XSP_HIDDEN;
uint32_t xsp_session_flags(const struct xsprof_profiler_config *config) XSP_HIDDEN;

/* What the program does with a result before it gets it; zeros: nothing. */
struct xsp_finish {
	int	(*each)(void *data, struct xsprof_profiler_event *ev);
	void	*data;
};

/*
 * As the public functions, without a look at schedules.  @finish: set to what is to be done with
 * the result then, xsp_session_finish(); NULL: it is known, or not wanted.
 */
int xsp_session_begin(const struct xsprof_profiler_config *config, uint32_t activities,
		      uint32_t scopes) XSP_HIDDEN;
int xsp_session_end(struct xsprof_result **result, struct xsp_finish *finish) XSP_HIDDEN;
/* Without a lock; @result may be NULL.  0 or what the program's function returned, or -errno. */
int xsp_session_finish(struct xsprof_result *result, const struct xsp_finish *finish) XSP_HIDDEN;
/* It begins here, with that step of the program, which is marked next. */
void xsp_session_restart(uint64_t step) XSP_HIDDEN;
/* It ends next, where that step of the program begins. */
void xsp_session_steps_to(uint64_t step) XSP_HIDDEN;
/* What the session has recorded by now; it goes on.  Return: 0; -ENOENT: none runs; as its end. */
int xsp_session_so_far(struct xsprof_result **result) XSP_HIDDEN;
/*
 * What the latest result lacks of a session that was asked for from outside.  By who asks for
 * these results: nobody else changes it.
 */
void xsp_session_lost(struct xsp_recorder_lost *lost) XSP_HIDDEN;

/*
 * A key of the trace's own: @json is taken over when it is set, and only then.  To be appended to
 * a list it is only looked at.  Return: 0; -ENOENT: no session runs; -E2BIG, -ENOMEM, -EEXIST.
 */
int xsp_session_metadata(const char *key, char *json, bool append) XSP_HIDDEN;
/* All clocks at its begin.  Return: 0; -ENOENT: none runs; -ENODATA: it records nothing. */
int xsp_session_begun(struct xsprof_sync *sync) XSP_HIDDEN;
/* All that was recorded before the call is in its file. */
void xsp_session_catch_up(void) XSP_HIDDEN;

#endif /* XSP_PROFILER_SESSION_H */
