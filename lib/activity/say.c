// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Messages of collectors to the user.
 */
#include <stdarg.h>

#include <xsprof/collector.h>

#include "base/own.h"

void xsprof_say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	xsp_vsay(fmt, ap);
	va_end(ap);
}
