// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Opens and reads a producer's memory. The caller decides what to read and when.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ctl-check.h"
#include "base/own-fd.h"
#include "base/pread.h"
#include "read/ring-file.h"

/* Maps the control page of @rf->fd, then everything. @size: size of a tmpfs file. */
static int map_all(struct xsp_ring_file *rf, uint64_t size, int prot)
{
	int err;

	/* A file shorter than its first page is not complete yet. */
	err = xsp_pread(rf->fd, &rf->ctl, sizeof(rf->ctl), 0);
	if (!err)
		err = xsp_ctl_check(&rf->ctl, size);
	if (err)
		return err;
	rf->mem.size = rf->ctl.total_size;
	rf->own_rings = rf->ctl.nr_rings + rf->ctl.nr_lock_rings;
	rf->rings = rf->own_rings + rf->ctl.nr_kernel_rings;
	rf->mem.map = mmap(NULL, rf->mem.size, prot, MAP_SHARED, rf->fd, 0);
	if (rf->mem.map == MAP_FAILED) {
		rf->mem.map = NULL;
		return -errno;
	}
	xsp_guard_add(&rf->mem);
	return 0;
}

/*
 * A recorder of root also reads files of processes that have given up root: file contents are
 * validated whoever made them. Without the guard, such a process could truncate its file and so
 * kill a program that records itself.
 */
static bool may_be_ours(const struct stat *st)
{
	bool other = !geteuid() && xsp_guard_installed();

	return st->st_uid == geteuid() || other;
}

