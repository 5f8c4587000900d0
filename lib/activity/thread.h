/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Threads of collectors.
 */
#ifndef XSP_ACTIVITY_THREAD_H
#define XSP_ACTIVITY_THREAD_H

#include "base/own.h"

/**
 * xsp_collectors_flush() - let all collectors write what they have
 *
 * Waits for them, at most a second. Called when a session has begun, so that collectors have
 * started too, and before it ends, while it still records.
 */
void xsp_collectors_flush(void) XSP_HIDDEN;

#endif /* XSP_ACTIVITY_THREAD_H */
