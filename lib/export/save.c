// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Saves results as files: opens a second handle of the trace and the file, calls an export, and
 * sets the result's error message.
 */
#include <errno.h>
#include <string.h>

#include "export/file.h"
#include "export/save.h"
#include "export/scheme.h"
#include "result/handle.h"

static const char *advice(int err)
{
	switch (err) {
	case -ENOSPC:
		return ": free some space, or use another path";
	case -ENOENT:
		return ": does the directory exist?";
	case -EOPNOTSUPP:
		return ": built without zlib: use a name without .gz";
	}
	return "";
}

int xsr_save(struct xsprof_result *result, const char *path,
	     int (*write)(struct xsprof_trace *trace, const struct xsprof_result_options *opts,
			  struct xsp_buf *buf, const void *arg), const void *arg)
{
	int (*save)(void *data, const char *path, int fd);
	struct xsprof_trace *trace;
	struct xsr_file file;
	void *data;
	int ret;

	if (!path || !*path)
		return xsr_fail(result, -EINVAL, "no output path");
	if (!result->trace)
		return xsr_fail(result, -ENODATA, "no trace");
	if (xsr_scheme(path)) {
		ret = xsr_scheme_find(path, &save, &data);
		if (ret)
			return xsr_fail(result, ret, "%s: no handler for \"%.*s\"", path,
					(int)xsr_scheme(path), path);
	}
	ret = xsr_open_trace(result, &trace);
	if (ret)
		return xsr_fail(result, ret, "%s", xsprof_trace_error(NULL));
	ret = xsr_file_open(&file, path);
	if (!ret) {
		ret = write(trace, &result->opts, &file.buf, arg);
		if (ret && !file.buf.err)
			xsr_fail(result, ret, "%s", xsprof_trace_error(trace));
		ret = xsr_file_close(&file, ret);
	}
	if (ret && (file.buf.err || !*result->error))
		xsr_fail(result, ret, "%s: %s%s", path, strerror(-ret), advice(ret));
	xsprof_trace_close(trace);
	return ret;
}
