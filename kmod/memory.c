// SPDX-License-Identifier: GPL-2.0-only
/*
 * A producer's pages: allocation, lookup, and permission to map them.
 *
 * layout.c finds the purpose of a page; this file does not compute with page numbers from a
 * process. It never reads memory that a process can write, except in xsp_memory_heads(), whose sum
 * only decides about a wake-up.
 *
 * Pages are only ever added, and are freed with the producer, when its file, its readers and all
 * their mappings are gone: a mapping holds its file. A mapping has no state, so splitting, moving
 * and partly unmapping it need no code.
 */
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/sched/signal.h>
#include <linux/topology.h>
#include <linux/uio.h>

#include "layout.h"

/* ---- allocation ---------------------------------------------------------------------------- */

static struct page *new_page(struct xsp_producer *p, int node)
{
	struct page *page;
	int err;

	err = xsp_payer_charge(&p->payer, 1);
	if (err)
		return ERR_PTR(err);
	page = alloc_pages_node(node, XSP_GFP | __GFP_ZERO, 0);
	if (page)
		return page;
	xsp_payer_undo(&p->payer, 1);
	return ERR_PTR(-ENOMEM);
}

/* Return: the page now at @index: @page, or one that another thread stored first; or an error. */
static struct page *store_page(struct xsp_producer *p, unsigned long index, struct page *page)
{
	struct page *old;

	if (IS_ERR(page))
		return page;
	old = xa_cmpxchg(&p->pages, index, NULL, page, XSP_GFP);
	if (!old)
		return page;
	put_page(page);
	xsp_payer_undo(&p->payer, 1);
	return xa_is_err(old) ? ERR_PTR(xa_err(old)) : old;
}

static void fill_writer(const struct xsp_geometry *geo, u32 k, struct xsprof_ring_writer *writer)
{
	if (k >= geo->rings)
		writer->kind = XSPROF_RING_KERNEL;
	else
		writer->kind = k < geo->nr_rings ? XSPROF_RING_RSEQ : XSPROF_RING_LOCK;
	writer->cpu = xsp_layout_cpu(geo, k);
}

/*
 * The two pages at the head of a ring are added together, the writer's filled in before it can be
 * seen; then the ring is ready, unless it is the kernel's, which is marked ready later.
 *
 * Under no lock: an allocation may take long in a memory cgroup that is full, and LIST takes
 * p->lock of each producer.  Two threads that open one ring: each finds the pages of the other
 * thread or stores its own, so both pages are there, complete, before either thread marks the ring
 * ready.
 */
static int open_ring(struct xsp_producer *p, u32 k, int node)
{
	unsigned long first = xsp_layout_ring(&p->geo, k);
	struct page *page;
	int err = 0;

	if (!xa_load(&p->pages, first)) {
		page = new_page(p, node);
		if (!IS_ERR(page))
			fill_writer(&p->geo, k, page_address(page));
		err = PTR_ERR_OR_ZERO(store_page(p, first, page));
	}
	if (!err && !xa_load(&p->pages, first + 1))
		err = PTR_ERR_OR_ZERO(store_page(p, first + 1, new_page(p, node)));
	if (!err && k < p->geo.rings)
		xsp_memory_ready(p, k);
	return err;
}

/* Marks ring @k ready for reading: a reader that sees the bit finds its pages. */
void xsp_memory_ready(struct xsp_producer *p, u32 k)
{
	/* Pairs with the acquire of readers; a full one, since others may have stored the pages. */
	smp_mb__before_atomic();
	set_bit(k, (unsigned long *)p->ctl->ready);
}

/* Adds a page that was missing a moment ago. Return: as xsp_memory_page(). */
static struct page *make_page(struct xsp_producer *p, unsigned long index)
{
	int node = NUMA_NO_NODE, cpu, err;
	struct xsp_area area;

	if (!xsp_layout_find(&p->geo, index, &area))
		return ERR_PTR(-EINVAL);
	cpu = area.kind >= XSP_AREA_WRITER ? xsp_layout_cpu(&p->geo, area.ring) : -1;
	/* CPU numbers may have gaps: only a possible CPU has a node. */
	if (cpu >= 0 && cpu_possible(cpu))
		node = cpu_to_node(cpu);
	if (area.kind == XSP_AREA_WRITER || area.kind == XSP_AREA_READER) {
		err = open_ring(p, area.ring, node);
		return err ? ERR_PTR(err) : xa_load(&p->pages, index);
	}
	return store_page(p, index, new_page(p, node));
}

