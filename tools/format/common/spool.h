/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bytes that belong further behind in an output than they are made: kept in a file without a name
 * until it is their turn, so that memory does not grow with them.
 */
#ifndef XSPROF_OUT_SPOOL_H
#define XSPROF_OUT_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "text/buf.h"

#define XSP_SPOOL_SIZE	(256u << 10)

/**
 * struct xsp_spool - such bytes
 * @fd: the file, -1 before there is one
 * @err: errno of the first thing that failed, 0; nothing is kept after it
 * @used: bytes in @data
 * @total: bytes in the file
 * @data: those that are not in the file yet
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
/* All of it into @buf, in order.  Return: 0 or -errno. */
int xsp_spool_copy(struct xsp_spool *spool, struct xsp_buf *buf);

/* The folder of the file: for messages. */
const char *xsp_spool_folder(void);

#endif /* XSPROF_OUT_SPOOL_H */
