/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Hooks into the life of a process for the layers above.
 */
#ifndef XSP_PROCESS_LIFE_H
#define XSP_PROCESS_LIFE_H

#include <stdbool.h>

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

/**
 * struct xsp_join_hook - who makes the process a producer where nobody records it; static, in the
 * caller
 * @comes: a recorder comes, and what the caller has made gives way.  Return: 0, and until @came
 *	the caller makes nothing; -EINPROGRESS: it is in use
 * @came: that is over, well or not
 * @leaves: the recorder's rings are about to go.  Return: true: the caller goes on with others, as
 *	by xsp_producer_retire()
 * @left: they have gone
 */
struct xsp_join_hook {
	int	(*comes)(void);
	void	(*came)(void);
	bool	(*leaves)(void);
	void	(*left)(void);
};

/**
 * xsp_at_join() - call @hook when a recorder joins or leaves this process
 * @hook: never freed
 *
 * One; the same again does nothing.
 */
void xsp_at_join(const struct xsp_join_hook *hook) XSP_HIDDEN;

/**
 * xsp_producer_retire() - the process is a producer no more, if it is one by a file
 * @moves: the caller makes it one of another file next, or calls xsp_producer_stay(): records are
 *	counted until then, and those of the old file stay until xsp_retired_read()
 *
 * Where a recorder has made it one, what is asked for is what was before it came.
 *
 * What leads to its memory stays: markers under way in other threads may still write there.
 */
void xsp_producer_retire(bool moves) XSP_HIDDEN;
/* There is no other file to move to: markers are off. */
void xsp_producer_stay(void) XSP_HIDDEN;

#endif /* XSP_PROCESS_LIFE_H */
