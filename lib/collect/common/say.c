// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Prints a line on standard error, or passes it to the collector's listener.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "collect/common/say.h"

void (*collect_listener)(const char *line);

void collect_say(const char *fmt, ...)
{
	char line[400] = "xsprof: ";
	size_t n = strlen(line);
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(line + n, sizeof(line) - n - 1, fmt, ap);
	va_end(ap);
	if (len < 0)
		return;
	if (collect_listener) {
		collect_listener(line + n);
		return;
	}
	n = strlen(line);
	line[n++] = '\n';
	/* A single write: lines of several processes do not mix. */
	if (write(STDERR_FILENO, line, n) < 0)
		return;
}
