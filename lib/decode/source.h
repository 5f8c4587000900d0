/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The bytes of what is read: a file, or a pipe that was spooled.
 */
#ifndef XST_SOURCE_H
#define XST_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct xsprof_trace;

/**
 * struct xst_source - the file
 * @fd: open for reading
 * @size: bytes, as known now
 * @growing: it may grow (a regular file that was named)
 */
struct xst_source {
	int		fd;
	uint64_t	size;
	bool		growing;
};

int xst_source_open(struct xsprof_trace *t, const char *path);
void xst_source_close(struct xst_source *src);
/* All of @len bytes, or -ENODATA when the file ends before, or -errno. */
int xst_source_read(const struct xst_source *src, uint64_t off, void *buf, size_t len);
/**
 * xst_trace_again - a second handle for the same file
 * @trace: handle; where its file came out of a pipe, it has no name, and is opened all the same
 * @again: another one, to be closed with xsprof_trace_close()
 *
 * Return: as xsprof_trace_open().
 */
int xst_trace_again(const struct xsprof_trace *trace, struct xsprof_trace **again);
/* Looks at the size again; true when it has grown. */
bool xst_source_grown(struct xst_source *src);

#endif /* XST_SOURCE_H */
