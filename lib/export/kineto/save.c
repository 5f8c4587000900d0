// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Saves a result in the format that PyTorch's tools load.
 */
#include <errno.h>

#include "export/kineto/local.h"
#include "export/save.h"
#include "result/handle.h"

/* Values written in addition to the trace. */
struct beside {
	const struct xsp_map	*posts;
	const char		*name;
	uint64_t		*events;
};

static int write_kineto(struct xsprof_trace *trace, const struct xsprof_result_options *opts,
			struct xsp_buf *buf, const void *arg)
{
	const struct beside *beside = arg;

	return xsr_write_kineto(trace, opts, beside->posts, buf, beside->name,
				beside->events);
}

int xsprof_result_save_as(struct xsprof_result *result, const char *path, const char *name,
			  uint64_t *events)
{
	struct beside beside = { &result->posts, name ? name : path, events };
	int before = errno, ret;

	result->error[0] = '\0';
	if (result->saved)
		return xsr_fail(result, -EALREADY, "it is already saved");
	ret = xsr_save(result, path, write_kineto, &beside);
	result->saved = ret == 0;
	errno = before;
	return ret;
}

int xsprof_result_save(struct xsprof_result *result, const char *path)
{
	return xsprof_result_save_as(result, path, NULL, NULL);
}
