/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * libtraceevent, for the kinds of events that have no printer of ours.  It is made for formats
 * that the machine's own kernel wrote, and a capture's may be anybody's: it is called in the
 * process of apart.c only, which may end as it likes.
 */
#ifndef XSPROF_OUT_LIBRARY_H
#define XSPROF_OUT_LIBRARY_H

#include <stddef.h>

#include <xsprof/trace.h>

#include "format/common/symbols.h"

#define XSP_LIBRARY_EVENT	4096u	/* bytes of an event that it prints */
#define XSP_LIBRARY_TEXT	8192u	/* bytes of what it prints of one */

struct xsp_library;

/* @symbols outlive it.  Return: 0 or -ENOMEM. */
int xsp_library_open(struct xsp_symbols *symbols, const struct xsprof_kernel_event *kind,
		     struct xsp_library **library);

/*
 * What the event of that kind at @data says, XSP_LIBRARY_EVENT bytes at most; good until the next
 * call.
 */
const char *xsp_library_print(struct xsp_library *library, const void *data, size_t size,
			      size_t *len);

#endif /* XSPROF_OUT_LIBRARY_H */
