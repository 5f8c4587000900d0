// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Chooses the compression of a file by its name: see pack.h.
 */
#include <errno.h>
#include <stdbool.h>
#include <strings.h>
#include <zstd.h>

#include "base/write-all.h"
#include "export/gzip.h"
#include "export/pack.h"

#define CHUNK	(128u << 10)

static bool ends(const char *path, const char *with)
{
	size_t len = strlen(path), n = strlen(with);

	/* Case-insensitive: other systems' programs use capitals. */
	return len > n && !strcasecmp(path + len - n, with);
}

static int run_zstd(struct xsr_pack *pack, const char *s, size_t len, ZSTD_EndDirective end)
{
	ZSTD_inBuffer in = { s, len, 0 };
	char room[CHUNK];
	size_t left;
	int err;

	do {
		ZSTD_outBuffer out = { room, sizeof(room), 0 };

		left = ZSTD_compressStream2(pack->zstd, &out, &in, end);
		if (ZSTD_isError(left))
			return -EIO;
		err = xsp_write_all(pack->fd, room, out.pos);
		if (err)
			return err;
	} while (in.pos < in.size || (end == ZSTD_e_end && left));
	return 0;
}

static int put_zstd(void *data, const char *s, size_t len)
{
	return run_zstd(data, s, len, ZSTD_e_continue);
}

int xsr_pack_open(struct xsr_pack *pack, struct xsp_buf *buf, const char *path)
{
	int ret;

	*pack = (struct xsr_pack){ .fd = buf->fd };
	if (ends(path, ".gz")) {
		ret = xsr_gzip_new(buf->fd, &pack->gzip);
		if (ret)
			return ret;
		buf->put = xsr_gzip_put;
		buf->data = pack->gzip;
	} else if (ends(path, ".zst")) {
		pack->zstd = ZSTD_createCCtx();
		if (!pack->zstd)
			return -ENOMEM;
		ZSTD_CCtx_setParameter(pack->zstd, ZSTD_c_checksumFlag, 1);
		buf->put = put_zstd;
		buf->data = pack;
	}
	return 0;
}

int xsr_pack_close(struct xsr_pack *pack, struct xsp_buf *buf, int err)
{
	if (!err)
		err = xsp_buf_flush(buf);
	if (!err && pack->gzip)
		err = xsr_gzip_finish(pack->gzip);
	if (!err && pack->zstd)
		err = run_zstd(pack, NULL, 0, ZSTD_e_end);
	xsr_gzip_free(pack->gzip);
	ZSTD_freeCCtx(pack->zstd);
	buf->put = NULL;
	*pack = (struct xsr_pack){ .fd = -1 };
	return err;
}
