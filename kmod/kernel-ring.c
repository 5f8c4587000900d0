// SPDX-License-Identifier: GPL-2.0-only
/*
 * A ring that the kernel writes. Records are written under the scheduler's locks, with interrupts
 * off and on the ring's own CPU: this code does not allocate, sleep, wake a task or loop.
 *
 * A reader can write the tail. It is only compared to the head, never used in computations: a wrong
 * tail loses only records of the reader that wrote it.
 */
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/string.h>

#include "kernel-ring.h"

/**
 * xsp_kernel_ring_init() - allocate all memory of one ring, and leave it closed
 * @ring: filled in; zeros before
 * @p: its producer
 * @cpu: its CPU
 * @data: room for the addresses of its data's pages
 *
 * Return: 0; -EINTR; -ENOMEM, -EPERM as xsp_memory_page().
 */
int xsp_kernel_ring_init(struct xsp_kernel_ring *ring, struct xsp_producer *p, u32 cpu,
			 void **data)
{
	unsigned long n;
	struct page *page;

	for (n = 0; n < p->geo.kernel_stride; n++) {
		page = xsp_memory_kernel_page(p, cpu, n);
		if (IS_ERR(page))
			return PTR_ERR(page);
		if (n == 0)
			ring->writer = page_address(page);
		else if (n == 1)
			ring->reader = page_address(page);
		else
			data[n - 2] = page_address(page);
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	raw_spin_lock_init(&ring->lock);
	ring->data = data;
	ring->slots = p->geo.kernel_pages << (PAGE_SHIFT - XSPROF_SLOT_SHIFT);
	ring->overwrite = p->mode == XSPROF_MODE_OVERWRITE;
	ring->clock = p->clock;
	ring->offset = xsp_producer_ticks_offset(p);
	ring->ctl = p->ctl;
	WRITE_ONCE(ring->writer->grown, U64_MAX);
	return 0;
}

/*
 * Opens or closes it, or only waits for current writers: after closing nothing is written when this
 * returns.
 */
void xsp_kernel_ring_open(struct xsp_kernel_ring *ring, bool open)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&ring->lock, flags);
	ring->open = open;
	raw_spin_unlock_irqrestore(&ring->lock, flags);
}

static struct xsprof_rec *slot(struct xsp_kernel_ring *ring, u64 pos)
{
	u64 bytes = (pos & (ring->slots - 1)) << XSPROF_SLOT_SHIFT;

	return ring->data[bytes >> PAGE_SHIFT] + offset_in_page(bytes);
}

static bool has_room(const struct xsp_kernel_ring *ring, u32 slots)
{
	u64 tail;

	if (ring->overwrite)
		return true;
	/*
	 * Pairs with the reader's release: its copy is complete before the slots are written again.
	 */
	tail = smp_load_acquire(&ring->reader->tail);
	/* No tail is beyond the head, or further back than the ring is long. */
	return tail <= ring->head && ring->head - tail <= ring->slots - slots;
}

/* The clock of markers; monotonic within a ring, which the fast clock does not guarantee. */
static u64 ticks(struct xsp_kernel_ring *ring)
{
	u64 now = xsp_counter_ticks_fast(ring->clock) + ring->offset;

	if (now > ring->last)
		ring->last = now;
	return ring->last;
}

static void drop(struct xsp_kernel_ring *ring)
{
	WRITE_ONCE(ring->writer->mark, ring->head + 1);
	/* Like every writer: a reader that sees the drop sees its position. */
	smp_store_release(&ring->writer->drops, ++ring->drops);
}

static void put(struct xsp_kernel_ring *ring, struct xsprof_rec *rec, u32 slots)
{
	bool lost = !ring->overwrite && ring->drops != ring->told;
	u64 pos = ring->head, at = pos + lost;
	u32 left = XSPROF_BLOCK_SLOTS - (at & (XSPROF_BLOCK_SLOTS - 1));
	u32 pad = left < slots ? left : 0;

	if (!has_room(ring, lost + pad + slots)) {
		drop(ring);
		return;
	}
	rec->ts = ticks(ring);
	if (ring->overwrite)
		smp_wmb();	/* the head before is seen before the first of these stores */
	if (lost) {
		*slot(ring, pos) = (struct xsprof_rec){
			.type = XSPROF_REC_LOST, .size = 1, .ts = rec->ts, .value = ring->drops,
		};
		ring->told = ring->drops;
	}
	if (pad)
		*slot(ring, at) = (struct xsprof_rec){
			.type = XSPROF_REC_PAD, .size = pad, .ts = rec->ts,
		};
	/* No record crosses a block, and no block a page. */
	memcpy(slot(ring, at + pad), rec, slots << XSPROF_SLOT_SHIFT);
	ring->head = at + pad + slots;
	/* The release that publishes; a reader's acquire of it sees all of the above. */
	smp_store_release(&ring->writer->head, ring->head);
}

/**
 * xsp_kernel_ring_put() - write a record, or count a drop
 * @ring: ring of this CPU
 * @rec: the record; its time is filled in
 * @slots: its size, at most XSPROF_RECORD_SLOTS
 *
 * Context: any but NMI.
 */
void xsp_kernel_ring_put(struct xsp_kernel_ring *ring, struct xsprof_rec *rec, u32 slots)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&ring->lock, flags);
	/* A task that pauses the producer waits for this lock; after that no record is written. */
	if (ring->open && !READ_ONCE(ring->ctl->paused))
		put(ring, rec, slots);
	raw_spin_unlock_irqrestore(&ring->lock, flags);
}

/**
 * xsp_kernel_ring_drop() - count a record that cannot be written
 * @ring: ring of this CPU
 *
 * Context: any but NMI.
 */
void xsp_kernel_ring_drop(struct xsp_kernel_ring *ring)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&ring->lock, flags);
	if (ring->open && !READ_ONCE(ring->ctl->paused))
		drop(ring);
	raw_spin_unlock_irqrestore(&ring->lock, flags);
}
