/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A ring that the kernel writes: for one CPU of one producer, with the layout of all rings (abi.h).
 */
#ifndef XSP_KERNEL_RING_H
#define XSP_KERNEL_RING_H

#include <linux/cache.h>
#include <linux/spinlock.h>

#include "xsprof.h"

/**
 * struct xsp_kernel_ring - one such ring
 * @lock: for writers; raw and innermost, since it is taken under the scheduler's locks. A CPU
 *	writes only its own ring, so tasks wait only for a change of @open
 * @open: it may be written to; only then the pointers are valid
 * @overwrite: its producer's mode
 * @clock: its producer's clock
 * @offset: offset of the producer's time namespace to it
 * @head: slots published: authoritative, the page's word is a copy
 * @drops: records dropped, as @head
 * @told: @drops in the latest LOST record
 * @last: the latest timestamp
 * @slots: its size
 * @writer: its writer's page, which only the kernel writes
 * @reader: its reader's page; only the tail is read, and compared to @head
 * @data: pages of its slots
 * @ctl: the producer's control page
 */
struct xsp_kernel_ring {
	raw_spinlock_t			lock;		/* as the comment above says */
	bool				open;
	bool				overwrite;
	u32				clock;
	s64				offset;
	u64				head;
	u64				drops;
	u64				told;
	u64				last;
	u64				slots;
	struct xsprof_ring_writer	*writer;
	const struct xsprof_ring_reader	*reader;
	void				**data;
	const struct xsprof_ctl		*ctl;
} ____cacheline_aligned_in_smp;

int xsp_kernel_ring_init(struct xsp_kernel_ring *ring, struct xsp_producer *p, u32 cpu,
			 void **data);
void xsp_kernel_ring_open(struct xsp_kernel_ring *ring, bool open);
void xsp_kernel_ring_put(struct xsp_kernel_ring *ring, struct xsprof_rec *rec, u32 slots);
void xsp_kernel_ring_drop(struct xsp_kernel_ring *ring);

#endif /* XSP_KERNEL_RING_H */
