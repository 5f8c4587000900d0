/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The futex word on which the library's thread sleeps: that of the control page, or its own if
 * there is no page.
 */
#ifndef XSP_ONDEMAND_BELL_H
#define XSP_ONDEMAND_BELL_H

#include "base/own.h"

/* @bell: the page's word; NULL: our own. */
void xsp_bell_set(uint32_t *bell) XSP_HIDDEN;
uint32_t xsp_bell_read(void) XSP_HIDDEN;
void xsp_bell_wait(uint32_t seen, int64_t ms) XSP_HIDDEN;
/* Wakes the thread to look for work now. Callable from any thread. */
void xsp_ondemand_wake(void) XSP_HIDDEN;

#endif /* XSP_ONDEMAND_BELL_H */
