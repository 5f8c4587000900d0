// SPDX-License-Identifier: GPL-2.0-only
/*
 * The layout of a producer's memory: computes it at attach, and finds the purpose of each page. The
 * geometry is the kernel's own, constant copy; other files do not compute with page numbers from a
 * process. It allocates and accesses no memory.
 *
 * Rings that the kernel writes have the layout of all others, their own size, and come after them,
 * so that older programs find everything at its place.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/sizes.h>

#include "layout.h"

#define XSP_MAX_RING_BYTES	BIT_ULL(40)
#define XSP_MAX_ARENA_BYTES	BIT_ULL(32)
#define XSP_MAX_KERNEL_BYTES	SZ_64M	/* of a ring that the kernel writes */

/* The sizes of the kernel's rings, if the kernel chooses them: of all of them, and of one. */
#define XSP_KERNEL_BYTES	SZ_4M
#define XSP_KERNEL_MIN		SZ_32K
#define XSP_KERNEL_MAX		SZ_256K

/* First page of ring @k; those of the kernel come last. */
unsigned long xsp_layout_ring(const struct xsp_geometry *geo, u32 k)
{
	if (k < geo->rings)
		return geo->first_ring + k * geo->stride;
	return geo->first_kernel + (k - geo->rings) * geo->kernel_stride;
}

/* The CPU of ring @k, -1: a lock ring. */
int xsp_layout_cpu(const struct xsp_geometry *geo, u32 k)
{
	if (k >= geo->rings)
		return k - geo->rings;
	return k < geo->nr_rings ? (int)k : -1;
}

static void find_in_ring(struct xsp_area *area, unsigned long index, unsigned long in,
			 unsigned long pages)
{
	area->first = index - in;
	area->pages = 1;
	switch (in) {
	case 0:
		area->kind = XSP_AREA_WRITER;
		break;
	case 1:
		area->kind = XSP_AREA_READER;
		area->first += 1;
		break;
	default:
		area->kind = XSP_AREA_DATA;
		area->first += 2;
		area->pages = pages;
	}
}

/* Return: false: @index is beyond the layout. */
bool xsp_layout_find(const struct xsp_geometry *geo, unsigned long index, struct xsp_area *area)
{
	unsigned long in;

	if (index >= geo->pages)
		return false;
	area->ring = 0;
	if (index < geo->arena) {
		*area = (struct xsp_area){ XSP_AREA_CTL, 0, 0, 1 };
		return true;
	}
	if (index < geo->first_ring) {
		*area = (struct xsp_area){ XSP_AREA_ARENA, 0, geo->arena, geo->arena_pages };
		return true;
	}
	if (index < geo->first_kernel) {
		in = index - geo->first_ring;
		area->ring = in / geo->stride;
		find_in_ring(area, index, in % geo->stride, geo->ring_pages);
	} else {
		in = index - geo->first_kernel;
		area->ring = geo->rings + in / geo->kernel_stride;
		find_in_ring(area, index, in % geo->kernel_stride, geo->kernel_pages);
	}
	return true;
}

/* Return: pages of a ring's data, a power of two. */
static unsigned long data_pages(u64 bytes)
{
	bytes = max_t(u64, bytes, XSPROF_MIN_BLOCKS * XSPROF_BLOCK_SIZE);
	return roundup_pow_of_two(max_t(u64, bytes, PAGE_SIZE)) >> PAGE_SHIFT;
}

/* Many CPUs share a process' events: limits the total size of all rings. */
static u64 kernel_size(void)
{
	return clamp_t(u64, rounddown_pow_of_two(XSP_KERNEL_BYTES / nr_cpu_ids),
		       XSP_KERNEL_MIN, XSP_KERNEL_MAX);
}

/**
 * xsp_layout_make() - compute the layout that a producer requested
 * @geo: filled in
 * @arg: the request; ring_size, arena_size, kernel_size, total_size and nr_rings are set to the
 *	actual values
 * @nr_rings: rings by CPU
 *
 * Return: 0, -EINVAL: invalid sizes, -EFBIG: more than can be mapped.
 */
int xsp_layout_make(struct xsp_geometry *geo, struct xsprof_attach *arg, u32 nr_rings)
{
	u64 kernel = arg->kernel_size ?: kernel_size();
	unsigned long rings_pages, kernel_pages;

	if (arg->ring_size > XSP_MAX_RING_BYTES || kernel > XSP_MAX_KERNEL_BYTES ||
	    arg->arena_size > XSP_MAX_ARENA_BYTES)
		return -EINVAL;
	if (!arg->nr_lock_rings || arg->nr_lock_rings > XSPROF_MAX_LOCK_RINGS)
		return -EINVAL;
	geo->nr_rings = min_t(u32, nr_rings, XSPROF_MAX_RINGS - XSPROF_MAX_LOCK_RINGS);
	geo->rings = geo->nr_rings + arg->nr_lock_rings;
	/* A ring for each CPU, or none: losses on a CPU without one could not be counted. */
	geo->kernel_rings = nr_cpu_ids <= XSPROF_MAX_RINGS - geo->rings ? nr_cpu_ids : 0;
	geo->ring_pages = data_pages(arg->ring_size);
	geo->stride = geo->ring_pages + 2;
	geo->kernel_pages = data_pages(kernel);
	geo->kernel_stride = geo->kernel_pages + 2;
	geo->arena = 1;
	geo->arena_pages = DIV_ROUND_UP(arg->arena_size + sizeof(struct xsprof_arena), PAGE_SIZE);
	geo->first_ring = geo->arena + geo->arena_pages;
	if (check_mul_overflow((unsigned long)geo->rings, geo->stride, &rings_pages) ||
	    check_mul_overflow((unsigned long)geo->kernel_rings, geo->kernel_stride,
			       &kernel_pages) ||
	    check_add_overflow(rings_pages, geo->first_ring, &geo->first_kernel) ||
	    check_add_overflow(kernel_pages, geo->first_kernel, &geo->pages) ||
	    geo->pages > TASK_SIZE >> PAGE_SHIFT)
		return -EFBIG;
	arg->nr_rings = geo->nr_rings;
	arg->ring_size = (u64)geo->ring_pages << PAGE_SHIFT;
	arg->kernel_size = (u64)geo->kernel_pages << PAGE_SHIFT;
	arg->arena_size = (u64)geo->arena_pages << PAGE_SHIFT;
	arg->total_size = (u64)geo->pages << PAGE_SHIFT;
	return 0;
}
