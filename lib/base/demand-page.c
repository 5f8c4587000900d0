// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Waits for and wakes on words of a control page, and copies texts out of it.
 */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/demand-page.h"

int xsp_demand_wait(uint32_t *word, uint32_t was, int64_t ms)
{
	struct timespec ts = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };
	int err = errno, ret;

	/* Not FUTEX_PRIVATE_FLAG: the other side is another process. */
	ret = syscall(SYS_futex, word, FUTEX_WAIT, was, ms == INT64_MAX ? NULL : &ts, NULL, 0) ?
	      -errno : 0;
	errno = err;
	return ret == -EAGAIN || ret == -EINTR ? 0 : ret;
}

void xsp_demand_wake(uint32_t *word)
{
	int err = errno;

	(void)syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	errno = err;
}

void xsp_demand_copy(char *to, size_t room, const char *from)
{
	size_t i;

	/* Byte by byte: the other side may move the terminator meanwhile. */
	for (i = 0; i < room - 1; i++) {
		to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
		if (!to[i])
			return;
	}
	to[i] = '\0';
}
