/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Names that a tool has been told, with the handles that it gave for them.
 */
#ifndef XSP_FORWARD_NAMES_H
#define XSP_FORWARD_NAMES_H

#include "base/own.h"

/**
 * struct xsp_told - a name that a tool has been told
 * @hash: of its text, not 0; taken by compare-and-exchange, 0 is free
 * @ready: @handle is set
 * @text: the name; NULL while it is being added
 * @handle: what the tool calls it, NULL where it gave nothing
 * @mark: what else the tool calls it; its giver's
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
