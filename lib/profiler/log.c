// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Messages on standard error. KINETO_LOG_LEVEL in the environment, read by ondemand/kineto-env.c,
 * is the lowest level printed; without it nothing is printed.
 */
#include "base/own.h"
#include "profiler/log.h"

static int lowest = XSP_LOG_SILENT;

void xsp_log_set(int level)
{
	__atomic_store_n(&lowest, level, __ATOMIC_RELAXED);
}

/**
 * xsp_log() - print a message if its level is enabled
 * @level: its level
 * @fmt: "object: reason", as printf(); no newline
 */
void xsp_log(enum xsp_log_level level, const char *fmt, ...)
{
	va_list ap;

	if ((int)level < __atomic_load_n(&lowest, __ATOMIC_RELAXED))
		return;
	va_start(ap, fmt);
	xsp_vsay(fmt, ap);
	va_end(ap);
}
