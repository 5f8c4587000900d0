/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Lookup of texts of a capture, in addition to the public header.
 */
#ifndef XST_NAMES_H
#define XST_NAMES_H

#include <xsprof/trace.h>

/* As xst_facts_around(), for a process. */
const char *xst_fact_around(const struct xsprof_trace *trace, uint32_t producer, const char *begin,
			    const char *end);

#endif /* XST_NAMES_H */
