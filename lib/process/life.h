/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Moments in the life of a process that who stands above may want to know of.
 */
#ifndef XSP_PROCESS_LIFE_H
#define XSP_PROCESS_LIFE_H

#include "base/own.h"

/**
 * struct xsp_fork_hook - what a child of a fork has to do; static, in the caller
 * @forget: forgets what was the parent's; signal-safe
 * @next: the list's
 */
struct xsp_fork_hook {
	void			(*forget)(void);
	struct xsp_fork_hook	*next;
};

/**
 * xsp_at_fork() - call @hook->forget in every child of a fork, before its first record
 * @hook: never freed
 *
 * In the order of these calls, each hook once however often it is given.  Signal-safe.
 */
void xsp_at_fork(struct xsp_fork_hook *hook) XSP_HIDDEN;

/**
 * xsp_at_exit() - call @end when the program ends, while records still go in
 * @end: as for atexit(); it is not called in the child of a fork that forgot it
 *
 * One function; the same again does nothing.
 */
void xsp_at_exit(void (*end)(void)) XSP_HIDDEN;

#endif /* XSP_PROCESS_LIFE_H */
