// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Messages on standard error.  KINETO_LOG_LEVEL in the environment, which ondemand/kineto-env.c
 * reads, is the lowest level that is written; without it nothing is.  One write() a message; never
 * waits, never allocates, never changes errno.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "profiler/log.h"

#define LINE_MAX_	512

static int lowest = XSP_LOG_SILENT;

void xsp_log_set(int level)
{
	__atomic_store_n(&lowest, level, __ATOMIC_RELAXED);
}

/**
 * xsp_log() - write a message, if its level is enabled
 * @level: how much it matters
 * @fmt: "object: reason", as printf(); no newline
 *
 * Control characters become '?': parts of messages come from other processes, which must not
 * control the terminal.
 */
void xsp_log(enum xsp_log_level level, const char *fmt, ...)
{
	char line[LINE_MAX_];
	int err = errno, at, n;
	va_list ap;

	if ((int)level < __atomic_load_n(&lowest, __ATOMIC_RELAXED))
		return;
	at = snprintf(line, sizeof(line), "xsprof: ");
	va_start(ap, fmt);
	n = vsnprintf(line + at, sizeof(line) - at, fmt, ap);
	va_end(ap);
	if (n < 0)
		goto out;
	n += at;
	if (n > (int)sizeof(line) - 1)
		n = sizeof(line) - 1;
	for (int i = 0; i < n; i++)
		if (line[i] < ' ' || line[i] == 0x7f)
			line[i] = '?';
	line[n++] = '\n';
	/* A failed write cannot be reported. */
	if (write(STDERR_FILENO, line, n) < 0)
		goto out;
out:
	errno = err;
}
