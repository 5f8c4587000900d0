/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * write() and writev() until all bytes are written.
 */
#ifndef XSP_WRITE_ALL_H
#define XSP_WRITE_ALL_H

#include <stddef.h>
#include <sys/uio.h>

/**
 * xsp_writev_all() - write several pieces completely
 * @fd: file, which must not be non-blocking
 * @iov: the pieces; modified
 * @nr: number of pieces
 *
 * Return: 0 or -errno; -ENOSPC if the kernel writes nothing and reports no error.
 */
int xsp_writev_all(int fd, struct iovec *iov, int nr);

/* The same for @len bytes at @data. */
int xsp_write_all(int fd, const void *data, size_t len);

#endif /* XSP_WRITE_ALL_H */
