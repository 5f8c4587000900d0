/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Compresses a file according to the suffix of its name, case-insensitive: ".gz" gzip, ".zst" zstd.
 */
#ifndef XSR_PACK_H
#define XSR_PACK_H

#include "text/buf.h"

struct xsr_gzip;
struct ZSTD_CCtx_s;

/**
 * struct xsr_pack - compression of a file; all zeros: none
 * @gzip: gzip stream; NULL: not used
 * @zstd: zstd stream; NULL: not used
 * @fd: the file
 */
struct xsr_pack {
	struct xsr_gzip		*gzip;
	struct ZSTD_CCtx_s	*zstd;
	int			fd;
};

/*
 * Compresses further output to @buf, whose file is open, if the suffix of @path asks for it. @pack
 * must not move. Return: 0 or -errno; -EOPNOTSUPP: ".gz" without zlib.
 */
int xsr_pack_open(struct xsr_pack *pack, struct xsp_buf *buf, const char *path);
/*
 * Writes the rest of @buf and the trailer, unless @err is set. Return: @err, or the error of
 * writing.
 */
int xsr_pack_close(struct xsr_pack *pack, struct xsp_buf *buf, int err);

#endif /* XSR_PACK_H */
