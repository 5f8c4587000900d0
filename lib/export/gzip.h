/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * A gzip stream into a file.
 */
#ifndef XSR_GZIP_H
#define XSR_GZIP_H

#include <stddef.h>

struct xsr_gzip;

/* Compressed data goes to @fd. Return: 0, -ENOMEM, or -EOPNOTSUPP: built without zlib. */
int xsr_gzip_new(int fd, struct xsr_gzip **gzip);
/* Compresses @len bytes; the @put of struct xsp_buf. Return: 0 or -errno. */
int xsr_gzip_put(void *gzip, const char *s, size_t len);
/* Writes the end of the stream.  Return: 0 or -errno. */
int xsr_gzip_finish(struct xsr_gzip *gzip);
void xsr_gzip_free(struct xsr_gzip *gzip);

#endif /* XSR_GZIP_H */
