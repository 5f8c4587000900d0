/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The restartable sequences of rseq-x86.h and rseq-arm64.h as pseudo-code.  This file is
 * documentation; nothing includes it.
 *
 * A sequence runs on one CPU with no other of these sequences in between on that CPU, or it is
 * restarted: the kernel aborts it on preemption, migration and signal delivery.  It is NOT
 * aborted by an interrupt that returns to the same task, which is why nothing in the kernel
 * writes into these rings.  All stores before the last one are to memory that no reader trusts
 * yet, or are harmless when they stay without the last one.
 *
 * publish one slot (inline in each marker):
 *
 *	if thread.key != set.key + this cpu: slow path
 *	r = thread.ring				(arm64: r = set.ring[this cpu], or slow path)
 *	next = r->head + 1
 *	if next > r->bound: slow path		full, a drop is pending, memory to be had, ...
 *	ts = clock				inside, so that time never goes back in a ring
 *	slot(r, head) = header, ts, payload
 *	r->head = next				COMMIT
 *
 * The slow path stores set.key + this cpu and set.ring[this cpu], an open ring, in the thread. The
 * table itself needs no copy, but costs two more loads, each dependent on the one before; and some
 * processors do not read the clock before all older instructions have finished. The key's high half
 * is the producer's number: a thread that comes out of a fork with its parent's ring has a key that
 * does not match its own producer.
 *
 * the general sequence (out of line), 1 to 8 slots:
 *
 *	r = set.ring[this cpu]
 *	if r is not open: make room, try again
 *	h = e = r->head
 *	if r->mark == h + 1: e++		a drop since the last publish: LOST goes first
 *	if the record would cross a block: e = start of the next block
 *	if DISCARD and e + n - r->tail > size:
 *		r->mark = h + 1			without the commit: one LOST that adds nothing
 *		r->bound = h			without the commit: one needless slow path
 *		r->drops = r->drops + 1		COMMIT
 *	if e + n > r->grown: make room, try again
 *	ts = clock
 *	LOST at h, when due; PAD up to e, when due; the record at e
 *	r->head = e + n				COMMIT
 *
 * Publishing and dropping end in the same store instruction, whose address is &head or &drops: a
 * sequence can have only one commit. So drops and records of a ring are in one order, and all drops
 * that a LOST adds lie between it and the record before it.
 *
 * drop one slot (out of line): the general sequence as far as its drop, for a record of one slot.
 *
 * raise the bound (out of line, after a publish that found it too low):
 *
 *	r = set.ring[this cpu]
 *	if r->mark == r->head + 1: leave it	the next marker must see the pending drop
 *	r->bound = min(OVERWRITE ? ~0 : r->tail + size, r->grown, limit)	COMMIT
 *
 * @limit is the position of the next kick: the next multiple above head of the watermark in the
 * control page, or ~0 without a watermark. It was computed before the sequence, perhaps for another
 * CPU's ring, and is then too low (a needless slow path) or too high (a late kick: the module's
 * timer checks too). The same holds for a watermark that appears while the bound is ~0: the writer
 * learns of it at its next slow path.
 *
 * Why @bound is safe although another thread may have set it long ago: tail and grown only
 * rise, so an old bound is at most too low.  A drop lowers it in its own sequence, before the
 * commit that makes the drop true; head + 1 > bound then holds until a publish wrote LOST and
 * this sequence raised it again.
 *
 * Why 15 slots of margin are enough in OVERWRITE mode, although LOST, 7 of padding and a record
 * of 8 make 16: a sequence drops there only while the ring is not whole (no memory for it), that
 * is with head in the lower half of the first lap, and its LOST is the next thing published.
 * Slots that a reader trusts do not exist above it yet.  A lock ring, which may lose a record to
 * a busy lock in any lap, publishes its LOST by itself in that mode.
 */
