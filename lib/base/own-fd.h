/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Descriptors that the library keeps open inside a foreign program.  Programs close descriptors
 * that they do not know, and use their numbers again: what is kept here is known by its file, is
 * out of the way of low numbers, and goes in the child of a fork.
 *
 * Tools use the same code and keep nothing: there every descriptor is ours.
 */
#ifndef XSP_BASE_OWN_FD_H
#define XSP_BASE_OWN_FD_H

#include <stdbool.h>

#include "base/own.h"

/*
 * The calling thread gets descriptors of its own: those of the program that it has been given are
 * closed, but @fd.  From now on the functions below are plain in it, for nothing of the program
 * reaches what it opens, nor do children of forks get it.
 * Return: false where the kernel cannot: they are the program's as before.
 */
bool xsp_fd_private(int fd) XSP_HIDDEN;
bool xsp_fd_is_private(void) XSP_HIDDEN;
/* Return: the number that @fd has from now on; @fd where it is negative; -EMFILE. */
int xsp_fd_keep(int fd) XSP_HIDDEN;
/* Is it still ours: what was kept under this number, or nothing that was kept? */
bool xsp_fd_ours(int fd) XSP_HIDDEN;
/* It is the caller's from now on. */
void xsp_fd_release(int fd) XSP_HIDDEN;
/* Closes @fd unless the program has closed ours. */
void xsp_fd_close(int fd) XSP_HIDDEN;
/* In the child of a fork: closes all that is kept.  Signal-safe. */
void xsp_fd_forget(void) XSP_HIDDEN;

#endif /* XSP_BASE_OWN_FD_H */
