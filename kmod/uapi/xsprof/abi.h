/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) */
/*
 * The xsprof ABI: what a producer, a reader and the kernel module share.
 *
 * The module, the library and the decoder all use this header. It defines the layout of a
 * producer's memory (control page, metadata arena, rings); record.h has the records in a ring,
 * ioctl.h the calls of the device. It has no code, no pointers, and no fields of type long or enum:
 * the data is shared between processes, machines and versions.
 *
 * All numbers are little-endian.  A producer is one open of the device, or one tmpfs file; its
 * memory has the same layout in both:
 *
 *	offset 0		struct xsprof_ctl, one page
 *	arena_off		struct xsprof_arena, then entries
 *	rings_off + k * stride	ring k:	struct xsprof_ring_writer, one page
 *					struct xsprof_ring_reader, one page
 *					data, ring_size bytes of slots
 *	kernel_off + c * stride	the kernel's ring of CPU c, the same with kernel_size bytes
 *
 * Readers must not trust anything that the producer can write.
 */
#ifndef _UAPI_XSPROF_ABI_H
#define _UAPI_XSPROF_ABI_H

/* musl's compiler does not look where the kernel's headers are. */
#if !defined(__KERNEL__) && defined(__has_include)
#if !__has_include(<linux/types.h>) || !__has_include(<asm/types.h>)
#define XSPROF_ABI_OWN_TYPES
typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef int __s32;
__extension__ typedef unsigned long long __u64;
__extension__ typedef long long __s64;
#endif
#endif
#ifndef XSPROF_ABI_OWN_TYPES
#include <linux/types.h>
#endif

/* Raised when an old reader could misread new data; additions raise the minor number only. */
#define XSPROF_ABI_MAJOR	1
#define XSPROF_ABI_MINOR	1

/* "xsprofR1" inverted: a search of a memory dump does not find code that has the constant. */
#define XSPROF_MAGIC		(~0x3152666f72707378ULL)

#define XSPROF_SLOT_SIZE	32u
#define XSPROF_SLOT_SHIFT	5
#define XSPROF_BLOCK_SIZE	4096u	/* no record crosses such a block, whatever the page size */
#define XSPROF_BLOCK_SLOTS	128u
#define XSPROF_RECORD_SLOTS	8u	/* the longest record */
#define XSPROF_MIN_BLOCKS	4u	/* the smallest ring */
/*
 * Slots that a writer may have touched and not yet published: 7 of padding and 8 of record.  A
 * reader of an OVERWRITE ring trusts only what lies at or above head + 15 - size.
 */
#define XSPROF_OVERWRITE_MARGIN	15u

#define XSPROF_MAX_RINGS	8256u	/* of all kinds: the ready bitmap's width */
#define XSPROF_MAX_LOCK_RINGS	64u
#define XSPROF_MAX_CATEGORIES	64u

/* ---- clocks -------------------------------------------------------------------------------- */

/**
 * enum xsprof_clock_kind - what a timestamp counts
 * @XSPROF_CLOCK_TSC: x86 time stamp counter, invariant
 * @XSPROF_CLOCK_CNTVCT: arm64 virtual counter
 * @XSPROF_CLOCK_MONO_RAW: nanoseconds of CLOCK_MONOTONIC_RAW, if no counter is reliable
 */
enum xsprof_clock_kind {
	XSPROF_CLOCK_NONE	= 0,
	XSPROF_CLOCK_TSC	= 1,
	XSPROF_CLOCK_CNTVCT	= 2,
	XSPROF_CLOCK_MONO_RAW	= 3,
};

/**
 * struct xsprof_sync - one instant on every clock
 * @ticks: the producers' counter, midway between a read before and a read after the others
 * @mono: CLOCK_MONOTONIC, ns
 * @mono_raw: CLOCK_MONOTONIC_RAW, ns
 * @boot: CLOCK_BOOTTIME, ns
 * @real: CLOCK_REALTIME, ns
 * @ftrace: ftrace's clock in its own unit, 0 if not read
 * @window: ticks between the read before and the read after: the uncertainty of this point
 * @kind: enum xsprof_clock_kind of @ticks
 * @reserved: 0
 */
struct xsprof_sync {
	__u64	ticks;
	__u64	mono;
	__u64	mono_raw;
	__u64	boot;
	__u64	real;
	__u64	ftrace;
	__u32	window;
	__u32	kind;
	__u64	reserved;
};

