// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Formats numbers of arguments: see numbers.h.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "result/numbers.h"

char *xsr_put_dims(char *p, const struct xsprof_trace_tensor *tensor, bool strides)
{
	const int64_t *v = NULL;
	uint32_t nr = 0, n = 0;

	if (tensor) {
		v = strides ? tensor->strides : tensor->sizes;
		nr = strides ? tensor->nr_strides : tensor->nr_sizes;
		n = xsr_nr_dims(tensor, strides);
	}
	*p++ = '[';
	for (uint32_t i = 0; i < n; i++) {
		if (i)
			*p++ = ',';
		p = put_i64(p, i < nr ? v[i] : -1);
	}
	*p++ = ']';
	return p;
}

/* PyTorch's format of doubles: "2." for a whole number. */
char *xsr_put_python(char *p, double v)
{
	if (isfinite(v) && fabs(v) < 1e10 && v == (double)(int64_t)v) {
		p = put_i64(p, (int64_t)v);
		*p++ = '.';
		return p;
	}
	return p + snprintf(p, XSP_PUT_MAX, "%.17g", v);
}

char *xsr_put_number(char *p, uint8_t type, const char *bytes, bool python)
{
	int64_t i64;
	int32_t i32;
	double f64;

	if (type == XSPROF_ARG_I32S) {
		memcpy(&i32, bytes, 4);
		return put_i64(p, i32);
	}
	memcpy(&i64, bytes, 8);
	memcpy(&f64, bytes, 8);
	if (type != XSPROF_ARG_F64S)
		return put_i64(p, i64);
	return python ? xsr_put_python(p, f64) : xsp_json_double(p, f64);
}
