/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Protects readers against producers that truncate their file while it is mapped, which would be
 * SIGBUS. The guard maps zero pages over the file and marks it broken, so that a tool loses one
 * producer and continues. A program that records itself never installs it: signals and files there
 * belong to the program.
 *
 * A mapping is added, removed and touched by one thread.
 */
#ifndef XSP_RING_GUARD_H
#define XSP_RING_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct xsp_guarded - a mapping of a file that its owner can truncate
 * @map: the file, shared
 * @size: bytes of @map
 * @broken: the file was truncated; the mapping reads as zeros now
 * @next: list of the thread's mappings
 */
struct xsp_guarded {
	uint8_t			*map;
	size_t			size;
	volatile bool		broken;
	struct xsp_guarded	*next;
};

/* Return: 0 or -errno. */
int xsp_guard_install(void);

/* Is the guard installed? */
bool xsp_guard_installed(void);

void xsp_guard_add(struct xsp_guarded *mem);
void xsp_guard_remove(struct xsp_guarded *mem);

#endif /* XSP_RING_GUARD_H */
