/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * libtraceevent, for the kinds of events that have no printer of ours.  It is made for formats
 * that the machine's own kernel wrote, and a capture's may be anybody's: a format is tried in a
 * process of its own first, which may end as it likes.
 */
#ifndef XSPROF_OUT_LIBRARY_H
#define XSPROF_OUT_LIBRARY_H

#include <stddef.h>

#include <xsprof/trace.h>

#include "format/common/symbols.h"

struct xsp_library;

/* @symbols outlive it.  Return: 0; -EPROTO: the library does not get along with it; -ENOMEM. */
int xsp_library_open(struct xsp_symbols *symbols, const struct xsprof_kernel_event *kind,
		     struct xsp_library **library);
void xsp_library_close(struct xsp_library *library);

/* What @ev, of that kind, says; good until the next call.  NULL: it cannot be printed. */
const char *xsp_library_print(struct xsp_library *library, const struct xsprof_event *ev,
			      size_t *len);

#endif /* XSPROF_OUT_LIBRARY_H */
