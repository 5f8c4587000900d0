/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * A result written to a file: the steps that all exports have in common.
 */
#ifndef XSR_SAVE_H
#define XSR_SAVE_H

#include <xsprof/result.h>
#include <xsprof/trace.h>

#include "text/buf.h"

/**
 * xsr_save() - write a file out of a result
 * @result: result
 * @path: file, or "scheme://..." of a registered handler
 * @write: writes all of @trace into @buf; returns 0 or -errno
 * @arg: passed to it
 *
 * Return: 0 or -errno, which is said in the result.
 */
int xsr_save(struct xsprof_result *result, const char *path,
	     int (*write)(struct xsprof_trace *trace, const struct xsprof_result_options *opts,
			  struct xsp_buf *buf, const void *arg), const void *arg);

#endif /* XSR_SAVE_H */
