/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * A producer's memory, in a tmpfs file or of the device, for readers: validated once, then read
 * with every number checked. Never trusts what the producer can write, and writes only a ring's
 * reader page and, to switch a producer off, the enabled bits.
 *
 * The two backends differ only here. A tmpfs file is mapped read-write as a whole, and its control
 * page is written by the producer. A producer of the device is mapped read-only, its reader pages
 * also read-write if it is consumed, and its control page is written by the kernel.
 */
#ifndef XSP_RING_FILE_H
#define XSP_RING_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <xsprof/abi.h>

#include "read/ring-guard.h"

/**
 * struct xsp_ring_file - an open producer
 * @fd: the file, or the device's descriptor for the producer; -1: closed, but still mapped
 * @mem: mapping of everything; its size is the producer's total_size
 * @device: the device is its backend
 * @peek: only peek: another reader owns its tails
 * @inside: the reader is inside a foreign program: see xsp_ring_file_inside()
 * @own_tails: device: bit k: ring k's reader page is mapped read-write
 * @ctl: the control page as validated: geometry and identity are only read from here
 * @own_rings: nr_rings + nr_lock_rings: rings that the program writes
 * @rings: these and the kernel's rings
 */
struct xsp_ring_file {
	int			fd;
	struct xsp_guarded	mem;
	bool			device;
	bool			peek;
	bool			inside;
	uint64_t		own_tails[XSPROF_READY_WORDS];
	struct xsprof_ctl	ctl;
	uint32_t		own_rings;
	uint32_t		rings;
};

/**
 * xsp_ring_file_open - open a producer's file
 * @rf: filled in
 * @dirfd: folder
 * @name: name in it; symbolic links, files of others and other file types are refused
 *
 * Return: 0 or -errno, including those of xsp_ctl_check().
 */
int xsp_ring_file_open(struct xsp_ring_file *rf, int dirfd, const char *name);

/**
 * xsp_ring_device_map - the same for a descriptor from the device
 * @rf: filled in
 * @fd: taken over, and closed on failure
 * @consume: the reader moves the tails
 *
 * Return: 0 or -errno, including those of xsp_ctl_check().
 */
int xsp_ring_device_map(struct xsp_ring_file *rf, int fd, bool consume);

void xsp_ring_file_close(struct xsp_ring_file *rf);

/**
 * xsp_ring_file_inside - adapt to being inside a foreign program
 * @rf: file
 *
 * Forked children do not inherit the mapping. Unless the thread has its own descriptor table, the
 * program may close any descriptor: from then on only the mapping is used. A tmpfs file's
 * descriptor is closed, which drops a POSIX lock of this process on the file.
 *
 * Return: 0 or -errno.
 */
int xsp_ring_file_inside(struct xsp_ring_file *rf);

/* Does ring @k have memory, so that it may be accessed? */
bool xsp_ring_ready(const struct xsp_ring_file *rf, uint32_t k);

/* The two header pages of ring @k, which must be ready and below @rings. */
struct xsprof_ring_writer *xsp_ring_writer(const struct xsp_ring_file *rf, uint32_t k);
struct xsprof_ring_reader *xsp_ring_reader(const struct xsp_ring_file *rf, uint32_t k);

static inline struct xsprof_ctl *xsp_ring_ctl(const struct xsp_ring_file *rf)
{
	return (struct xsprof_ctl *)rf->mem.map;
}

static inline struct xsprof_arena *xsp_ring_arena(const struct xsp_ring_file *rf)
{
	return (struct xsprof_arena *)(rf->mem.map + rf->ctl.arena_off);
}

static inline uint64_t xsp_ring_slots(const struct xsp_ring_file *rf, uint32_t k)
{
	return (k < rf->own_rings ? rf->ctl.ring_size : rf->ctl.kernel_size) >> XSPROF_SLOT_SHIFT;
}

/* Slots of the largest ring. */
static inline uint64_t xsp_ring_most_slots(const struct xsp_ring_file *rf)
{
	uint64_t own = xsp_ring_slots(rf, 0), kernel = 0;

	if (rf->rings > rf->own_rings)
		kernel = xsp_ring_slots(rf, rf->own_rings);
	return own > kernel ? own : kernel;
}

/* Slots published. Pairs with the writer's commit: slots below may be read. */
static inline uint64_t xsp_ring_head(const struct xsp_ring_file *rf, uint32_t k)
{
	return __atomic_load_n(&xsp_ring_writer(rf, k)->head, __ATOMIC_ACQUIRE);
}

/**
 * xsp_ring_trust - the first slot of an earlier copy that can be trusted
 * @rf: file
 * @k: ring
 * @head: read after the copy
 * @pos: the copy's first slot
 *
 * A consumer of a DISCARD ring is not overtaken; a reader that only peeks is, once the consumer has
 * released slots and the writer has wrapped around.
 *
 * Return: @pos, or the first slot after it that the writer cannot have touched, at the begin of a
 * record.
 */
uint64_t xsp_ring_trust(const struct xsp_ring_file *rf, uint32_t k, uint64_t head, uint64_t pos);

/**
 * xsp_ring_copy - copy slots out of a ring
 * @rf: file
 * @k: ring
 * @pos: first slot
 * @buf: room for @slots slots
 * @slots: number of slots, at most the ring's size
 *
 * Uses pread(): a copy is needed anyway, and a truncated file is an error instead of SIGBUS. Inside
 * a program, which owns the files, copies from the mapping.
 *
 * Return: 0, or -errno; -ENODATA if the file was truncated.
 */
int xsp_ring_copy(const struct xsp_ring_file *rf, uint32_t k, uint64_t pos, void *buf,
		  size_t slots);

/* The same for the arena's entries: @pos counts from the end of its header. */
int xsp_ring_copy_arena(const struct xsp_ring_file *rf, uint64_t pos, void *buf, size_t len);

/**
 * xsp_ring_hole - find slots in a hole of the file, to which no writer has stored
 * @rf: file
 * @k: ring
 * @pos: first slot
 * @slots: maximum number of slots to check
 *
 * A writer's memory is allocated before it stores: an honest writer publishes no slots in a hole.
 *
 * Return: number of slots from @pos on, ending at a page boundary; 0 if @pos has data.
 */
uint64_t xsp_ring_hole(const struct xsp_ring_file *rf, uint32_t k, uint64_t pos, uint64_t slots);

/**
 * xsp_ring_release - return slots to the writer
 * @rf: file
 * @k: ring
 * @tail: everything below has been copied
 * @skipped: slots that were overwritten before they could be copied
 *
 * Return: 0, or -errno if the reader page cannot be mapped writable. Does nothing for peek.
 */
int xsp_ring_release(struct xsp_ring_file *rf, uint32_t k, uint64_t tail, uint64_t skipped);

#endif /* XSP_RING_FILE_H */
