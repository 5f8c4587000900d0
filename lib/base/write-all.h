/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * write() and writev() until the kernel has taken every byte.
 */
#ifndef XSP_WRITE_ALL_H
#define XSP_WRITE_ALL_H

#include <stddef.h>
#include <sys/uio.h>

/**
 * xsp_writev_all() - write all of several pieces
 * @fd: file, which must not be non-blocking
 * @iov: the pieces; used up
 * @nr: how many
 *
 * Return: 0 or -errno; -ENOSPC where the kernel takes nothing and calls it no error.
 */
int xsp_writev_all(int fd, struct iovec *iov, int nr);

/* The same of @len bytes at @data. */
int xsp_write_all(int fd, const void *data, size_t len);

#endif /* XSP_WRITE_ALL_H */