/**
 * struct xsprof_clock - approximate conversion of ticks to CLOCK_MONOTONIC, for live display
 * @seq: odd while it is being changed; read, copy, read again
 * @kind: enum xsprof_clock_kind
 * @mult: ns = base_ns + ((ticks - base_ticks) * mult >> shift)
 * @shift: see @mult
 * @base_ticks: see @mult
 * @base_ns: see @mult
 * @freq: ticks a second, 0 when not known
 *
 * The rate, @mult and @shift, was measured over at least 100 ms, to within 500 parts per million;
 * before that it is the kernel's own.
 */
struct xsprof_clock {
	__u32	seq;
	__u32	kind;
	__u32	mult;
	__u32	shift;
	__u64	base_ticks;
	__u64	base_ns;
	__u64	freq;
};

/* ---- the control page ---------------------------------------------------------------------- */

enum xsprof_mode {
	XSPROF_MODE_DISCARD	= 0,	/* full: the new record is dropped, and counted */
	XSPROF_MODE_OVERWRITE	= 1,	/* full: the oldest is overwritten */
};

enum xsprof_state {
	XSPROF_STATE_INIT	= 0,	/* not to be read yet */
	XSPROF_STATE_LIVE	= 1,
	XSPROF_STATE_EXITED	= 2,	/* its exit handler ran, or the kernel saw it exit */
	XSPROF_STATE_KILLED	= 3,	/* killed by a signal (device only) */
	XSPROF_STATE_DETACHED	= 4,	/* the process continues without it: exec (device only) */
};

#define XSPROF_PAUSED_PROGRAM	0x1u	/* the program paused itself */
#define XSPROF_PAUSED_RECORDER	0x2u	/* the recorder did; the program cannot undo it */

#define XSPROF_PROFILE_NONE	0u
#define XSPROF_PROFILE_RUNS	1u	/* a recorder that ends leaves the markers on ... */
#define XSPROF_PROFILE_ALONE	2u	/* ... and has done so */

/* Markers that are also sent to the tracepoints xsprof:xsp_begin, ... while these are enabled. */
enum xsprof_emit_kind {
	XSPROF_EMIT_BEGIN	= 0,
	XSPROF_EMIT_END		= 1,
	XSPROF_EMIT_INSTANT	= 2,
	XSPROF_EMIT_COUNTER	= 3,
	XSPROF_EMIT_COMPLETE	= 4,
	XSPROF_EMIT_GPU		= 5,
	XSPROF_EMIT_KINDS	= 6,
};

#define XSPROF_READY_WORDS	129	/* 64 * 129 = XSPROF_MAX_RINGS */

/**
 * struct xsprof_ctl - the control page, first page of a producer
 * @enabled: one bit a category: the word that every marker tests
 * @generation: raised after every change of @enabled and of @clock
 * @paused: XSPROF_PAUSED_*: reasons for a pause; @enabled is 0 while any is set
 * @wanted: what @enabled is when not paused
 * @emit: all ones while a tracepoint xsprof:* wants markers of any kind, else 0 (device only)
 * @emit_types: which: one bit a kind, 1 << enum xsprof_emit_kind
 * @magic: XSPROF_MAGIC, stored last: no other field is valid before
 * @abi_major: XSPROF_ABI_MAJOR of the writer
 * @abi_minor: XSPROF_ABI_MINOR of the writer
 * @page_size: the spacing of a ring's writer page, reader page and data, and of the areas
 * @mode: enum xsprof_mode
 * @nr_rings: rings written by restartable sequences, one a possible CPU, numbered from 0
 * @nr_lock_rings: rings written under a lock, numbered from @nr_rings
 * @nr_kernel_rings: rings that the kernel writes, one a possible CPU, numbered from @nr_rings +
 *	@nr_lock_rings; 0 in a tmpfs file
 * @ring_size: bytes of data in one ring, a power of two, at least XSPROF_MIN_BLOCKS blocks
 * @ring_stride: bytes from one ring to the next: 2 * @page_size + @ring_size
 * @rings_off: where ring 0 starts
 * @arena_off: where the arena starts
 * @arena_size: bytes of the arena, including its header
 * @total_size: bytes of the whole
 * @pid: process id in the producer's own pid namespace
 * @uid: real user id
 * @pid_ns: inode number of that pid namespace
 * @state: enum xsprof_state
 * @start_time: the process' start, field 22 of /proc/PID/stat (clock ticks since boot)
 * @ppid: parent process id at attach
 * @seq: number of earlier producers of this process
 * @boot_id: the kernel's boot id: a file of another boot has no live process
 * @clock: conversion of ticks
 * @attach: all clocks at attach
 * @id: number of the producer, 0 in a tmpfs file
 * @session: which recording the process belongs to, 0 when the device is not asked for one
 * @exit_ticks: when the producer ended or its exit handler ran, 0 before
 * @flush: incremented by a producer that requests to be read soon, even below the watermark
 * @watermark: slots of a ring between two kicks, set by the reader, 0 for none
 * @kernel_off: where the first of the kernel's rings starts
 * @kernel_size: bytes of data in one of them, as @ring_size; the next is 2 * @page_size +
 *	@kernel_size further on
 * @quiets: how often another process switched the program's last category off, while it was not
 *	paused
 * @quiet_ticks: when that was the last time: ranges open then have no end in the rings
 * @switches: how often another process changed the set of categories, to nothing or to others,
 *	while the program was not paused; of two at the same moment, one may be told with the
 *	other's time
 * @switch_ticks: when that was the last time
 * @switched: the set of categories since then
 * @profile: XSPROF_PROFILE_*: does a profile of the program read the rings beside the recorder
 *	(tmpfs only)
 * @reserved: 0
 * @ready: bit k set: ring k has memory behind its pages and may be read
 *
 * Written by the owner of the producer's memory: the kernel, or in a tmpfs file the library.
 * Markers test a read-only mapping of it.
 */
