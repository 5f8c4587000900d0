/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Arguments of events under their own names, as JSON.
 */
#ifndef XSR_ARGS_H
#define XSR_ARGS_H

#include "result/writer.h"

/* Where they stand. */
enum xsr_args {
	XSR_ARGS_FILE,		/* in a Kineto trace */
	XSR_ARGS_GPU,		/* there, with a kernel: tools take all of them for numbers */
	XSR_ARGS_TEXT,		/* in a text for programs */
};

/* "a":1,"b":[2,3]: all but inputs, modules and places; a comma in front where there was @any. */
char *xsr_put_args(struct xsr_writer *w, struct xsr_walk *walk, enum xsr_args where, char *p,
		   bool *any);

#endif /* XSR_ARGS_H */