/**
 * xsp_memory_page() - find or allocate a page of the layout
 * @p: producer
 * @index: page of the layout
 *
 * Charged to the process that attached, in its memory cgroup at that time. Kept records of the same
 * account are freed if needed.
 *
 * Return: the page, which lives as long as the producer; -EINVAL: beyond the layout; -ENOMEM,
 * -EPERM: as xsp_payer_charge().
 */
struct page *xsp_memory_page(struct xsp_producer *p, unsigned long index)
{
	struct page *page = xa_load(&p->pages, index);
	struct mem_cgroup *before;

	if (page)
		return page;
	before = xsp_payer_begin(&p->payer);
	do {
		page = make_page(p, index);
	} while (page == ERR_PTR(-ENOMEM) && xsp_payer_make_room(&p->payer));
	xsp_payer_end(before);
	return page;
}

/**
 * xsp_memory_kernel_page() - find or allocate a page of a ring that the kernel writes
 * @p: producer
 * @cpu: the ring's CPU
 * @n: 0 its writer's page, 1 its reader's, then its data
 *
 * Return: as xsp_memory_page().
 */
struct page *xsp_memory_kernel_page(struct xsp_producer *p, u32 cpu, unsigned long n)
{
	return xsp_memory_page(p, xsp_layout_ring(&p->geo, p->geo.rings + cpu) + n);
}

/**
 * xsp_memory_populate() - allocate memory for a part of the arena or of one ring
 * @p: producer
 * @offset: first byte
 * @bytes: their number
 *
 * Return: 0; -EINVAL: not inside one of them; else the error of the first failed allocation. Pages
 * allocated so far stay.
 */