struct xsprof_ctl {
	/* line 0: the marker test, alone */
	__u64	enabled;
	__u32	generation;
	__u32	paused;
	__u64	wanted;
	__u32	emit;
	__u32	emit_types;
	__u64	reserved0[4];

	/* from +64: fixed at attach */
	__u64	magic;
	__u16	abi_major;
	__u16	abi_minor;
	__u32	page_size;
	__u32	mode;
	__u32	nr_rings;
	__u32	nr_lock_rings;
	__u32	nr_kernel_rings;
	__u64	ring_size;
	__u64	ring_stride;
	__u64	rings_off;
	__u64	arena_off;
	__u64	arena_size;
	__u64	total_size;

	__u32	pid;
	__u32	uid;
	__u32	pid_ns;
	__u32	state;
	__u64	start_time;
	__u32	ppid;
	__u32	seq;
	__u8	boot_id[16];

	struct xsprof_clock	clock;
	struct xsprof_sync	attach;

	__u64	id;
	__u64	session;
	__u64	exit_ticks;
	__u64	flush;
	__u64	watermark;
	__u64	kernel_off;
	__u64	kernel_size;
	__u64	quiets;
	__u64	quiet_ticks;
	__u64	switches;
	__u64	switch_ticks;
	__u64	switched;
	__u64	profile;
	__u64	reserved[78];

	/* from +1024 */
	__u64	ready[XSPROF_READY_WORDS];
};

/* ---- a ring -------------------------------------------------------------------------------- */

/* The kind of a ring never changes: two kinds of writers must not write to one ring. */
enum xsprof_ring_kind {
	XSPROF_RING_NONE	= 0,
	XSPROF_RING_RSEQ	= 1,	/* one restartable sequence at a time, on CPU @cpu */
	XSPROF_RING_LOCK	= 2,	/* the owner of @lock */
	XSPROF_RING_KERNEL	= 3,	/* the kernel; never written by userspace */
};

/**
 * struct xsprof_ring_writer - the writer's page of a ring
 * @head: slots published since the beginning; stored last, with release order
 * @mark: head + 1 at the latest drop, 0 when there was none
 * @drops: records dropped since the beginning
 * @bound: writer's cache: head may advance to here without reading tail; can be lowered at any time
 * @grown: slots that have memory behind them; all ones: the whole ring has
 * @kind: enum xsprof_ring_kind
 * @cpu: the CPU of an RSEQ ring, 0xffffffff otherwise
 * @reported: LOCK rings: the count in the latest LOST record
 * @lock: LOCK rings: thread id of the owner, 0 when free
 * @reserved1: 0
 * @busy: LOCK rings: records dropped because no lock was free
 *
 * The producer maps it read-write, readers read-only.  The first line is all that a marker
 * touches besides the slot.
 */
struct xsprof_ring_writer {
	__u64	head;
	__u64	mark;
	__u64	drops;
	__u64	bound;
	__u64	grown;
	__u32	kind;
	__u32	cpu;
	__u64	reported;
	__u64	reserved0;
	/* +64 */
	__u32	lock;
	__u32	reserved1;
	__u64	busy;
	__u64	reserved2[6];
};

