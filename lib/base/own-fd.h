/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Descriptors that the library keeps open inside a foreign program. Programs close descriptors that
 * they do not know and reuse their numbers: a kept descriptor is recognised by its file, has a high
 * number, and is closed in forked children.
 *
 * Tools use the same code and keep nothing: all descriptors there are their own.
 */
#ifndef XSP_BASE_OWN_FD_H
#define XSP_BASE_OWN_FD_H

#include <stdbool.h>

#include "base/own.h"

/*
 * Gives the calling thread a descriptor table of its own: the inherited descriptors of the program
 * are closed, except @fd. From then on the functions below do nothing special in this thread, as
 * the program cannot reach its descriptors and forked children do not inherit them. Return: false
 * if the kernel cannot: the table is shared as before.
 */
bool xsp_fd_private(int fd) XSP_HIDDEN;
bool xsp_fd_is_private(void) XSP_HIDDEN;
/* Moves @fd to a kept number. Return: the new number; @fd if it is negative; -EMFILE. */
int xsp_fd_keep(int fd) XSP_HIDDEN;
/* Is @fd still ours? True also for a number that was not kept. */
bool xsp_fd_ours(int fd) XSP_HIDDEN;
/* @fd is no longer kept: it belongs to the caller. */
void xsp_fd_release(int fd) XSP_HIDDEN;
/* Closes @fd unless the program has closed ours already. */
void xsp_fd_close(int fd) XSP_HIDDEN;
/* In a forked child: closes all kept descriptors. Signal-safe. */
void xsp_fd_forget(void) XSP_HIDDEN;

#endif /* XSP_BASE_OWN_FD_H */
