/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Functions of libxsprof-trace, which makes results. All return -ENOSYS if it is not found.
 */
#ifndef XSP_PROFILER_RESULT_LIBRARY_H
#define XSP_PROFILER_RESULT_LIBRARY_H

#include <xsprof/result.h>

#include "base/own.h"

int xsp_result_open(const char *path, const struct xsprof_result_options *opts,
		    struct xsprof_result **result) XSP_HIDDEN;
int xsp_result_post_process(struct xsprof_result *result,
			    int (*each)(void *data, struct xsprof_profiler_event *ev), void *data)
	XSP_HIDDEN;

typedef int (*xsp_result_save_fn)(struct xsprof_result *result, const char *path);
typedef int (*xsp_result_save_as_fn)(struct xsprof_result *result, const char *path,
				     const char *name, uint64_t *events);
typedef void (*xsp_result_free_fn)(struct xsprof_result *result);

/**
 * struct xsp_result_functions - functions to save and free results
 * @save: xsprof_result_save_as()
 * @save_memory: xsprof_result_save_memory_snapshot(); NULL: not in older libraries
 * @free: xsprof_result_free()
 */
struct xsp_result_functions {
	xsp_result_save_as_fn	save;
	xsp_result_save_fn	save_memory;
	xsp_result_free_fn	free;
};

int xsp_result_find(struct xsp_result_functions *functions) XSP_HIDDEN;

#endif /* XSP_PROFILER_RESULT_LIBRARY_H */