/**
 * struct xsprof_ring_reader - the reader's page of a ring
 * @tail: slots consumed since the beginning; at most head, and in DISCARD mode at least
 *	head - size
 * @skipped: OVERWRITE: slots that were overwritten before they were read
 * @reserved: 0
 *
 * The reader maps it read-write. An invalid tail (beyond head, or decreasing) only loses records of
 * this producer.
 */
struct xsprof_ring_reader {
	__u64	tail;
	__u64	skipped;
	__u64	reserved[6];
};

/* ---- the metadata arena -------------------------------------------------------------------- */

/**
 * struct xsprof_arena - header of the arena
 * @used: bytes of entries that are complete, from the end of this header; stored last
 * @missed: entries that did not fit
 * @lock: id of the thread that is appending, 0 for none
 * @refused: errno of the last time that the process got no memory for a ring, 0 for never
 * @nomem: records lost because ring memory could not be allocated
 * @late: records lost while there was no ring to write to (attach, fork)
 * @reserved: 0
 *
 * Append-only: bytes below @used never change. The producer can write this page, so losses that
 * belong to no ring are counted here.
 */
struct xsprof_arena {
	__u64	used;
	__u64	missed;
	__u32	lock;
	__u32	refused;
	__u64	nomem;
	__u64	late;
	__u64	reserved[3];
};

/**
 * enum xsprof_entry_type - kinds of arena entries
 * @XSPROF_ENTRY_CATEGORY: @id is the category's number, 0 to 63; text is its name
 * @XSPROF_ENTRY_NAME: @id is a name id; text is the name
 * @XSPROF_ENTRY_THREAD: @id is a thread id; text its name; the newest entry of an id counts
 * @XSPROF_ENTRY_FACT: text is "key=value" about the process
 * @XSPROF_ENTRY_STACK: @id is a stack id; text is its frames, u64 each, innermost first: addresses,
 *	or XSPROF_FRAME_NAMED and the id of a name; @aux is the number of frames left out
 * @XSPROF_ENTRY_MAP: text is "start-end offset buildid path" of mapped code, numbers in hex
 *
 * An unknown type is skipped by its size.
 */
enum xsprof_entry_type {
	XSPROF_ENTRY_CATEGORY	= 1,
	XSPROF_ENTRY_NAME	= 2,
	XSPROF_ENTRY_THREAD	= 3,
	XSPROF_ENTRY_FACT	= 4,
	XSPROF_ENTRY_STACK	= 5,
	XSPROF_ENTRY_MAP	= 6,
};

/* A frame with a name instead of an address: no program has addresses up there. */
#define XSPROF_FRAME_NAMED	0x8000000000000000ull

/*
 * Flags in aux of a THREAD entry.  The kernel gives a thread's number to another one when it has
 * ended: a second NEW of an id is of another thread.
 */
#define XSPROF_THREAD_GIVEN	1u	/* the program chose the name */
#define XSPROF_THREAD_NEW	2u	/* its first one: the last 8 bytes are the ticks then */
#define XSPROF_THREAD_OTHER	4u	/* the program's, but not by a call of the thread itself */

/**
 * struct xsprof_entry - one entry; its text follows, not terminated, padded with 0 to 8 bytes
 * @size: bytes of the whole entry, a multiple of 8
 * @type: enum xsprof_entry_type
 * @text_len: bytes of text
 * @id: see enum xsprof_entry_type
 * @aux: see the flags of the type, else 0
 */
struct xsprof_entry {
	__u32	size;
	__u16	type;
	__u16	text_len;
	__u32	id;
	__u32	aux;
};

#define XSPROF_TEXT_MAX		4000u	/* longer texts are cut */

/*
 * A name id has its category in the top bits, so that the marker test needs no look-up: enabled >>
 * (name >> 26) & 1. Index 0 is "no name"; the last index is used for all names for which the arena
 * had no room.
 */
#define XSPROF_NAME_SHIFT	26
#define XSPROF_NAME_MASK	0x03ffffffu
#define XSPROF_NAME_FULL	0x03ffffffu
#define XSPROF_NAME_MAX_INDEX	0x000fffffu	/* a million names a process */

#include <xsprof/record.h>

/* ---- offsets that assembly and other languages rely on -------------------------------------- */

#ifdef __cplusplus
#define XSPROF_ABI_ASSERT(cond)	static_assert(cond, #cond)
#else
#define XSPROF_ABI_ASSERT(cond)	_Static_assert(cond, #cond)
#endif
#define XSPROF_ABI_AT(type, field, off) \
	XSPROF_ABI_ASSERT(__builtin_offsetof(struct type, field) == (off))

