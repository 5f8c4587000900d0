/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Source of bytes: a file, or a pipe that was spooled.
 */
#ifndef XST_SOURCE_H
#define XST_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct xsprof_trace;

/**
 * struct xst_source - an open file
 * @fd: open for reading
 * @size: size when last checked
 * @growing: it may grow (a regular file opened by name)
 */
struct xst_source {
	int		fd;
	uint64_t	size;
	bool		growing;
};

int xst_source_open(struct xsprof_trace *t, const char *path);
void xst_source_close(struct xst_source *src);
/* Reads @len bytes. Return: 0, -ENODATA if the file ends before, or -errno. */
int xst_source_read(const struct xst_source *src, uint64_t off, void *buf, size_t len);
/**
 * xst_trace_again - a second handle for the same file
 * @trace: handle; a spooled pipe has no name, and is supported too
 * @again: set to the new handle, to be closed with xsprof_trace_close()
 *
 * Return: as xsprof_trace_open().
 */
int xst_trace_again(const struct xsprof_trace *trace, struct xsprof_trace **again);
/* Reads the size again; true if it has grown. */
bool xst_source_grown(struct xst_source *src);

#endif /* XST_SOURCE_H */
