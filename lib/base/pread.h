/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * pread() until all bytes are read.
 */
#ifndef XSP_PREAD_H
#define XSP_PREAD_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

/**
 * xsp_pread - read @len bytes at an offset
 * @fd: file
 * @buf: buffer
 * @len: bytes
 * @off: offset
 *
 * Return: 0; -ENODATA: the file ends before; -errno.
 */
static inline int xsp_pread(int fd, void *buf, size_t len, uint64_t off)
{
	while (len) {
		ssize_t n = pread(fd, buf, len, off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			return -ENODATA;
		buf = (char *)buf + n;
		len -= n;
		off += n;
	}
	return 0;
}

#endif /* XSP_PREAD_H */
