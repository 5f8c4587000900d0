/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The rings that a session reads; the calls of session.c are in recorder.h.
 */
#ifndef XSP_PROFILER_PRODUCER_H
#define XSP_PROFILER_PRODUCER_H

#include <xsprof/profiler.h>

#include "base/own.h"

/*
 * Makes the process a producer if nobody has, or if who has is gone. @moves: a session is running,
 * whose records are counted meanwhile. Return: 0; 1 it is a new one; -errno.
 */
int xsp_own_find(const struct xsprof_profiler_config *config, bool moves) XSP_HIDDEN;
/* Rings of our own are off between sessions. Return: 0 or -errno. */
int xsp_own_pause(bool on) XSP_HIDDEN;
/* Has the recorder gone whose rings the session reads? @calls: counts calls, from 0. */
bool xsp_own_wanted(uint32_t *calls) XSP_HIDDEN;
/* A session begins to read a recorder's rings, or ends to: that leaves them on meanwhile. */
void xsp_own_share(bool on) XSP_HIDDEN;

#endif /* XSP_PROFILER_PRODUCER_H */
