/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The recorder's session that this process may join: a directory on tmpfs.
 */
#ifndef XSP_PROCESS_JOIN_H
#define XSP_PROCESS_JOIN_H

#include "base/own.h"

int xsp_recording_join(const char *path) XSP_HIDDEN;
void xsp_recording_keep(const char *path, int dir) XSP_HIDDEN;
int xsp_recording_complain(const char *session, int err) XSP_HIDDEN;
int xsp_recording_live(const char *session) XSP_HIDDEN;
void xsp_recording_note(const char *session, const char *text) XSP_HIDDEN;

#endif /* XSP_PROCESS_JOIN_H */
