/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The library's thread that serves requests for traces.
 */
#ifndef XSP_ONDEMAND_ONDEMAND_H
#define XSP_ONDEMAND_ONDEMAND_H

#include "base/demand-page.h"
#include "base/own.h"

/* The program's next iteration begins; called in its thread at each step. */
void xsp_ondemand_step(void) XSP_HIDDEN;

#endif /* XSP_ONDEMAND_ONDEMAND_H */
