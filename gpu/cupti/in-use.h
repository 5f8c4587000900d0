/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * How much of a device's memory is in use: see in-use.c.
 */
#ifndef XSPROF_CUPTI_IN_USE_H
#define XSPROF_CUPTI_IN_USE_H

#include "gpu/cupti/local.h"

/* How much is in use after an allocation or a free: nothing of a device is; known; not known. */
enum cupti_use { CUPTI_USE_NONE, CUPTI_USE_KNOWN, CUPTI_USE_UNKNOWN };

enum cupti_use cupti_in_use(const struct cupti_memory *memory, uint64_t *bytes);
/* @now: ns; what was allocated before does not count, nor does its free. */
void cupti_in_use_anew(uint64_t now);

#endif /* XSPROF_CUPTI_IN_USE_H */
