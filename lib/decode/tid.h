/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Numbers of threads in outputs, in addition to the public header.
 */
#ifndef XST_TID_H
#define XST_TID_H

#include <xsprof/trace.h>

#define XST_TID_APART	(1u << 23)	/* Linux has 2^22 threads */

/*
 * The number of a process' thread in an output that may also show the kernel's events: the kernel's
 * if it is known, else the program's. If another thread of the process has that number from the
 * kernel, the program's + XST_TID_APART: viewers would take both for one thread.
 */
uint32_t xst_tid_shown(const struct xsprof_trace *trace, uint32_t producer, uint32_t tid);

#endif /* XST_TID_H */
