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

struct xsp_ring_file;

/* Return: 0 or -errno. */
int xsp_guard_install(void);

void xsp_guard_add(struct xsp_ring_file *rf);
void xsp_guard_remove(struct xsp_ring_file *rf);

#endif /* XSP_RING_GUARD_H */
