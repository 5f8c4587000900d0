// SPDX-License-Identifier: GPL-2.0-only
/*
 * Preloaded to act as a disk that corrupts data: changes one byte in each large buffer of a
 * writev().
 */
#include <dlfcn.h>
#include <sys/uio.h>

#define LARGE	1024u

ssize_t writev(int fd, const struct iovec *iov, int nr)
{
	ssize_t (*real)(int fd, const struct iovec *iov, int nr);

	*(void **)&real = dlsym(RTLD_NEXT, "writev");
	for (int i = 0; i < nr; i++)
		if (iov[i].iov_len >= LARGE)
			((char *)iov[i].iov_base)[LARGE / 2] ^= 1;
	return real(fd, iov, nr);
}
