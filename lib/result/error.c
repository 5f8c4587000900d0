// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Error messages of results.
 */
#include <stdio.h>

#include "result/handle.h"

int xsr_fail(struct xsprof_result *r, int err, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(r->error, sizeof(r->error), format, ap);
	va_end(ap);
	return err;
}