int xsp_memory_populate(struct xsp_producer *p, u64 offset, u64 bytes)
{
	unsigned long index, last, end;
	struct xsp_area area;
	struct page *page;
	u64 sum;

	if (!bytes || check_add_overflow(offset, bytes - 1, &sum))
		return -EINVAL;
	index = offset >> PAGE_SHIFT;
	last = sum >> PAGE_SHIFT;
	if (!xsp_layout_find(&p->geo, index, &area) || area.kind == XSP_AREA_CTL ||
	    index >= p->geo.first_kernel)
		return -EINVAL;
	end = area.kind == XSP_AREA_ARENA ? area.first + area.pages :
	      xsp_layout_ring(&p->geo, area.ring) + p->geo.stride;
	if (last >= end)
		return -EINVAL;
	for (; index <= last; index++) {
		page = xsp_memory_page(p, index);
		if (IS_ERR(page))
			return PTR_ERR(page);
		/*
		 * Other tasks may wait: keep the pages allocated so far; the caller can retry for
		 * the rest.
		 */
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return 0;
}

/* ---- mappings ------------------------------------------------------------------------------ */

static vm_fault_t give_page(struct vm_fault *vmf, struct page *page)
{
	if (IS_ERR_OR_NULL(page))
		return VM_FAULT_SIGBUS;
	get_page(page);
	vmf->page = page;
	return 0;
}

/* A mapping that may only read, or write a reader page, gets only existing pages. */
static vm_fault_t xsp_fault(struct vm_fault *vmf)
{
	struct xsp_producer *p = vmf->vma->vm_private_data;

	return give_page(vmf, xa_load(&p->pages, vmf->pgoff));
}

/*
 * A fault in the producer's writable mapping: missing pages are allocated for the process that
 * attached. Another process that shares its memory gets only existing pages, and may outlive it: by
 * then the memory of the ended producer has been counted, and must not grow. While the attaching
 * process lives its producer is live, since the mapping holds the file.
 */
static vm_fault_t xsp_fault_owner(struct vm_fault *vmf)
{
	struct xsp_producer *p = vmf->vma->vm_private_data;

	if (!xsp_producer_is_mine(p))
		return xsp_fault(vmf);
	return give_page(vmf, xsp_memory_page(p, vmf->pgoff));
}

static const struct vm_operations_struct xsp_vm_ops = {
	.fault = xsp_fault,
};

static const struct vm_operations_struct xsp_vm_owner_ops = {
	.fault = xsp_fault_owner,
};

/* May these pages be mapped for writing: inside one area, of a kind that is this side's? */
static bool may_write(const struct xsp_geometry *geo, unsigned long index, unsigned long pages,
		      bool producer, bool consumer)
{
	struct xsp_area area;

	if (!xsp_layout_find(geo, index, &area) || pages > area.first + area.pages - index)
		return false;
	switch (area.kind) {
	case XSP_AREA_ARENA:
	case XSP_AREA_WRITER:
	case XSP_AREA_DATA:
		return producer && index < geo->first_kernel;
	case XSP_AREA_READER:
		return consumer;
	default:
		return false;
	}
}

/**
 * xsp_memory_mmap() - map a part of the layout
 * @p: producer
 * @vma: as mmap() prepared it; its file holds a reference to @p
 * @producer: the file is the producer's own
 * @mine: and the caller is the process that attached
 * @consumer: the file is a reader's that moves the tails
 *
 * Return: 0; -EINVAL: private, or beyond the layout; -EPERM: executable, or another process maps a
 * producer's file for writing; -EACCES: more than this side may write.
 */
int xsp_memory_mmap(struct xsp_producer *p, struct vm_area_struct *vma, bool producer, bool mine,
		    bool consumer)
{
	vm_flags_t set = VM_IO | VM_DONTEXPAND | VM_DONTDUMP | VM_DONTCOPY;
	unsigned long pages = vma_pages(vma), index = vma->vm_pgoff, end;
	vm_flags_t clear = VM_MAYEXEC;

	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	if (vma->vm_flags & VM_EXEC)
		return -EPERM;
	if (check_add_overflow(index, pages, &end) || end > p->geo.pages)
		return -EINVAL;
	if (vma->vm_flags & VM_WRITE) {
		if (!may_write(&p->geo, index, pages, producer, consumer))
			return -EACCES;
		if (producer && !mine)
			return -EPERM;
	} else {
		/* Permanently: neither mprotect() nor a debugger can make it writable later. */
		clear |= VM_MAYWRITE;
		/*
		 * Only the control page is inherited by fork(): the child's markers test it before
		 * the child can find out that it is another process.
		 */
		if (!index && pages == 1)
			set &= ~VM_DONTCOPY;
	}
	/*
	 * VM_IO prevents MADV_DOFORK from giving a child the parent's rings, and ptrace() and
	 * /proc/PID/mem from writing to read-only mappings.
	 */
	xsp_vm_flags(vma, set, clear);
	vma->vm_private_data = p;
	vma->vm_ops = producer && (vma->vm_flags & VM_WRITE) ? &xsp_vm_owner_ops : &xsp_vm_ops;
	return 0;
}

/* ---- copies -------------------------------------------------------------------------------- */

/* pread() of the layout; pages that were never touched read as zeros. */
ssize_t xsp_memory_read(struct xsp_producer *p, struct kiocb *iocb, struct iov_iter *to)
{
	u64 size = (u64)p->geo.pages << PAGE_SHIFT, pos = iocb->ki_pos;
	size_t done = 0;

	while (iov_iter_count(to) && pos < size) {
		struct page *page = xa_load(&p->pages, pos >> PAGE_SHIFT);
		size_t off = offset_in_page(pos);
		size_t n = min_t(u64, PAGE_SIZE - off, iov_iter_count(to));
		size_t copied;

		copied = page ? copy_page_to_iter(page, off, n, to) : iov_iter_zero(n, to);
		done += copied;
		pos += copied;
		if (copied < n)
			break;
		if (fatal_signal_pending(current))
			break;
		cond_resched();
	}
	iocb->ki_pos = pos;
	return done || !iov_iter_count(to) || pos >= size ? done : -EFAULT;
}

/* A sum that changes whenever a head does. A forged head only causes a wake-up. */
u64 xsp_memory_heads(struct xsp_producer *p)
{
	u64 sum = 0;
	u32 k;

	for_each_set_bit(k, (unsigned long *)p->ctl->ready, p->geo.rings + p->geo.kernel_rings) {
		struct page *page = xa_load(&p->pages, xsp_layout_ring(&p->geo, k));
		const struct xsprof_ring_writer *writer;

		if (!page)
			continue;
		writer = page_address(page);
		sum += READ_ONCE(writer->head) + READ_ONCE(writer->drops);
	}
	return sum;
}

/* No task is left that could look one up. */
void xsp_memory_free(struct xsp_producer *p)
{
	unsigned long index;
	struct page *page;

	xa_for_each(&p->pages, index, page) {
		put_page(page);
		cond_resched();
	}
	xa_destroy(&p->pages);
}
