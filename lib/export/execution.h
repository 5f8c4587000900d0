/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Private header of execution traces. All functions write at @p in the buffer of @w and return the
 * end.
 */
#ifndef XSR_EXECUTION_H
#define XSR_EXECUTION_H

#include "result/writer.h"

/* Writes "inputs":{...} of an op. */
char *xsr_et_inputs(struct xsr_writer *w, const struct xsr_walk *walk, char *p);
/* Writes an argument as JSON; data in several records is taken from @walk. */
char *xsr_et_value(struct xsr_writer *w, struct xsr_walk *walk,
		   const struct xsprof_trace_arg *arg, char *p);
/* Writes the text inside the quotes of its type; @walk does not advance. */
char *xsr_et_type(struct xsr_writer *w, struct xsr_walk *walk,
		  const struct xsprof_trace_arg *arg, char *p);

#endif /* XSR_EXECUTION_H */
