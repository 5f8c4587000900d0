/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Output that is produced before its position in the file is reached: kept in an unnamed file, so
 * that memory does not grow.
 */
#ifndef XSPROF_OUT_SPOOL_H
#define XSPROF_OUT_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "text/buf.h"

#define XSP_SPOOL_SIZE	(256u << 10)

/**
 * struct xsp_spool - the spooled output
 * @fd: the file, -1 before it is created
 * @err: the first errno, or 0; after an error nothing is kept
 * @used: bytes in @data
 * @total: bytes in the file
 * @data: bytes not written to the file yet
 */
struct xsp_spool {
	int		fd;
	int		err;
	size_t		used;
	uint64_t	total;
	char		data[XSP_SPOOL_SIZE];
};

/* NULL: no memory. */
struct xsp_spool *xsp_spool_new(void);
void xsp_spool_free(struct xsp_spool *spool);
/* Return: 0 or -errno. */
int xsp_spool_put(struct xsp_spool *spool, const char *s, size_t len);
/* Copies all of it to @buf. Return: 0 or -errno. */
int xsp_spool_copy(struct xsp_spool *spool, struct xsp_buf *buf);

/* The folder of the file, for messages. */
const char *xsp_spool_folder(void);

#endif /* XSPROF_OUT_SPOOL_H */
