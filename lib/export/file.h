/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * A file that a result is written to: whole under its name, or not there.  It may be packed on
 * its way, and may be somebody else's who takes it when it is whole.
 */
#ifndef XSR_FILE_H
#define XSR_FILE_H

#include <stdbool.h>

#include "export/pack.h"
#include "text/buf.h"

/**
 * struct xsr_file - a file that is being written
 * @buf: what is put into it
 * @fd: it
 * @path: the name that it gets
 * @tmp: the name that it has until then; NULL: none, or its own (a device, a FIFO)
 * @pack: what packs it
 */
struct xsr_file {
	struct xsp_buf	buf;
	int		fd;
	const char	*path;
	char		*tmp;
	struct xsr_pack	pack;
};

/* @path stays the caller's.  Return: 0 or -errno; -EOPNOTSUPP: ".gz", and there is no zlib. */
int xsr_file_open(struct xsr_file *file, const char *path);
/*
 * Writes the rest and gives it its name; throws it away where @err is not 0, or what there is to
 * write cannot be.  Return: @err, or what went wrong.
 */
int xsr_file_close(struct xsr_file *file, int err);

#endif /* XSR_FILE_H */
