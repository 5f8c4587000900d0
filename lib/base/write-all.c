// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Repeats write() after a signal or a short write: see write-all.h.
 */
#include <errno.h>
#include <unistd.h>

#include "base/write-all.h"

int xsp_writev_all(int fd, struct iovec *iov, int nr)
{
	while (nr) {
		ssize_t done = writev(fd, iov, nr);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		/* A full device may write 0 bytes without an error. */
		if (!done && iov->iov_len)
			return -ENOSPC;
		while (nr && (size_t)done >= iov->iov_len) {
			done -= iov->iov_len;
			iov++;
			nr--;
		}
		if (nr) {
			iov->iov_base = (char *)iov->iov_base + done;
			iov->iov_len -= done;
		}
	}
	return 0;
}

int xsp_write_all(int fd, const void *data, size_t len)
{
	struct iovec iov = { (void *)data, len };

	return len ? xsp_writev_all(fd, &iov, 1) : 0;
}