int xsp_ring_file_open(struct xsp_ring_file *rf, int dirfd, const char *name)
{
	struct stat st;
	int err;

	memset(rf, 0, sizeof(*rf));
	/* O_NONBLOCK: do not wait at a fifo with that name. */
	rf->fd = openat(dirfd, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (rf->fd < 0)
		return -errno;
	if (fstat(rf->fd, &st))
		err = -errno;
	else if (!S_ISREG(st.st_mode))
		err = -ENOEXEC;
	else if (!may_be_ours(&st))
		err = -EPERM;
	else if (st.st_nlink > 1)
		/* A file with a second hard link was not made by its owner alone. */
		err = -EMLINK;
	else
		err = map_all(rf, st.st_size, PROT_READ | PROT_WRITE);
	if (!err)
		return 0;
	close(rf->fd);
	rf->fd = -1;
	return err;
}

int xsp_ring_device_map(struct xsp_ring_file *rf, int fd, bool consume)
{
	int err;

	memset(rf, 0, sizeof(*rf));
	rf->fd = fd;
	rf->device = true;
	rf->peek = !consume;
	/* UINT64_MAX: the kernel itself refuses to map more than there is. */
	err = map_all(rf, UINT64_MAX, PROT_READ);
	if (!err)
		return 0;
	close(fd);
	rf->fd = -1;
	return err;
}

void xsp_ring_file_close(struct xsp_ring_file *rf)
{
	if (!rf->mem.map)
		return;
	xsp_guard_remove(&rf->mem);
	munmap(rf->mem.map, rf->mem.size);
	rf->mem.map = NULL;
	xsp_fd_close(rf->fd);
	rf->fd = -1;
}

int xsp_ring_file_inside(struct xsp_ring_file *rf)
{
	/*
	 * Otherwise forked children would keep the memory after the process and the drain have
	 * ended.
	 */
	if (madvise(rf->mem.map, rf->mem.size, MADV_DONTFORK))
		return -errno;
	if (xsp_fd_is_private())
		return 0;
	rf->inside = true;
	if (rf->device) {
		rf->fd = xsp_fd_keep(rf->fd);
		return rf->fd < 0 ? rf->fd : 0;
	}
	close(rf->fd);
	rf->fd = -1;
	return 0;
}

static uint64_t ring_off(const struct xsp_ring_file *rf, uint32_t k)
{
	if (k < rf->own_rings)
		return rf->ctl.rings_off + k * rf->ctl.ring_stride;
	return rf->ctl.kernel_off +
	       (k - rf->own_rings) * (2 * rf->ctl.page_size + rf->ctl.kernel_size);
}

bool xsp_ring_ready(const struct xsp_ring_file *rf, uint32_t k)
{
	uint64_t word = __atomic_load_n(&xsp_ring_ctl(rf)->ready[k / 64], __ATOMIC_ACQUIRE);

	return word >> (k % 64) & 1;
}

struct xsprof_ring_writer *xsp_ring_writer(const struct xsp_ring_file *rf, uint32_t k)
{
	return (struct xsprof_ring_writer *)(rf->mem.map + ring_off(rf, k));
}

struct xsprof_ring_reader *xsp_ring_reader(const struct xsp_ring_file *rf, uint32_t k)
{
	return (struct xsprof_ring_reader *)(rf->mem.map + ring_off(rf, k) + rf->ctl.page_size);
}

static uint64_t block_up(uint64_t pos)
{
	return (pos + XSPROF_BLOCK_SLOTS - 1) & ~(uint64_t)(XSPROF_BLOCK_SLOTS - 1);
}

uint64_t xsp_ring_trust(const struct xsp_ring_file *rf, uint32_t k, uint64_t head, uint64_t pos)
{
	uint64_t size = xsp_ring_slots(rf, k) - XSPROF_OVERWRITE_MARGIN;
	uint64_t from = head > size ? head - size : 0, tail;

	if (from <= pos)
		return pos;
	from = block_up(from);
	if (rf->ctl.mode == XSPROF_MODE_OVERWRITE)
		return from;
	/* Slots that were released are not overwritten until the ring is full again. */
	tail = __atomic_load_n(&xsp_ring_reader(rf, k)->tail, __ATOMIC_RELAXED);
	if (tail <= pos)
		return pos;
	return tail < from ? tail : from;
}

static int copy(const struct xsp_ring_file *rf, void *buf, size_t len, uint64_t off)
{
	if (!rf->inside)
		return xsp_pread(rf->fd, buf, len, off);
	memcpy(buf, rf->mem.map + off, len);
	/* The copy is complete before the counters are read again. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return 0;
}

int xsp_ring_copy(const struct xsp_ring_file *rf, uint32_t k, uint64_t pos, void *buf,
		  size_t slots)
{
	uint64_t data = ring_off(rf, k) + 2ull * rf->ctl.page_size;
	uint64_t at = pos & (xsp_ring_slots(rf, k) - 1);
	uint64_t first = xsp_ring_slots(rf, k) - at;
	int err;

	if (first > slots)
		first = slots;
	err = copy(rf, buf, first << XSPROF_SLOT_SHIFT, data + (at << XSPROF_SLOT_SHIFT));
	if (err || first == slots)
		return err;
	return copy(rf, (char *)buf + (first << XSPROF_SLOT_SHIFT),
		    (slots - first) << XSPROF_SLOT_SHIFT, data);
}

uint64_t xsp_ring_hole(const struct xsp_ring_file *rf, uint32_t k, uint64_t pos, uint64_t slots)
{
	uint64_t at = pos & (xsp_ring_slots(rf, k) - 1);
	uint64_t to_end = xsp_ring_slots(rf, k) - at;
	off_t off = ring_off(rf, k) + 2ull * rf->ctl.page_size + (at << XSPROF_SLOT_SHIFT), next;
	uint64_t hole;

	/* The device has allocated all of a ready ring; inside a program it is not checked. */
	if (rf->device || rf->fd < 0)
		return 0;
	next = lseek(rf->fd, off, SEEK_DATA);
	/* A hole up to the end of the file. */
	if (next < 0)
		hole = errno == ENXIO ? to_end : 0;
	else
		hole = (uint64_t)(next - off) >> XSPROF_SLOT_SHIFT;
	if (hole > to_end)
		hole = to_end;
	return hole < slots ? hole : slots;
}

int xsp_ring_copy_arena(const struct xsp_ring_file *rf, uint64_t pos, void *buf, size_t len)
{
	uint64_t room = rf->ctl.arena_size - sizeof(struct xsprof_arena);

	if (pos > room || len > room - pos)
		return -EINVAL;
	return copy(rf, buf, len, rf->ctl.arena_off + sizeof(struct xsprof_arena) + pos);
}

/* Maps ring @k's reader page read-write over its read-only mapping. */
static int own_tail(struct xsp_ring_file *rf, uint32_t k)
{
	void *at = xsp_ring_reader(rf, k);

	if (rf->own_tails[k / 64] >> (k % 64) & 1)
		return 0;
	if (mmap(at, rf->ctl.page_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, rf->fd,
		 (uint8_t *)at - rf->mem.map) == MAP_FAILED)
		return -errno;
	rf->own_tails[k / 64] |= 1ull << (k % 64);
	return 0;
}

int xsp_ring_release(struct xsp_ring_file *rf, uint32_t k, uint64_t tail, uint64_t skipped)
{
	struct xsprof_ring_reader *reader = xsp_ring_reader(rf, k);
	int err;

	if (rf->peek)
		return 0;
	err = rf->device ? own_tail(rf, k) : 0;
	if (err)
		return err;
	if (reader->skipped != skipped)
		__atomic_store_n(&reader->skipped, skipped, __ATOMIC_RELAXED);
	/*
	 * Release: pairs with the writer's load of tail: our copy is complete before it writes
	 * there.
	 */
	__atomic_store_n(&reader->tail, tail, __ATOMIC_RELEASE);
	return 0;
}
