/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * A producer's memory, in a tmpfs file or the device's, as a reader sees it: validated once,
 * then read with every number checked.  It never trusts what the producer can write, and never
 * writes anything but a ring's reader page and, to switch a producer off, the enabled bits.
 *
 * Two kinds differ here and nowhere else.  A tmpfs file is mapped read-write as a whole, and its
 * control page is the producer's own word.  A producer of the device is mapped read-only, its
 * reader pages once more read-write when it is consumed, and its control page is the kernel's.
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
 * @fd: the file, or the descriptor that the device gave for it; -1: it is mapped all the same
 * @mem: all of it, mapped; its size is the producer's total_size
 * @device: it is the device's
 * @peek: it is only looked at: its tails are somebody else's
 * @inside: we are in a program that is not ours: see xsp_ring_file_inside()
 * @own_tails: device: bit k: ring k's reader page is mapped read-write
 * @ctl: the control page as it was validated: geometry and identity are only read from here
 * @own_rings: nr_rings + nr_lock_rings: those that the program writes
 * @rings: these and the kernel's
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
 * @name: in it; symbolic links, other people's files and what is no regular file are refused
 *
 * Return: 0 or -errno, those of xsp_ctl_check() among them.
 */
int xsp_ring_file_open(struct xsp_ring_file *rf, int dirfd, const char *name);

/**
 * xsp_ring_device_map - the same for a descriptor that the device gave
 * @rf: filled in
 * @fd: taken over, and closed where this fails
 * @consume: it moves the tails
 *
 * Return: 0 or -errno, those of xsp_ctl_check() among them.
 */
int xsp_ring_device_map(struct xsp_ring_file *rf, int fd, bool consume);

void xsp_ring_file_close(struct xsp_ring_file *rf);

/**
 * xsp_ring_file_inside - the reader is in a program that is not its own
 * @rf: file
 *
 * Children of forks do not get the mapping.  Unless the thread has descriptors of its own, the
 * program may close any: from now on the mapping alone is read.  A tmpfs file's descriptor is
 * closed then, and with it goes a lock that this process has on the file.
 *
 * Return: 0 or -errno.
 */
int xsp_ring_file_inside(struct xsp_ring_file *rf);

/* Is there memory behind ring @k, so that it may be touched? */
bool xsp_ring_ready(const struct xsp_ring_file *rf, uint32_t k);

/* Ring @k's two pages.  Only for rings below @rings that are ready. */
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

/* Of the largest. */
static inline uint64_t xsp_ring_most_slots(const struct xsp_ring_file *rf)
{
	uint64_t own = xsp_ring_slots(rf, 0), kernel = 0;

	if (rf->rings > rf->own_rings)
		kernel = xsp_ring_slots(rf, rf->own_rings);
	return own > kernel ? own : kernel;
}

/* Slots published.  Pairs with the writer's last store: what lies below may be read. */
static inline uint64_t xsp_ring_head(const struct xsp_ring_file *rf, uint32_t k)
{
	return __atomic_load_n(&xsp_ring_writer(rf, k)->head, __ATOMIC_ACQUIRE);
}

/**
 * xsp_ring_trust - what a copy made before this may be trusted from
 * @rf: file
 * @k: ring
 * @head: read after the copy
 * @pos: the copy's first slot
 *
 * Who consumes a DISCARD ring is not overtaken; who only looks is, where its consumer has let
 * slots go and the writer has come around.
 *
 * Return: @pos, or the first slot after it that the writer cannot have touched, where a record
 * begins.
 */
uint64_t xsp_ring_trust(const struct xsp_ring_file *rf, uint32_t k, uint64_t head, uint64_t pos);

/**
 * xsp_ring_copy - copy slots out of a ring
 * @rf: file
 * @k: ring
 * @pos: first slot
 * @buf: room for @slots slots
 * @slots: how many, at most the ring's
 *
 * By pread: a copy is needed anyway, and a file that shrank is an error there, no SIGBUS.  Inside a
 * program, whose own files these are, out of the mapping.
 *
 * Return: 0, or -errno; -ENODATA when the file is shorter than it was.
 */
int xsp_ring_copy(const struct xsp_ring_file *rf, uint32_t k, uint64_t pos, void *buf,
		  size_t slots);

/* The same for the arena's entries: @pos counts from the end of its header. */
int xsp_ring_copy_arena(const struct xsp_ring_file *rf, uint64_t pos, void *buf, size_t len);

/**
 * xsp_ring_hole - slots in a hole of the file: no writer ever stored to them
 * @rf: file
 * @k: ring
 * @pos: first slot
 * @slots: look at so many
 *
 * A writer's memory is allocated before it stores to it, so that there is none in what an honest
 * one published.
 *
 * Return: how many from @pos on, in whole pages but for the first; 0 where @pos has data.
 */
uint64_t xsp_ring_hole(const struct xsp_ring_file *rf, uint32_t k, uint64_t pos, uint64_t slots);

/**
 * xsp_ring_release - hand slots back to the writer
 * @rf: file
 * @k: ring
 * @tail: everything below has been copied
 * @skipped: slots that were overwritten before they could be
 *
 * Return: 0, or -errno where the reader page cannot be mapped for it.  Nothing happens where we
 * only peek.
 */
int xsp_ring_release(struct xsp_ring_file *rf, uint32_t k, uint64_t tail, uint64_t skipped);

#endif /* XSP_RING_FILE_H */
