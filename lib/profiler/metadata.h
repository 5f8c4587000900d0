/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Metadata of a trace: keys and JSON values; guarded by the session's lock.
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
/* Sets a key. @json: from malloc(), taken over. Return: 0, -E2BIG, -ENOMEM. */
int xsp_metadata_set(struct xsp_metadata *metadata, const char *key, char *json) XSP_HIDDEN;
/* Appends an object to a list; -EEXIST: the key has a value that is not a list. */
int xsp_metadata_append(struct xsp_metadata *metadata, const char *key, const char *json)
	XSP_HIDDEN;

/* A string as JSON, from malloc(); NULL: no memory. */
char *xsp_json_string(const char *text) XSP_HIDDEN;

#endif /* XSP_PROFILER_METADATA_H */
