/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * libtraceevent, for the kinds of events without a printer here. The library expects formats from
 * the running kernel; those in a capture are untrusted: it is called only in the process of
 * apart.c, which may crash.
 */
#ifndef XSPROF_OUT_LIBRARY_H
#define XSPROF_OUT_LIBRARY_H

#include <stddef.h>

#include <xsprof/trace.h>

#include "format/common/symbols.h"

#define XSP_LIBRARY_EVENT	4096u	/* bytes of an event that are formatted */
#define XSP_LIBRARY_TEXT	8192u	/* bytes of its text */

struct xsp_library;

/* @symbols must outlive it. Return: 0 or -ENOMEM. */
int xsp_library_open(struct xsp_symbols *symbols, const struct xsprof_kernel_event *kind,
		     struct xsp_library **library);

/*
 * Formats the event of that kind at @data, at most XSP_LIBRARY_EVENT bytes; valid until the next
 * call.
 */
const char *xsp_library_print(struct xsp_library *library, const void *data, size_t size,
			      size_t *len);

#endif /* XSPROF_OUT_LIBRARY_H */
