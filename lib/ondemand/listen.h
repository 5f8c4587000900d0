/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The control page through which `xsprof ctl` requests traces of this process.
 */
#ifndef XSP_ONDEMAND_LISTEN_H
#define XSP_ONDEMAND_LISTEN_H

#include "base/own.h"

int xsp_listen_open(void) XSP_HIDDEN;
void xsp_listen_check(void) XSP_HIDDEN;
void xsp_listen_run(void) XSP_HIDDEN;
void xsp_listen_tell(void) XSP_HIDDEN;
void xsp_listen_close(void) XSP_HIDDEN;
void xsp_listen_forget(void) XSP_HIDDEN;
void xsp_listen_drop(void) XSP_HIDDEN;

#endif /* XSP_ONDEMAND_LISTEN_H */
