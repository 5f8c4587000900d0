/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Output file of a result: complete under its name, or absent. It may be compressed, or passed to a
 * registered handler when it is complete.
 */
#ifndef XSR_FILE_H
#define XSR_FILE_H

#include <stdbool.h>

#include "export/pack.h"
#include "text/buf.h"

/**
 * struct xsr_file - a file being written
 * @buf: its output buffer
 * @fd: its descriptor
 * @path: final name
 * @tmp: temporary name; NULL: unnamed, or written in place (a device, a fifo)
 * @pack: its compression
 */
struct xsr_file {
	struct xsp_buf	buf;
	int		fd;
	const char	*path;
	char		*tmp;
	struct xsr_pack	pack;
};

/* @path stays the caller's. Return: 0 or -errno; -EOPNOTSUPP: ".gz" without zlib. */
int xsr_file_open(struct xsr_file *file, const char *path);
/*
 * Writes the rest and renames the file; discards it if @err is not 0 or writing fails. Return:
 * @err, or the error of writing.
 */
int xsr_file_close(struct xsr_file *file, int err);

#endif /* XSR_FILE_H */
