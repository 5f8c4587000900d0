/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What programs that recorded themselves left on tmpfs when they were killed.
 */
#ifndef XSP_LEFTOVER_H
#define XSP_LEFTOVER_H

/**
 * xsp_leftover_free - free what killed programs of this user left and had saved before
 *
 * Of their rings the memory is freed whose records are in their files; one with nothing else in it
 * is removed.  What is not saved stays for `xsprof recover`.  Nothing of a living process is
 * touched, nor of a recorder's.
 */
void xsp_leftover_free(void);

#endif /* XSP_LEFTOVER_H */
