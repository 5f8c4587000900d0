// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The producer's memory as markers see it: xsp_set, its table of rings, the page that markers test,
 * and each thread's own state. A backend allocates, maps and frees the memory itself.
 *
 * Plain system calls only: a forked child attaches at its first marker, which may be in a
 * signal handler.
 */
#include <errno.h>
#include <sys/mman.h>

#include "ring/backend.h"

struct xsp_set xsp_set;
struct xsp_kept xsp_kept __attribute__((aligned(64))) = { .fd = -1 };
struct xsprof_ring_writer xsp_closed_ring __attribute__((aligned(64)));
uint32_t xsp_producers;
uint64_t xsp_stacks_missed;
struct xsp_hooks xsp_hooks;
uint32_t xsp_resumed;
union xsprof_ctl_page xsprof_ctl_page;
__thread struct xsp_thread xsp_thread __attribute__((tls_model("initial-exec"))) = {
	.key = XSP_NO_KEY,
};

static uint64_t late;		/* records lost without a producer to count them */

/* Not at the start of its page, for the same reason as xsp_set.skip. */
#define TABLE_SKIP	8	/* pointers: a cache line */

static size_t table_bytes(uint32_t rings)
{
	return ((size_t)rings + TABLE_SKIP) * sizeof(struct xsprof_ring_writer *);
}

static struct xsprof_ring_writer **table_make(uint32_t rings)
{
	struct xsprof_ring_writer **t;

	t = mmap(NULL, table_bytes(rings), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		 -1, 0);
	if (t == MAP_FAILED)
		return NULL;
	t += TABLE_SKIP;
	for (uint32_t i = 0; i < rings; i++)
		t[i] = &xsp_closed_ring;
	return t;
}

/**
 * xsp_layout_set() - set the producer's memory and geometry
 * @geo: geometry; trusted: the library's own copy, or the kernel's page
 * @base: the memory, mapped; its first page is the control page
 * @fd: its descriptor
 * @backend: its backend
 *
 * Fills xsp_set, with nr = 0: no marker can enter until the caller sets it.
 *
 * Return: 0 or -ENOMEM.
 */
int xsp_layout_set(const struct xsprof_ctl *geo, char *base, int fd,
		   const struct xsp_backend *backend)
{
	uint32_t rings = geo->nr_rings + geo->nr_lock_rings;
	struct xsprof_ring_writer **table = table_make(rings);

	if (!table)
		return -ENOMEM;
	xsp_set.ring = table;
	xsp_set.size = geo->ring_size >> XSPROF_SLOT_SHIFT;
	xsp_set.mask = xsp_set.size - 1;
	xsp_set.base = base;
	xsp_set.overwrite = geo->mode == XSPROF_MODE_OVERWRITE;
	xsp_set.nr_rings = geo->nr_rings;
	xsp_set.nl = geo->nr_lock_rings;
	xsp_set.tail_off = geo->page_size;
	xsp_set.data_off = 2 * (uint64_t)geo->page_size;
	xsp_set.arena = (struct xsprof_arena *)(base + geo->arena_off);
	xsp_set.rings_off = geo->rings_off;
	xsp_set.stride = geo->ring_stride;
	xsp_set.arena_room = geo->arena_size - sizeof(*xsp_set.arena);
	xsp_kept.clock = geo->clock.kind;
	xsp_kept.base = base;
	xsp_kept.len = geo->total_size;
	xsp_kept.ring = table;
	xsp_kept.rings = rings;
	xsp_kept.fd = fd;
	xsp_kept.backend = backend;
	/* Release: a thread that sees it (xsp_shm_relock()) also sees the rest. */
	__atomic_store_n(&xsp_set.ctl, (const struct xsprof_ctl *)base, __ATOMIC_RELEASE);
	return 0;
}

/**
 * xsp_layout_clear() - there is no producer any more, or none in this child
 *
 * The backend must have released the memory before.
 */
void xsp_layout_clear(void)
{
	xsp_rings_close();
	xsp_set.base = NULL;
	xsp_set.ctl = NULL;
	xsp_set.arena = NULL;
	xsp_set.ring = NULL;
	if (xsp_kept.ring)
		munmap(xsp_kept.ring - TABLE_SKIP, table_bytes(xsp_kept.rings));
	xsp_kept.ring = NULL;
	xsp_kept.base = NULL;
	xsp_kept.backend = NULL;
	xsp_kept.fd = -1;
}

/* Tells the reader that there is enough to read. Signal-safe; keeps errno. */
XSP_COLD void xsp_kick(void)
{
	int err = errno;

	(void)xsp_kept.backend->kick(false);
	errno = err;
}

/* Counts a record that found no producer. */
void xsp_count_late(void)
{
	if (xsp_attached())
		__atomic_add_fetch(&xsp_set.arena->late, 1, __ATOMIC_RELAXED);
	else
		__atomic_add_fetch(&late, 1, __ATOMIC_RELAXED);
}

uint64_t xsp_late(void)
{
	return __atomic_load_n(&late, __ATOMIC_RELAXED);
}

/* Returns and resets the count: the caller accounts for them. */
uint64_t xsp_take_late(void)
{
	return __atomic_exchange_n(&late, 0, __ATOMIC_RELAXED);
}
