/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The library's thread that traces are asked for from.
 */
#ifndef XSP_ONDEMAND_ONDEMAND_H
#define XSP_ONDEMAND_ONDEMAND_H

#include "base/demand-page.h"
#include "base/own.h"

/* The program's next iteration begins; in its own thread, of each step. */
void xsp_ondemand_step(void) XSP_HIDDEN;

#endif /* XSP_ONDEMAND_ONDEMAND_H */
