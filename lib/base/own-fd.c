// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Table of the library's descriptors: see own-fd.h. Without a lock, as a forked child may get it at
 * any moment of a change.
 */
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own-fd.h"

#ifndef SYS_close_range
#define SYS_close_range	436	/* Linux 5.9 */
#endif
#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE	(1u << 1)
#endif

#define KEPT	512u	/* a power of two */
#define PROBES	16u	/* slots probed for a number */

static struct kept {
	int			fd;	/* 0: free */
	struct xsp_fd_id	id;
} kept[KEPT];

static __thread bool own_table;

/* Not with unshare(), which sandboxes rarely permit. */
bool xsp_fd_private(int fd)
{
	if (fd <= STDERR_FILENO || syscall(SYS_close_range, fd + 1, ~0u, CLOSE_RANGE_UNSHARE))
		return false;
	syscall(SYS_close_range, 0, fd - 1, 0);
	/* Open /dev/null as 0 to 2: error messages must not end up in a file that gets number 2. */
	for (int i = 0; i <= STDERR_FILENO; i++)
		dup2(fd, i);
	own_table = true;
	return true;
}

bool xsp_fd_is_private(void)
{
	return own_table;
}

static struct kept *find(int fd)
{
	if (fd <= 0 || own_table)
		return NULL;
	for (unsigned int i = 0; i < PROBES; i++) {
		struct kept *k = &kept[((unsigned int)fd + i) % KEPT];

		if (__atomic_load_n(&k->fd, __ATOMIC_ACQUIRE) == fd)
			return k;
	}
	return NULL;
}

int xsp_fd_keep(int fd)
{
	struct xsp_fd_id id;

	if (fd < 0 || own_table)
		return fd;
	fd = xsp_fd_high(fd);
	/* The program has closed our earlier descriptor of this number. */
	xsp_fd_release(fd);
	for (unsigned int i = 0; i < PROBES && !xsp_fd_note(&id, fd); i++) {
		struct kept *k = &kept[((unsigned int)fd + i) % KEPT];
		int none = 0;

		/*
		 * Claim the slot first: another thread may want it. No lookup of @fd happens yet.
		 */
		if (!__atomic_compare_exchange_n(&k->fd, &none, -1, false, __ATOMIC_ACQUIRE,
						 __ATOMIC_RELAXED))
			continue;
		k->id = id;
		__atomic_store_n(&k->fd, fd, __ATOMIC_RELEASE);
		return fd;
	}
	close(fd);
	return -EMFILE;
}

bool xsp_fd_ours(int fd)
{
	const struct kept *k = find(fd);

	return !k || xsp_fd_is(&k->id, fd);
}

void xsp_fd_release(int fd)
{
	struct kept *k = find(fd);

	if (k)
		__atomic_store_n(&k->fd, 0, __ATOMIC_RELEASE);
}

void xsp_fd_close(int fd)
{
	bool ours = fd >= 0 && xsp_fd_ours(fd);

	/* Before another thread can reuse the number. */
	xsp_fd_release(fd);
	if (ours)
		close(fd);
}

void xsp_fd_forget(void)
{
	for (unsigned int i = 0; i < KEPT; i++) {
		int fd = __atomic_exchange_n(&kept[i].fd, 0, __ATOMIC_ACQUIRE);

		if (fd > 0 && xsp_fd_is(&kept[i].id, fd))
			close(fd);
	}
}
