/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Names registered with a tool, with its handles.
 */
#ifndef XSP_FORWARD_NAMES_H
#define XSP_FORWARD_NAMES_H

#include "base/own.h"

/**
 * struct xsp_told - a name registered with a tool
 * @hash: of its text, not 0; taken by compare-and-exchange, 0 is free
 * @ready: @handle is set
 * @text: the name; NULL while it is being added
 * @handle: the tool's handle, NULL if it returned none
 * @mark: another number of the tool; used by the code that sets it
 */
struct xsp_told {
	uint32_t	hash;
	uint32_t	ready;
	const char	*text;
	void		*handle;
	uint64_t	mark;
};

struct xsp_told_names;

struct xsp_told_names *xsp_told_new(void) XSP_HIDDEN;
void *xsp_told_alloc(struct xsp_told_names *names, size_t size) XSP_HIDDEN;
struct xsp_told *xsp_told_find(struct xsp_told_names *names, const char *text, uint32_t id,
				void *(*tell)(const char *text)) XSP_HIDDEN;

#endif /* XSP_FORWARD_NAMES_H */
