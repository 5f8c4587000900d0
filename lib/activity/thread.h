/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The threads of collectors.
 */
#ifndef XSP_ACTIVITY_THREAD_H
#define XSP_ACTIVITY_THREAD_H

#include "base/own.h"

/**
 * xsp_collectors_flush() - have all collectors write what they know by now
 *
 * Waits for them, for a second at most.  When a session has begun, so that they have as well; and
 * before it ends, while it still records.
 */
void xsp_collectors_flush(void) XSP_HIDDEN;

#endif /* XSP_ACTIVITY_THREAD_H */
