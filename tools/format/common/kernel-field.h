/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fields of the kernel's events, for outputs that write each field: the element type of an array,
 * and the extent of a field up to the event's end. No length in the capture is trusted.
 */
#ifndef XSPROF_OUT_KERNEL_FIELD_H
#define XSPROF_OUT_KERNEL_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <xsprof/trace.h>

/* One of the common fields at the begin of every event: outputs have their own names for these. */
bool xsp_field_common(const struct xsprof_kernel_field *field);

/* Bytes of an element of an array of numbers; 0: the element type is not known. */
uint32_t xsp_field_width(const struct xsprof_kernel_field *field);

/* Like xsprof_kernel_bytes(); a field without a size extends to the event's end. */
const char *xsp_field_bytes(const struct xsprof_event *ev, const struct xsprof_kernel_field *field,
			    size_t *len);

/* Element @i of @width bytes; a signed one is extended. */
uint64_t xsp_field_element(const struct xsprof_kernel_field *field, const char *bytes,
			   uint32_t width, size_t i);

#endif /* XSPROF_OUT_KERNEL_FIELD_H */
