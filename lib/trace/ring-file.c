// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Opening and reading a producer's file.  It never decides what to read or when.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/ring-file.h"
#include "trace/ring-guard.h"

static bool power_of_two(uint64_t x)
{
	return x && !(x & (x - 1));
}

/* [off, off + len) lies inside [0, total), with no overflow on the way. */
static bool inside(uint64_t off, uint64_t len, uint64_t total)
{
	return off <= total && len <= total - off;
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
	/* One before the other. */
	if (ctl->arena_off + ctl->arena_size > ctl->rings_off &&
	    ctl->rings_off + rings_size > ctl->arena_off)
		return -EINVAL;
	return 0;
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
	    ctl->nr_rings + ctl->nr_lock_rings > XSPROF_MAX_RINGS ||
	    !(ctl->nr_rings + ctl->nr_lock_rings))
		return -EINVAL;
	if (!power_of_two(ctl->ring_size) || ctl->ring_size > 1ull << 46 ||
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
	case -ENOEXEC:		return "is no ring file of xsprof";
	case -EPROTONOSUPPORT:	return "was made by another major version of xsprof";
	case -EINVAL:		return "holds numbers that do not fit each other";
	case -ERANGE:
	case -ENODATA:		return "is shorter than it says";
	case -ELOOP:		return "is a symbolic link";
	case -EPERM:		return "belongs to another user";
	default:		return strerror(-err);
	}
}

static int pread_all(int fd, void *buf, size_t len, uint64_t off)
{
	while (len) {
		ssize_t n = pread(fd, buf, len, off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			return -ENODATA;
		buf = (char *)buf + n;
		len -= n;
		off += n;
	}
	return 0;
}

int xsp_ring_file_open(struct xsp_ring_file *rf, int dirfd, const char *name)
{
	struct stat st;
	int err;

	memset(rf, 0, sizeof(*rf));
	/* Non-blocking: a fifo of that name must not hold us up. */
	rf->fd = openat(dirfd, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (rf->fd < 0)
		return -errno;
	err = -ENOEXEC;
	if (fstat(rf->fd, &st))
		goto err_errno;
	if (!S_ISREG(st.st_mode))
		goto err_close;
	err = -EPERM;
	if (st.st_uid != geteuid())
		goto err_close;
	/* A file too short for its first page is one that is not complete. */
	err = pread_all(rf->fd, &rf->ctl, sizeof(rf->ctl), 0);
	if (!err)
		err = xsp_ctl_check(&rf->ctl, st.st_size);
	if (err)
		goto err_close;
	rf->size = rf->ctl.total_size;
	rf->rings = rf->ctl.nr_rings + rf->ctl.nr_lock_rings;
	rf->map = mmap(NULL, rf->size, PROT_READ | PROT_WRITE, MAP_SHARED, rf->fd, 0);
	if (rf->map == MAP_FAILED)
		goto err_errno;
	xsp_guard_add(rf);
	return 0;

err_errno:
	err = -errno;
err_close:
	close(rf->fd);
	rf->fd = -1;
	return err;
}

void xsp_ring_file_close(struct xsp_ring_file *rf)
{
	if (rf->fd < 0)
		return;
	xsp_guard_remove(rf);
	munmap(rf->map, rf->size);
	close(rf->fd);
	rf->fd = -1;
}

static uint64_t ring_off(const struct xsp_ring_file *rf, uint32_t k)
{
	return rf->ctl.rings_off + k * rf->ctl.ring_stride;
}

bool xsp_ring_ready(const struct xsp_ring_file *rf, uint32_t k)
{
	uint64_t word = __atomic_load_n(&xsp_ring_ctl(rf)->ready[k / 64], __ATOMIC_ACQUIRE);

	return word >> (k % 64) & 1;
}

struct xsprof_ring_writer *xsp_ring_writer(const struct xsp_ring_file *rf, uint32_t k)
{
	return (struct xsprof_ring_writer *)(rf->map + ring_off(rf, k));
}

struct xsprof_ring_reader *xsp_ring_reader(const struct xsp_ring_file *rf, uint32_t k)
{
	return (struct xsprof_ring_reader *)(rf->map + ring_off(rf, k) + rf->ctl.page_size);
}

int xsp_ring_copy(const struct xsp_ring_file *rf, uint32_t k, uint64_t pos, void *buf,
		  size_t slots)
{
	uint64_t data = ring_off(rf, k) + 2ull * rf->ctl.page_size;
	uint64_t at = pos & (xsp_ring_slots(rf) - 1);
	uint64_t first = xsp_ring_slots(rf) - at;
	int err;

	if (first > slots)
		first = slots;
	err = pread_all(rf->fd, buf, first << XSPROF_SLOT_SHIFT, data + (at << XSPROF_SLOT_SHIFT));
	if (err || first == slots)
		return err;
	return pread_all(rf->fd, (char *)buf + (first << XSPROF_SLOT_SHIFT),
			 (slots - first) << XSPROF_SLOT_SHIFT, data);
}

int xsp_ring_copy_arena(const struct xsp_ring_file *rf, uint64_t pos, void *buf, size_t len)
{
	if (!inside(pos, len, rf->ctl.arena_size - sizeof(struct xsprof_arena)))
		return -EINVAL;
	return pread_all(rf->fd, buf, len,
			 rf->ctl.arena_off + sizeof(struct xsprof_arena) + pos);
}

void xsp_ring_release(const struct xsp_ring_file *rf, uint32_t k, uint64_t tail, uint64_t skipped)
{
	struct xsprof_ring_reader *reader = xsp_ring_reader(rf, k);

	if (reader->skipped != skipped)
		__atomic_store_n(&reader->skipped, skipped, __ATOMIC_RELAXED);
	/* Pairs with the writer's look at tail: our copy is done before it may write there. */
	__atomic_store_n(&reader->tail, tail, __ATOMIC_RELEASE);
}

/*
 * The producer stores enabled and then looks at paused again; we store paused and then enabled:
 * in every order the last store of enabled is 0.
 */
void xsp_ring_switch_off(const struct xsp_ring_file *rf)
{
	struct xsprof_ctl *ctl = xsp_ring_ctl(rf);

	__atomic_or_fetch(&ctl->paused, XSPROF_PAUSED_RECORDER, __ATOMIC_SEQ_CST);
	__atomic_store_n(&ctl->enabled, 0, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&ctl->generation, 1, __ATOMIC_RELEASE);
}
