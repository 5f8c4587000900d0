/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Keys of a trace's own, and their JSON; under the session's lock.
 */
#ifndef XSP_PROFILER_METADATA_H
#define XSP_PROFILER_METADATA_H

#include "base/own.h"

struct xsp_metadata {
	char		**keys;
	char		**values;
	uint32_t	nr;
};

void xsp_metadata_drop(struct xsp_metadata *metadata) XSP_HIDDEN;
/* @json: malloc()ed, taken over.  The latest value of a key counts.  0, -E2BIG, -ENOMEM. */
int xsp_metadata_set(struct xsp_metadata *metadata, const char *key, char *json) XSP_HIDDEN;
/* One more object in a list of them; -EEXIST: the key has a value that is none. */
int xsp_metadata_append(struct xsp_metadata *metadata, const char *key, const char *json)
	XSP_HIDDEN;

/* A string as JSON; malloc()ed, NULL: no memory. */
char *xsp_json_string(const char *text) XSP_HIDDEN;

#endif /* XSP_PROFILER_METADATA_H */
