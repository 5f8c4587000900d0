// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Validates a control page. Works on a private copy and touches neither the producer's file nor its
 * memory.
 */
#include <errno.h>
#include <string.h>

#include "base/ctl-check.h"

#define RING_BYTES_MAX	(1ull << 46)

static bool power_of_two(uint64_t x)
{
	return x && !(x & (x - 1));
}

/* [off, off + len) lies inside [0, total), with no overflow on the way. */
static bool inside(uint64_t off, uint64_t len, uint64_t total)
{
	return off <= total && len <= total - off;
}

static bool apart(uint64_t a, uint64_t a_len, uint64_t b, uint64_t b_len)
{
	return a + a_len <= b || b + b_len <= a;
}

/* Rings that the kernel writes; they follow the others. */
static int check_kernel_rings(const struct xsprof_ctl *ctl, uint64_t rings_size)
{
	uint64_t page = ctl->page_size, size;

	if (!ctl->nr_kernel_rings)
		return 0;
	if (!power_of_two(ctl->kernel_size) || ctl->kernel_size > RING_BYTES_MAX ||
	    ctl->kernel_size < (uint64_t)XSPROF_MIN_BLOCKS * XSPROF_BLOCK_SIZE)
		return -EINVAL;
	if (__builtin_mul_overflow(ctl->nr_kernel_rings, 2 * page + ctl->kernel_size, &size) ||
	    ctl->kernel_off % page || ctl->kernel_off < page ||
	    !inside(ctl->kernel_off, size, ctl->total_size))
		return -EINVAL;
	return apart(ctl->kernel_off, size, ctl->rings_off, rings_size) &&
	       apart(ctl->kernel_off, size, ctl->arena_off, ctl->arena_size) ? 0 : -EINVAL;
}

static int check_areas(const struct xsprof_ctl *ctl)
{
	uint64_t rings = (uint64_t)ctl->nr_rings + ctl->nr_lock_rings;
	uint64_t page = ctl->page_size;
	uint64_t rings_size;

	if (ctl->ring_stride != 2 * page + ctl->ring_size)
		return -EINVAL;
	if (__builtin_mul_overflow(rings, ctl->ring_stride, &rings_size))
		return -EINVAL;
	if (ctl->rings_off % page || ctl->arena_off % page)
		return -EINVAL;
	if (ctl->rings_off < page || ctl->arena_off < page)
		return -EINVAL;
	if (!inside(ctl->rings_off, rings_size, ctl->total_size) ||
	    !inside(ctl->arena_off, ctl->arena_size, ctl->total_size))
		return -EINVAL;
	if (!apart(ctl->arena_off, ctl->arena_size, ctl->rings_off, rings_size))
		return -EINVAL;
	return check_kernel_rings(ctl, rings_size);
}

int xsp_ctl_check(const struct xsprof_ctl *ctl, uint64_t size)
{
	int err;

	if (!ctl->magic)
		return -EAGAIN;
	if (ctl->magic != XSPROF_MAGIC)
		return -ENOEXEC;
	if (ctl->abi_major != XSPROF_ABI_MAJOR)
		return -EPROTONOSUPPORT;
	if (!power_of_two(ctl->page_size) || ctl->page_size < 4096 || ctl->page_size > 1u << 16)
		return -EINVAL;
	if (ctl->mode > XSPROF_MODE_OVERWRITE)
		return -EINVAL;
	if (ctl->nr_rings > XSPROF_MAX_RINGS || ctl->nr_lock_rings > XSPROF_MAX_LOCK_RINGS ||
	    ctl->nr_kernel_rings > XSPROF_MAX_RINGS ||
	    ctl->nr_rings + ctl->nr_lock_rings + ctl->nr_kernel_rings > XSPROF_MAX_RINGS ||
	    !(ctl->nr_rings + ctl->nr_lock_rings))
		return -EINVAL;
	if (!power_of_two(ctl->ring_size) || ctl->ring_size > RING_BYTES_MAX ||
	    ctl->ring_size < (uint64_t)XSPROF_MIN_BLOCKS * XSPROF_BLOCK_SIZE)
		return -EINVAL;
	if (ctl->arena_size < sizeof(struct xsprof_arena))
		return -EINVAL;
	err = check_areas(ctl);
	if (err)
		return err;
	if (ctl->total_size > size)
		return -ERANGE;
	return 0;
}

const char *xsp_ctl_strerror(int err)
{
	switch (err) {
	case -EAGAIN:		return "is not complete";
	case -ENOEXEC:		return "is not a ring file of xsprof";
	case -EPROTONOSUPPORT:	return "was made by another major version of xsprof";
	case -EINVAL:		return "has inconsistent numbers in its control page";
	case -ERANGE:
	case -ENODATA:		return "is shorter than its control page says";
	case -ELOOP:		return "is a symbolic link";
	case -EPERM:		return "belongs to another user";
	case -EMLINK:		return "has a second name";
	case -EUSERS:		return "comes after the 65536 processes that a capture can have";
	default:		return strerror(-err);
	}
}
