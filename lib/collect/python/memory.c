// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Reads memory of this process with a system call, which fails on unmapped addresses. Signal-safe.
 *
 * A seccomp filter installed later may refuse the call: then no memory can be read any more.
 */
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/python/sample.h"

static pid_t own_pid;
static int refused;	/* errno */

void sample_peek_forked(void)
{
	own_pid = getpid();
}

pid_t sample_pid(void)
{
	return own_pid;
}

size_t sample_peek_some(const struct iovec *to, const struct iovec *from, size_t n)
{
	long got = syscall(SYS_process_vm_readv, own_pid, to, n, from, n, 0ul);

	if (__builtin_expect(got < 0, 0) && (errno == EPERM || errno == EACCES || errno == ENOSYS))
		__atomic_store_n(&refused, errno, __ATOMIC_RELAXED);
	return got < 0 ? 0 : (size_t)got;
}

bool sample_peek_many(const struct iovec *to, const struct iovec *from, size_t n, size_t len)
{
	return sample_peek_some(to, from, n) == len;
}

int sample_peek_refused(void)
{
	return __atomic_load_n(&refused, __ATOMIC_RELAXED);
}

bool sample_peek(void *to, const void *from, size_t len)
{
	const struct iovec local = { to, len }, remote = { (void *)(uintptr_t)from, len };

	return sample_peek_many(&local, &remote, 1, len);
}
