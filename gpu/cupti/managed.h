/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Unified memory: the driver's counters for it are configured once CUDA is initialised.
 */
#ifndef XSPROF_CUPTI_MANAGED_H
#define XSPROF_CUPTI_MANAGED_H

#include "gpu/cupti/local.h"

void cupti_managed_init(void);
/* To be called when CUPTI is attached: asks for a callback at the end of cuInit(). */
void cupti_managed_attach(void *subscriber);
/* Begins to record what the user wants, now or as soon as CUDA is ready. */
void cupti_managed_on(void);
/* Called by the collector's thread from time to time: tries again if CUDA was not ready. */
void cupti_managed_later(void);
/* CUPTI's callback at the end of cuInit(), in a thread of the program. */
void cupti_managed_ready(void);
void cupti_managed_off(void);
/* Does the driver count now, which slows it down? */
bool cupti_managed_configured(void);
/* Ends that for good; to be called after cupti_managed_off(). */
void cupti_managed_drop(void);
/* To be called when recording stops, before cupti_managed_off(): tells if it never began. */
void cupti_managed_end(void);
void cupti_managed(const struct cupti_managed *managed);

#endif /* XSPROF_CUPTI_MANAGED_H */
