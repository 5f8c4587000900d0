/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Activities of devices.
 */
#ifndef XSP_RING_ACTIVITY_H
#define XSP_RING_ACTIVITY_H

#include <xsprof/collector.h>

#include "base/own.h"

/* As xsprof_device_activity(), also if its category is not enabled. */
void xsp_device_activity(const struct xsprof_device_activity *a, const struct xsprof_kv *kv,
			 size_t n) XSP_HIDDEN;

#endif /* XSP_RING_ACTIVITY_H */
