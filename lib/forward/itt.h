/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Forwards ranges to a tool that implements ITT; @id as xsp_mirror_push().  Return: the level or 0,
 * or -errno.
 */
#ifndef XSP_FORWARD_ITT_H
#define XSP_FORWARD_ITT_H

#include <xsprof/mirror.h>

#include "base/own.h"

int xsp_itt_push(const char *name, uint32_t id) XSP_HIDDEN;
int xsp_itt_pop(void) XSP_HIDDEN;

#endif /* XSP_FORWARD_ITT_H */
