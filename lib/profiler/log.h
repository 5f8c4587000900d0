/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Messages of the library's own threads, which have no caller to return errors to.
 */
#ifndef XSP_PROFILER_LOG_H
#define XSP_PROFILER_LOG_H

#include "base/own.h"

/* Kineto's numbers. */
enum xsp_log_level {
	XSP_LOG_VERBOSE = 0,
	XSP_LOG_INFO,
	XSP_LOG_WARNING,
	XSP_LOG_STAGE,
	XSP_LOG_ERROR,
	XSP_LOG_SILENT = 100,	/* above all levels */
};

/* Sets the lowest level to print; initially nothing is printed. */
void xsp_log_set(int level) XSP_HIDDEN;

void xsp_log(enum xsp_log_level level, const char *fmt, ...)
	__attribute__((format(printf, 2, 3))) XSP_HIDDEN;

#endif /* XSP_PROFILER_LOG_H */
