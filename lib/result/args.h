/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Arguments of events as JSON, under their own names.
 */
#ifndef XSR_ARGS_H
#define XSR_ARGS_H

#include "result/writer.h"

/* Destination. */
enum xsr_args {
	XSR_ARGS_FILE,		/* a Kineto trace */
	XSR_ARGS_GPU,		/* a kernel in a Kineto trace: tools assume that all are numbers */
	XSR_ARGS_TEXT,		/* a text for programs */
};

/* Writes "a":1,"b":[2,3]: all but inputs, modules and places; preceded by a comma if @any. */
char *xsr_put_args(struct xsr_writer *w, struct xsr_walk *walk, enum xsr_args where, char *p,
		   bool *any);

#endif /* XSR_ARGS_H */
