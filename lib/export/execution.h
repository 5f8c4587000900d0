/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What the files of execution traces share.  All write at @p, which is in the buffer of @w, and
 * return the end.
 */
#ifndef XSR_EXECUTION_H
#define XSR_EXECUTION_H

#include "result/writer.h"

/* "inputs":{...}, of an op. */
char *xsr_et_inputs(struct xsr_writer *w, const struct xsr_walk *walk, char *p);
/* An argument as JSON; what is in several records is taken from @walk. */
char *xsr_et_value(struct xsr_writer *w, struct xsr_walk *walk,
		   const struct xsprof_trace_arg *arg, char *p);
/* What stands inside the quotes of its type; @walk stays where it is. */
char *xsr_et_type(struct xsr_writer *w, struct xsr_walk *walk,
		  const struct xsprof_trace_arg *arg, char *p);

#endif /* XSR_EXECUTION_H */
