/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What programs that recorded themselves, or were profiled, left on tmpfs when they were killed.
 */
#ifndef XSP_LEFTOVER_H
#define XSP_LEFTOVER_H

#include <stdbool.h>

/**
 * xsp_leftover_free - free what killed programs of this user left and had saved before
 * @recorded: of programs that recorded themselves too: `xsprof recover` can write no end into their
 *	files any more
 *
 * Of their rings the memory is freed whose records are in their files; one with nothing else in it
 * is removed, and so is that of a program that was in no profiling session, its last one having
 * ended some minutes ago: it has been given all of it.  What is not saved stays for `xsprof
 * recover`.  Nothing of a living process is touched, nor of a recorder's.
 */
void xsp_leftover_free(bool recorded);

#endif /* XSP_LEFTOVER_H */
