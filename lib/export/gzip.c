// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Compresses output in gzip format. In a build without zlib ".gz" is not supported.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/write-all.h"
#include "export/gzip.h"

#ifdef XSPROF_NO_ZLIB

int xsr_gzip_new(int fd, struct xsr_gzip **gzip)
{
	(void)fd;
	*gzip = NULL;
	return -EOPNOTSUPP;
}

int xsr_gzip_put(void *gzip, const char *s, size_t len)
{
	(void)gzip;
	(void)s;
	(void)len;
	return -EOPNOTSUPP;
}

int xsr_gzip_finish(struct xsr_gzip *gzip)
{
	(void)gzip;
	return -EOPNOTSUPP;
}

void xsr_gzip_free(struct xsr_gzip *gzip)
{
	(void)gzip;
}

#else

#include <zlib.h>

/* This JSON shrinks to a fifteenth at any level; higher ones only take longer. */
#define LEVEL	3
#define GZIP	16		/* for deflateInit2(): gzip's header */
#define CHUNK	(256u << 10)

struct xsr_gzip {
	z_stream	z;
	int		fd;
	unsigned char	out[CHUNK];
};

int xsr_gzip_new(int fd, struct xsr_gzip **out)
{
	struct xsr_gzip *gzip = calloc(1, sizeof(*gzip));

	*out = NULL;
	if (!gzip)
		return -ENOMEM;
	gzip->fd = fd;
	if (deflateInit2(&gzip->z, LEVEL, Z_DEFLATED, MAX_WBITS + GZIP, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK) {
		free(gzip);
		return -ENOMEM;
	}
	*out = gzip;
	return 0;
}

static int run(struct xsr_gzip *gzip, int flush)
{
	int ret, err;

	do {
		gzip->z.next_out = gzip->out;
		gzip->z.avail_out = CHUNK;
		ret = deflate(&gzip->z, flush);
		if (ret == Z_STREAM_ERROR)
			return -EIO;
		err = xsp_write_all(gzip->fd, gzip->out, CHUNK - gzip->z.avail_out);
		if (err)
			return err;
	} while (gzip->z.avail_out == 0 || (flush == Z_FINISH && ret != Z_STREAM_END));
	return 0;
}

int xsr_gzip_put(void *data, const char *s, size_t len)
{
	struct xsr_gzip *gzip = data;

	/* zlib only reads it, whatever the type says. */
	gzip->z.next_in = (unsigned char *)s;
	gzip->z.avail_in = (unsigned int)len;
	return run(gzip, Z_NO_FLUSH);
}

int xsr_gzip_finish(struct xsr_gzip *gzip)
{
	gzip->z.avail_in = 0;
	return run(gzip, Z_FINISH);
}

void xsr_gzip_free(struct xsr_gzip *gzip)
{
	if (!gzip)
		return;
	deflateEnd(&gzip->z);
	free(gzip);
}

#endif /* XSPROF_NO_ZLIB */
