/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Hooks into the life of a process for the layers above.
 */
#ifndef XSP_PROCESS_LIFE_H
#define XSP_PROCESS_LIFE_H

#include "base/own.h"

/**
 * struct xsp_fork_hook - called in a forked child; static, owned by the caller
 * @forget: drops the parent's state; signal-safe
 * @next: next in the list
 */
struct xsp_fork_hook {
	void			(*forget)(void);
	struct xsp_fork_hook	*next;
};

/**
 * xsp_at_fork() - call @hook->forget in every child of a fork, before its first record
 * @hook: never freed
 *
 * In the order of registration, each hook once however often it is registered. Signal-safe.
 */
void xsp_at_fork(struct xsp_fork_hook *hook) XSP_HIDDEN;

/**
 * xsp_at_exit() - call @end when the program ends, while records are still accepted
 * @end: as for atexit(); not called in a forked child that has dropped it
 *
 * One function only; registering the same again does nothing.
 */
void xsp_at_exit(void (*end)(void)) XSP_HIDDEN;

#endif /* XSP_PROCESS_LIFE_H */
