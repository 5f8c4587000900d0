/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Saves a result to a file: the steps common to all exports.
 */
#ifndef XSR_SAVE_H
#define XSR_SAVE_H

#include <xsprof/result.h>
#include <xsprof/trace.h>

#include "text/buf.h"

/**
 * xsr_save() - write a file from a result
 * @result: result
 * @path: file, or "scheme://..." of a registered handler
 * @write: writes all of @trace to @buf; returns 0 or -errno
 * @arg: passed to it
 *
 * Return: 0 or -errno, with the result's error message set.
 */
int xsr_save(struct xsprof_result *result, const char *path,
	     int (*write)(struct xsprof_trace *trace, const struct xsprof_result_options *opts,
			  struct xsp_buf *buf, const void *arg), const void *arg);

#endif /* XSR_SAVE_H */
