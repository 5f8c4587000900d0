/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fields of the kernel's events for outputs that write each by itself: what an array is made of,
 * and where a field is that goes to the event's end.  It never trusts a length.
 */
#ifndef XSPROF_OUT_KERNEL_FIELD_H
#define XSPROF_OUT_KERNEL_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <xsprof/trace.h>

/* One of those that every event begins with: outputs have them under names of their own. */
bool xsp_field_common(const struct xsprof_kernel_field *field);

/* Bytes of an element of an array of numbers; 0: not known what it is made of. */
uint32_t xsp_field_width(const struct xsprof_kernel_field *field);

/* As xsprof_kernel_bytes(); a field without a size has what is left of the event. */
const char *xsp_field_bytes(const struct xsprof_event *ev, const struct xsprof_kernel_field *field,
			    size_t *len);

/* Element @i of @width bytes; a signed one is extended. */
uint64_t xsp_field_element(const struct xsprof_kernel_field *field, const char *bytes,
			   uint32_t width, size_t i);

#endif /* XSPROF_OUT_KERNEL_FIELD_H */
