/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Forwards ranges of the program to other tools.
 */
#ifndef XSP_FORWARD_FORWARD_H
#define XSP_FORWARD_FORWARD_H

#include "base/own.h"

/* Set of tools. */
#define XSP_MIRROR_NVTX		(1u << 0)
#define XSP_MIRROR_ITT		(1u << 1)

void xsp_mirror_push(unsigned int which, const char *name, uint32_t name_id) XSP_HIDDEN;
void xsp_mirror_pop(unsigned int which) XSP_HIDDEN;

#endif /* XSP_FORWARD_FORWARD_H */
