/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Formats numbers of arguments: sizes of tensors, lists, and values as Python prints them. All
 * functions write at @p and return the end.
 */
#ifndef XSR_NUMBERS_H
#define XSR_NUMBERS_H

#include <xsprof/trace.h>

#include "text/json.h"

#define XSR_NUMBER_MAX	(XSP_PUT_MAX + 4)	/* a list element with its separators */

/* The number of sizes or strides to write: limited to what a record can hold. */
static inline uint32_t xsr_nr_dims(const struct xsprof_trace_tensor *tensor, bool strides)
{
	if (strides && !tensor->nr_strides)
		return 0;
	return tensor->ndim < XSPROF_TENSOR_DIMS ? tensor->ndim : XSPROF_TENSOR_DIMS;
}

/*
 * Writes "[2,3]", the sizes of @tensor or its strides; "[]" if @tensor is NULL. A size that had no
 * room in its record is -1; strides that were not recorded are left out.
 */
char *xsr_put_dims(char *p, const struct xsprof_trace_tensor *tensor, bool strides);
/* Writes the number at @bytes of a list of type @type, as JSON or as Python prints it. */
char *xsr_put_number(char *p, uint8_t type, const char *bytes, bool python);
/* "0.5", "2.", "nan". */
char *xsr_put_python(char *p, double v);

#endif /* XSR_NUMBERS_H */
