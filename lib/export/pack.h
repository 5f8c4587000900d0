/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What packs a file on its way, by the end of its name, in any case: ".gz" as gzip
 * does, ".zst" as zstd does.
 */
#ifndef XSR_PACK_H
#define XSR_PACK_H

#include "text/buf.h"

struct xsr_gzip;
struct ZSTD_CCtx_s;

/**
 * struct xsr_pack - what packs a file; all zeros is nothing
 * @gzip: as gzip does; NULL: not
 * @zstd: as zstd does; NULL: not
 * @fd: the file
 */
struct xsr_pack {
	struct xsr_gzip		*gzip;
	struct ZSTD_CCtx_s	*zstd;
	int			fd;
};

/*
 * What is put into @buf, whose file is open, is packed from now on where @path asks for it.
 * @pack stays where it is.  Return: 0 or -errno; -EOPNOTSUPP: ".gz", and there is no zlib.
 */
int xsr_pack_open(struct xsr_pack *pack, struct xsp_buf *buf, const char *path);
/* Writes the rest of @buf and the end, unless @err is set.  Return: @err, or what went wrong. */
int xsr_pack_close(struct xsr_pack *pack, struct xsp_buf *buf, int err);

#endif /* XSR_PACK_H */
