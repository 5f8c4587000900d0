// SPDX-License-Identifier: GPL-2.0-only
/*
 * One zstd context, one frame a chunk.  It never keeps anything from one chunk to the next, so
 * that each can be read without the others.
 */
#include <errno.h>
#include <zstd.h>

#include "cli/compress.h"

static int compress(void *data, void *dst, size_t room, const void *src, size_t len, size_t *out)
{
	size_t n = ZSTD_compress2(data, dst, room, src, len);

	if (ZSTD_isError(n))
		return -ENOBUFS;
	*out = n;
	return 0;
}

int compress_open(struct xsp_cap_compressor *compressor, int level)
{
	ZSTD_CCtx *ctx = ZSTD_createCCtx();

	if (!ctx)
		return -ENOMEM;
	/* The chunk has a checksum of its own, and says its size. */
	if (ZSTD_isError(ZSTD_CCtx_setParameter(ctx, ZSTD_c_compressionLevel, level)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(ctx, ZSTD_c_checksumFlag, 0))) {
		ZSTD_freeCCtx(ctx);
		return -EINVAL;
	}
	compressor->compress = compress;
	compressor->data = ctx;
	return 0;
}

void compress_close(struct xsp_cap_compressor *compressor)
{
	ZSTD_freeCCtx(compressor->data);
	compressor->data = NULL;
}
