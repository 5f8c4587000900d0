/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Kinds of device activities: work on a stream, and the calls that start it.
 */
#ifndef XSP_DEVICE_WORK_H
#define XSP_DEVICE_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include <xsprof/record.h>

/* @kind: enum xsprof_gpu_kind */
static inline bool xsp_device_is_work(uint32_t kind)
{
	return (kind >= XSPROF_GPU_KERNEL && kind <= XSPROF_GPU_MEMSET) ||
	       kind == XSPROF_GPU_GRAPH || kind == XSPROF_GPU_CUSTOM;
}

static inline bool xsp_device_is_call(uint32_t kind)
{
	return kind == XSPROF_GPU_RUNTIME || kind == XSPROF_GPU_DRIVER;
}

#endif /* XSP_DEVICE_WORK_H */
