// SPDX-License-Identifier: LGPL-2.1-only
/*
 * What is left of earlier producers of this process on tmpfs: memory to which a marker that has
 * begun in another thread may still write, and the file of the latest, which a profile may not have
 * read to its end.
 *
 * Plain system calls only, as in backend-shm.c.
 */
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"
#include "process/retired.h"

#define RETIRED	4u	/* sizes that take turns: recorders', and a profiler's */

static struct {
	char		*base;
	uint64_t	len;
} retired[RETIRED];

static struct {
	struct xsp_fd_id	id;
	int			fd;
	struct xsp_retired_rings rings;
} unread = { .fd = -1 };

void xsp_retired_add(char *base, uint64_t len)
{
	unsigned int i = 0;

	while (i < RETIRED - 1 && retired[i].base)
		i++;
	retired[i].base = base;
	retired[i].len = len;
}

void xsp_retired_drop(const char *base)
{
	for (unsigned int i = 0; i < RETIRED; i++)
		if (retired[i].base == base)
			retired[i].base = NULL;
}

/* Maps over the retired memory if that has the same size: no mapping is left over. */
char *xsp_retired_map(int fd, uint64_t size)
{
	unsigned int i = 0;
	bool again;
	char *base;

	while (i < RETIRED && !(retired[i].base && retired[i].len == size))
		i++;
	again = i < RETIRED;
	base = mmap(again ? retired[i].base : NULL, size, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_NORESERVE | (again ? MAP_FIXED : 0), fd, 0);
	if (again && base != MAP_FAILED)
		retired[i].base = NULL;
	return base;
}

void xsp_retired_keep(int fd, const struct xsp_retired_rings *rings)
{
	xsp_retired_read();
	unread.fd = xsp_fd_note(&unread.id, fd) ? -1 : fd;
	unread.rings = *rings;
}

/* Without the words beside the records: who reads the rings looks at these once more. */
static void free_records(void)
{
	const struct xsp_retired_rings *r = &unread.rings;

	for (uint32_t k = 0; k < r->nr; k++)
		(void)fallocate(unread.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				(off_t)(r->data + k * r->stride), (off_t)r->size);
}

void xsp_retired_read(void)
{
	struct stat st;

	if (!xsp_fd_is(&unread.id, unread.fd))
		return;
	/* A file that still has its name may be read by `xsprof recover`; one without by no one. */
	if (!fstat(unread.fd, &st) && !st.st_nlink)
		free_records();
	close(unread.fd);
	unread.fd = -1;
}
