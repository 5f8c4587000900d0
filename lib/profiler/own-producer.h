/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The producer that a process makes of itself for its sessions, where it has no recorder.
 */
#ifndef XSP_PROFILER_OWN_PRODUCER_H
#define XSP_PROFILER_OWN_PRODUCER_H

#include <stdbool.h>

#include <xsprof/profiler.h>

#include "base/own.h"

/* Makes one where the process is no producer.  Return: 0; 1 it is a new one; -errno. */
int xsp_own_producer_find(const struct xsprof_profiler_config *config) XSP_HIDDEN;
/* The same for a session that begins later: until then it is paused. */
int xsp_own_producer_prepare(const struct xsprof_profiler_config *config) XSP_HIDDEN;
bool xsp_own_producer_exists(void) XSP_HIDDEN;
/* Has the recorder gone without telling this process so? */
bool xsp_own_producer_needed(void) XSP_HIDDEN;
/* Between sessions; nothing where there is none. */
int xsp_own_producer_pause(bool on) XSP_HIDDEN;
/*
 * The last session's records were saved by the user: the rest need not be kept if the program is
 * killed.
 */
void xsp_own_producer_saved(void) XSP_HIDDEN;
/* A recorder comes: it makes the process a producer, and not for sessions any more. */
void xsp_own_producer_yield(void) XSP_HIDDEN;
/* In a forked child: drops the parent's state. */
void xsp_own_producer_forget(void) XSP_HIDDEN;
/* At the end of the program. */
void xsp_own_producer_exit(void) XSP_HIDDEN;

#endif /* XSP_PROFILER_OWN_PRODUCER_H */
