/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Moments in the life of a process that who stands above may want to know of.
 */
#ifndef XSP_PROCESS_LIFE_H
#define XSP_PROCESS_LIFE_H

#include "base/own.h"

/**
 * xsp_at_fork() - call @forget in every child of a fork, before its first record
 * @forget: forgets what was the parent's; signal-safe
 *
 * In the order of these calls, each function once however often it is given.  There is room for
 * the library's own, and for no others.  Signal-safe.
 */
void xsp_at_fork(void (*forget)(void)) XSP_HIDDEN;

/**
 * xsp_at_exit() - call @end when the program ends, while records still go in
 * @end: as for atexit(); it is not called in the child of a fork that forgot it
 *
 * One function; the same again does nothing.
 */
void xsp_at_exit(void (*end)(void)) XSP_HIDDEN;

#endif /* XSP_PROCESS_LIFE_H */