XSPROF_ABI_ASSERT(sizeof(struct xsprof_sync) == 64);
XSPROF_ABI_ASSERT(sizeof(struct xsprof_clock) == 40);
XSPROF_ABI_AT(xsprof_ctl, enabled, 0);
XSPROF_ABI_AT(xsprof_ctl, generation, 8);
XSPROF_ABI_AT(xsprof_ctl, wanted, 16);
XSPROF_ABI_AT(xsprof_ctl, emit, 24);
XSPROF_ABI_AT(xsprof_ctl, emit_types, 28);
XSPROF_ABI_AT(xsprof_ctl, magic, 64);
XSPROF_ABI_AT(xsprof_ctl, page_size, 76);
XSPROF_ABI_AT(xsprof_ctl, ring_size, 96);
XSPROF_ABI_AT(xsprof_ctl, total_size, 136);
XSPROF_ABI_AT(xsprof_ctl, pid, 144);
XSPROF_ABI_AT(xsprof_ctl, start_time, 160);
XSPROF_ABI_AT(xsprof_ctl, boot_id, 176);
XSPROF_ABI_AT(xsprof_ctl, clock, 192);
XSPROF_ABI_AT(xsprof_ctl, attach, 232);
XSPROF_ABI_AT(xsprof_ctl, id, 296);
XSPROF_ABI_AT(xsprof_ctl, nr_kernel_rings, 92);
XSPROF_ABI_AT(xsprof_ctl, watermark, 328);
XSPROF_ABI_AT(xsprof_ctl, kernel_off, 336);
XSPROF_ABI_AT(xsprof_ctl, kernel_size, 344);
XSPROF_ABI_AT(xsprof_ctl, quiets, 352);
XSPROF_ABI_AT(xsprof_ctl, quiet_ticks, 360);
XSPROF_ABI_AT(xsprof_ctl, switches, 368);
XSPROF_ABI_AT(xsprof_ctl, switch_ticks, 376);
XSPROF_ABI_AT(xsprof_ctl, switched, 384);
XSPROF_ABI_AT(xsprof_ctl, ready, 1024);
XSPROF_ABI_AT(xsprof_ring_writer, head, 0);
XSPROF_ABI_AT(xsprof_ring_writer, mark, 8);
XSPROF_ABI_AT(xsprof_ring_writer, drops, 16);
XSPROF_ABI_AT(xsprof_ring_writer, bound, 24);
XSPROF_ABI_AT(xsprof_ring_writer, grown, 32);
XSPROF_ABI_AT(xsprof_ring_writer, kind, 40);
XSPROF_ABI_AT(xsprof_ring_writer, lock, 64);
XSPROF_ABI_AT(xsprof_ring_writer, busy, 72);
XSPROF_ABI_ASSERT(sizeof(struct xsprof_ring_writer) == 128);
XSPROF_ABI_ASSERT(sizeof(struct xsprof_ring_reader) == 64);
XSPROF_ABI_ASSERT(sizeof(struct xsprof_arena) == 64);
XSPROF_ABI_AT(xsprof_arena, nomem, 24);
XSPROF_ABI_ASSERT(sizeof(struct xsprof_entry) == 16);
XSPROF_ABI_ASSERT(sizeof(struct xsprof_rec) == 32);
XSPROF_ABI_AT(xsprof_rec, ts, 8);
XSPROF_ABI_AT(xsprof_rec, name, 16);
XSPROF_ABI_AT(xsprof_rec, value, 24);
XSPROF_ABI_ASSERT(sizeof(struct xsprof_arg) == 16);
XSPROF_ABI_ASSERT(sizeof(struct xsprof_rec_op) == 64);
XSPROF_ABI_ASSERT(sizeof(struct xsprof_tensor_arg) == 16);
XSPROF_ABI_ASSERT(sizeof(struct xsprof_rec_span) == 64);
XSPROF_ABI_ASSERT(sizeof(struct xsprof_rec_mem) == 64);
XSPROF_ABI_ASSERT(sizeof(struct xsprof_rec_relation) == 64);
XSPROF_ABI_ASSERT(sizeof(struct xsprof_rec_clock) == 64);
XSPROF_ABI_ASSERT(sizeof(struct xsprof_rec_gpu) == 96);
XSPROF_ABI_ASSERT(sizeof(struct xsprof_rec_sched) == 64);

#endif /* _UAPI_XSPROF_ABI_H */
