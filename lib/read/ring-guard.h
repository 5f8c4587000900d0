/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What happens when a producer cuts off its own file while a reader has it mapped: the reader
 * gets SIGBUS.  The guard puts zero pages in place of the mapping and marks the file broken, so
 * that a tool loses one producer and goes on.  A traced program that records itself never
 * installs it: the program's signals are its own, and so are its files.
 *
 * Mappings are added, removed and touched by one thread.
 */
#ifndef XSP_RING_GUARD_H
#define XSP_RING_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct xsp_guarded - a mapping of a file that its owner can cut off
 * @map: the file, shared
 * @size: bytes of @map
 * @broken: the file shrank under the mapping, which is zeros now
 * @next: all mappings of the thread that the guard knows
 */
struct xsp_guarded {
	uint8_t			*map;
	size_t			size;
	volatile bool		broken;
	struct xsp_guarded	*next;
};

/* Return: 0 or -errno. */
int xsp_guard_install(void);

/* Does it protect mappings? */
bool xsp_guard_installed(void);

void xsp_guard_add(struct xsp_guarded *mem);
void xsp_guard_remove(struct xsp_guarded *mem);

#endif /* XSP_RING_GUARD_H */
